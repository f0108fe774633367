"""Make staged facts memories: rows, history, entity links and audit in the transaction that ends the job.

The formats are mem0 2.0.12's own (mem0 study, section 2), so that stock mem0 reads everything written here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import Connection

from domain.facts import FactVerdict, StagedFact
from domain.jobs import Finish, Job, Outcome
from domain.memory import Origin
from domain.switches import SENSITIVE, UserSettings, closed
from storage.entities import link
from storage.forgotten import EVIDENCE_MAC, evidence_marks, forgotten, marker
from storage.maintenance import expire
from storage.memory_rows import archived_texts, insert_memories, write_audit, write_history

ALREADY_KNOWN = "already_known"
FORGOTTEN_BEFORE = "forgotten_before"
SENSITIVE_OFF = "sensitive_memory_enabled"


def publish(
    connection: Connection, job: Job, staged: Sequence[StagedFact], *, settings: UserSettings, is_managed: bool
) -> Finish:
    """Write every fact the scope neither holds nor has forgotten. The caller holds the scope's lock.

    `settings` are the user's switches and `is_managed` whether the run has an explicit writer, both as the lock
    found them.

    Returns:
        `published` with the number inserted; `no_effect` when all were known or forgotten before; `skipped_managed`
        when the run has managed memories itself meanwhile.
    """
    origin = origin_of(job)
    scope = origin.scope.key
    end = closed(settings, job.candidate.run_kind, is_managed=is_managed)
    if end is not None:
        return end
    expire(connection, scope)
    made = marker(connection, scope)
    evidence = evidence_marks(job, staged, made)
    gone = forgotten(connection, staged, evidence, made)
    hidden = set() if settings.sensitive_memory_enabled else {fact.id for fact in staged if _is_sensitive(fact)}
    wanted = [_with_mark(fact, evidence[fact.id]) for fact in staged if fact.id not in gone | hidden]
    hushed = archived_texts(connection, scope, wanted)
    added = insert_memories(connection, origin, [fact for fact in wanted if fact.text not in hushed])
    published = [fact for fact in wanted if fact.id in added]
    counts = {"inserted": len(published), "duplicates": len(wanted) - len(published)}
    rules = {**dict.fromkeys(hidden, SENSITIVE_OFF), **dict.fromkeys(gone, FORGOTTEN_BEFORE)}
    counts |= Counter(rules.values())
    trace = tuple(
        FactVerdict(fact.id, None if fact.id in added else rules.get(fact.id, ALREADY_KNOWN)) for fact in staged
    )
    if not published:
        reason = ALREADY_KNOWN if wanted else next(iter(rules.values()), ALREADY_KNOWN)
        return Finish(Outcome.NO_EFFECT, reason=reason, counts=counts, trace=trace)
    write_history(connection, published)
    write_audit(connection, origin, "create", published)
    link(connection, scope, published)
    return Finish(Outcome.PUBLISHED, counts=counts, trace=trace)


def _with_mark(fact: StagedFact, evidence: str | None) -> StagedFact:
    """The fact with the mark that it will leave when it is forgotten."""
    return replace(fact, payload={**fact.payload, EVIDENCE_MAC: evidence}) if evidence else fact


def _is_sensitive(fact: StagedFact) -> bool:
    level = fact.payload.get("sensitivity")
    return isinstance(level, int) and level >= SENSITIVE


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
