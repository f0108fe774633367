"""Ending a step that is not the last: its effect and the step pointer in one transaction, and mostly one statement."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from sqlalchemy import (
    Connection,
    Double,
    Integer,
    SmallInteger,
    Uuid,
    bindparam,
    column,
    delete,
    func,
    insert,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import JSONB

from domain.facts import StagedFact
from domain.jobs import Advance, Job, Status
from storage.clock import interval
from storage.rows import decision_to_json, entities_to_json, messages_to_json, staged_payload, staged_to_columns
from storage.tables import JobRow, StagedRow

_CLEAR = delete(StagedRow).where(StagedRow.job_id == bindparam("this_job"))
_STAGE = insert(StagedRow)


def advance(connection: Connection, job: Job, result: Advance, *, handoff: float) -> bool:
    """Store the step's effect and move the pointer; False, with nothing changed, when the lease was lost.

    `handoff` is the grace in seconds for the next step's message. The caller's connection is in a transaction, unless
    `is_one_statement` allows it to do without.
    """
    values = {
        "this_job": job.id,
        "this_fence": job.fence,
        "this_step": int(job.step),
        "handoff_seconds": handoff,
        "new_counts": dict(result.counts),
        "new_trace": [decision_to_json(job.step, entry) for entry in result.trace],
        "new_messages": None if result.messages is None else messages_to_json(result.messages),
    }
    if result.staged is None:
        return connection.execute(_advance(), values).one_or_none() is not None
    if is_one_statement(job, result):
        values["facts"] = [_changed(fact, position) for position, fact in enumerate(result.staged)]
        return connection.execute(_advance_known(), values).one_or_none() is not None
    if connection.execute(_advance(), values).one_or_none() is None:
        return False
    _stage(connection, job.id, result.staged)
    return True


def is_one_statement(job: Job, result: Advance) -> bool:
    """Whether nothing new is staged: what is staged already was kept, changed or dropped, its vectors left alone."""
    known = {fact.id: fact.vector for fact in job.staged}
    return all(known.get(fact.id) is fact.vector for fact in result.staged or ())


def _stage(connection: Connection, job_id: str, facts: Sequence[StagedFact]) -> None:
    connection.execute(_CLEAR, {"this_job": job_id})
    if facts:
        rows = [staged_to_columns(fact, job_id, position) for position, fact in enumerate(facts)]
        connection.execute(_STAGE, rows)


def _changed(fact: StagedFact, position: int) -> dict[str, Any]:
    return {
        "id": fact.id,
        "position": position,
        "payload": staged_payload(fact),
        "entities": entities_to_json(fact.entities),
    }


# Both statements are built once for a process: building one costs as much as running it.
@cache
def _advance() -> Any:
    step = bindparam("this_step", type_=SmallInteger)
    # The decisions of an earlier run of this step, or of a later one, give way to these.
    earlier = func.jsonb_path_query_array(
        JobRow.trace, text("'$[*] ? (@.step < $step)'::jsonpath"), func.jsonb_build_object("step", step)
    )
    return (
        update(JobRow)
        .where(
            JobRow.id == bindparam("this_job"),
            JobRow.fence == bindparam("this_fence"),
            JobRow.step == step,
            JobRow.status == Status.PROCESSING,
            JobRow.lease_owner.is_not(None),
        )
        .values(
            step=step + 1,
            retry_count=0,
            next_retry_at=None,
            last_error=None,
            lease_owner=None,
            lease_until=func.now() + interval(bindparam("handoff_seconds", type_=Double)),
            counts=JobRow.counts.op("||")(bindparam("new_counts", type_=JSONB)),
            trace=earlier.op("||")(bindparam("new_trace", type_=JSONB)),
            messages=func.coalesce(bindparam("new_messages", type_=JSONB(none_as_null=True)), JobRow.messages),
            updated_at=func.now(),
        )
        .returning(JobRow.id)
    )


@cache
def _advance_known() -> Any:
    ours = _advance().cte("ours")
    columns: tuple[Any, ...] = (
        column("id", Uuid),
        column("position", Integer),
        column("payload", JSONB),
        column("entities", JSONB),
    )
    rows = func.jsonb_to_recordset(bindparam("facts", type_=JSONB)).table_valued(*columns)
    facts = select(rows.render_derived("given", with_types=True)).cte("facts")
    dropped = delete(StagedRow).where(StagedRow.job_id == ours.c.id, StagedRow.id.not_in(select(facts.c.id)))
    kept = (
        update(StagedRow)
        .where(StagedRow.job_id == ours.c.id, StagedRow.id == facts.c.id)
        .values(position=facts.c.position, payload=facts.c.payload, entities=facts.c.entities)
    )
    return select(ours.c.id).add_cte(dropped.cte("dropped"), kept.cte("kept"))
