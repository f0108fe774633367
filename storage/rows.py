"""Between domain values and what stands in a row: nothing else knows both shapes."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import numpy as np

from domain.candidate import Candidate, Cut, Form, JsonValue, Kind, Message, Role, RunKind
from domain.facts import Entity, EntityType, Evidence, FactVerdict, StagedFact, Vector
from domain.jobs import JobView, Outcome, Status, Step, TraceEntry
from domain.lifecycle import Details, MemoryItem
from domain.metadata import RESERVED_KEYS
from domain.scope import Scope

# By the names of `Details`: the key in a payload and what kind of value it holds.
_DETAILS: dict[str, tuple[str, type]] = {
    "type": ("type", str),
    "title": ("title", str),
    "confidence": ("confidence", float),
    "importance": ("importance", float),
    "sensitivity": ("sensitivity", int),
    "is_explicit": ("is_explicit", bool),
}
# What `candidate_from_row` reads.
CANDIDATE_COLUMNS = (
    "id",
    "tenant_id",
    "user_id",
    "agent_id",
    "run_id",
    "conversation_id",
    "source_message_id",
    "kind",
    "form",
    "run_kind",
    "idempotency_key",
    "trace_id",
    "payload",
)


def messages_to_json(messages: tuple[Message, ...]) -> list[dict[str, str]]:
    """Messages as a jsonb array of role and content."""
    return [{"role": message.role.value, "content": message.content} for message in messages]


def messages_from_json(rows: list[dict[str, str]] | None) -> tuple[Message, ...]:
    """The messages of a jsonb array; none when the content was already removed."""
    return tuple(Message(Role(row["role"]), row["content"]) for row in rows or [])


def candidate_to_columns(candidate: Candidate) -> dict[str, Any]:
    """The ledger columns that hold a candidate."""
    return {
        "scope": candidate.scope.key,
        "tenant_id": candidate.scope.tenant_id,
        "user_id": candidate.scope.user_id,
        "agent_id": candidate.agent_id,
        "run_id": candidate.run_id,
        "conversation_id": candidate.conversation_id,
        "source_message_id": candidate.source_message_id,
        "kind": candidate.kind.value,
        "form": candidate.form.value,
        "run_kind": candidate.run_kind.value,
        "idempotency_key": candidate.idempotency_key,
        "payload": {"messages": messages_to_json(candidate.messages), "metadata": dict(candidate.metadata)},
    }


def candidate_from_row(row: Any) -> Candidate:
    """The candidate a ledger row holds."""
    payload = row.payload or {}
    return Candidate(
        scope=Scope(row.tenant_id, row.user_id),
        messages=messages_from_json(payload.get("messages")),
        kind=Kind(row.kind),
        form=Form(row.form),
        run_kind=RunKind(row.run_kind),
        agent_id=row.agent_id,
        run_id=row.run_id,
        conversation_id=row.conversation_id,
        source_message_id=row.source_message_id,
        metadata=payload.get("metadata", {}),
        idempotency_key=row.idempotency_key,
        trace_id=row.trace_id,
    )


def staged_to_columns(fact: StagedFact, job_id: str, position: int) -> dict[str, Any]:
    """The columns of `memory_staged`. The attributed role and the lemmas travel inside the payload, as in mem0."""
    return {
        "id": fact.id,
        "job_id": job_id,
        "position": position,
        "vector": list(fact.vector),
        "payload": staged_payload(fact),
        "entities": entities_to_json(fact.entities),
    }


def entities_to_json(entities: tuple[Entity, ...]) -> list[dict[str, JsonValue]]:
    """Entities as a jsonb array."""
    return [{"text": entity.text, "type": entity.type.value, "vector": list(entity.vector)} for entity in entities]


def staged_payload(fact: StagedFact) -> dict[str, JsonValue]:
    """mem0's payload of a fact."""
    payload: dict[str, JsonValue] = {**fact.payload, "data": fact.text, "text_lemmatized": fact.text_lemmatized}
    if fact.attributed_to:
        payload["attributed_to"] = fact.attributed_to
    if fact.evidence:
        payload["evidence"] = asdict(fact.evidence)
    return payload


def staged_from_json(row: dict[str, Any]) -> StagedFact:
    """The fact a staged row holds, from its columns as JSON with the vector as text."""
    payload = row["payload"]
    return StagedFact(
        id=row["id"],
        text=payload["data"],
        vector=vector_from_row(row["vector"]),
        attributed_to=payload.get("attributed_to"),
        payload=payload,
        text_lemmatized=payload.get("text_lemmatized", ""),
        evidence=Evidence(**payload["evidence"]) if "evidence" in payload else None,
        entities=tuple(
            Entity(entity["text"], EntityType(entity["type"]), tuple(entity["vector"])) for entity in row["entities"]
        ),
    )


def decision_to_json(step: Step, entry: TraceEntry) -> dict[str, JsonValue]:
    """One decision as it stands in the ledger's trace."""
    kind = "cut" if isinstance(entry, Cut) else "fact"
    return {
        "step": int(step),
        "kind": kind,
        **{key: value for key, value in asdict(entry).items() if value is not None},
    }


def decisions_from_json(rows: list[dict[str, Any]]) -> tuple[tuple[Step, TraceEntry], ...]:
    """The decisions of a trace, in order."""
    return tuple((Step(row["step"]), _decision(row)) for row in rows)


def _decision(row: dict[str, Any]) -> TraceEntry:
    if row["kind"] == "cut":
        return Cut(row["message"], row["rule"], row["first"], row["last"])
    evidence = row.get("evidence")
    return FactVerdict(row["fact_id"], row.get("rule"), Evidence(**evidence) if evidence else None)


def vector_from_row(value: Any) -> Vector:
    """A vector column's value as a tuple of floats."""
    if isinstance(value, str):
        value = json.loads(value)
    return tuple(np.asarray(value, dtype=np.float32).tolist())


def owner_of(payload: Any) -> str | None:
    """Whose a memory row is; nobody's when its payload is none."""
    return payload.get("user_id") if isinstance(payload, dict) else None


def text_of(payload: dict[str, Any]) -> str:
    """A memory's text; empty when its row holds none."""
    return str(payload.get("data") or "")


def memory_item(row: Any) -> MemoryItem:
    """What a user may see of a memory row, whoever wrote it: a field that is not of its kind is left out."""
    payload = row.payload
    known = {name: _if_a(kind, payload.get(key)) for name, (key, kind) in _DETAILS.items()}
    own = {key: value for key, value in payload.items() if key not in RESERVED_KEYS}
    return MemoryItem(
        id=str(row.id),
        content=text_of(payload),
        status=str(payload.get("status") or "active"),
        details=Details(**known, expires_at=_day(payload.get("expiration_date")), metadata=own),
        evidence=_evidence(payload.get("evidence")),
        **{key: _if_a(str, payload.get(key)) for key in ("source", "run_id", "agent_id")},
        **{key: _instant(payload.get(key)) for key in ("created_at", "updated_at")},
    )


def _if_a(kind: type, value: Any) -> Any:
    is_whole = kind is float and type(value) is int
    return value if is_whole or type(value) is kind else None


def _evidence(value: Any) -> Evidence | None:
    try:
        found = Evidence(**value)
    except TypeError:
        return None
    places = (found.message, found.start, found.end)
    return found if all(type(place) is int for place in places) and isinstance(found.role, str) else None


def _day(value: Any) -> str | None:
    """A last day, or None for what is none."""
    return moment.date().isoformat() if (moment := as_moment(value)) else None


def _instant(value: Any) -> str | None:
    """A time with its zone, UTC where none is named."""
    moment = as_moment(value)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat() if moment else None


def as_moment(value: Any) -> datetime | None:
    """What a stored time or day says, or None for what says none."""
    try:
        return datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None


def job_view(row: Any) -> JobView:
    """What may be shown of a ledger row."""
    step = Step(row.step)
    return JobView(
        id=str(row.id),
        scope=row.scope,
        kind=row.kind,
        status=Status(row.status),
        step=row.step,
        step_name=step.task_name,
        outcome=Outcome(row.outcome) if row.outcome else None,
        reason=row.reason,
        rule=row.rule,
        retry_count=row.retry_count,
        lost_count=row.lost_count,
        attempts=row.attempts,
        counts=row.counts,
        last_error=row.last_error,
        next_retry_at=row.next_retry_at,
        trace_id=row.trace_id,
        run_id=row.run_id,
        created_at=row.created_at,
        started_at=row.started_at,
        updated_at=row.updated_at,
        finished_at=row.finished_at,
        has_content=row.payload is not None,
    )
