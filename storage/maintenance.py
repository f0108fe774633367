"""What time takes: content of dead jobs, expired memories, old jobs, and rows that nothing needs any more.

Each call does one bounded batch of each kind and skips rows that somebody else holds, so several processes may call
it at once and nobody waits for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from functools import cache
from typing import Any

from sqlalchemy import Connection, Text, bindparam, cast, delete, exists, insert, select, update
from sqlalchemy.dialects.postgresql import JSONB

from domain.jobs import Status
from storage.clock import from_now
from storage.database import Database
from storage.tables import AuditRow, HistoryRow, JobRow, MemoryRow, OutboxRow, StagedRow, is_open, text_at, word

BATCH = 500
DAY_SECONDS = 86_400.0
_GRACE_SECONDS = 3600.0
EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class Retention:
    """How many days things are kept: what was said in dead jobs, ended jobs, history of memories that are gone."""

    dead_payloads: float = 14
    jobs: float = 90
    history: float = 365


@dataclass(frozen=True, slots=True)
class Maintained:
    """What one call did, as rows."""

    payloads_removed: int = 0
    memories_expired: int = 0
    jobs_removed: int = 0
    outbox_removed: int = 0
    history_removed: int = 0

    def __add__(self, other: Maintained) -> Maintained:
        return Maintained(*(getattr(self, part.name) + getattr(other, part.name) for part in fields(self)))

    @property
    def has_more(self) -> bool:
        """Whether a batch was full, so that another call will find more."""
        return any(getattr(self, part.name) == BATCH for part in fields(self))


def maintain(database: Database, retention: Retention) -> Maintained:
    """One batch of everything, each kind in a transaction of its own."""
    kinds: tuple[Callable[[Connection, Retention], int], ...] = (
        _remove_dead_payloads,
        _expire_memories,
        _remove_jobs,
        _remove_outbox,
        _remove_history,
    )
    counts = []
    for remove in kinds:
        with database.transaction() as connection:
            counts.append(remove(connection, retention))
    return Maintained(*counts)


def expire(connection: Connection, scope: str | None = None, limit: int = BATCH) -> int:
    """Mark memories past their last day as expired, of one scope or of all; the audit says so."""
    now = datetime.now(UTC)
    values = {
        "today": now.date().isoformat(),
        "mark": {"status": EXPIRED, "updated_at": now.isoformat()},
        "most": limit,
        **({} if scope is None else {"scope": scope}),
    }
    marked = connection.execute(_expire(of_one_scope=scope is not None), values).all()
    if marked:
        audit = {"operation": "expire", "operator_type": "system", "reason": "expiration_date"}
        connection.execute(insert(AuditRow), [{"memory_id": row.id, "scope": row.scope, **audit} for row in marked])
    return len(marked)


# Publishing and adding ask for their own scope each time, so the statement is built once.
@cache
def _expire(*, of_one_scope: bool) -> Any:
    payload = MemoryRow.payload
    due = select(MemoryRow.id).where(
        text_at(payload, "expiration_date").is_not(None),
        text_at(payload, "status") == word("active"),
        text_at(payload, "expiration_date") < bindparam("today"),
        *((text_at(payload, "user_id") == bindparam("scope"),) if of_one_scope else ()),
    )
    return (
        update(MemoryRow)
        .where(MemoryRow.id.in_(due.limit(bindparam("most")).with_for_update(skip_locked=True)))
        .values(payload=payload.op("||")(bindparam("mark", type_=JSONB)))
        .returning(MemoryRow.id, text_at(payload, "user_id").label("scope"))
    )


def _expire_memories(connection: Connection, _: Retention) -> int:
    return expire(connection)


def _remove_dead_payloads(connection: Connection, retention: Retention) -> int:
    old = _batch(
        select(JobRow.id).where(
            JobRow.status == Status.DEAD,
            JobRow.finished_at < from_now(-retention.dead_payloads * DAY_SECONDS),
            JobRow.payload.is_not(None),
        )
    )
    ids = list(connection.execute(old).scalars())
    if ids:
        connection.execute(delete(StagedRow).where(StagedRow.job_id.in_(ids)))
        connection.execute(update(JobRow).where(JobRow.id.in_(ids)).values(payload=None, messages=None))
    return len(ids)


def _remove_jobs(connection: Connection, retention: Retention) -> int:
    old = select(JobRow.id).where(
        JobRow.status.in_((Status.SUCCESS, Status.DEAD)),
        JobRow.finished_at < from_now(-retention.jobs * DAY_SECONDS),
    )
    return _deleted(connection, JobRow, JobRow.id.in_(_batch(old)))


def _remove_outbox(connection: Connection, _: Retention) -> int:
    waits = exists().where(JobRow.id == OutboxRow.job_id, is_open())
    stale = select(OutboxRow.id).where(~waits, OutboxRow.created_at < from_now(-_GRACE_SECONDS))
    return _deleted(connection, OutboxRow, OutboxRow.id.in_(_batch(stale)))


def _remove_history(connection: Connection, retention: Retention) -> int:
    lives = exists().where(cast(MemoryRow.id, Text) == HistoryRow.memory_id)
    old = select(HistoryRow.id).where(~lives, HistoryRow.created_at < from_now(-retention.history * DAY_SECONDS))
    return _deleted(connection, HistoryRow, HistoryRow.id.in_(_batch(old)))


def _batch(statement: Any) -> Any:
    return statement.limit(BATCH).with_for_update(skip_locked=True)


def _deleted(connection: Connection, table: Any, condition: Any) -> int:
    return int(connection.execute(delete(table).where(condition)).rowcount)
