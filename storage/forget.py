"""Physical forgetting: the memory and every copy of it go, and a receipt says what stood where before and after.

The audit keeps that something was, without its text; a keyed mark keeps it from being learned again.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from sqlalchemy import Connection, Text, Uuid, any_, bindparam, delete, func, insert, select, update
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.exc import DBAPIError

from domain.errors import TransientError
from domain.jobs import OPEN_STATUSES, Outcome, Status
from domain.lifecycle import Changed, ChangeStatus, Erasure, Traces, Writer
from domain.scope import Scope
from storage import outbox
from storage.database import Database, lock_scope
from storage.entities import unlink
from storage.forgotten import EVIDENCE_MAC, Marker, mark_forgotten, marker
from storage.ledger import end_and_fence
from storage.rows import owner_of, text_of
from storage.tables import AuditRow, EntityRow, HistoryRow, JobRow, MemoryRow, StagedRow, is_open, text_at
from storage.traces import (
    copies_of_memory,
    has_content,
    has_text,
    history_of,
    of_scope,
    quoting,
    target,
    target_of,
    traces_of_memory,
    traces_of_scope,
)

BATCH = 200
FORGOTTEN = "forgotten"
_NO_TEXT: dict[str, Any] = {"before": None, "after": None}
_LOCKED = select(MemoryRow.id, MemoryRow.payload).where(MemoryRow.id == bindparam("this_memory")).with_for_update()
# Lets a step that would stage a copy meanwhile wait; what it stages then bears a mark, and is not published.
_HOLD_JOBS = (
    select(JobRow.id).where(JobRow.scope == bindparam("scope"), is_open()).order_by(JobRow.seq).with_for_update()
)
_AUDIT = insert(AuditRow)


class SqlEraser:
    """domain.ports.Eraser on PostgreSQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def forget(self, scope: Scope, memory_id: str, writer: Writer) -> Changed:
        """Remove one memory and every copy of it, in one transaction."""
        return self.forget_in(scope.key, memory_id, writer)

    def forget_in(self, scope: str, memory_id: str, writer: Writer) -> Changed:
        """The same by the stored `user_id`, empty for a row without one."""
        key = uuid.UUID(memory_id)
        with self._database.transaction() as connection:
            lock_scope(connection, scope)
            row = connection.execute(_LOCKED, {"this_memory": key}).one_or_none()
            if row is None or (owner_of(row.payload) or "") != scope:
                return Changed(ChangeStatus.NOT_FOUND if row is None else ChangeStatus.FORBIDDEN, memory_id)
            connection.execute(_HOLD_JOBS, {"scope": scope})
            what = target_of(connection, scope, memory_id, row.payload)
            quotes = quoting(connection, scope, what)
            before = traces_of_memory(connection, scope, what, quotes)
            jobs = {*quotes.jobs, *(staged.job_id for staged in quotes.staged)}
            if jobs:
                _empty_jobs(connection, JobRow.id.in_(jobs))
            _erase(connection, scope, [row], what.made, writer)
            # Still under the lock: what is said right afterwards is nothing that was left.
            after = traces_of_memory(connection, scope, what, quoting(connection, scope, what))
        status = ChangeStatus.PARTIAL_CLEANUP if after.total else ChangeStatus.DELETED
        return Changed(status, memory_id, deleted_count=1, erasure=Erasure(before, after))

    def forget_all(self, scope: Scope, writer: Writer, progress: Callable[[int], None] = lambda _: None) -> Changed:
        """Remove everything of a user in batches; when it is interrupted, the next call goes on.

        What was accepted before the call is ended first and cannot come back after it. `progress` is told how many
        memories are gone.
        """
        deleted, failed = 0, dict[str, str]()
        before = self.scan(scope)
        try:
            self._end_jobs(scope.key)
            while batch := self._next(scope.key, failed):
                gone = self._erase_batch(scope.key, batch, writer, failed)
                deleted += gone
                progress(deleted)
            self._sweep(scope.key)
            after = self.scan(scope)
        except TransientError as exc:
            status = ChangeStatus.PARTIAL_CLEANUP if deleted else ChangeStatus.BACKEND_ERROR
            return Changed(status, reason=exc.backend, deleted_count=deleted)
        receipt = Erasure(before, after, failed)
        if failed or after.total:
            reason = next(iter(failed.values()), "left_over")
            return Changed(ChangeStatus.PARTIAL_CLEANUP, reason=reason, deleted_count=deleted, erasure=receipt)
        return Changed(ChangeStatus.DELETED, deleted_count=deleted, erasure=receipt)

    def scan(self, scope: Scope, memory_id: str | None = None) -> Traces:
        """What of a user, or of one memory of theirs, stands in each store, read anew."""
        with self._database.transaction() as connection:
            if memory_id is None:
                return traces_of_scope(connection, scope.key)
            what = target(connection, scope.key, memory_id)
            found = traces_of_memory(connection, scope.key, what, quoting(connection, scope.key, what))
            return replace(found, memories=found.memories + copies_of_memory(connection, scope.key, what))

    def _end_jobs(self, scope: str) -> None:
        with self._database.transaction() as connection:
            lock_scope(connection, scope)
            _empty_jobs(connection, JobRow.scope == scope)

    def _next(self, scope: str, failed: dict[str, str]) -> list[Any]:
        statement = select(MemoryRow.id, MemoryRow.payload).where(of_scope(scope)).limit(BATCH)
        if failed:
            statement = statement.where(MemoryRow.id.not_in([uuid.UUID(memory_id) for memory_id in failed]))
        with self._database.transaction() as connection:
            return list(connection.execute(statement).all())

    def _erase_batch(self, scope: str, batch: Sequence[Any], writer: Writer, failed: dict[str, str]) -> int:
        """Erase a batch; when that fails for another reason than the database being away, one by one."""
        try:
            self._erase_rows(scope, batch, writer)
        except DBAPIError as exc:
            if len(batch) == 1:
                # The driver's text may quote a row, so only the class is told.
                failed[str(batch[0].id)] = type(exc.orig or exc).__name__
                return 0
            return sum(self._erase_batch(scope, [row], writer, failed) for row in batch)
        return len(batch)

    def _erase_rows(self, scope: str, batch: Sequence[Any], writer: Writer) -> None:
        with self._database.transaction() as connection:
            lock_scope(connection, scope)
            _erase(connection, scope, batch, marker(connection, scope), writer)

    def _sweep(self, scope: str) -> None:
        """What is left of memories that were gone before: links, history and texts of the audit."""
        with self._database.transaction() as connection:
            lock_scope(connection, scope)
            has_memories = connection.execute(select(func.count()).select_from(MemoryRow).where(of_scope(scope)))
            if has_memories.scalar_one():
                return
            connection.execute(delete(EntityRow).where(text_at(EntityRow.payload, "user_id") == scope))
            connection.execute(delete(HistoryRow).where(history_of(scope)))
            connection.execute(update(AuditRow).where(AuditRow.scope == scope, has_text()).values(**_NO_TEXT))


def _erase(connection: Connection, scope: str, rows: Sequence[Any], made: Marker, writer: Writer) -> None:
    """Remove memories with links, history and audited texts; marks and a line in the audit stay."""
    ids = [row.id for row in rows]
    names = [str(key) for key in ids]
    connection.execute(_erase_rows(), {"ids": ids, "names": names})
    unlink(connection, scope, names)
    texts = [(str(row.id), text_of(row.payload), row.payload.get(EVIDENCE_MAC)) for row in rows]
    mark_forgotten(connection, made, [entry for entry in texts if entry[1]])
    line = {"scope": scope, "operation": "forget", "operator_type": writer.kind, "operator": writer.name}
    connection.execute(_AUDIT, [{**line, "memory_id": key, "reason": writer.reason} for key in ids])


@cache
def _erase_rows() -> Any:
    """Memories, their history and what the audit quotes of them, in one statement."""
    ids = any_(bindparam("ids", type_=ARRAY(Uuid)))
    history = delete(HistoryRow).where(HistoryRow.memory_id == any_(bindparam("names", type_=ARRAY(Text))))
    audit = update(AuditRow).where(AuditRow.memory_id == ids).values(**_NO_TEXT)
    return delete(MemoryRow).where(MemoryRow.id == ids).add_cte(history.cte("history"), audit.cte("audit"))


def _empty_jobs(connection: Connection, which: Any) -> None:
    """Take what was said out of jobs; open ones end, and whoever runs them can complete nothing."""
    jobs = select(JobRow.id, JobRow.status).where(which, has_content()).order_by(JobRow.seq).with_for_update()
    for row in connection.execute(jobs).all():
        connection.execute(delete(StagedRow).where(StagedRow.job_id == row.id))
        if row.status in OPEN_STATUSES:
            values = {
                "status": Status.DEAD,
                "outcome": Outcome.CANCELLED,
                "reason": FORGOTTEN,
                "payload": None,
                "messages": None,
            }
            end_and_fence(connection, row.id, values)
            outbox.forget(connection, row.id)
        else:
            connection.execute(update(JobRow).where(JobRow.id == row.id).values(payload=None, messages=None))
