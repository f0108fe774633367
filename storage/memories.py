"""Reads published memories of one scope. Rows of an older mem0 without our fields are memories too."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import func, or_, select

from domain.candidate import JsonValue
from domain.facts import Vector
from domain.memory import Neighbour
from domain.metadata import INTERNAL_KEYS
from domain.scope import Scope
from storage.database import Database
from storage.rows import text_of
from storage.tables import MemoryRow


class SqlMemoryIndex:
    """domain.ports.MemoryIndex on mem0's table."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def nearest(self, scope: Scope, vector: Vector, limit: int) -> list[Neighbour]:
        """The nearest active, unexpired memories of the scope, closest first."""
        distance = MemoryRow.vector.cosine_distance(list(vector))
        statement = (
            select(MemoryRow.id, MemoryRow.payload, (1 - distance).label("similarity"))
            .where(*visible(scope))
            .order_by(distance)
            .limit(limit)
        )
        with self._database.transaction() as connection:
            return neighbours(connection.execute(statement))


def visible(scope: Scope) -> tuple[Any, ...]:
    """The active, unexpired memories of a scope, as SQL conditions."""
    payload = MemoryRow.payload
    today = datetime.now(UTC).date().isoformat()
    expires = payload["expiration_date"].astext
    return (
        payload["user_id"].astext == scope.key,
        payload["data"].astext.is_not(None),
        func.coalesce(payload["status"].astext, "active") == "active",
        or_(expires.is_(None), expires >= today),
    )


def neighbours(rows: Iterable[Any]) -> list[Neighbour]:
    """Rows with their payload and similarity; one without a vector, or with nothing but zeros, is near nothing."""
    return [
        Neighbour(str(row.id), text_of(row.payload), float(row.similarity), shown_metadata(row.payload))
        for row in rows
        if row.similarity is not None and not math.isnan(row.similarity)
    ]


def shown_metadata(payload: dict[str, Any]) -> dict[str, JsonValue]:
    """The part of a payload that may leave the service."""
    return {key: value for key, value in payload.items() if key not in INTERNAL_KEYS}
