"""The ledger: claims, completions and failures of jobs, each one conditional UPDATE in one transaction.

A worker owns a step through a lease and a fence. The fence rises with every claim, so a worker that slept
past its lease can change nothing when it wakes. Between two steps a job stays `processing` without an owner:
the partial unique index then allows one job of a scope at a time, on every host.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, case, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import aliased

from domain.candidate import Candidate
from domain.errors import Backend, Fenced, PermanentError, TransientError
from domain.jobs import (
    Advance,
    Claim,
    Claimed,
    Explanation,
    Finish,
    Job,
    JobView,
    NotOurs,
    Outcome,
    Publish,
    Status,
    Step,
    StepResult,
    Submission,
    TraceEntry,
)
from domain.operations import TooManyOpenJobs
from domain.ports import JobStats
from domain.retry import RetryPolicy
from domain.switches import UserSettings
from storage import outbox
from storage.advances import advance, is_one_statement
from storage.claims import claim, claimed_job, why_not
from storage.clock import from_now
from storage.database import Database, lock_scope
from storage.publish import publish
from storage.rows import (
    candidate_to_columns,
    decision_to_json,
    decisions_from_json,
    job_view,
)
from storage.runs import managed_run
from storage.stats import SqlJobStats
from storage.tables import JobRow, StagedRow, is_open
from storage.user_settings import settings_of_job

# How often a job's model answers could not be read, among its counts; the name is that of the metric.
PARSE_FAILS = "memory_json_parse_fail"
_SCOPE_RETRY_SECONDS, _SERVICE_RETRY_SECONDS = 5, 30

_THIS = JobRow.id == bindparam("this_job")
_IS_OURS = (
    _THIS,
    JobRow.fence == bindparam("this_fence"),
    JobRow.step == bindparam("this_step"),
    JobRow.status == Status.PROCESSING,
    JobRow.lease_owner.is_not(None),
)
_LOCK_OURS = (
    select(
        JobRow.retry_count,
        JobRow.counts,
        JobRow.trace,
        managed_run().label("is_managed"),
        settings_of_job().label("user_settings"),
    )
    .where(*_IS_OURS)
    .with_for_update(of=JobRow)
)
_other = aliased(JobRow)
# The oldest other open job of the scope, where it waits to be sent.
_WAITING = (
    select(case((_other.status == Status.PENDING, _other.id)))
    .where(_other.scope == JobRow.scope, _other.id != JobRow.id, is_open(_other))
    .order_by(_other.seq)
    .limit(1)
    .scalar_subquery()
)
_END_JOB = (
    update(JobRow)
    .where(_THIS)
    .values(lease_owner=None, lease_until=None, next_retry_at=None, finished_at=func.now(), updated_at=func.now())
    .returning(_WAITING)
)
_DROP_STAGED = delete(StagedRow).where(StagedRow.job_id == bindparam("this_job"))
_INSERT_JOB = insert(JobRow).inline()
_WHOLE = select(JobRow.__table__).where(_THIS)
_SAME_KEY = select(JobRow.id, JobRow.status, JobRow.trace_id).where(
    JobRow.scope == bindparam("scope"), JobRow.idempotency_key == bindparam("idempotency_key")
)
_COUNT_OPEN = select(func.count()).select_from(
    select(JobRow.seq).where(JobRow.scope == bindparam("scope"), is_open()).limit(bindparam("most")).subquery()
)


@dataclass(frozen=True, slots=True)
class OpenJobLimits:
    """How many jobs may wait: of one scope, exactly; of all scopes, by a count that is a second old at most."""

    per_scope: int = 1000
    total: int = 100_000


@dataclass(frozen=True, slots=True)
class LedgerTimes:
    """How long a silent worker keeps a step, and how long a message may stay unseen; both in seconds."""

    lease: float = 30.0
    handoff: float = 60.0


class SqlJobLedger:
    """domain.ports.JobLedger on PostgreSQL."""

    def __init__(
        self,
        database: Database,
        *,
        policy: RetryPolicy,
        times: LedgerTimes,
        limits: OpenJobLimits = OpenJobLimits(),
        stats: JobStats | None = None,
    ) -> None:
        self._database = database
        self._limits = limits
        self._stats = stats or SqlJobStats(database)
        self._policy = policy
        self._times = times

    def submit(self, candidate: Candidate) -> Submission:
        """Write job and outbox row, or find the job of the same idempotency key."""
        scope = candidate.scope.key
        is_full = self._stats.open_jobs() >= self._limits.total
        with self._database.transaction() as connection:
            lock_scope(connection, scope)
            known = _same_key(connection, candidate)
            if known is not None:
                return known
            if is_full:
                raise TooManyOpenJobs("the service", self._limits.total, _SERVICE_RETRY_SECONDS)
            waiting = _open_jobs(connection, scope, self._limits.per_scope)
            if waiting >= self._limits.per_scope:
                raise TooManyOpenJobs("this user", self._limits.per_scope, _SCOPE_RETRY_SECONDS)
            is_head = waiting == 0
            job_id = uuid.uuid4()
            trace_id = candidate.trace_id or uuid.uuid4().hex
            columns = candidate_to_columns(candidate)
            connection.execute(_INSERT_JOB, {"id": job_id, "trace_id": trace_id, **columns})
            outbox.add(connection, job_id, ready=is_head)
        return Submission(str(job_id), Status.PENDING, trace_id, created=True)

    def claim(self, job_id: str, step: Step, owner: str, *, follows: str | None = None) -> Claim:
        """Take the lease of a step, if it is this step's turn."""
        lease = self._times.lease
        try:
            with self._database.statement() as connection:
                row = claim(connection, job_id, step, owner, follows=follows, lease=lease)
                return Claimed(claimed_job(row, step)) if row is not None else why_not(connection, job_id, step)
        except IntegrityError:
            # Another job of the scope became `processing` at the same moment.
            return NotOurs()

    def complete(self, job: Job, result: StepResult) -> Finish | None:
        """Store the step's effect and move the pointer, all in one transaction; the end, if that was it."""
        if isinstance(result, Advance):
            self._advance(job, result)
            return None
        with self._database.transaction() as connection:
            lock_scope(connection, job.candidate.scope.key)
            row = _lock_ours(connection, job)
            if isinstance(result, Publish):
                settings = UserSettings(**(row.user_settings or {}))
                result = publish(connection, job, result.staged, settings=settings, is_managed=row.is_managed)
            _finish(connection, job, result, row)
        return result

    def _advance(self, job: Job, result: Advance) -> None:
        begin = self._database.statement if is_one_statement(job, result) else self._database.transaction
        with begin() as connection:
            if not advance(connection, job, result, handoff=self._times.handoff):
                raise _lost(job)

    def fail(self, job: Job, error: TransientError) -> float | None:
        """Note a failed attempt: seconds until the next, or None when the job is dead now."""
        with self._database.transaction() as connection:
            lock_scope(connection, job.candidate.scope.key)
            row = _lock_ours(connection, job)
            failures = row.retry_count + 1
            delay = self._policy.delay_after(failures)
            values: dict[str, Any] = {"retry_count": failures, "last_error": str(error), "updated_at": func.now()}
            if error.backend is Backend.LLM_UNPARSEABLE:
                misread = int(row.counts.get(PARSE_FAILS, 0)) + 1
                values["counts"] = {**row.counts, PARSE_FAILS: misread}
            if delay is not None:
                values |= {"status": Status.FAILED, "next_retry_at": from_now(delay), "lease_owner": None}
            connection.execute(update(JobRow).where(JobRow.id == job.id).values(values))
            if delay is None:
                _die(connection, job, error.backend)
        return delay

    def bury(self, job: Job, error: PermanentError) -> None:
        """End the job as dead at once."""
        with self._database.transaction() as connection:
            lock_scope(connection, job.candidate.scope.key)
            _lock_ours(connection, job)
            connection.execute(update(JobRow).where(JobRow.id == job.id).values(last_error=str(error)))
            _die(connection, job, error.reason)

    def extend(self, job: Job) -> bool:
        """Renew the lease; False when it is not ours any more."""
        values = {"this_job": job.id, "this_fence": job.fence, "this_step": int(job.step)}
        renew = update(JobRow).where(*_IS_OURS).values(lease_until=from_now(self._times.lease))
        with self._database.statement() as connection:
            return connection.execute(renew, values).rowcount == 1

    def hand_back(self, job_id: str, owner: str) -> bool:
        """Give a step up and have it sent again, its worker not counted as lost; False when no such owner holds it."""
        held = (
            JobRow.id == job_id,
            JobRow.status == Status.PROCESSING,
            JobRow.lease_owner.startswith(owner, autoescape=True),
        )
        free = {"lease_owner": None, "lease_until": from_now(self._times.handoff)}
        with self._database.transaction() as connection:
            done = connection.execute(update(JobRow).where(*held).values(updated_at=func.now(), **free))
            if done.rowcount:
                # Its message may be acknowledged by the thread that still runs it.
                outbox.add(connection, job_id, ready=True)
            return done.rowcount == 1

    def view(self, job_id: str) -> JobView | None:
        """The job as it may be shown, or None when there is none with this id."""
        with self._database.statement() as connection:
            row = connection.execute(_WHOLE, {"this_job": job_id}).one_or_none()
        return job_view(row) if row else None

    def explain(self, job_id: str) -> Explanation | None:
        """Every decision of the job's completed steps, or None when there is no job with this id."""
        with self._database.statement() as connection:
            row = connection.execute(_WHOLE, {"this_job": job_id}).one_or_none()
        return Explanation(job_view(row), decisions_from_json(row.trace)) if row else None


def end_job(connection: Connection, job_id: Any, values: Mapping[str, Any]) -> None:
    """Make a job terminal and let the next job of its scope go, all in the caller's transaction.

    The caller holds the scope's lock. What a dead job was given and has staged stays, so that it can be resumed.
    """
    _end(connection, _END_JOB, job_id, values)


def end_and_fence(connection: Connection, job_id: Any, values: Mapping[str, Any]) -> None:
    """The same for a job that somebody may be running, who can complete nothing any more."""
    _end(connection, _END_JOB.values(fence=JobRow.fence + 1), job_id, values)


def _end(connection: Connection, statement: Any, job_id: Any, values: Mapping[str, Any]) -> None:
    waiting = connection.execute(statement, {"this_job": job_id, **values}).scalar_one()
    if waiting is not None:
        outbox.promote(connection, waiting)


def _traced(job: Job, before: list[dict[str, Any]], entries: Sequence[TraceEntry]) -> list[dict[str, Any]]:
    """The trace with this step's decisions instead of those of an earlier run of it or of a later step."""
    kept = [row for row in before if row["step"] < job.step]
    return kept + [decision_to_json(job.step, entry) for entry in entries]


def _finish(connection: Connection, job: Job, result: Finish, row: Any) -> None:
    values = {
        "status": Status.SUCCESS,
        "outcome": result.outcome,
        "reason": result.reason,
        "rule": result.rule,
        "counts": {**row.counts, **result.counts},
        "trace": _traced(job, row.trace, result.trace),
        "payload": None,
        "messages": None,
    }
    connection.execute(_DROP_STAGED, {"this_job": job.id})
    end_job(connection, job.id, values)


def _die(connection: Connection, job: Job, reason: str) -> None:
    values = {"status": Status.DEAD, "outcome": Outcome.DEAD, "reason": reason}
    end_job(connection, job.id, values)


def _open_jobs(connection: Connection, scope: str, limit: int) -> int:
    """The open jobs of a scope, counted up to a limit."""
    return int(connection.execute(_COUNT_OPEN, {"scope": scope, "most": limit}).scalar_one())


def _lock_ours(connection: Connection, job: Job) -> Any:
    values = {"this_job": job.id, "this_fence": job.fence, "this_step": int(job.step)}
    row = connection.execute(_LOCK_OURS, values).one_or_none()
    if row is None:
        raise _lost(job)
    return row


def _lost(job: Job) -> Fenced:
    return Fenced(f"job {job.id}, step {job.step.task_name}: the lease was lost")


def _same_key(connection: Connection, candidate: Candidate) -> Submission | None:
    if candidate.idempotency_key is None:
        return None
    values = {"scope": candidate.scope.key, "idempotency_key": candidate.idempotency_key}
    row = connection.execute(_SAME_KEY, values).one_or_none()
    return Submission(str(row.id), Status(row.status), row.trace_id, created=False) if row else None
