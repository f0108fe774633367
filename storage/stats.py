"""The ledger in figures, for operators, metrics and the limits on open jobs."""

from __future__ import annotations

import threading
import time
from typing import Any

from sqlalchemy import func, select

from domain.jobs import Outcome, Status, Step
from domain.operations import JobCounts
from storage.database import Database
from storage.tables import JobRow, OutboxRow, is_open

_FRESH_SECONDS = 1.0


class SqlJobStats:
    """domain.ports.JobStats on PostgreSQL."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._open = 0
        self._counted_at = float("-inf")

    def counts(self) -> JobCounts:
        """Everything, counted now; reads the whole ledger's index."""
        state = select(JobRow.status, JobRow.outcome, func.count()).group_by(JobRow.status, JobRow.outcome)
        reasons = select(JobRow.reason, func.count()).where(JobRow.status == Status.DEAD).group_by(JobRow.reason)
        steps = select(JobRow.step, func.count()).where(is_open()).group_by(JobRow.step)
        ready = select(func.count(), _age(func.min(OutboxRow.created_at))).where(OutboxRow.ready)
        with self._database.transaction() as connection:
            by_state = {
                (Status(status), Outcome(outcome) if outcome else None): count
                for status, outcome, count in connection.execute(state)
            }
            by_reason = {reason or "unknown": count for reason, count in connection.execute(reasons)}
            by_step = {Step(step): count for step, count in connection.execute(steps)}
            oldest = connection.execute(select(_age(func.min(JobRow.created_at))).where(is_open())).scalar_one()
            waiting, waiting_age = connection.execute(ready).one()
        return JobCounts(by_state, by_reason, by_step, _seconds(oldest), waiting, _seconds(waiting_age))

    def open_jobs(self) -> int:
        """How many jobs have not ended, at most a second ago."""
        with self._lock:
            if time.monotonic() - self._counted_at > _FRESH_SECONDS:
                statement = select(func.count()).select_from(JobRow).where(is_open())
                with self._database.transaction() as connection:
                    self._open = int(connection.execute(statement).scalar_one())
                self._counted_at = time.monotonic()
            return self._open


def _age(moment: Any) -> Any:
    return func.extract("epoch", func.now() - moment)


def _seconds(value: Any) -> float | None:
    return None if value is None else max(0.0, float(value))
