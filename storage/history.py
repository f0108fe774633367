"""mem0's history interface on our table, so that every host sees the same history and no conversation is kept.

Stock mem0 feeds the last ten messages of a user into the next extraction; here there are never any
(Poco note, section 4.2).
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import func, insert, select

from storage.database import Database
from storage.tables import HistoryRow


class SqlHistory:
    """What mem0.memory.storage.SQLiteManager offers to Memory, as far as Memory calls it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add_history(
        self,
        memory_id: str,
        old_memory: str | None,
        new_memory: str | None,
        event: str,
        *,
        created_at: str | None = None,
        updated_at: str | None = None,
        is_deleted: int = 0,
        actor_id: str | None = None,
        role: str | None = None,
    ) -> None:
        """Write one change of a memory; times are ISO 8601."""
        self.batch_add_history(
            [
                {
                    "memory_id": memory_id,
                    "old_memory": old_memory,
                    "new_memory": new_memory,
                    "event": event,
                    "created_at": created_at,
                    "updated_at": updated_at,
                    "is_deleted": is_deleted,
                    "actor_id": actor_id,
                    "role": role,
                }
            ]
        )

    def batch_add_history(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Write several changes in one transaction."""
        rows = [
            {
                **record,
                "id": uuid.uuid4(),
                "created_at": _time(record.get("created_at")),
                "updated_at": _time(record.get("updated_at")),
            }
            for record in records
        ]
        with self._database.transaction() as connection:
            for row in rows:
                connection.execute(insert(HistoryRow).values(row))

    def get_history(self, memory_id: str) -> list[dict[str, Any]]:
        """All changes of a memory, oldest first, in mem0's keys."""
        # mem0 gives an update the creation time of its memory, so the time of the change comes first.
        changed_at = func.coalesce(HistoryRow.updated_at, HistoryRow.created_at)
        statement = (
            select(HistoryRow.__table__).where(HistoryRow.memory_id == memory_id).order_by(changed_at.nulls_first())
        )
        with self._database.transaction() as connection:
            rows = connection.execute(statement).mappings().all()
        return [
            {
                **row,
                "id": str(row["id"]),
                "created_at": row["created_at"] and row["created_at"].isoformat(),
                "updated_at": row["updated_at"] and row["updated_at"].isoformat(),
                "is_deleted": bool(row["is_deleted"]),
            }
            for row in rows
        ]

    def save_messages(self, messages: Sequence[Mapping[str, Any]], session_scope: str) -> None:
        """Keep nothing: each candidate is judged on its own."""

    def get_last_messages(self, session_scope: str, limit: int = 10) -> list[dict[str, Any]]:  # noqa: ARG002
        """Never any."""
        return []

    def close(self) -> None:
        """The connections belong to the Database."""


def _time(value: str | None) -> datetime | None:
    return datetime.fromisoformat(value) if value else None
