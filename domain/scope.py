"""Whose memory it is. This is the one place where scope identifiers are checked.

mem0 reads `user_id="*"` as every tenant's rows, so a wildcard must never get past here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from domain.errors import InvalidField
from domain.text import storable

MAX_ID_CHARS = 128
MAX_EXTERNAL_ID_CHARS = 256
_WHITE_SPACE = re.compile(r"\s")


@dataclass(frozen=True, slots=True)
class Scope:
    """One user of one tenant; `key` is what mem0 calls `user_id`."""

    tenant_id: str
    user_id: str

    def __post_init__(self) -> None:
        check_identifier("tenant_id", self.tenant_id)
        check_identifier("user_id", self.user_id)
        if ":" in self.tenant_id:
            raise InvalidField("tenant_id", "no_colon", "must not contain ':' (it separates tenant and user)")

    @property
    def key(self) -> str:
        """`tenant:user`, unambiguous because a tenant id holds no colon."""
        return f"{self.tenant_id}:{self.user_id}"

    @classmethod
    def from_key(cls, key: str) -> Scope:
        """The scope a stored `tenant:user` key stands for."""
        tenant_id, _, user_id = key.partition(":")
        return cls(tenant_id, user_id)


def check_external_id(field: str, value: str) -> None:
    """Refuse an id of somebody else's that is empty, too long, or that no database can hold.

    Raises:
        InvalidField: with the rule `required`, `max_length` or `storable`.
    """
    if not value:
        raise InvalidField(field, "required", "must not be empty")
    if len(value) > MAX_EXTERNAL_ID_CHARS:
        raise InvalidField(field, "max_length", f"must not be longer than {MAX_EXTERNAL_ID_CHARS} characters")
    if storable(value) != value:
        raise InvalidField(field, "storable", "must not contain NUL or lone surrogates")


def check_identifier(field: str, value: str) -> None:
    """Refuse an identifier that is empty, too long, or holds white space, `*` or an unprintable character.

    Raises:
        InvalidField: with the rule `required`, `max_length`, `no_whitespace`, `no_wildcard` or `printable`.
    """
    if not value:
        raise InvalidField(field, "required", "must not be empty")
    if len(value) > MAX_ID_CHARS:
        raise InvalidField(field, "max_length", f"must not be longer than {MAX_ID_CHARS} characters")
    if _WHITE_SPACE.search(value):
        raise InvalidField(field, "no_whitespace", "must not contain white space")
    if "*" in value:
        raise InvalidField(field, "no_wildcard", "must not contain '*'")
    if not value.isprintable():
        raise InvalidField(field, "printable", "must not contain control or other unprintable characters")
