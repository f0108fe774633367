"""What is done to one memory on purpose: by an agent that manages, or by the user it is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import StrEnum

from domain.candidate import JsonValue
from domain.facts import Entity, Evidence, Vector


class Action(StrEnum):
    """What an agent decides (Poco note, section 7)."""

    ADD = "add"
    UPDATE = "update"
    DELETE = "delete"
    NONE = "none"


class Mode(StrEnum):
    """How a memory is deleted: for good with every trace, or out of sight and restorable."""

    FORGET = "forget"
    ARCHIVE = "archive"


class ChangeStatus(StrEnum):
    """What became of a wish. FORBIDDEN is somebody else's memory; outside the service it looks like NOT_FOUND."""

    ADDED = "added"
    ALREADY_KNOWN = "already_known"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    DELETED = "deleted"
    ARCHIVED = "archived"
    RESTORED = "restored"
    NONE = "none"
    REJECTED = "rejected"
    NOT_FOUND = "not_found"
    FORBIDDEN = "forbidden"
    BACKEND_ERROR = "backend_error"
    PARTIAL_CLEANUP = "partial_cleanup"


_FAILURES = frozenset(
    {
        ChangeStatus.REJECTED,
        ChangeStatus.NOT_FOUND,
        ChangeStatus.FORBIDDEN,
        ChangeStatus.BACKEND_ERROR,
        ChangeStatus.PARTIAL_CLEANUP,
    }
)


@dataclass(frozen=True, slots=True)
class Changed:
    """The answer to one wish; `reason` names a rule or a backend, never content."""

    status: ChangeStatus
    memory_id: str | None = None
    reason: str | None = None
    inserted_count: int = 0
    deleted_count: int = 0
    erasure: Erasure | None = None

    @property
    def success(self) -> bool:
        """Whether everything that was wished for holds now."""
        return self.status not in _FAILURES


@dataclass(frozen=True, slots=True)
class Writer:
    """Who does it: `kind` is user, agent, operator or system; `name` and `reason` are kept in the audit."""

    kind: str
    name: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Details:
    """What is known about a memory beside its text; None leaves what is stored, or the default of a new one.

    `confidence` and `importance` in 0..1, `sensitivity` 0, 1 or 2, `expires_at` its last day as YYYY-MM-DD.
    """

    type: str | None = None
    title: str | None = field(default=None, repr=False)
    confidence: float | None = None
    importance: float | None = None
    sensitivity: int | None = None
    is_explicit: bool | None = None
    expires_at: str | None = None
    metadata: Mapping[str, JsonValue] = field(default_factory=dict, repr=False)

    @property
    def given(self) -> dict[str, JsonValue]:
        """What is to be stored, by the keys of a memory's payload."""
        named = {part.name: getattr(self, part.name) for part in fields(self) if part.name != "metadata"}
        named["expiration_date"] = named.pop("expires_at")
        return {**self.metadata, **{key: value for key, value in named.items() if value is not None}}


NO_DETAILS = Details()
# What a memory that is added on purpose is when nothing else was said.
DEFAULTS = Details(type="fact", confidence=1.0, importance=0.5, sensitivity=0, is_explicit=True)


@dataclass(frozen=True, slots=True)
class Wording:
    """A text with everything that is derived from it."""

    text: str = field(repr=False)
    vector: Vector = field(repr=False)
    text_lemmatized: str = field(repr=False)
    entities: tuple[Entity, ...]


@dataclass(frozen=True, slots=True)
class MemoryItem:
    """A memory as its user may see it."""

    id: str
    content: str = field(repr=False)
    status: str
    source: str | None
    details: Details
    evidence: Evidence | None
    run_id: str | None
    agent_id: str | None
    created_at: str | None
    updated_at: str | None


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One change of a memory."""

    event: str
    old_text: str | None = field(repr=False)
    new_text: str | None = field(repr=False)
    at: datetime | None


@dataclass(frozen=True, slots=True)
class Traces:
    """How often something of a memory, or of a user, stands in each store."""

    memories: int = 0
    vectors: int = 0
    keywords: int = 0
    entity_links: int = 0
    history: int = 0
    staged: int = 0
    job_payloads: int = 0
    outbox: int = 0
    audit_texts: int = 0

    @property
    def total(self) -> int:
        """Everything together; 0 when nothing is left."""
        return sum(getattr(self, part.name) for part in fields(self))


@dataclass(frozen=True, slots=True)
class Erasure:
    """The receipt of a forget: counted before and, by another look at every store, after."""

    before: Traces
    after: Traces
    failed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ItemFilter:
    """Which memories of a user are listed; what is empty or None leaves that side open. Without a status: active."""

    statuses: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    text: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class ItemPage:
    """Some memories, the latest first, and where the next page begins; None on the last one."""

    items: tuple[MemoryItem, ...]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class Overview:
    """A user's memories in figures: by status, the active ones by type and source, and added by day."""

    by_status: Mapping[str, int]
    by_type: Mapping[str, int]
    by_source: Mapping[str, int]
    added_by_day: Mapping[str, int]
    last_changed: str | None


@dataclass(frozen=True, slots=True)
class Topic:
    """A name that memories mention: how many, their share of the most mentioned one's, and when last."""

    name: str = field(repr=False)
    type: str
    count: int
    weight: float
    last_seen: str | None
