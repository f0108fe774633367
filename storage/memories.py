"""Reads published memories of one scope. Rows of an older mem0 without our fields are memories too."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache
from typing import Any

from sqlalchemy import bindparam, func, or_, select

from domain.candidate import JsonValue
from domain.facts import Vector
from domain.memory import Neighbour
from domain.metadata import INTERNAL_KEYS
from domain.scope import Scope
from storage.database import Database
from storage.rows import text_of
from storage.tables import MemoryRow, text_at, word


class SqlMemoryIndex:
    """domain.ports.MemoryIndex on mem0's table."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def nearest(self, scope: Scope, vector: Vector, limit: int) -> list[Neighbour]:
        """The nearest active, unexpired memories of the scope, closest first."""
        values = {"scope": scope.key, "today": _today(), "vector": list(vector), "most": limit}
        with self._database.statement() as connection:
            return neighbours(connection.execute(_nearest(), values))


def visible(scope: Scope) -> tuple[Any, ...]:
    """The active, unexpired memories of a scope, as SQL conditions."""
    return _visible(scope.key, _today())


def _visible(scope: Any, today: Any) -> tuple[Any, ...]:
    payload = MemoryRow.payload
    expires = text_at(payload, "expiration_date")
    return (
        text_at(payload, "user_id") == scope,
        text_at(payload, "data").is_not(None),
        func.coalesce(text_at(payload, "status"), word("active")) == word("active"),
        or_(expires.is_(None), expires >= today),
    )


def neighbours(rows: Iterable[Any]) -> list[Neighbour]:
    """Rows with their payload and similarity; one without a vector, or with nothing but zeros, is near nothing."""
    return [
        Neighbour(str(row.id), text_of(row.payload), float(row.similarity), shown_metadata(row.payload))
        for row in rows
        if row.similarity is not None and not math.isnan(row.similarity)
    ]


@cache
def _nearest() -> Any:
    """One statement, built once: building it costs as much as running it."""
    distance = MemoryRow.vector.cosine_distance(bindparam("vector", type_=MemoryRow.vector.type))
    return (
        select(MemoryRow.id, MemoryRow.payload, (1 - distance).label("similarity"))
        .where(*_visible(bindparam("scope"), bindparam("today")))
        .order_by(distance)
        .limit(bindparam("most"))
    )


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def shown_metadata(payload: dict[str, Any]) -> dict[str, JsonValue]:
    """The part of a payload that may leave the service."""
    return {key: value for key, value in payload.items() if key not in INTERNAL_KEYS}
