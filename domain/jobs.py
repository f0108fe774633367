"""One submission's way through the pipeline: steps, states, named outcomes, and what a step says it changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum, StrEnum
from typing import TypeAlias

from domain.candidate import Candidate, Cut, Message
from domain.facts import FactVerdict, StagedFact


class Step(IntEnum):
    """The steps of the chain in order; the value is the ledger's step pointer."""

    ADMIT = 1
    EXTRACT = 2
    CHECK_LANGUAGE = 3
    VALIDATE = 4
    RELINK = 5
    CLEANUP = 6

    @property
    def task_name(self) -> str:
        """The Celery task that runs this step."""
        return f"memory.{self.name.lower()}"


class Status(StrEnum):
    """Where a job stands. `failed` waits for its retry; only `success` and `dead` are final."""

    PENDING = "pending"
    PROCESSING = "processing"
    FAILED = "failed"
    SUCCESS = "success"
    DEAD = "dead"


OPEN_STATUSES = (Status.PENDING, Status.PROCESSING, Status.FAILED)


class Outcome(StrEnum):
    """What a finished job came to."""

    PUBLISHED = "published"
    REJECTED = "rejected"
    NO_EFFECT = "no_effect"
    SKIPPED_MANAGED = "skipped_managed"
    MEMORY_OFF = "memory_off"
    LANGUAGE_DRIFT = "language_drift"
    DEAD = "dead"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Job:
    """A claimed job as a step sees it. `messages` are the admitted ones from the second step on.

    `closed` is how it ends without another step: its run has managed memories itself, or memory is switched off.
    """

    id: str
    candidate: Candidate
    step: Step
    fence: int
    messages: tuple[Message, ...] = ()
    staged: tuple[StagedFact, ...] = ()
    closed: Finish | None = None


# One decision about a message or a fact: places and rule names, never text.
TraceEntry: TypeAlias = Cut | FactVerdict


@dataclass(frozen=True, slots=True)
class Advance:
    """The step is done, the chain goes on. `messages` and `staged` replace what the ledger holds, unless None."""

    messages: tuple[Message, ...] | None = None
    staged: tuple[StagedFact, ...] | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    trace: tuple[TraceEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class Publish:
    """The last step: make the staged facts memories, in the transaction that finishes the job."""

    staged: tuple[StagedFact, ...]


@dataclass(frozen=True, slots=True)
class Finish:
    """The job ends here with a named outcome; whatever was staged is dropped."""

    outcome: Outcome
    reason: str | None = None
    rule: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    trace: tuple[TraceEntry, ...] = ()


StepResult: TypeAlias = Advance | Publish | Finish


@dataclass(frozen=True, slots=True)
class Claimed:
    """The step is ours until the lease runs out."""

    job: Job


@dataclass(frozen=True, slots=True)
class AlreadyDone:
    """An earlier delivery finished this step; the chain goes on."""


@dataclass(frozen=True, slots=True)
class NotYet:
    """The step's retry is due later."""

    seconds: float


@dataclass(frozen=True, slots=True)
class NotOurs:
    """Finished, unknown, held by another worker, or not the oldest of its scope: this delivery ends."""


Claim: TypeAlias = Claimed | AlreadyDone | NotYet | NotOurs


@dataclass(frozen=True, slots=True)
class Submission:
    """The answer to a submitted candidate. `created` is False when the idempotency key was seen before."""

    job_id: str
    status: Status
    trace_id: str
    created: bool


@dataclass(frozen=True, slots=True)
class JobView:
    """What may be shown of a job: ids, states, counts and times, never content."""

    id: str
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
    attempts: Mapping[str, int]
    counts: Mapping[str, int]
    last_error: str | None
    next_retry_at: datetime | None
    trace_id: str
    run_id: str | None
    created_at: datetime
    started_at: datetime | None
    updated_at: datetime
    finished_at: datetime | None
    has_content: bool


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a job ended as it did: every decision of every step that was completed, in order."""

    view: JobView
    decisions: tuple[tuple[Step, TraceEntry], ...]
