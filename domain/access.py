"""Who may call the service: named tokens, and what each of them is for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from domain.errors import InvalidField

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class TokenScope(StrEnum):
    """What a token is for; each endpoint names the scopes of which one is needed."""

    INGEST = "ingest"  # hand in candidates and ask what became of them
    SEARCH = "search"
    MANAGE = "manage"  # see, correct and delete memories
    OPERATE = "operate"  # jobs of every user, for operators


# What the service token of a deployment is for: everything an agent does, and nothing an operator does.
AGENT_SCOPES = frozenset({TokenScope.INGEST, TokenScope.SEARCH, TokenScope.MANAGE})


@dataclass(frozen=True, slots=True)
class Caller:
    """Whose request it is: the token's name and what it may do."""

    name: str
    scopes: frozenset[TokenScope]


@dataclass(frozen=True, slots=True)
class TokenView:
    """A token as it may be shown: never itself."""

    name: str
    scopes: tuple[TokenScope, ...]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None


def checked_token_name(name: str) -> str:
    """The name, when it can stand in a log and a command line.

    Raises:
        InvalidField: it cannot.
    """
    if not _NAME.fullmatch(name):
        raise InvalidField("name", "name", "must be 1 to 64 letters, digits, dots, dashes or underscores")
    return name
