"""What is handed in, and what admission says of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from domain.scope import Scope

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"


class Kind(StrEnum):
    """The moment of an agent's run at which a candidate was made. Only a finished task is ever remembered."""

    TASK_COMPLETED = "task_completed"
    PRE_COMPACT = "pre_compact"
    SESSION_END = "session_end"
    SESSION_STATE = "session_state"


class Role(StrEnum):
    """Who said a message."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


class RunKind(StrEnum):
    """Who started a run. What runs without a person in front of it neither saves nor refers to memories."""

    INTERACTIVE = "interactive"
    SCHEDULED = "scheduled"
    BACKFILL = "backfill"
    NIGHT = "night"


class Form(StrEnum):
    """How the conversation came: with real roles, or as the older single text of the user."""

    MESSAGES = "messages"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of the conversation. Its text is left out of every repr, as everywhere in this package."""

    role: Role
    content: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Candidate:
    """Submitted messages of one scope, not judged yet."""

    scope: Scope
    messages: tuple[Message, ...]
    kind: Kind = Kind.TASK_COMPLETED
    form: Form = Form.MESSAGES
    run_kind: RunKind = RunKind.INTERACTIVE
    agent_id: str | None = None
    run_id: str | None = None
    conversation_id: str | None = None
    source_message_id: str | None = None
    metadata: Mapping[str, JsonValue] = field(default_factory=dict, repr=False)
    idempotency_key: str | None = None
    trace_id: str | None = None


class RejectReason(StrEnum):
    """Why a whole candidate was refused."""

    CREDENTIAL = "credential"
    SESSION_SNAPSHOT = "session_snapshot"
    SESSION_STATE = "session_state"
    MISSING_USER = "missing_user"
    MISSING_ASSISTANT = "missing_assistant"


@dataclass(frozen=True, slots=True)
class Cut:
    """What a rule dropped of a message, by place: lines `first` to `last` of it, counted from 0."""

    message: int
    rule: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Admitted:
    """The cleaned messages, where something was cut, and how often each rule dropped something."""

    messages: tuple[Message, ...]
    cuts: tuple[Cut, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rejected:
    """The candidate is not even looked at; `rule` names what decided it, never the text that matched."""

    reason: RejectReason
    rule: str
    cuts: tuple[Cut, ...] = ()


Verdict: TypeAlias = Admitted | Rejected
