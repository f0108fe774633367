"""Taking a step: the conditional UPDATE that gives a worker the lease, and what it is told when there is none."""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlalchemy import (
    Connection,
    Double,
    Integer,
    Text,
    and_,
    bindparam,
    case,
    cast,
    exists,
    false,
    func,
    not_,
    or_,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import JSONB, aggregate_order_by
from sqlalchemy.orm import aliased

from domain.candidate import RunKind
from domain.jobs import OPEN_STATUSES, AlreadyDone, Claim, Job, NotOurs, NotYet, Status, Step
from domain.switches import UserSettings, closed
from storage.clock import interval
from storage.rows import CANDIDATE_COLUMNS, candidate_from_row, messages_from_json, staged_from_json
from storage.runs import managed_run
from storage.tables import JobRow, StagedRow, is_open
from storage.user_settings import settings_of_job


def claim(connection: Connection, job_id: str, step: Step, owner: str, *, follows: str | None, lease: float) -> Any:
    """Give the step to `owner` for `lease` seconds: its row with what is staged, or None when it is not its turn.

    A live lease keeps everybody out but the next attempt of the delivery that holds it: `follows` is how the owner
    of the attempt before begins. Such an attempt ended without being able to say so, and no worker was lost.
    """
    values = {
        "this_job": job_id,
        "this_step": int(step),
        "new_owner": owner,
        "follows": follows,
        "lease_seconds": lease,
        "step_name": step.name.lower(),
    }
    return connection.execute(_claim_statement(), values).one_or_none()


@cache
def _claim_statement() -> Any:
    """One statement, built once: building it costs as much as running it."""
    is_follower = func.coalesce(func.starts_with(JobRow.lease_owner, bindparam("follows", type_=Text)), false())
    lease_over = and_(JobRow.lease_owner.is_not(None), JobRow.lease_until < func.now())
    claimable = or_(
        JobRow.status == Status.PENDING,
        and_(JobRow.status == Status.FAILED, JobRow.next_retry_at <= func.now()),
        and_(JobRow.status == Status.PROCESSING, or_(JobRow.lease_owner.is_(None), lease_over, is_follower)),
    )
    is_lost = and_(JobRow.status == Status.PROCESSING, lease_over, not_(is_follower))
    name = bindparam("step_name", type_=Text)
    count = func.coalesce(cast(JobRow.attempts.op("->>", return_type=Text())(name), Integer), 0)
    return (
        update(JobRow)
        .where(JobRow.id == bindparam("this_job"), JobRow.step == bindparam("this_step"), claimable, no_older())
        .values(
            status=Status.PROCESSING,
            lease_owner=bindparam("new_owner"),
            lease_until=func.now() + interval(bindparam("lease_seconds", type_=Double)),
            fence=JobRow.fence + 1,
            lost_count=JobRow.lost_count + case((is_lost, 1), else_=0),
            dispatch_count=0,
            started_at=func.coalesce(JobRow.started_at, func.now()),
            updated_at=func.now(),
            attempts=JobRow.attempts.op("||")(func.jsonb_build_object(name, count + 1)),
        )
        .returning(
            *(getattr(JobRow, column) for column in (*CANDIDATE_COLUMNS, "fence", "messages")),
            _staged_rows(),
            managed_run().label("is_managed"),
            settings_of_job().label("user_settings"),
        )
    )


def _staged_rows() -> Any:
    """What the job has staged, in order, as one array; a vector in it is text."""
    row = func.jsonb_build_object(
        "id",
        StagedRow.id,
        "vector",
        cast(StagedRow.vector, Text),
        "payload",
        StagedRow.payload,
        "entities",
        StagedRow.entities,
    )
    rows = func.jsonb_agg(aggregate_order_by(row, StagedRow.position), type_=JSONB)
    return select(rows).where(StagedRow.job_id == JobRow.id).scalar_subquery().label("staged")


def no_older() -> Any:
    """Whether the outer query's job is the oldest open one of its scope, as an SQL condition."""
    older = aliased(JobRow)
    return ~exists().where(older.scope == JobRow.scope, older.seq < JobRow.seq, is_open(older))


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


def claimed_job(row: Any, step: Step) -> Job:
    """The claimed row as the step sees it."""
    settings = UserSettings(**(row.user_settings or {}))
    return Job(
        id=str(row.id),
        candidate=candidate_from_row(row),
        step=step,
        fence=row.fence,
        messages=messages_from_json(row.messages),
        staged=tuple(staged_from_json(fact) for fact in row.staged or ()),
        closed=closed(settings, RunKind(row.run_kind), is_managed=row.is_managed),
    )
