"""Working stand-ins with state for the ports, used where a test is about logic and not about servers."""

from __future__ import annotations

import hashlib
import random
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from domain.candidate import Candidate, Message, Role
from domain.errors import Fenced, PermanentError, TransientError
from domain.facts import StagedFact, Vector
from domain.jobs import (
    Advance,
    AlreadyDone,
    Claim,
    Claimed,
    Explanation,
    Finish,
    Job,
    JobView,
    NotOurs,
    NotYet,
    Status,
    Step,
    StepResult,
    Submission,
)
from domain.memory import Neighbour
from domain.ports import Purpose
from domain.retry import RetryPolicy
from domain.scope import Scope

DIMS = 384


def fake_vector(text: str, dims: int = DIMS) -> Vector:
    """A unit vector that depends on the text alone."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
    numbers = [random.Random(seed + place).gauss(0, 1) for place in range(dims)]
    length = sum(number * number for number in numbers) ** 0.5
    return tuple(number / length for number in numbers)


@dataclass
class FakeEmbedder:
    """Embeds by hash; raises `failure` while it is set."""

    model: str = "fake"
    dims: int = DIMS
    failure: TransientError | None = None
    embedded: list[tuple[str, Purpose]] = field(default_factory=list)

    def embed(self, texts: Sequence[str], purpose: Purpose) -> list[Vector]:
        if self.failure is not None:
            raise self.failure
        self.embedded.extend((text, purpose) for text in texts)
        return [fake_vector(text, self.dims) for text in texts]

    def ping(self) -> None:
        self.embed(["ping"], Purpose.QUERY)


@dataclass
class FakeIndex:
    """Holds neighbours by scope; raises `failure` while it is set."""

    memories: dict[Scope, list[Neighbour]] = field(default_factory=dict)
    failure: TransientError | None = None

    def nearest(self, scope: Scope, vector: Vector, limit: int) -> list[Neighbour]:
        if self.failure is not None:
            raise self.failure
        found = sorted(self.memories.get(scope, []), key=lambda memory: -memory.similarity)
        return found[:limit]


@dataclass
class FakeExtractor:
    """Answers with the given lists of texts, one list a call; remembers which language was asked for."""

    answers: list[list[str]]
    languages: list[str | None] = field(default_factory=list)

    def extract(self, scope: Scope, messages: Sequence[Message], *, language: str | None) -> list[StagedFact]:
        self.languages.append(language)
        return [staged(text) for text in self.answers.pop(0)]


@dataclass
class FakeLedger:
    """One job in memory: enough of a ledger to run its steps."""

    job: Job
    policy: RetryPolicy = field(default_factory=RetryPolicy)
    status: Status = Status.PENDING
    failures: int = 0
    due_in: float = 0.0
    results: list[StepResult] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    buried: list[str] = field(default_factory=list)
    owner: str | None = None
    away: TransientError | None = None
    steal_lease: bool = False

    def submit(self, candidate: Candidate) -> Submission:
        return Submission(self.job.id, self.status, "trace", created=False)

    def claim(self, job_id: str, step: Step, owner: str, *, follows: str | None = None) -> Claim:
        if self.away is not None:
            raise self.away
        if self.status in (Status.SUCCESS, Status.DEAD) or self.owner is not None:
            return NotOurs()
        if self.job.step > step:
            return AlreadyDone()
        if self.due_in > 0:
            return NotYet(self.due_in)
        self.owner = owner
        self.job = replace(self.job, step=step, fence=self.job.fence + 1)
        return Claimed(self.job)

    def complete(self, job: Job, result: StepResult) -> Finish | None:
        if self.steal_lease or job.fence != self.job.fence:
            raise Fenced("lost")
        self.owner, self.failures = None, 0
        self.results.append(result)
        if isinstance(result, Advance):
            self.job = replace(self.job, step=Step(job.step + 1))
        else:
            self.status = Status.SUCCESS
        return result if isinstance(result, Finish) else None

    def fail(self, job: Job, error: TransientError) -> float | None:
        self.owner = None
        self.failures += 1
        self.errors.append(str(error))
        delay = self.policy.delay_after(self.failures)
        self.status = Status.DEAD if delay is None else Status.FAILED
        return delay

    def bury(self, job: Job, error: PermanentError) -> None:
        self.status = Status.DEAD
        self.buried.append(error.reason)

    def extend(self, job: Job) -> bool:
        return not self.steal_lease

    def hand_back(self, job_id: str, owner: str) -> bool:
        held = self.owner is not None and self.owner.startswith(owner)
        self.owner = None if held else self.owner
        return held

    def view(self, job_id: str) -> JobView | None:
        return None

    def explain(self, job_id: str) -> Explanation | None:
        return None


def candidate(*turns: tuple[str, str], scope: Scope | None = None) -> Candidate:
    """A task_completed candidate of (role, text) turns."""
    messages = tuple(Message(Role(role), text) for role, text in turns)
    return Candidate(scope or unique_scope(), messages)


def job(*turns: tuple[str, str], facts: Sequence[StagedFact] = (), step: Step = Step.ADMIT) -> Job:
    """A claimed job whose messages are admitted already."""
    made = candidate(*turns)
    return Job(str(uuid.uuid4()), made, step, fence=1, messages=made.messages, staged=tuple(facts))


def staged(text: str, *, role: str | None = "user") -> StagedFact:
    """A staged fact with a vector of its own."""
    return StagedFact(str(uuid.uuid4()), text, fake_vector(text), role)


def unique_scope() -> Scope:
    """A scope that no other test uses."""
    return Scope("test", f"u-{uuid.uuid4().hex[:12]}")


def is_finish(result: StepResult, outcome: str, reason: str | None) -> bool:
    """Whether a step ended the job with this outcome and reason."""
    return isinstance(result, Finish) and (result.outcome, result.reason) == (outcome, reason)
