"""What the ledger tests share: short retries, and the ways a job is submitted, claimed and looked at."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

from sqlalchemy import func, literal, select, update

from domain.candidate import Candidate
from domain.errors import Backend, TransientError
from domain.facts import StagedFact
from domain.jobs import (
    Advance,
    Claimed,
    Job,
    JobView,
    Publish,
    Step,
    Submission,
)
from domain.retry import RetryPolicy
from domain.scope import Scope
from storage.clock import interval
from storage.database import Database
from storage.ledger import SqlJobLedger
from storage.tables import JobRow, OutboxRow
from tests.fakes import candidate

TURNS = (("user", "以后都用简体中文"), ("assistant", "好的"))
DOWN = TransientError(Backend.LLM_UNAVAILABLE, "HTTP 500")
SHORT = RetryPolicy((0.05, 0.05, 0.05))
UNKNOWN_JOB = str(uuid.uuid4())


def submit(ledger: SqlJobLedger, scope: Scope, *, key: str | None = None) -> Submission:
    made = candidate(*TURNS, scope=scope)
    return ledger.submit(Candidate(scope, made.messages, idempotency_key=key, metadata={"category": "preference"}))


def claimed(ledger: SqlJobLedger, job_id: str, step: Step) -> Job:
    claim = ledger.claim(job_id, step, "worker")
    assert isinstance(claim, Claimed), claim
    return claim.job


def view(ledger: SqlJobLedger, job_id: str) -> JobView:
    seen = ledger.view(job_id)
    assert seen is not None
    return seen


def run_through(ledger: SqlJobLedger, job_id: str, facts: tuple[StagedFact, ...]) -> JobView:
    """Take a job through all six steps with the given staged facts."""
    for step in list(Step)[:-1]:
        job = claimed(ledger, job_id, step)
        ledger.complete(job, Advance(staged=facts if step is Step.EXTRACT else None, messages=job.candidate.messages))
    job = claimed(ledger, job_id, Step.CLEANUP)
    ledger.complete(job, Publish(job.staged))
    return view(ledger, job_id)


def rows(database: Database, table: type, *where: object) -> int:
    with database.transaction() as connection:
        return int(connection.execute(select(func.count()).select_from(table).where(*where)).scalar_one())  # type: ignore[arg-type]


def ready_jobs(database: Database, *job_ids: str) -> list[str]:
    statement = select(OutboxRow.job_id).where(OutboxRow.ready, OutboxRow.job_id.in_(job_ids))
    with database.transaction() as connection:
        return [str(job_id) for (job_id,) in connection.execute(statement)]


def sender(sent: list[tuple[str, Step]]) -> Callable[[str, Step], None]:
    return lambda job_id, step: sent.append((job_id, step))


def age(database: Database, job_id: str, seconds: float) -> None:
    """Let time pass for one job: each of its moments is that much earlier."""
    columns: tuple[Any, ...] = (JobRow.created_at, JobRow.dispatched_at, JobRow.next_retry_at, JobRow.lease_until)
    shift = interval(literal(seconds))
    with database.transaction() as connection:
        connection.execute(
            update(JobRow).where(JobRow.id == job_id).values({column.key: column - shift for column in columns})
        )
