"""Make staged facts memories: rows, history, entity links and audit in the transaction that ends the job.

The formats are mem0 2.0.12's own (mem0 study, section 2), so that stock mem0 reads everything written here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import Connection

from domain.facts import FactVerdict, StagedFact
from domain.jobs import Finish, Job, Outcome
from domain.memory import Origin
from storage.entities import link
from storage.forgotten import EVIDENCE_MAC, evidence_marks, forgotten, marker
from storage.maintenance import expire
from storage.memory_rows import insert_memories, write_audit, write_history
from storage.runs import is_managed

ALREADY_KNOWN = "already_known"
FORGOTTEN_BEFORE = "forgotten_before"


def publish(connection: Connection, job: Job, staged: Sequence[StagedFact]) -> Finish:
    """Write every fact the scope neither holds nor has forgotten. The caller holds the scope's lock.

    Returns:
        `published` with the number inserted; `no_effect` when all were known or forgotten before; `skipped_managed`
        when the run has managed memories itself meanwhile.
    """
    origin = origin_of(job)
    scope = origin.scope.key
    if is_managed(connection, scope, origin.run_id):
        return Finish(Outcome.SKIPPED_MANAGED, reason="run_managed")
    expire(connection, scope)
    made = marker(connection, scope)
    evidence = evidence_marks(job, staged, made)
    gone = forgotten(connection, staged, evidence, made)
    wanted = [_with_mark(fact, evidence[fact.id]) for fact in staged if fact.id not in gone]
    added = insert_memories(connection, origin, wanted)
    published = [fact for fact in wanted if fact.id in added]
    counts = {"inserted": len(published), "duplicates": len(wanted) - len(published)}
    if gone:
        counts["forgotten_before"] = len(gone)
    trace = tuple(FactVerdict(fact.id, _rule(fact.id, added, gone)) for fact in staged)
    if not published:
        reason = ALREADY_KNOWN if wanted else FORGOTTEN_BEFORE
        return Finish(Outcome.NO_EFFECT, reason=reason, counts=counts, trace=trace)
    write_history(connection, published)
    write_audit(connection, origin, "create", published)
    link(connection, scope, published)
    return Finish(Outcome.PUBLISHED, counts=counts, trace=trace)


def _with_mark(fact: StagedFact, evidence: str | None) -> StagedFact:
    """The fact with the mark that it will leave when it is forgotten."""
    return replace(fact, payload={**fact.payload, EVIDENCE_MAC: evidence}) if evidence else fact


def _rule(fact_id: str, inserted: set[str], gone: set[str]) -> str | None:
    if fact_id in inserted:
        return None
    return FORGOTTEN_BEFORE if fact_id in gone else ALREADY_KNOWN


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
