"""Every stored text for a scrub, and removal without a trace of the text."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Text, cast, delete, insert, select, update

from domain.candidate import JsonValue
from storage.database import Database
from storage.entities import unlink
from storage.memories import shown_metadata
from storage.tables import AuditRow, HistoryRow, MemoryRow

PAGE = 500


class SqlMemoryStore:
    """domain.ports.MemoryStore on mem0's table, our history and the audit."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def texts(self) -> Iterator[tuple[str, str, Mapping[str, JsonValue]]]:
        """Memory id, text and metadata, table by table in the order of the primary key; nothing is locked."""
        for table, memory_id, columns in (
            (MemoryRow, cast(MemoryRow.id, Text), (MemoryRow.payload,)),
            (HistoryRow, HistoryRow.memory_id, (HistoryRow.old_memory, HistoryRow.new_memory)),
            (AuditRow, cast(AuditRow.memory_id, Text), (AuditRow.before, AuditRow.after)),
        ):
            statement = select(table.id, memory_id, *columns).order_by(table.id).limit(PAGE)
            page = self._rows(statement)
            while page:
                for _, owner, *values in page:
                    yield from ((owner, *part) for value in values for part in _parts(value))
                page = self._rows(statement.where(table.id > page[-1][0]))

    def remove(self, memory_id: str, *, reason: str) -> None:
        """Delete the memory, its links and every text of its history and audit; that it was deleted stays in both."""
        key, now = uuid.UUID(memory_id), datetime.now(UTC)
        with self._database.transaction() as connection:
            deleted = delete(MemoryRow).where(MemoryRow.id == key).returning(MemoryRow.payload["user_id"].astext)
            scope = next((row[0] or "" for row in connection.execute(deleted)), None)
            connection.execute(
                update(HistoryRow).where(HistoryRow.memory_id == memory_id).values(old_memory=None, new_memory=None)
            )
            connection.execute(update(AuditRow).where(AuditRow.memory_id == key).values(before=None, after=None))
            if scope is None:
                return
            connection.execute(
                insert(HistoryRow).values(
                    id=uuid.uuid4(), memory_id=memory_id, event="DELETE", is_deleted=1, created_at=now, updated_at=now
                )
            )
            connection.execute(
                insert(AuditRow).values(
                    memory_id=key, scope=scope, operation="delete", operator_type="operator", reason=reason
                )
            )
            unlink(connection, scope, memory_id)

    def _rows(self, statement: Any) -> list[Any]:
        with self._database.transaction() as connection:
            return list(connection.execute(statement).all())


def _parts(value: Any) -> Iterator[tuple[str, Mapping[str, JsonValue]]]:
    """A text as it is; of a payload its text and the metadata that may leave the service."""
    if isinstance(value, str):
        yield value, {}
    elif isinstance(value, dict):
        yield str(value.get("data") or ""), shown_metadata(value)
