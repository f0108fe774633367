"""Every stored text for a scrub, and removal without a trace of the text."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import Text, cast, delete, func, select, update

from domain.candidate import JsonValue
from domain.lifecycle import Writer
from storage.database import Database
from storage.forget import SqlEraser
from storage.memories import shown_metadata
from storage.tables import AuditRow, HistoryRow, MemoryRow, text_at

PAGE = 500


class SqlMemoryStore:
    """domain.ports.MemoryStore on mem0's table, our history and the audit."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._eraser = SqlEraser(database)

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
        """Forget the memory with every copy; of one that is gone already, the texts that outlived it."""
        key = uuid.UUID(memory_id)
        with self._database.transaction() as connection:
            owner = func.coalesce(text_at(MemoryRow.payload, "user_id"), "")
            scope = connection.execute(select(owner).where(MemoryRow.id == key)).scalar_one_or_none()
            if scope is None:
                connection.execute(delete(HistoryRow).where(HistoryRow.memory_id == memory_id))
                connection.execute(update(AuditRow).where(AuditRow.memory_id == key).values(before=None, after=None))
        if scope is not None:
            # Another program's row may belong to something that is no scope of ours, or to nobody.
            self._eraser.forget_in(scope, memory_id, Writer("operator", reason=reason))

    def _rows(self, statement: Any) -> list[Any]:
        with self._database.transaction() as connection:
            return list(connection.execute(statement).all())


def _parts(value: Any) -> Iterator[tuple[str, Mapping[str, JsonValue]]]:
    """A text as it is; of a payload its text and the metadata that may leave the service."""
    if isinstance(value, str):
        yield value, {}
    elif isinstance(value, dict):
        yield str(value.get("data") or ""), shown_metadata(value)
