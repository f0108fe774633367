"""What a producer may send: the ingest request and the `memory.extract.requested` event, checked field by field.

An error names the field and the rule and never repeats the value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from domain.candidate import Candidate, Form, JsonValue, Kind, Message, Role, RunKind
from domain.errors import InvalidField
from domain.scope import MAX_EXTERNAL_ID_CHARS, MAX_ID_CHARS, Scope, check_identifier
from domain.text import storable


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """One broken rule: the field's path, the rule's short name, a sentence."""

    field: str
    rule: str
    message: str


def _identifier(value: str, info: Any) -> str:
    try:
        check_identifier(info.field_name, value)
    except InvalidField as exc:
        raise PydanticCustomError(exc.rule, exc.message) from None
    return value


def _no_nul(value: str) -> str:
    if storable(value) != value:
        raise PydanticCustomError("storable", "must not contain NUL or lone surrogates")
    return value


# What is published of a contract that lets other fields be.
_OPEN: dict[str, Any] = {"additionalProperties": True}


class Contract(BaseModel):
    """A request: unknown fields are refused, so that a misspelt one is noticed."""

    model_config = ConfigDict(extra="forbid", strict=False, frozen=True)


def _number_as_text(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


# A request may have a hundred thousand faults; its sender needs to know some.
_MOST_PROBLEMS = 20
_OTHER_ROLES = {"developer": Role.SYSTEM, "function": Role.TOOL}
_ID_SCHEMA = {"minLength": 1, "maxLength": MAX_ID_CHARS, "pattern": r"^[^\s*]+$"}
Identifier = Annotated[str, AfterValidator(_identifier), WithJsonSchema({"type": "string", **_ID_SCHEMA})]
ExternalId = Annotated[str, Field(min_length=1, max_length=MAX_EXTERNAL_ID_CHARS), AfterValidator(_no_nul)]
# Producers of events number their users and messages.
NumberedId = Annotated[
    str,
    BeforeValidator(_number_as_text),
    AfterValidator(_identifier),
    WithJsonSchema({"type": ["string", "integer"], **_ID_SCHEMA}),
]


class Scoped(Contract):
    """A request on behalf of one user of one tenant."""

    tenant_id: Identifier
    user_id: Identifier

    @model_validator(mode="after")
    def _scope_is_valid(self) -> Scoped:
        try:
            self.scope()
        except InvalidField as exc:
            raise PydanticCustomError(exc.rule, exc.message, {"field": exc.field}) from None
        return self

    def scope(self) -> Scope:
        """The checked scope."""
        return Scope(self.tenant_id, self.user_id)


def _joined_parts(value: object) -> object:
    """The text of a content that is a list of parts, as in the chat formats of model vendors; images are left out."""
    if value is None:
        return ""
    if not isinstance(value, list):
        return value
    parts = [part.get("text") if isinstance(part, dict) else part for part in value]
    return "\n".join(part for part in parts if isinstance(part, str))


def _known_role(value: object) -> object:
    """Chat vendors' other names for roles of ours."""
    return _OTHER_ROLES.get(value, value) if isinstance(value, str) else value


class MessageIn(Contract):
    """One turn of the conversation, with its real role. Other fields of a chat message are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True, json_schema_extra=_OPEN)

    role: Annotated[Role, BeforeValidator(_known_role)]
    content: Annotated[
        str,
        BeforeValidator(_joined_parts),
        WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array"}, {"type": "null"}]}),
    ]


class IngestRequest(Scoped):
    """A candidate: `messages` with real roles, or the older `text` of the user alone."""

    messages: list[MessageIn] | None = Field(None, min_length=1, max_length=500)
    text: str | None = Field(None, min_length=1)
    kind: Kind = Kind.TASK_COMPLETED
    run_kind: RunKind = Field(RunKind.INTERACTIVE, description="Only interactive runs are remembered.")
    agent_id: Identifier | None = None
    run_id: Identifier | None = None
    conversation_id: ExternalId | None = None
    source_message_id: ExternalId | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    idempotency_key: ExternalId | None = None
    trace_id: ExternalId | None = None

    @model_validator(mode="after")
    def _one_form(self) -> IngestRequest:
        if (self.messages is None) == (self.text is None):
            raise PydanticCustomError("one_of", "give either messages or text", {"field": "messages"})
        return self

    def candidate(self) -> Candidate:
        """The candidate this request describes."""
        if self.messages is not None:
            messages = tuple(Message(message.role, message.content) for message in self.messages)
        else:
            messages = (Message(Role.USER, self.text or ""),)
        return Candidate(
            scope=self.scope(),
            messages=messages,
            kind=self.kind,
            run_kind=self.run_kind,
            form=Form.TEXT if self.messages is None else Form.MESSAGES,
            agent_id=self.agent_id,
            run_id=self.run_id,
            conversation_id=self.conversation_id,
            source_message_id=self.source_message_id,
            metadata=self.metadata,
            idempotency_key=self.idempotency_key,
            trace_id=self.trace_id,
        )


class ExtractRequested(Scoped):
    """The payload of the event `memory.extract.requested`, version 1 (SmartMate note, section 6.2)."""

    model_config = ConfigDict(extra="ignore", frozen=True, json_schema_extra=_OPEN)

    tenant_id: NumberedId = Field("default", validate_default=True)
    user_id: NumberedId
    conversation_id: NumberedId | None = None
    assistant_id: NumberedId | None = None
    run_id: NumberedId | None = None
    source_message_id: NumberedId
    source_role: Literal["user", "assistant"]
    source_text: str = Field(min_length=1)
    occurred_at: Annotated[str, Field(max_length=64), AfterValidator(_no_nul)] | None = Field(
        None, description="ISO 8601 time of the message."
    )
    trace_id: ExternalId | None = None
    idempotency_key: ExternalId

    def candidate(self) -> Candidate:
        """The candidate this event asks for: the text of one message, in the older single-text form."""
        metadata: dict[str, JsonValue] = {"occurred_at": self.occurred_at} if self.occurred_at else {}
        return Candidate(
            scope=self.scope(),
            messages=(Message(Role(self.source_role), self.source_text),),
            form=Form.TEXT,
            agent_id=self.assistant_id,
            run_id=self.run_id,
            conversation_id=self.conversation_id,
            source_message_id=self.source_message_id,
            metadata=metadata,
            idempotency_key=self.idempotency_key,
            trace_id=self.trace_id,
        )


class Event(Contract):
    """The envelope of an event."""

    event: Literal["memory.extract.requested"]
    version: Literal["v1", 1]
    payload: ExtractRequested


def event_schema() -> dict[str, Any]:
    """The event as JSON Schema, as published in docs/schemas."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "memory.extract.requested.v1",
        **Event.model_json_schema(),
    }


def problems(exc: ValidationError) -> list[FieldProblem]:
    """What a validation found wrong, the first of it, without the values."""
    return [_problem(dict(error)) for error in exc.errors(include_url=False, include_input=False)[:_MOST_PROBLEMS]]


def _problem(error: dict[str, Any]) -> FieldProblem:
    location = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error["loc"]).lstrip(".")
    context = error.get("ctx") or {}
    field = str(context.get("field") or location or "body")[:MAX_EXTERNAL_ID_CHARS]
    rule = "required" if error["type"] == "missing" else str(error["type"])
    message = str(error["msg"])
    return FieldProblem(field, rule, message[:1].lower() + message[1:])
