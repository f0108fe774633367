"""Facts that must not come back: a keyed HMAC of each forgotten or corrected text and of the sentence it came from.

No text is kept. A late job or an old transcript that brings the same fact, or a fact from the same sentence, finds its
mark and drops it; what a user adds on purpose lifts the mark.
"""

from __future__ import annotations

import hmac
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Text, any_, bindparam, delete, insert, or_, select
from sqlalchemy.dialects.postgresql import ARRAY

from domain.facts import StagedFact
from domain.jobs import Job
from domain.text import han_count, loose
from storage.tables import ForgottenRow, SchemaRow

KEY = "forgotten_key"
EVIDENCE_MAC = "evidence_mac"
_LEAST_LETTERS = 12
_LEAST_HAN = 5

_KEY = select(SchemaRow.value).where(SchemaRow.key == KEY)
_wanted = any_(bindparam("wanted", type_=ARRAY(Text)))
_KNOWN = select(ForgottenRow.text_mac, ForgottenRow.evidence_mac).where(
    ForgottenRow.scope == bindparam("scope"),
    or_(ForgottenRow.text_mac == _wanted, ForgottenRow.evidence_mac == _wanted),
)
_MARK = insert(ForgottenRow)
_LIFT = delete(ForgottenRow).where(
    ForgottenRow.scope == bindparam("scope"), ForgottenRow.text_mac == bindparam("text_mac")
)


@dataclass(frozen=True, slots=True)
class Marker:
    """Makes the marks of one scope; the same text has another mark elsewhere."""

    key: bytes
    scope: str

    def mark(self, text: str) -> str:
        """The mark of a text; spelling, spaces and punctuation make no difference."""
        return hmac.new(self.key, f"{self.scope}\0{loose(text)}".encode(), "sha256").hexdigest()

    def mark_evidence(self, sentence: str) -> str | None:
        """The mark of a sentence, or None when it is so short that many conversations hold it."""
        plain = loose(sentence)
        says_something = len(plain) >= _LEAST_LETTERS or han_count(plain) >= _LEAST_HAN
        return self.mark(sentence) if says_something else None


def marker(connection: Connection, scope: str) -> Marker:
    """The marker of a scope, with the key of this database, which each connection asks for once."""
    if KEY not in connection.info:
        connection.info[KEY] = bytes.fromhex(connection.execute(_KEY).scalar_one())
    return Marker(connection.info[KEY], scope)


def evidence_marks(job: Job, facts: Sequence[StagedFact], made: Marker) -> dict[str, str | None]:
    """The mark of the sentence each fact rests on, by fact id."""
    messages = job.candidate.messages
    return {
        fact.id: made.mark_evidence(messages[place.message].content[place.start : place.end])
        if (place := fact.evidence) and place.message < len(messages)
        else None
        for fact in facts
    }


def forgotten(
    connection: Connection, facts: Sequence[StagedFact], evidence: dict[str, str | None], made: Marker
) -> set[str]:
    """The ids of the facts that were forgotten or corrected before."""
    marks = {fact.id: {made.mark(fact.text), evidence[fact.id]} - {None} for fact in facts}
    wanted = set().union(*marks.values()) if marks else set()
    rows = connection.execute(_KNOWN, {"scope": made.scope, "wanted": list(wanted)})
    known = {mark for row in rows for mark in row}
    return {fact_id for fact_id, own in marks.items() if own & known}


def mark_forgotten(connection: Connection, made: Marker, memories: Iterable[tuple[str, str, str | None]]) -> None:
    """Leave the marks of memories, each as id, text and the mark of its sentence."""
    rows = [
        {"scope": made.scope, "memory_id": uuid.UUID(memory_id), "text_mac": made.mark(text), "evidence_mac": evidence}
        for memory_id, text, evidence in memories
    ]
    if rows:
        connection.execute(_MARK, rows)


def lift(connection: Connection, made: Marker, text: str) -> None:
    """Let a text be remembered again."""
    connection.execute(_LIFT, {"scope": made.scope, "text_mac": made.mark(text)})
