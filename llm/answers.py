"""A model's answer to facts: `extract_json`, then `normalize_facts` (SmartMate note, section 3.4).

mem0, the judge and the offline model all come through here. An answer that cannot be read is an error that
retries, never "no facts"; and every fact's text stands in the answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

from domain.errors import Backend, TransientError
from domain.facts import Fact
from domain.text import storable
from llm.tolerant_json import values

MAX_FACT_CHARS = 4000
_LIST_KEYS = ("memory", "memories", "facts", "fact", "results", "result", "items", "data")
_TEXT_KEYS = ("text", "fact", "memory", "content")
_THOUGHT_TAG = re.compile(r"<(/?)think(?:ing)?>")
_DECISION_KEYS = ("event", "action", "operation")
# Decisions about a memory that is known already. Such an item repeats that memory; it is no new fact.
_NOTHING_NEW = frozenset({"delete", "none", "noop"})
_FULL_STOP = "。.．"
_SAYS_NOTHING = frozenset({"none", "null", "nil", "n/a", "无", "没有", "暂无", "空"})


def parse_answer(text: str) -> list[Fact]:
    """The facts of an answer, or an empty list when it says that there are none.

    Raises:
        TransientError: with Backend.LLM_UNPARSEABLE; the text is not repeated.
    """
    return normalize_facts(extract_json(text))


def extract_json(text: str) -> object:
    """The JSON value in the answer that holds facts; one that was cut off counts as far as it is whole.

    Raises:
        TransientError: with Backend.LLM_UNPARSEABLE when there is none.
    """
    empty: object = None
    for value, is_whole in values(_without_thoughts(_decoded(text.strip()))):
        items = _items(value)
        if items and _facts(items):
            return value
        if items is not None and is_whole and empty is None and value != {}:
            empty = value
    if empty is None:
        raise TransientError(Backend.LLM_UNPARSEABLE, f"no facts can be read from an answer of {len(text)} characters")
    return empty


def normalize_facts(value: object) -> list[Fact]:
    """The facts of a JSON value: trimmed, without duplicates, empty or overlong items, and with known fields only."""
    return _facts(_items(value) or [])


def canonical_json(facts: list[Fact]) -> str:
    """Facts as mem0's own answer format."""
    rows = [
        {"id": str(place), "text": fact.text, "attributed_to": fact.attributed_to, **_optional(fact)}
        for place, fact in enumerate(facts)
    ]
    return json.dumps({"memory": rows}, ensure_ascii=False)


def _decoded(text: str) -> str:
    """The text inside an answer that was encoded as a JSON string once more."""
    if text[:1] != '"':
        return text
    try:
        inner = json.loads(text, strict=False)
    except ValueError:
        return text
    return inner if isinstance(inner, str) else text


def _without_thoughts(text: str) -> str:
    if text[:1] in ("{", "["):
        # The answer itself; a fact in it may well speak of <think>.
        return text
    kept: list[str] = []
    since, opened = 0, -1
    for tag in _THOUGHT_TAG.finditer(text):
        if not tag[1]:
            opened = tag.start() if opened < 0 else opened
            continue
        if opened < 0:
            # The endpoint swallowed the opening tag: all that came before was thought.
            kept.clear()
        else:
            kept.append(text[since:opened])
        since, opened = tag.end(), -1
    return "".join(kept) + text[since:]


def _items(value: object, depth: int = 0) -> list[object] | None:
    """The raw items of a value, or None when it does not look like an answer."""
    if isinstance(value, list):
        return value if not value or any(isinstance(item, str | dict) for item in value) else None
    if not isinstance(value, dict) or depth > 1:
        return None
    keys = {str(key).lower(): key for key in value}
    for name in _LIST_KEYS:
        if name in keys:
            return _listed(value[keys[name]], depth)
    if any(isinstance(value.get(name), str) for name in _TEXT_KEYS):
        return [value]
    return None


def _listed(value: object, depth: int) -> list[object]:
    if isinstance(value, list):
        return value
    if isinstance(value, str):
        return _listed_in(value, depth)
    if isinstance(value, dict):
        inner = _items(value, depth + 1)
        return inner if inner is not None else _grouped(value)
    return []


def _listed_in(text: str, depth: int) -> list[object]:
    """The items of a list that was written as a string; any other string is an item itself."""
    if text.lstrip()[:1] in ("{", "["):
        for value, is_whole in values(text):
            inner = _items(value, depth + 1)
            if is_whole and inner is not None:
                return inner
    return [text]


def _grouped(value: Mapping[str, object]) -> list[object]:
    """Facts sorted by kind: {"preference": [...], "profile": [...]}."""
    return [item for group in value.values() if isinstance(group, list) for item in group]


def _facts(items: Iterable[object]) -> list[Fact]:
    found: dict[str, Fact] = {}
    for item in items:
        fact = _fact(item)
        if fact is not None:
            found.setdefault(fact.text.rstrip(_FULL_STOP), fact)
    return list(found.values())


def _fact(item: object) -> Fact | None:
    fields: Mapping[str, Any] = item if isinstance(item, dict) else {"text": item}
    text = next((fields[key] for key in _TEXT_KEYS if isinstance(fields.get(key), str)), "")
    text = storable(text).strip()
    if len(text) > MAX_FACT_CHARS or not _says_something(text):
        return None
    if any(_word(fields.get(key)) in _NOTHING_NEW for key in _DECISION_KEYS):
        return None
    return Fact(
        text,
        attributed_to=_word(fields.get("attributed_to")),
        type=_word(fields.get("type")),
        confidence=_share(fields.get("confidence")),
        importance=_share(fields.get("importance")),
        sensitivity=_level(fields.get("sensitivity")),
        expires_at=_day(fields.get("expires_at")),
    )


def _says_something(text: str) -> bool:
    return any(char.isalnum() for char in text) and text.rstrip(_FULL_STOP).lower() not in _SAYS_NOTHING


def _word(value: object) -> str | None:
    word = storable(value).strip().lower() if isinstance(value, str) else ""
    return word[:32] or None


def _share(value: object) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value <= 1 else None  # type: ignore[arg-type, operator]


def _level(value: object) -> int | None:
    return value if value in (0, 1, 2) and isinstance(value, int) and not isinstance(value, bool) else None


def _day(value: object) -> str | None:
    if not isinstance(value, str):
        return None
    try:
        return date.fromisoformat(value[:10]).isoformat()
    except ValueError:
        return None


def _optional(fact: Fact) -> dict[str, str | float | int]:
    names = ("type", "confidence", "importance", "sensitivity", "expires_at")
    return {name: value for name in names if (value := getattr(fact, name)) is not None}
