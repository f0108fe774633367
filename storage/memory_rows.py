"""The rows that belong to one memory: its payload in mem0's format, its history, its line in the audit."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy import Connection, Text, any_, bindparam, insert, select
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.dialects.postgresql import insert as pg_insert

from domain.candidate import JsonValue
from domain.facts import StagedFact
from domain.memory import Origin
from domain.text import content_hash
from storage.rows import staged_payload
from storage.tables import AuditRow, HistoryRow, MemoryRow, text_at

SCHEMA_VERSION = 2
_INSERT_NEW = pg_insert(MemoryRow).on_conflict_do_nothing().returning(MemoryRow.id)
_INSERT_HISTORY = insert(HistoryRow)
_INSERT_AUDIT = insert(AuditRow)
_ARCHIVED = select(text_at(MemoryRow.payload, "hash")).where(
    text_at(MemoryRow.payload, "user_id") == bindparam("scope"),
    text_at(MemoryRow.payload, "hash") == any_(bindparam("hashes", type_=ARRAY(Text))),
    text_at(MemoryRow.payload, "status") == "archived",
)


def insert_memories(connection: Connection, origin: Origin, facts: Sequence[StagedFact]) -> set[str]:
    """Write all but those whose text the scope holds already; the ids of the written."""
    if not facts:
        return set()
    rows = [{"id": fact.id, "vector": list(fact.vector), "payload": memory_payload(origin, fact)} for fact in facts]
    return {str(memory_id) for (memory_id,) in connection.execute(_INSERT_NEW, rows)}


def archived_texts(connection: Connection, scope: str, facts: Sequence[StagedFact]) -> set[str]:
    """The texts that a user has archived: a conversation does not bring them back."""
    hashes = {content_hash(fact.text): fact.text for fact in facts}
    if not hashes:
        return set()
    found = connection.execute(_ARCHIVED, {"scope": scope, "hashes": list(hashes)}).scalars()
    return {hashes[known] for known in found}


def memory_payload(origin: Origin, fact: StagedFact) -> dict[str, JsonValue]:
    """The payload of a memory row: the client's metadata, flat, beneath mem0's keys and ours."""
    now = datetime.now(UTC).isoformat()
    known = {
        "agent_id": origin.agent_id,
        "run_id": origin.run_id,
        "conversation_id": origin.conversation_id,
        "source_message_id": origin.source_message_id,
        "job_id": origin.job_id,
        "trace_id": origin.trace_id,
    }
    return {
        **origin.metadata,
        "created_at": now,
        "updated_at": now,
        **staged_payload(fact),
        **{key: value for key, value in known.items() if value is not None},
        "user_id": origin.scope.key,
        "hash": content_hash(fact.text),
        "source": origin.source,
        "status": "active",
        "memory_schema_version": SCHEMA_VERSION,
    }


def write_history(connection: Connection, facts: Sequence[StagedFact]) -> None:
    """Note in mem0's history that the facts were added."""
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
    connection.execute(_INSERT_HISTORY, rows)


def write_audit(connection: Connection, origin: Origin, operation: str, facts: Sequence[StagedFact]) -> None:
    """Note who made the facts memories."""
    rows = [
        {
            "memory_id": uuid.UUID(fact.id),
            "scope": origin.scope.key,
            "operation": operation,
            "operator_type": origin.operator_type,
            "operator": origin.operator,
            "reason": origin.source,
            "job_id": uuid.UUID(origin.job_id) if origin.job_id else None,
            "trace_id": origin.trace_id,
            "after": {"data": fact.text},
        }
        for fact in facts
    ]
    connection.execute(_INSERT_AUDIT, rows)
