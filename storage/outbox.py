"""What has still to be sent. Rows are written with the effect that made them, and deleted when the broker has them.

Only the oldest open job of a scope is ever ready: the scope's lock is held by whoever writes here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo
from sqlalchemy import Connection, bindparam, delete, exists, func, insert, select, text, update

from domain.jobs import OPEN_STATUSES, Step
from storage.database import CONNECT_TIMEOUT_SECONDS, KEEP_ALIVE, Database, unavailable
from storage.tables import JobRow, OutboxRow

CHANNEL = "poco_outbox"
BATCH = 100


_ADD = insert(OutboxRow).inline()
_PROMOTE = update(OutboxRow).where(OutboxRow.job_id == bindparam("this_job")).values(ready=True)
_NOTIFY = text(f"NOTIFY {CHANNEL}")
# A relay deletes what it is sending itself, and waits for the job: whoever holds the job must not wait for the row.
_free = select(OutboxRow.id).where(OutboxRow.job_id == bindparam("this_job")).with_for_update(skip_locked=True)
_FORGET = delete(OutboxRow).where(OutboxRow.id.in_(_free))


def add(connection: Connection, job_id: Any, *, ready: bool) -> None:
    """Note that a job has to be sent; a ready one wakes the relay at commit."""
    connection.execute(_ADD, {"job_id": job_id, "ready": ready})
    if ready:
        _wake(connection)


def forget(connection: Connection, job_id: Any) -> None:
    """Drop what was to be sent of a job before now."""
    connection.execute(_FORGET, {"this_job": job_id})


def promote(connection: Connection, job_id: Any) -> None:
    """Let a waiting job be sent, now that it is the oldest open one of its scope."""
    if connection.execute(_PROMOTE, {"this_job": job_id}).rowcount == 0:
        add(connection, job_id, ready=True)
    else:
        _wake(connection)


def send_ready(database: Database, send: Callable[[str, Step], None]) -> int:
    """Send every ready job from its current step on and forget the rows; several relays may do so at once.

    When `send` raises, nothing of the batch is forgotten and it will be sent again: a step that is delivered
    twice does nothing the second time.

    Returns:
        The number of jobs sent.
    """
    with database.transaction() as connection:
        rows = connection.execute(
            select(OutboxRow.id, OutboxRow.job_id, JobRow.step, JobRow.status)
            .join(JobRow, JobRow.id == OutboxRow.job_id)
            .where(OutboxRow.ready)
            .order_by(OutboxRow.id)
            .limit(BATCH)
            .with_for_update(skip_locked=True, of=OutboxRow)
        ).all()
        due = [row for row in rows if row.status in OPEN_STATUSES]
        for row in due:
            send(str(row.job_id), Step(row.step))
        if rows:
            connection.execute(delete(OutboxRow).where(OutboxRow.id.in_([row.id for row in rows])))
        if due:
            job_ids = [row.job_id for row in due]
            connection.execute(
                update(JobRow)
                .where(JobRow.id.in_(job_ids))
                .values(dispatched_at=func.now(), dispatch_count=JobRow.dispatch_count + 1)
            )
    return len(due)


def is_waiting() -> Any:
    """Whether the outer query's job is about to be sent, as an SQL condition."""
    return exists().where(OutboxRow.job_id == JobRow.id, OutboxRow.ready)


class Listener:
    """A connection of its own that hears when something was put into the outbox.

    Raises:
        TransientError: with Backend.DATABASE_UNAVAILABLE, at the start or while waiting.
    """

    def __init__(self, url: str) -> None:
        with _translated():
            address = make_conninfo(url, connect_timeout=CONNECT_TIMEOUT_SECONDS, **KEEP_ALIVE)
            self._connection = psycopg.connect(address, autocommit=True)
            self._connection.execute(f"LISTEN {CHANNEL}")

    def wait(self, seconds: float) -> None:
        """Return at the first notice, or after the given time."""
        with _translated():
            for _ in self._connection.notifies(timeout=seconds, stop_after=1):
                pass

    def close(self) -> None:
        """Give the connection back."""
        self._connection.close()


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except psycopg.OperationalError as exc:
        raise unavailable(exc) from exc


def _wake(connection: Connection) -> None:
    connection.execute(_NOTIFY)
