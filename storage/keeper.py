"""Changes of single memories on purpose: add, correct, archive, restore; each one transaction under the scope lock."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select, update
from sqlalchemy.exc import IntegrityError

from domain.candidate import JsonValue
from domain.facts import StagedFact
from domain.lifecycle import (
    Changed,
    ChangeStatus,
    Details,
    HistoryEntry,
    MemoryItem,
    Wording,
    Writer,
)
from domain.memory import Origin
from domain.scope import Scope
from domain.text import content_hash
from storage.database import Database, lock_scope
from storage.entities import link, unlink
from storage.forgotten import EVIDENCE_MAC, lift, mark_forgotten, marker
from storage.maintenance import EXPIRED, expire
from storage.memory_rows import SCHEMA_VERSION, insert_memories, write_audit, write_history
from storage.rows import as_moment, memory_item, owner_of, text_of
from storage.runs import mark_managed
from storage.tables import AuditRow, HistoryRow, MemoryRow, text_at

ACTIVE, ARCHIVED = "active", "archived"
ALREADY_KNOWN = "already_known"
# What stops being true of a memory whose text a person has changed.
_OF_THE_OLD_TEXT = ("evidence", EVIDENCE_MAC)

_THIS = MemoryRow.id == bindparam("this_memory")
_ITEM = select(MemoryRow.id, MemoryRow.payload).where(_THIS)
_LOCKED = _ITEM.with_for_update()
# Sets the columns that it is given.
_CHANGE = update(MemoryRow).where(_THIS)
_HISTORY = select(HistoryRow.__table__).where(HistoryRow.memory_id == bindparam("this_memory"))
_INSERT_HISTORY = insert(HistoryRow)
_INSERT_AUDIT = insert(AuditRow).inline()
_SAME_TEXT = (
    select(MemoryRow.id)
    .where(
        text_at(MemoryRow.payload, "user_id") == bindparam("scope"),
        text_at(MemoryRow.payload, "hash") == bindparam("hash"),
        text_at(MemoryRow.payload, "status").is_distinct_from(EXPIRED),
        text_at(MemoryRow.payload, "status").is_distinct_from(ARCHIVED),
    )
    .limit(1)
)


class SqlMemoryKeeper:
    """domain.ports.MemoryKeeper on PostgreSQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def note_run(self, scope: Scope, run_id: str) -> None:
        """A run manages memories itself: its own candidate stays out, also one that is queued already."""
        with self._database.transaction() as connection:
            lock_scope(connection, scope.key)
            mark_managed(connection, scope.key, run_id)

    def add(self, origin: Origin, fact: StagedFact) -> Changed:
        """Write one memory; a text that was forgotten before is welcome again."""
        scope = origin.scope.key
        with self._database.transaction() as connection:
            lock_scope(connection, scope)
            expire(connection, scope)
            lift(connection, marker(connection, scope), fact.text)
            if not insert_memories(connection, origin, [fact]):
                return Changed(ChangeStatus.ALREADY_KNOWN, _same_text(connection, scope, fact.text))
            write_history(connection, [fact])
            write_audit(connection, origin, "create", [fact])
            link(connection, scope, [fact])
        return Changed(ChangeStatus.ADDED, fact.id, inserted_count=1)

    def update(
        self, scope: Scope, memory_id: str, wording: Wording | None, details: Details, writer: Writer
    ) -> Changed:
        """Change text, details or both of a memory; its id, its owner and its creation stay."""
        try:
            with self._database.transaction() as connection:
                lock_scope(connection, scope.key)
                row = _locked(connection, memory_id)
                refusal = _refusal(row, scope, memory_id)
                if refusal is not None:
                    return refusal
                payload = _changed(row.payload, wording, details)
                if payload == row.payload:
                    return Changed(ChangeStatus.UNCHANGED, memory_id)
                _rewrite(connection, row, payload, wording, writer)
        except IntegrityError:
            return Changed(ChangeStatus.REJECTED, memory_id, reason=ALREADY_KNOWN)
        return Changed(ChangeStatus.UPDATED, memory_id)

    def archive(self, scope: Scope, memory_id: str, writer: Writer) -> Changed:
        """Take a memory out of every recall and list; restorable."""
        return self._set_status(scope, memory_id, ARCHIVED, writer)

    def restore(self, scope: Scope, memory_id: str, writer: Writer) -> Changed:
        """Bring an archived memory back."""
        return self._set_status(scope, memory_id, ACTIVE, writer)

    def item(self, scope: Scope, memory_id: str) -> MemoryItem | None:
        """One memory of the scope, whatever its status."""
        with self._database.statement() as connection:
            row = connection.execute(_ITEM, {"this_memory": uuid.UUID(memory_id)}).one_or_none()
        return memory_item(row) if row is not None and owner_of(row.payload) == scope.key else None

    def history(self, scope: Scope, memory_id: str) -> list[HistoryEntry] | None:
        """Every change of a memory of the scope, oldest first; None when the scope has none of this id."""
        if self.item(scope, memory_id) is None:
            return None
        with self._database.statement() as connection:
            rows = connection.execute(_HISTORY, {"this_memory": memory_id}).all()
        entries = [
            HistoryEntry(row.event, row.old_memory, row.new_memory, row.updated_at or row.created_at) for row in rows
        ]
        return sorted(entries, key=lambda entry: entry.at or datetime.min.replace(tzinfo=UTC))

    def _set_status(self, scope: Scope, memory_id: str, status: str, writer: Writer) -> Changed:
        try:
            with self._database.transaction() as connection:
                lock_scope(connection, scope.key)
                row = _locked(connection, memory_id)
                refusal = _refusal(row, scope, memory_id)
                if refusal is not None:
                    return refusal
                return _with_status(connection, row, status, writer)
        except IntegrityError:
            # What was archived has been added again meanwhile.
            return Changed(ChangeStatus.REJECTED, memory_id, reason=ALREADY_KNOWN)


def _locked(connection: Connection, memory_id: str) -> Any:
    return connection.execute(_LOCKED, {"this_memory": uuid.UUID(memory_id)}).one_or_none()


def _refusal(row: Any, scope: Scope, memory_id: str) -> Changed | None:
    if row is None:
        return Changed(ChangeStatus.NOT_FOUND, memory_id)
    return None if owner_of(row.payload) == scope.key else Changed(ChangeStatus.FORBIDDEN, memory_id)


def _with_status(connection: Connection, row: Any, status: str, writer: Writer) -> Changed:
    memory_id = str(row.id)
    if row.payload.get("status", ACTIVE) == status:
        return Changed(ChangeStatus.UNCHANGED, memory_id)
    if status == ACTIVE and _is_over(row.payload):
        return Changed(ChangeStatus.REJECTED, memory_id, reason=EXPIRED)
    payload = {**row.payload, "status": status, "updated_at": _now()}
    connection.execute(_CHANGE, {"this_memory": row.id, "payload": payload})
    _note(connection, row, "archive" if status == ARCHIVED else "restore", writer)
    return Changed(ChangeStatus.ARCHIVED if status == ARCHIVED else ChangeStatus.RESTORED, memory_id)


def _changed(old: dict[str, JsonValue], wording: Wording | None, details: Details) -> dict[str, JsonValue]:
    """The new payload; the same object of values when nothing changes."""
    payload = {**old, **details.given}
    if wording is not None and wording.text != text_of(old):
        payload = {key: value for key, value in payload.items() if key not in _OF_THE_OLD_TEXT}
        payload |= {
            "data": wording.text,
            "hash": content_hash(wording.text),
            "text_lemmatized": wording.text_lemmatized,
            "memory_schema_version": SCHEMA_VERSION,
            "status": old.get("status", ACTIVE),
        }
    if payload.get("status") == EXPIRED and not _is_over(payload):
        payload["status"] = ACTIVE
    return payload if payload == old else {**payload, "updated_at": _now()}


def _rewrite(
    connection: Connection, row: Any, payload: dict[str, Any], wording: Wording | None, writer: Writer
) -> None:
    scope, memory_id = str(payload["user_id"]), str(row.id)
    old, new = text_of(row.payload), text_of(payload)
    values: dict[str, Any] = {"payload": payload}
    if wording is not None and new != old:
        values["vector"] = list(wording.vector)
        unlink(connection, scope, [memory_id])
        link(connection, scope, [StagedFact(memory_id, wording.text, wording.vector, None, entities=wording.entities)])
        made = marker(connection, scope)
        lift(connection, made, wording.text)
        mark_forgotten(connection, made, [(memory_id, old, row.payload.get(EVIDENCE_MAC))] if old else [])
    connection.execute(_CHANGE, {"this_memory": row.id, **values})
    entry = {
        "id": uuid.uuid4(),
        "memory_id": memory_id,
        "old_memory": old,
        "new_memory": new,
        "event": "UPDATE",
        "created_at": as_moment(payload.get("created_at")),
        "updated_at": datetime.now(UTC),
        "role": payload.get("attributed_to"),
    }
    connection.execute(_INSERT_HISTORY, entry)
    _note(connection, row, "update", writer, after={"data": new})


def _note(
    connection: Connection, row: Any, operation: str, writer: Writer, after: dict[str, JsonValue] | None = None
) -> None:
    line = {
        "memory_id": row.id,
        "scope": row.payload["user_id"],
        "operation": operation,
        "operator_type": writer.kind,
        "operator": writer.name,
        "reason": writer.reason,
        "before": {"data": text_of(row.payload)} if after else None,
        "after": after,
    }
    connection.execute(_INSERT_AUDIT, line)


def _is_over(payload: dict[str, JsonValue]) -> bool:
    """Whether a memory's last day is past."""
    return str(payload.get("expiration_date") or "9999") < datetime.now(UTC).date().isoformat()


def _same_text(connection: Connection, scope: str, text: str) -> str | None:
    found = connection.execute(_SAME_TEXT, {"scope": scope, "hash": content_hash(text)}).scalar_one_or_none()
    return str(found) if found else None


def _now() -> str:
    return datetime.now(UTC).isoformat()
