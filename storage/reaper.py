"""Finds jobs that nobody is working on any more and sends them again, or ends them when they keep killing workers.

Redis may lose any message and a worker may die at any point; only the ledger can see it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, and_, func, or_, select, update

from domain.errors import POISON
from domain.jobs import Outcome, Status
from storage import outbox
from storage.claims import no_older
from storage.clock import from_now, interval
from storage.database import Database, lock_scope
from storage.ledger import LedgerTimes, end_and_fence
from storage.tables import JobRow

MAX_LOST = 3
MAX_DOUBLINGS = 6
BATCH = 100


@dataclass(frozen=True, slots=True)
class Reaped:
    """What one sweep found: leases that ran out, messages sent again, jobs given up."""

    lost: int = 0
    resent: int = 0
    poisoned: int = 0


def reap(database: Database, times: LedgerTimes) -> Reaped:
    """One sweep over the open jobs; several reapers may run at once."""
    lost = poisoned = 0
    with database.transaction() as connection:
        dead_leases = connection.execute(_leases_over()).all()
    for row in dead_leases:
        with database.transaction() as connection:
            lock_scope(connection, row.scope)
            if _still_lost(connection, row) is None:
                continue
            if row.lost_count >= MAX_LOST:
                _poison(connection, row)
                poisoned += 1
            else:
                _give_back(connection, row.id, times)
                lost += 1
    with database.transaction() as connection:
        resent = _resend_unseen(connection, times)
    return Reaped(lost, resent, poisoned)


def _leases_over() -> Any:
    return (
        select(JobRow.id, JobRow.scope, JobRow.fence, JobRow.lost_count)
        .where(JobRow.status == Status.PROCESSING, JobRow.lease_owner.is_not(None), JobRow.lease_until < func.now())
        .limit(BATCH)
    )


def _still_lost(connection: Connection, row: Any) -> Any:
    statement = _leases_over().where(JobRow.id == row.id, JobRow.fence == row.fence).with_for_update()
    return connection.execute(statement).one_or_none()


def _poison(connection: Connection, row: Any) -> None:
    values = {
        "status": Status.DEAD,
        "outcome": Outcome.DEAD,
        "reason": POISON,
        "last_error": f"{POISON}: {row.lost_count + 1} workers died on it",
    }
    end_and_fence(connection, row.id, values)


def _give_back(connection: Connection, job_id: Any, times: LedgerTimes) -> None:
    connection.execute(
        update(JobRow)
        .where(JobRow.id == job_id)
        .values(
            lease_owner=None,
            lease_until=from_now(times.handoff),
            fence=JobRow.fence + 1,
            lost_count=JobRow.lost_count + 1,
            updated_at=func.now(),
        )
    )
    outbox.add(connection, job_id, ready=True)


def _resend_unseen(connection: Connection, times: LedgerTimes) -> int:
    """Send again what was sent long ago and never picked up, and retries whose message was lost.

    A job that only waits in a long queue looks the same, so each time the grace is twice as long.
    """
    unseen = or_(
        and_(JobRow.status == Status.PENDING, no_older()),
        and_(JobRow.status == Status.FAILED, JobRow.next_retry_at < from_now(-times.handoff)),
        and_(JobRow.status == Status.PROCESSING, JobRow.lease_owner.is_(None), JobRow.lease_until < func.now()),
    )
    doublings = func.least(func.greatest(JobRow.dispatch_count - 1, 0), MAX_DOUBLINGS)
    grace = interval(times.handoff * func.power(2, doublings))
    sent_long_ago = func.coalesce(JobRow.dispatched_at, JobRow.created_at) < func.now() - grace
    rows = connection.execute(
        select(JobRow.id)
        .where(unseen, sent_long_ago, ~outbox.is_waiting())
        .limit(BATCH)
        .with_for_update(skip_locked=True)
    ).all()
    for row in rows:
        outbox.add(connection, row.id, ready=True)
    return len(rows)
