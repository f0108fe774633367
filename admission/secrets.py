"""Find credentials. A match names the rule and never shows the text.

The tables hold one rule a line. Rules with a tell-tale prefix only let obvious placeholders off; the wordy ones ask
`secret_values` about the value. A pattern hands its value over as a named group, or as the whole match.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from admission.hygiene import folded, is_disguised
from admission.secret_assigned import ASSIGNED
from admission.secret_rule import SecretRule, rule_holds
from admission.secret_services import find_bare_key
from admission.secret_shapes import SHAPES
from admission.secret_spoken import SPOKEN
from admission.secret_vendors import find_vendor_secret
from admission.secret_words import find_told_secret
from domain.candidate import JsonValue

RULES: tuple[SecretRule, ...] = (*SHAPES, *ASSIGNED, *SPOKEN)


def find_secret(text: str) -> str | None:
    """The name of the first rule that matches, in the text as it is or as a reader would see it."""
    found = _search(text)
    if found is None and is_disguised(text):
        found = _search(folded(text))
    return found


def find_secret_in(metadata: Mapping[str, JsonValue]) -> str | None:
    """The name of the first rule that a value of client metadata breaks, by itself or with its name before it."""
    for name, value in _leaves("", metadata):
        found = find_secret(value) or _first_rule(f"{name}={value}")
        if found is not None:
            return found
    return None


def _leaves(name: str, value: JsonValue | Mapping[str, JsonValue]) -> Iterator[tuple[str, str]]:
    """Each text with the name it stands under; names alone are looked at as well."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield name, key
            yield from _leaves(key, inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(name, inner)
    elif isinstance(value, str | int) and not isinstance(value, bool):
        yield name, str(value)


def _search(text: str) -> str | None:
    return _first_rule(text) or find_vendor_secret(text) or find_told_secret(text) or find_bare_key(text)


def _first_rule(text: str) -> str | None:
    lower = text.lower()
    hinted = {hint for hint in _HINTS if hint in lower}
    return next((rule.name for rule in RULES if hinted.intersection(_hints(rule)) and rule_holds(rule, text)), None)


@cache
def _hints(rule: SecretRule) -> tuple[str, ...]:
    return tuple(rule.hints.split("|"))


_HINTS = frozenset(hint for rule in RULES for hint in _hints(rule))
