"""What each gate says of one row, as the chain would say it, without a server and without writing anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import cache
from typing import Any, TypeAlias

from pydantic import ConfigDict, Field

from admission.gate import admit
from domain.candidate import Candidate, Kind, Message, Rejected
from domain.errors import TransientError
from domain.facts import Evidence, StagedFact
from domain.scope import Scope
from llm.answers import parse_answer
from pipeline.grounding import ground
from pipeline.language import drifted, main_language
from pipeline.validate import find_fault
from runtime.wiring import grounding_words, language_tools
from tasks.contracts import Contract, MessageIn

Row: TypeAlias = Mapping[str, Any]

_NOBODY = Scope("dry-run", "nobody")


class _Row(Contract):
    """Unknown fields are ignored, so that labelled rows can be fed as they are."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: str | int


class AdmissionRow(_Row):
    """A candidate to be judged."""

    kind: Kind = Kind.TASK_COMPLETED
    messages: list[MessageIn]


class ExtractionRow(_Row):
    """The raw text of a model's answer."""

    raw: str


class FactIn(Contract):
    """A fact as a model gave it."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    text: str
    attributed_to: str | None = None


class PostcheckRow(_Row):
    """A fact beside the conversation it was made from."""

    messages: list[MessageIn] = Field(min_length=1)
    fact: FactIn


def judge_admission(row: Row) -> dict[str, Any]:
    """id, verdict, reason, and the messages that are left; `rule` and `dropped` say what decided."""
    asked = AdmissionRow.model_validate(row)
    verdict = admit(Candidate(_NOBODY, _messages(asked.messages), kind=asked.kind))
    if isinstance(verdict, Rejected):
        return {"id": asked.id, "verdict": "reject", "reason": verdict.reason, "rule": verdict.rule, "messages": []}
    kept = [{"role": message.role, "content": message.content} for message in verdict.messages]
    dropped = dict(verdict.dropped)
    return {"id": asked.id, "verdict": "accept", "reason": None, "messages": kept, "dropped": dropped}


def judge_extraction(row: Row) -> dict[str, Any]:
    """id, outcome, and the texts of the facts."""
    asked = ExtractionRow.model_validate(row)
    try:
        facts = [fact.text for fact in parse_answer(asked.raw)]
    except TransientError:
        return {"id": asked.id, "outcome": "unparseable", "facts": []}
    return {"id": asked.id, "outcome": "facts" if facts else "empty", "facts": facts}


def judge_postcheck(row: Row, *, max_chars: int) -> dict[str, Any]:
    """id and label; `grounded` and `evidence` say whether the chain would also believe the fact, and why not."""
    asked = PostcheckRow.model_validate(row)
    messages = _messages(asked.messages)
    fact = StagedFact("", asked.fact.text, (), asked.fact.attributed_to)
    found = ground(fact.text, fact.attributed_to, messages, _words())
    answer = {"id": asked.id, "label": _label(fact, messages, max_chars)}
    if isinstance(found, Evidence):
        return {**answer, "grounded": True, "evidence": asdict(found)}
    return {**answer, "grounded": False, "rule": str(found)}


def _label(fact: StagedFact, messages: tuple[Message, ...], max_chars: int) -> str:
    fault = find_fault(fact, max_chars=max_chars)
    if fault is not None:
        return str(fault)
    tools = _tools()
    language = main_language(messages, tools.identify)
    return "drift" if language and drifted([fact], messages, language, tools) else "ok"


_tools = cache(language_tools)
_words = cache(grounding_words)


def _messages(messages: list[MessageIn]) -> tuple[Message, ...]:
    return tuple(Message(message.role, message.content) for message in messages)


Judge: TypeAlias = Callable[[Row], dict[str, Any]]
