"""Make staged facts memories: rows, history, entity links and audit in the transaction that ends the job.

The formats are mem0 2.0.12's own (mem0 study, section 2), so that stock mem0 reads everything written here.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence, Set
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, insert, select, update
from sqlalchemy.dialects.postgresql import insert as pg_insert

from domain.candidate import JsonValue
from domain.facts import Entity, FactVerdict, StagedFact
from domain.jobs import Finish, Job, Outcome
from domain.text import content_hash
from storage.rows import staged_payload
from storage.tables import AuditRow, EntityRow, HistoryRow, MemoryRow

SCHEMA_VERSION = 2


def publish(connection: Connection, job: Job, staged: Sequence[StagedFact]) -> Finish:
    """Write every fact the scope does not hold yet. The caller holds the scope's lock.

    Returns:
        `published` with the number inserted, or `no_effect` when all were known already.
    """
    inserted = _insert_memories(connection, job, staged)
    published = [fact for fact in staged if fact.id in inserted]
    if not published:
        counts = {"inserted": 0, "duplicates": len(staged)}
        return Finish(Outcome.NO_EFFECT, reason="already_known", counts=counts, trace=_trace(staged, published))
    _write_history(connection, published)
    _write_audit(connection, job, published)
    _link_entities(connection, job.candidate.scope.key, published)
    counts = {"inserted": len(published), "duplicates": len(staged) - len(published)}
    return Finish(Outcome.PUBLISHED, counts=counts, trace=_trace(staged, published))


def _trace(staged: Sequence[StagedFact], published: Sequence[StagedFact]) -> tuple[FactVerdict, ...]:
    inserted = {fact.id for fact in published}
    return tuple(FactVerdict(fact.id, None if fact.id in inserted else "already_known") for fact in staged)


def _insert_memories(connection: Connection, job: Job, facts: Sequence[StagedFact]) -> set[str]:
    """Insert all but those the scope holds already; the ids of the inserted."""
    if not facts:
        return set()
    rows = [{"id": fact.id, "vector": list(fact.vector), "payload": memory_payload(job, fact)} for fact in facts]
    statement = pg_insert(MemoryRow).on_conflict_do_nothing().returning(MemoryRow.id)
    return {str(memory_id) for (memory_id,) in connection.execute(statement, rows)}


def memory_payload(job: Job, fact: StagedFact) -> dict[str, JsonValue]:
    """The payload of a memory row: the client's metadata, flat, beneath mem0's keys and ours."""
    candidate = job.candidate
    now = datetime.now(UTC).isoformat()
    origin = {
        "agent_id": candidate.agent_id,
        "run_id": candidate.run_id,
        "conversation_id": candidate.conversation_id,
        "source_message_id": candidate.source_message_id,
    }
    return {
        **candidate.metadata,
        "created_at": now,
        "updated_at": now,
        **staged_payload(fact),
        **{key: value for key, value in origin.items() if value is not None},
        "user_id": candidate.scope.key,
        "hash": content_hash(fact.text),
        "source": candidate.kind.value,
        "status": "active",
        "job_id": job.id,
        "trace_id": candidate.trace_id,
        "memory_schema_version": SCHEMA_VERSION,
    }


def _write_history(connection: Connection, facts: Sequence[StagedFact]) -> None:
    now = datetime.now(UTC)
    rows = [
        {
            "id": uuid.uuid4(),
            "memory_id": fact.id,
            "new_memory": fact.text,
            "event": "ADD",
            "created_at": now,
            "updated_at": now,
            "role": fact.attributed_to,
        }
        for fact in facts
    ]
    connection.execute(insert(HistoryRow), rows)


def _write_audit(connection: Connection, job: Job, facts: Sequence[StagedFact]) -> None:
    rows = [
        {
            "memory_id": uuid.UUID(fact.id),
            "scope": job.candidate.scope.key,
            "operation": "create",
            "operator_type": "system",
            "reason": job.candidate.kind.value,
            "job_id": uuid.UUID(job.id),
            "trace_id": job.candidate.trace_id,
            "after": {"data": fact.text},
        }
        for fact in facts
    ]
    connection.execute(insert(AuditRow), rows)


def _link_entities(connection: Connection, scope: str, facts: Sequence[StagedFact]) -> None:
    links = _links_by_name(facts)
    known = _known_entities(connection, scope, set(links)) if links else {}
    new = [
        {
            "id": uuid.uuid4(),
            "vector": list(entity.vector),
            "payload": {
                "data": entity.text,
                "entity_type": entity.type.value,
                "linked_memory_ids": sorted(memory_ids),
                "user_id": scope,
            },
        }
        for name, (entity, memory_ids) in links.items()
        if name not in known
    ]
    if new:
        connection.execute(insert(EntityRow), new)
    for name, row in known.items():
        linked = sorted({*row.payload.get("linked_memory_ids", []), *links[name][1]})
        payload = {**row.payload, "linked_memory_ids": linked}
        connection.execute(update(EntityRow).where(EntityRow.id == row.id).values(payload=payload))


def _links_by_name(facts: Sequence[StagedFact]) -> dict[str, tuple[Entity, set[str]]]:
    links: dict[str, tuple[Entity, set[str]]] = {}
    for fact in facts:
        for entity in fact.entities:
            links.setdefault(entity_key(entity.text), (entity, set()))[1].add(fact.id)
    return links


def _known_entities(connection: Connection, scope: str, wanted: Set[str]) -> dict[str, Any]:
    """The scope's entities of these names. Of all the others, which may be many, only the names are read."""
    ours = EntityRow.payload["user_id"].astext == scope
    names = connection.execute(select(EntityRow.id, EntityRow.payload["data"].astext.label("name")).where(ours))
    known = {key: row.id for row in names if (key := entity_key(row.name or "")) in wanted}
    if not known:
        return {}
    found = connection.execute(select(EntityRow.id, EntityRow.payload).where(EntityRow.id.in_(known.values())))
    rows = {row.id: row for row in found}
    return {key: rows[entity_id] for key, entity_id in known.items()}


def entity_key(text: str) -> str:
    """The spelling by which mem0 tells entities apart: lower case, single spaces."""
    return " ".join(text.lower().split())
