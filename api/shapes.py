"""The answers as they are published; every one that a test sees is held against them (tests/answers.py)."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from domain.facts import Evidence
from domain.jobs import Outcome, Status
from domain.lifecycle import ChangeStatus, Erasure, HistoryEntry, Topic
from domain.operations import Acted, AuditEntry

Score = Field(ge=0, le=1, description="Calibrated score; 0.45 is the default cut.")


class Shape(BaseModel):
    """An answer: nothing but what is named here is in it."""

    model_config = ConfigDict(extra="forbid")


class FieldFault(Shape):
    """A field and the rule that it breaks; the value is never repeated."""

    field: str
    rule: str
    message: str


class Problem(Shape):
    """Why a request was not fulfilled (RFC 9457)."""

    type: Literal["about:blank"]
    title: str
    status: int
    code: str = Field(description="Stable; for programs.")
    detail: str = Field(description="For people.")
    request_id: str = Field(description="As in the header X-Request-Id; every log line of the request has it.")
    errors: list[FieldFault] | None = None


class Change(Shape):
    """What happened to one memory, or to all of a user."""

    action: Literal["add", "update", "delete", "none", "restore", "delete_user"]
    success: Literal[True]
    status: ChangeStatus
    memory_id: UUID | None
    inserted_count: int
    deleted_count: int
    reason: str | None = Field(description="The rule or backend, never content.")
    erasure: Erasure | None = None


class ChangeProblem(Problem):
    """Why a change did not happen, or not wholly."""

    action: str | None = None
    success: Literal[False] = False
    memory_id: UUID | None = None
    inserted_count: int = 0
    deleted_count: int = 0
    reason: str | None = None
    erasure: Erasure | None = None


class Accepted(Shape):
    """A candidate's job."""

    job_id: UUID
    status: Status
    trace_id: str


class FoundMemory(Shape):
    """A memory that was found, with its calibrated score."""

    id: UUID
    content: str
    score: float = Score
    metadata: dict[str, Any]


class Found(Shape):
    """What a search found; `available` false says that it could not look, which is not the same as nothing found."""

    items: list[FoundMemory]
    total: int
    available: bool
    error_reason: str | None


class Item(Shape):
    """A memory as its user may see it."""

    id: UUID
    content: str
    status: str
    source: str | None
    evidence: Evidence | None
    run_id: str | None
    agent_id: str | None
    created_at: datetime | None
    updated_at: datetime | None
    type: str | None
    title: str | None
    confidence: float | None
    importance: float | None
    sensitivity: int | None
    is_explicit: bool | None
    expires_at: date | None
    metadata: dict[str, Any]


class Items(Shape):
    """A page of memories; `next_cursor` gets the next one and is null on the last."""

    items: list[Item]
    next_cursor: str | None


class Topics(Shape):
    """The names that memories mention, the most mentioned first."""

    topics: list[Topic]


class Near(Shape):
    """Memories near one."""

    items: list[FoundMemory]


class History(Shape):
    """Every change of a memory, oldest first, and the sentence it rests on."""

    memory_id: UUID
    evidence: Evidence | None
    history: list[HistoryEntry]


class Job(Shape):
    """What became of a candidate: ids, states, counts and times, never content."""

    job_id: UUID
    scope: str
    kind: str
    status: Status
    step: int
    step_name: str
    outcome: Outcome | None
    reason: str | None
    rule: str | None
    retry_count: int
    lost_count: int
    attempts: dict[str, int]
    counts: dict[str, int]
    last_error: str | None
    next_retry_at: datetime | None
    trace_id: str
    run_id: str | None
    created_at: datetime
    started_at: datetime | None
    updated_at: datetime
    finished_at: datetime | None
    has_content: bool


class Jobs(Shape):
    """A page of jobs; `next_cursor` gets the next one and is null on the last."""

    jobs: list[Job]
    next_cursor: int | None


class Dropped(Shape):
    """Lines of a message, counted from 1, that a rule dropped."""

    rule: str
    first_line: int
    last_line: int


class MessageCuts(Shape):
    """A message, counted from 0, that lost something."""

    message: int
    dropped: list[Dropped]


class FactEnd(Shape):
    """How one fact ended: the step that spoke last, and the rule if it dropped it."""

    fact_id: UUID
    step: str
    kept: bool
    rule: str | None
    evidence: Evidence | None


class OwnFactEnd(FactEnd):
    """How one fact ended, for its owner: with its text while it is a memory."""

    text: str | None


class _JobEnd(Shape):
    job_id: UUID
    status: Status
    outcome: Outcome | None
    reason: str | None
    rule: str | None
    last_error: str | None
    counts: dict[str, int]
    messages: list[MessageCuts]


class Why(_JobEnd):
    """Why a job ended as it did."""

    facts: list[FactEnd]


class OwnWhy(_JobEnd):
    """Why a job of one's own ended as it did."""

    facts: list[OwnFactEnd]


class Counts(Shape):
    """The ledger in figures; states as `status` or `status/outcome`, ages in seconds."""

    open: int
    by_state: dict[str, int]
    open_by_step: dict[str, int]
    dead_by_reason: dict[str, int]
    oldest_open_seconds: float | None
    outbox_ready: int
    outbox_oldest_seconds: float | None


class ActedOnMany(Shape):
    """Which jobs were meant, which were acted on, and which were not."""

    dry_run: bool
    meant: int
    job_ids: list[UUID]
    refused: list[Acted] | None = None


class Audit(Shape):
    """What operators did to a job, oldest first."""

    job_id: UUID
    audit: list[AuditEntry]


class Alive(Shape):
    """The process answers."""

    status: Literal["ok"]


class Readiness(Shape):
    """Whether each backend answers, and which models are used."""

    status: Literal["ready", "not_ready"]
    checks: dict[str, str]
    backlog: Literal["ok", "high", "unknown"]
    model: str
    embedding_model: str
