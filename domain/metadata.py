"""The metadata a client may attach to a candidate; it lies flat beside our own keys in a memory's payload."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from domain.errors import InvalidField
from domain.text import storable

MAX_DEPTH = 8
# What no client needs to see of a payload.
INTERNAL_KEYS = frozenset(
    {
        *("data", "hash", "user_id", "text_lemmatized", "memory_schema_version", "job_id", "trace_id", "status"),
        *("evidence", "evidence_mac"),
    }
)
# What a client's metadata may not set, because mem0 or this service gives it a meaning.
RESERVED_KEYS = INTERNAL_KEYS | {
    "id",
    "vector",
    "created_at",
    "updated_at",
    "agent_id",
    "run_id",
    "actor_id",
    "role",
    "attributed_to",
    "expiration_date",
    "conversation_id",
    "source_message_id",
    "source",
    "title",
    "type",
    "confidence",
    "importance",
    "sensitivity",
    "is_explicit",
}


def check_metadata(value: Mapping[str, Any], *, max_bytes: int) -> None:
    """Refuse metadata that sets a key of ours, is too deep or too large, or holds what jsonb cannot.

    Raises:
        InvalidField: for `metadata`, with the rule `reserved_key`, `max_depth`, `storable`, `finite` or `max_bytes`.
    """
    reserved = sorted(RESERVED_KEYS.intersection(value))
    if reserved:
        raise InvalidField("metadata", "reserved_key", f"must not set {reserved[0]}")
    waiting: list[tuple[Any, int]] = [(value, 1)]
    while waiting:
        item, depth = waiting.pop()
        if depth > MAX_DEPTH:
            raise InvalidField("metadata", "max_depth", f"must not be nested deeper than {MAX_DEPTH}")
        waiting.extend((child, depth + 1) for child in _children(item))
        _check_leaf(item)
    size = len(json.dumps(dict(value), ensure_ascii=False).encode())
    if size > max_bytes:
        raise InvalidField("metadata", "max_bytes", f"holds {size} bytes, at most {max_bytes} are allowed")


def _children(item: Any) -> list[Any]:
    if isinstance(item, dict):
        return [*item.keys(), *item.values()]
    return list(item) if isinstance(item, list) else []


def _check_leaf(item: Any) -> None:
    if isinstance(item, str) and storable(item) != item:
        raise InvalidField("metadata", "storable", "must not contain NUL or lone surrogates")
    if isinstance(item, float) and not math.isfinite(item):
        raise InvalidField("metadata", "finite", "must not hold NaN or an infinite number")
