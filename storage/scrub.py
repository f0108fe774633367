"""Every stored text for a scrub, and removal without a trace of the text."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime

from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy.dialects.postgresql import aggregate_order_by

from storage.database import Database
from storage.tables import AuditRow, EntityRow, HistoryRow, MemoryRow


class SqlMemoryStore:
    """domain.ports.MemoryStore on mem0's table and our history."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def texts(self, after: str | None, limit: int) -> list[tuple[str, list[str]]]:
        """The next memories by id, each with its text and the texts it had before."""
        ids = select(MemoryRow.id, MemoryRow.payload["data"].astext.label("text")).order_by(MemoryRow.id).limit(limit)
        if after is not None:
            ids = ids.where(MemoryRow.id > uuid.UUID(after))
        with self._database.transaction() as connection:
            rows = connection.execute(ids).all()
            past = _past_texts(connection, [str(row.id) for row in rows])
        return [(str(row.id), [row.text or "", *past.get(str(row.id), [])]) for row in rows]

    def remove(self, memory_id: str, *, reason: str) -> None:
        """Delete the row, its links and every text of its history and audit; who and why stay in history and audit."""
        key, now = uuid.UUID(memory_id), datetime.now(UTC)
        with self._database.transaction() as connection:
            scope = connection.execute(
                delete(MemoryRow).where(MemoryRow.id == key).returning(MemoryRow.payload["user_id"].astext)
            ).scalar_one_or_none()
            if scope is None:
                return
            connection.execute(
                update(HistoryRow).where(HistoryRow.memory_id == memory_id).values(old_memory=None, new_memory=None)
            )
            connection.execute(update(AuditRow).where(AuditRow.memory_id == key).values(before=None, after=None))
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
            _unlink(connection, scope, memory_id)


def _past_texts(connection: Connection, ids: list[str]) -> dict[str, list[str]]:
    texts = func.array_remove(
        func.array_cat(
            func.array_agg(aggregate_order_by(HistoryRow.old_memory, HistoryRow.id)),
            func.array_agg(aggregate_order_by(HistoryRow.new_memory, HistoryRow.id)),
        ),
        None,
    )
    statement = select(HistoryRow.memory_id, texts.label("texts")).where(HistoryRow.memory_id.in_(ids))
    return {row.memory_id: row.texts for row in connection.execute(statement.group_by(HistoryRow.memory_id))}


def _unlink(connection: Connection, scope: str, memory_id: str) -> None:
    """Take the memory out of the entity index; an entity that nothing mentions goes as well."""
    linked = EntityRow.payload["linked_memory_ids"]
    statement = select(EntityRow.id, EntityRow.payload).where(
        EntityRow.payload["user_id"].astext == scope, linked.contains([memory_id])
    )
    for row in connection.execute(statement).all():
        rest = [other for other in row.payload["linked_memory_ids"] if other != memory_id]
        change = (
            update(EntityRow).values(payload={**row.payload, "linked_memory_ids": rest}) if rest else delete(EntityRow)
        )
        connection.execute(change.where(EntityRow.id == row.id))
