"""Where something of a memory or of a user still stands: every store is looked at, nothing is taken for granted."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Text, cast, exists, func, or_, select

from domain.lifecycle import Traces
from domain.sentences import clauses, sentences
from domain.text import loose
from storage.forgotten import EVIDENCE_MAC, Marker, marker
from storage.rows import text_of
from storage.tables import AuditRow, EntityRow, ForgottenRow, HistoryRow, JobRow, MemoryRow, OutboxRow, StagedRow


@dataclass(frozen=True, slots=True)
class Target:
    """What is looked for: one memory by its id, the marks of its text and sentence, and its text where it is known."""

    made: Marker
    memory_id: str
    marks: frozenset[str]
    text: str | None = None

    def is_in(self, text: str) -> bool:
        """Whether a text is, quotes or contains what is looked for."""
        if self.text and loose(self.text) in loose(text):
            return True
        whole = [span.text for span in sentences(text)]
        pieces = {text, *whole, *(clause for sentence in whole for clause in clauses(sentence))}
        return any(self.made.mark(piece) in self.marks for piece in pieces)


def target(connection: Connection, scope: str, memory_id: str) -> Target:
    """What to look for of one memory, whether it is still there or was forgotten."""
    made = marker(connection, scope)
    key = uuid.UUID(memory_id)
    rows = connection.execute(
        select(ForgottenRow.text_mac, ForgottenRow.evidence_mac).where(
            ForgottenRow.scope == scope, ForgottenRow.memory_id == key
        )
    ).all()
    marks = {mark for row in rows for mark in row if mark}
    payload = connection.execute(
        select(MemoryRow.payload).where(MemoryRow.id == key, of_scope(scope))
    ).scalar_one_or_none()
    text = text_of(payload) if payload else None
    if payload and text:
        marks |= {mark for mark in (made.mark(text), payload.get(EVIDENCE_MAC)) if mark}
    return Target(made, memory_id, frozenset(marks), text or None)


def of_scope(scope: str) -> Any:
    """Whose memories, as an SQL condition."""
    return MemoryRow.payload["user_id"].astext == scope


def traces_of_memory(connection: Connection, scope: str, what: Target, *, deep: bool = False) -> Traces:
    """How often one memory stands in each store; `deep` also reads the texts of other memories of the scope."""
    key = uuid.UUID(what.memory_id)
    memories = _memories(connection, MemoryRow.id == key, of_scope(scope))
    if deep:
        others = select(MemoryRow.payload["data"].astext).where(of_scope(scope), MemoryRow.id != key)
        copies = sum(what.is_in(text or "") for text in connection.execute(others).scalars())
        memories = (memories[0] + copies, *memories[1:])
    jobs = quoting_jobs(connection, scope, what)
    return Traces(
        *memories,
        entity_links=_count(
            connection,
            EntityRow,
            _entities_of(scope),
            EntityRow.payload["linked_memory_ids"].contains([what.memory_id]),
        ),
        history=_count(connection, HistoryRow, HistoryRow.memory_id == what.memory_id, ~_is_anothers(scope, key)),
        staged=len(quoting_staged(connection, scope, what)),
        job_payloads=len(jobs),
        outbox=_count(connection, OutboxRow, OutboxRow.job_id.in_(jobs)) if jobs else 0,
        audit_texts=_count(connection, AuditRow, AuditRow.memory_id == key, AuditRow.scope == scope, has_text()),
    )


def traces_of_scope(connection: Connection, scope: str) -> Traces:
    """How often anything of a user stands in each store."""
    jobs = select(JobRow.id).where(JobRow.scope == scope, has_content())
    return Traces(
        *_memories(connection, of_scope(scope)),
        entity_links=_count(connection, EntityRow, _entities_of(scope)),
        history=_count(connection, HistoryRow, history_of(scope)),
        staged=_count(connection, StagedRow, StagedRow.job_id.in_(select(JobRow.id).where(JobRow.scope == scope))),
        job_payloads=_count(connection, JobRow, JobRow.scope == scope, has_content()),
        outbox=_count(connection, OutboxRow, OutboxRow.job_id.in_(jobs)),
        audit_texts=_count(connection, AuditRow, AuditRow.scope == scope, has_text()),
    )


def quoting_jobs(connection: Connection, scope: str, what: Target) -> list[uuid.UUID]:
    """The jobs of a scope whose messages hold what is looked for."""
    rows = connection.execute(
        select(JobRow.id, JobRow.payload, JobRow.messages).where(JobRow.scope == scope, has_content())
    ).all()
    return [row.id for row in rows if any(what.is_in(text) for text in _texts(row))]


def quoting_staged(connection: Connection, scope: str, what: Target) -> list[Any]:
    """The staged rows of a scope that hold what is looked for, as id and job_id."""
    rows = connection.execute(
        select(StagedRow.id, StagedRow.job_id, StagedRow.payload["data"].astext.label("text"))
        .join(JobRow, JobRow.id == StagedRow.job_id)
        .where(JobRow.scope == scope)
    ).all()
    return [row for row in rows if str(row.id) == what.memory_id or what.is_in(row.text or "")]


def history_of(scope: str) -> Any:
    """The history of every memory a scope has or had, as an SQL condition."""
    had = select(cast(AuditRow.memory_id, Text)).where(AuditRow.scope == scope, AuditRow.memory_id.is_not(None))
    has = select(cast(MemoryRow.id, Text)).where(of_scope(scope))
    return or_(HistoryRow.memory_id.in_(had), HistoryRow.memory_id.in_(has))


def _is_anothers(scope: str, key: uuid.UUID) -> Any:
    """A memory that another scope has or had, as an SQL condition; the history itself names no scope."""
    has = exists().where(MemoryRow.id == key, MemoryRow.payload["user_id"].astext != scope)
    had = exists().where(AuditRow.memory_id == key, AuditRow.scope != scope)
    return or_(has, had)


def has_content() -> Any:
    """A job that still holds what was said, as an SQL condition."""
    return or_(JobRow.payload.is_not(None), JobRow.messages.is_not(None))


def has_text() -> Any:
    """A line of the audit that still holds text, as an SQL condition."""
    return or_(AuditRow.before.is_not(None), AuditRow.after.is_not(None))


def _entities_of(scope: str) -> Any:
    return EntityRow.payload["user_id"].astext == scope


def _texts(row: Any) -> Iterator[str]:
    for message in [*((row.payload or {}).get("messages") or []), *(row.messages or [])]:
        yield str(message.get("content") or "")


def _memories(connection: Connection, *where: Any) -> tuple[int, int, int]:
    """Rows, vectors and keyword texts."""
    counts = select(
        func.count(), func.count(MemoryRow.vector), func.count(MemoryRow.payload["text_lemmatized"].astext)
    ).where(*where)
    rows, vectors, keywords = connection.execute(counts).one()
    return int(rows), int(vectors), int(keywords)


def _count(connection: Connection, table: Any, *where: Any) -> int:
    return int(connection.execute(select(func.count()).select_from(table).where(*where)).scalar_one())
