"""Where something of a memory or of a user still stands: every store is looked at, nothing is taken for granted."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import Connection, Text, Uuid, any_, bindparam, cast, exists, func, or_, select
from sqlalchemy.dialects.postgresql import ARRAY

from domain.lifecycle import Traces
from domain.sentences import clauses, sentences
from domain.text import loose
from storage.forgotten import EVIDENCE_MAC, Marker, marker
from storage.rows import text_of
from storage.tables import (
    AuditRow,
    EntityRow,
    ForgottenRow,
    HistoryRow,
    JobRow,
    MemoryRow,
    OutboxRow,
    StagedRow,
    text_at,
)

_MARKS = select(ForgottenRow.text_mac, ForgottenRow.evidence_mac).where(
    ForgottenRow.scope == bindparam("scope"), ForgottenRow.memory_id == bindparam("this_memory")
)


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


@dataclass(frozen=True, slots=True)
class Quoting:
    """Where a memory is quoted in what jobs hold: their ids, and staged rows as id and job_id."""

    jobs: list[uuid.UUID]
    staged: list[Any]


def target(connection: Connection, scope: str, memory_id: str) -> Target:
    """What to look for of one memory, whether it is still there or was forgotten."""
    where = (MemoryRow.id == uuid.UUID(memory_id), of_scope(scope))
    payload = connection.execute(select(MemoryRow.payload).where(*where)).scalar_one_or_none()
    return target_of(connection, scope, memory_id, payload or {})


def target_of(connection: Connection, scope: str, memory_id: str, payload: dict[str, Any]) -> Target:
    """The same where the memory's payload is at hand; empty when it is gone."""
    made = marker(connection, scope)
    rows = connection.execute(_MARKS, {"scope": scope, "this_memory": uuid.UUID(memory_id)})
    marks = {mark for row in rows for mark in row}
    text = text_of(payload)
    if text:
        marks |= {made.mark(text), payload.get(EVIDENCE_MAC)}
    return Target(made, memory_id, frozenset(marks - {None}), text or None)


def of_scope(scope: Any) -> Any:
    """Whose memories, as an SQL condition."""
    return text_at(MemoryRow.payload, "user_id") == scope


def traces_of_memory(connection: Connection, scope: str, what: Target, quoting: Quoting) -> Traces:
    """How often one memory stands in each store; `quoting` is what was found of it in the scope's jobs."""
    values = {"scope": scope, "this_memory": uuid.UUID(what.memory_id), "name": what.memory_id}
    found = connection.execute(_traces(), {**values, "jobs": quoting.jobs}).one()
    return Traces(**found._mapping, staged=len(quoting.staged), job_payloads=len(quoting.jobs))


def copies_of_memory(connection: Connection, scope: str, what: Target) -> int:
    """How many other memories of the scope hold the text of one."""
    others = select(text_at(MemoryRow.payload, "data")).where(
        of_scope(scope), MemoryRow.id != uuid.UUID(what.memory_id)
    )
    return sum(what.is_in(text or "") for text in connection.execute(others).scalars())


def traces_of_scope(connection: Connection, scope: str) -> Traces:
    """How often anything of a user stands in each store."""
    mine = select(JobRow.id).where(JobRow.scope == scope)
    statement = select(
        _memories(of_scope(scope)),
        _number(EntityRow, _entities_of(scope)).label("entity_links"),
        _number(HistoryRow, history_of(scope)).label("history"),
        _number(StagedRow, StagedRow.job_id.in_(mine)).label("staged"),
        _number(JobRow, JobRow.scope == scope, has_content()).label("job_payloads"),
        _number(OutboxRow, OutboxRow.job_id.in_(mine.where(has_content()))).label("outbox"),
        _number(AuditRow, AuditRow.scope == scope, has_text()).label("audit_texts"),
    )
    return Traces(**connection.execute(statement).one()._mapping)


def quoting(connection: Connection, scope: str, what: Target) -> Quoting:
    """The jobs of a scope whose messages hold what is looked for, and the staged rows that do."""
    jobs = connection.execute(_contents(), {"scope": scope})
    staged = connection.execute(_staged(), {"scope": scope})
    return Quoting(
        [row.id for row in jobs if any(what.is_in(text) for text in _texts(row))],
        [row for row in staged if str(row.id) == what.memory_id or what.is_in(row.text or "")],
    )


def history_of(scope: str) -> Any:
    """The history of every memory a scope has or had, as an SQL condition."""
    had = select(cast(AuditRow.memory_id, Text)).where(AuditRow.scope == scope, AuditRow.memory_id.is_not(None))
    has = select(cast(MemoryRow.id, Text)).where(of_scope(scope))
    return or_(HistoryRow.memory_id.in_(had), HistoryRow.memory_id.in_(has))


def _is_anothers(scope: Any, key: Any) -> Any:
    """A memory that another scope has or had, as an SQL condition; the history itself names no scope."""
    has = exists().where(MemoryRow.id == key, text_at(MemoryRow.payload, "user_id") != scope)
    had = exists().where(AuditRow.memory_id == key, AuditRow.scope != scope)
    return or_(has, had)


def has_content() -> Any:
    """A job that still holds what was said, as an SQL condition."""
    return or_(JobRow.payload.is_not(None), JobRow.messages.is_not(None))


def has_text() -> Any:
    """A line of the audit that still holds text, as an SQL condition."""
    return or_(AuditRow.before.is_not(None), AuditRow.after.is_not(None))


def _entities_of(scope: Any) -> Any:
    return text_at(EntityRow.payload, "user_id") == scope


def _texts(row: Any) -> Iterator[str]:
    for message in [*((row.payload or {}).get("messages") or []), *(row.messages or [])]:
        yield str(message.get("content") or "")


def _memories(*where: Any) -> Any:
    """Rows, vectors and keyword texts, as one row."""
    keywords = text_at(MemoryRow.payload, "text_lemmatized")
    counted = {"memories": func.count(), "vectors": func.count(MemoryRow.vector), "keywords": func.count(keywords)}
    return select(*(count.label(name) for name, count in counted.items())).where(*where).subquery()


def _number(table: Any, *where: Any) -> Any:
    return select(func.count()).select_from(table).where(*where).scalar_subquery()


# Forgetting asks for these twice, before and after, so they are built once.
@cache
def _traces() -> Any:
    scope: Any = bindparam("scope")
    memory, name = bindparam("this_memory", type_=Uuid), bindparam("name", type_=Text)
    links = EntityRow.payload["linked_memory_ids"].has_key(name)
    return select(
        _memories(MemoryRow.id == memory, of_scope(scope)),
        _number(EntityRow, _entities_of(scope), links).label("entity_links"),
        _number(HistoryRow, HistoryRow.memory_id == name, ~_is_anothers(scope, memory)).label("history"),
        _number(OutboxRow, OutboxRow.job_id == any_(bindparam("jobs", type_=ARRAY(Uuid)))).label("outbox"),
        _number(AuditRow, AuditRow.memory_id == memory, AuditRow.scope == scope, has_text()).label("audit_texts"),
    )


@cache
def _contents() -> Any:
    columns = (JobRow.id, JobRow.payload, JobRow.messages)
    return select(*columns).where(JobRow.scope == bindparam("scope"), has_content())


@cache
def _staged() -> Any:
    text = text_at(StagedRow.payload, "data").label("text")
    mine = JobRow.scope == bindparam("scope")
    return select(StagedRow.id, StagedRow.job_id, text).join(JobRow, JobRow.id == StagedRow.job_id).where(mine)
