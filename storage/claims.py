"""Taking a step: the conditional UPDATE that gives a worker the lease, and what it is told when there is none."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, and_, case, exists, false, func, not_, or_, select, update
from sqlalchemy.orm import aliased

from domain.jobs import OPEN_STATUSES, AlreadyDone, Claim, Job, NotOurs, NotYet, Status, Step
from storage.clock import from_now
from storage.rows import candidate_from_row, messages_from_json, staged_from_row
from storage.runs import is_managed
from storage.tables import JobRow, StagedRow


def claim_statement(job_id: str, step: Step, owner: str, *, follows: str | None, lease_seconds: float) -> Any:
    """Give the step to `owner` and return the row; no row when it is not this step's turn.

    A live lease keeps everybody out but the next attempt of the delivery that holds it: `follows` is how the owner
    of the attempt before begins. Such an attempt ended without being able to say so, and no worker was lost.
    """
    is_follower = JobRow.lease_owner.startswith(follows, autoescape=True) if follows else false()
    lease_over = and_(JobRow.lease_owner.is_not(None), JobRow.lease_until < func.now())
    claimable = or_(
        JobRow.status == Status.PENDING,
        and_(JobRow.status == Status.FAILED, JobRow.next_retry_at <= func.now()),
        and_(JobRow.status == Status.PROCESSING, or_(JobRow.lease_owner.is_(None), lease_over, is_follower)),
    )
    is_lost = and_(JobRow.status == Status.PROCESSING, lease_over, not_(is_follower))
    name = step.name.lower()
    return (
        update(JobRow)
        .where(JobRow.id == job_id, JobRow.step == step, claimable, no_older())
        .values(
            status=Status.PROCESSING,
            lease_owner=owner,
            lease_until=from_now(lease_seconds),
            fence=JobRow.fence + 1,
            lost_count=JobRow.lost_count + case((is_lost, 1), else_=0),
            dispatch_count=0,
            started_at=func.coalesce(JobRow.started_at, func.now()),
            updated_at=func.now(),
            attempts=JobRow.attempts.op("||")(
                func.jsonb_build_object(name, func.coalesce(JobRow.attempts[name].as_integer(), 0) + 1)
            ),
        )
        .returning(JobRow)
    )


def no_older() -> Any:
    """Whether the outer query's job is the oldest open one of its scope, as an SQL condition."""
    older = aliased(JobRow)
    return ~exists().where(older.scope == JobRow.scope, older.seq < JobRow.seq, older.status.in_(OPEN_STATUSES))


def why_not(connection: Connection, job_id: str, step: Step) -> Claim:
    """What keeps the step from being taken."""
    due_in = func.extract("epoch", JobRow.next_retry_at - func.now())
    row = connection.execute(
        select(JobRow.step, JobRow.status, due_in.label("due_in")).where(JobRow.id == job_id)
    ).one_or_none()
    if row is None or row.status not in OPEN_STATUSES:
        return NotOurs()
    if row.step > step:
        return AlreadyDone()
    if row.step == step and row.status == Status.FAILED and row.due_in > 0:
        return NotYet(float(row.due_in))
    return NotOurs()


def load_job(connection: Connection, row: Any, step: Step) -> Job:
    """The claimed row as the step sees it."""
    staged = connection.execute(
        select(StagedRow.__table__).where(StagedRow.job_id == row.id).order_by(StagedRow.position)
    ).all()
    return Job(
        id=str(row.id),
        candidate=candidate_from_row(row),
        step=step,
        fence=row.fence,
        messages=messages_from_json(row.messages),
        staged=tuple(staged_from_row(fact) for fact in staged),
        is_managed=is_managed(connection, row.scope, row.run_id),
    )
