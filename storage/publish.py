"""Make staged facts memories: rows, history, entity links and audit in the transaction that ends the job.

The formats are mem0 2.0.12's own (mem0 study, section 2), so that stock mem0 reads everything written here.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from domain.facts import FactVerdict, StagedFact
from domain.jobs import Finish, Job, Outcome
from domain.memory import Origin
from storage.entities import link
from storage.maintenance import expire
from storage.memory_rows import insert_memory, write_audit, write_history


def publish(connection: Connection, job: Job, staged: Sequence[StagedFact]) -> Finish:
    """Write every fact the scope does not hold yet. The caller holds the scope's lock.

    Returns:
        `published` with the number inserted, or `no_effect` when all were known already.
    """
    origin = origin_of(job)
    expire(connection, origin.scope.key)
    published = [fact for fact in staged if insert_memory(connection, origin, fact)]
    if not published:
        counts = {"inserted": 0, "duplicates": len(staged)}
        return Finish(Outcome.NO_EFFECT, reason="already_known", counts=counts, trace=_trace(staged, published))
    write_history(connection, published)
    write_audit(connection, origin, "create", published)
    link(connection, origin.scope.key, published)
    counts = {"inserted": len(published), "duplicates": len(staged) - len(published)}
    return Finish(Outcome.PUBLISHED, counts=counts, trace=_trace(staged, published))


def _trace(staged: Sequence[StagedFact], published: Sequence[StagedFact]) -> tuple[FactVerdict, ...]:
    inserted = {fact.id for fact in published}
    return tuple(FactVerdict(fact.id, None if fact.id in inserted else "already_known") for fact in staged)


def origin_of(job: Job) -> Origin:
    """Where the memories of a job come from."""
    candidate = job.candidate
    return Origin(
        scope=candidate.scope,
        source=candidate.kind.value,
        metadata=candidate.metadata,
        agent_id=candidate.agent_id,
        run_id=candidate.run_id,
        conversation_id=candidate.conversation_id,
        source_message_id=candidate.source_message_id,
        job_id=job.id,
        trace_id=candidate.trace_id,
    )
