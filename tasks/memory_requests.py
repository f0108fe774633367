"""What may be asked of the memories of one user, checked field by field."""

from __future__ import annotations

import zoneinfo
from datetime import UTC, date, datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BeforeValidator,
    Field,
    StrictBool,
    StringConstraints,
    field_validator,
)
from pydantic_core import PydanticCustomError

from domain.candidate import RunKind
from domain.lifecycle import Action, Details, ItemFilter, Mode
from domain.text import storable
from tasks.contracts import Contract, ExternalId, Identifier, Scoped

MAX_TEXT_CHARS = 4000
# In a query too, where a character may take nine bytes.
MAX_SOUGHT_CHARS = 500
Storable = Annotated[str, BeforeValidator(lambda value: storable(value) if isinstance(value, str) else value)]
Text = Annotated[Storable, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_TEXT_CHARS)]
Sought = Annotated[Storable, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_SOUGHT_CHARS)]
Word = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,31}$")]


def _to_come(value: date) -> date:
    if value < datetime.now(UTC).date():
        raise PydanticCustomError("not_past", "must not be in the past")
    return value


def _zone(value: str) -> str:
    try:
        zoneinfo.ZoneInfo(value)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        raise PydanticCustomError("time_zone", "must be an IANA time zone such as Asia/Shanghai") from None
    return value


class DetailsIn(Contract):
    """What may be said about a memory beside its text; what is left out stays, or is the default of a new one."""

    type: Word | None = Field(None, description="preference, constraint, fact, ... Default of a new memory: fact.")
    title: Annotated[Storable, Field(min_length=1, max_length=128)] | None = None
    confidence: float | None = Field(None, ge=0, le=1, description="Default of a new memory: 1.")
    importance: float | None = Field(None, ge=0, le=1, description="Default of a new memory: 0.5.")
    sensitivity: int | None = Field(None, ge=0, le=2, description="0 ordinary, 1 medium, 2 high. Default: 0.")
    is_explicit: bool | None = Field(None, description="The user asked for it. Default of a new memory: true.")
    expires_at: Annotated[date, AfterValidator(_to_come)] | None = Field(None, description="Its last day, YYYY-MM-DD.")
    metadata: dict[str, Any] = Field(default_factory=dict)

    def details(self) -> Details:
        """The details this gives."""
        return Details(
            type=self.type,
            title=self.title,
            confidence=self.confidence,
            importance=self.importance,
            sensitivity=self.sensitivity,
            is_explicit=self.is_explicit,
            expires_at=self.expires_at.isoformat() if self.expires_at else None,
            metadata=self.metadata,
        )


class ManageRequest(Scoped, DetailsIn):
    """Add, update or delete one memory, or decide to do nothing."""

    action: Action
    text: Text | None = None
    memory_id: UUID | None = None
    mode: Mode = Field(Mode.FORGET, description="How to delete: for good, or `archive`, which can be restored.")
    run_id: Identifier | None = Field(None, description="The run's own candidate stays out then.")
    agent_id: Identifier | None = None
    trace_id: ExternalId | None = None
    run_kind: RunKind = RunKind.INTERACTIVE


class ItemRequest(Scoped):
    """One memory of a user."""

    memory_id: UUID


class RelatedIn(Contract):
    """How many memories that are near one."""

    limit: int = Field(5, ge=1, le=50)


class RelatedRequest(ItemRequest, RelatedIn):
    """What is near one memory."""


class UpdateIn(DetailsIn):
    """Correct a memory: its text, its details or both."""

    text: Text | None = None


class UpdateItemRequest(ItemRequest, UpdateIn):
    """Correct a memory of a user."""


class DeleteIn(Contract):
    """Delete for good, or archive."""

    mode: Mode = Mode.FORGET


class ArchiveIn(Contract):
    """Archive, or delete for good."""

    mode: Mode = Mode.ARCHIVE


class DeleteItemRequest(ItemRequest, DeleteIn):
    """Delete a memory of a user."""


class ListIn(Contract):
    """A page of memories, the latest first."""

    type: list[Word] = Field([], max_length=20)
    source: list[Annotated[Storable, Field(max_length=64)]] = Field([], max_length=20)
    status: list[Word] = Field([], max_length=10, description="active, archived, expired. Default: active.")
    since: AwareDatetime | None = Field(None, description="Created at or after; ISO 8601 with an offset.")
    until: AwareDatetime | None = Field(None, description="Created before; ISO 8601 with an offset.")
    text: Sought | None = Field(None, description="Part of the text, in any case.")
    limit: int = Field(50, ge=1, le=200)
    cursor: Annotated[str, Field(max_length=500)] | None = Field(None, description="`next_cursor` of the page before.")

    @field_validator("since", "until")
    @classmethod
    def _in_range(cls, value: datetime | None) -> datetime | None:
        if value is not None and not 1900 <= value.year <= 9000:
            raise PydanticCustomError("year", "must be a year from 1900 to 9000")
        return value

    def filter(self) -> ItemFilter:
        """The filter this describes."""
        return ItemFilter(
            statuses=tuple(self.status),
            types=tuple(self.type),
            sources=tuple(self.source),
            since=self.since,
            until=self.until,
            text=self.text,
        )


class ListRequest(Scoped, ListIn):
    """A page of a user's memories."""


class OverviewIn(Contract):
    """For which days and in which time zone memories are counted."""

    time_zone: Annotated[str, Field(min_length=1, max_length=64), AfterValidator(_zone)] = "UTC"
    days: int = Field(30, ge=1, le=366, description="How many days of the trend, today included.")


class OverviewRequest(Scoped, OverviewIn):
    """A user's memories in figures."""


class TopicsIn(Contract):
    """How many of the names that memories mention."""

    limit: int = Field(20, ge=1, le=200)


class TopicsRequest(Scoped, TopicsIn):
    """The names that a user's memories mention."""


class SettingsIn(Contract):
    """Switches to set; what is left out stays."""

    memory_enabled: StrictBool | None = None
    memory_save_enabled: StrictBool | None = None
    memory_reference_enabled: StrictBool | None = None
    implicit_memory_enabled: StrictBool | None = None
    sensitive_memory_enabled: StrictBool | None = None
