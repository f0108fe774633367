"""Find credentials. A match names the rule and never shows the text.

The tables hold one rule a line. Rules with a tell-tale prefix only let obvious placeholders off; the wordy ones ask
`secret_values` about the value. A pattern hands its value over as a named group, or as the whole match.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from operator import add

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
    return next((rule.name for rule in _rules_for(text) if rule_holds(rule, text)), None)


def _rules_for(text: str) -> Iterator[SecretRule]:
    """The rules that have a word in the text, and what their value is made of as well."""
    lower = _NO_HINT.sub(" ", text.lower())
    starts = {*lower, *map(add, lower, lower[1:])}
    hints = (hint for start in _HINTS.keys() & starts for hint in _HINTS[start] if hint in lower)
    there: dict[re.Pattern[str] | None, bool] = {None: True}
    for number in sorted({number for hint in hints for number in _RULES_BY_HINT[hint]}):
        rule = RULES[number]
        if rule.needs not in there:
            there[rule.needs] = rule.needs is not None and rule.needs.search(text) is not None
        if there[rule.needs]:
            yield rule


def _rules_by_hint() -> dict[str, list[int]]:
    numbers: dict[str, list[int]] = {}
    for number, rule in enumerate(RULES):
        for hint in rule.hints.split("|"):
            numbers.setdefault(hint, []).append(number)
    return numbers


# Everyday words that only begin like a hint.
_NO_HINT = re.compile(r"pass(?:ed|es|ing|enger|age|ion|ive|port)|past[ae ]|testing|tests|decid")
_RULES_BY_HINT = _rules_by_hint()
# By the first two characters: few hints begin with a pair that the text has.
_HINTS = {hint[:2]: [other for other in _RULES_BY_HINT if other[:2] == hint[:2]] for hint in _RULES_BY_HINT}
