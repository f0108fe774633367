"""What the pipeline needs from the outside, as Protocols. The adapters live in storage, llm and nlp."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from domain.access import Caller, TokenScope, TokenView
from domain.candidate import Candidate, JsonValue, Message
from domain.errors import PermanentError, TransientError
from domain.facts import Entity, Fact, StagedFact, Vector
from domain.jobs import Claim, Explanation, Finish, Job, JobView, Step, StepResult, Submission
from domain.lifecycle import (
    Changed,
    Details,
    HistoryEntry,
    ItemFilter,
    ItemPage,
    MemoryItem,
    Overview,
    Topic,
    Traces,
    Wording,
    Writer,
)
from domain.memory import Neighbour, Origin
from domain.operations import Act, Acted, AuditEntry, JobCounts, JobFilter, JobPage, Operator
from domain.scope import Scope
from domain.switches import UserSettings


class Purpose(StrEnum):
    """What a text is embedded for; e5-like models treat a query and a stored text differently."""

    STORE = "store"
    QUERY = "query"


class Embedder(Protocol):
    """Text to vectors of a fixed length.

    Raises:
        TransientError: with Backend.EMBEDDING_UNAVAILABLE when the model cannot answer.
    """

    @property
    def model(self) -> str:
        """The model's id as kept in the database schema."""

    @property
    def dims(self) -> int:
        """Length of every vector."""

    def embed(self, texts: Sequence[str], purpose: Purpose) -> list[Vector]:
        """One vector of `dims` floats for each text, in order."""

    def ping(self) -> None:
        """Ask the model itself for one vector, whatever is cached; raises as `embed` does."""


@dataclass(frozen=True, slots=True)
class ExtractionPrompt:
    """The finished prompt of one extraction, and the conversation it was made from."""

    system: str
    user: str
    conversation: tuple[Message, ...]


class ExtractionModel(Protocol):
    """A language model that answers an extraction prompt with text.

    Raises:
        TransientError: with one of the LLM backends when it cannot answer.
    """

    @property
    def model(self) -> str:
        """The model's name for logs and status."""

    def answer(self, prompt: ExtractionPrompt) -> str:
        """The model's raw text."""


class AnswerParser(Protocol):
    """Model text to facts: an empty list means the model found nothing; raises TransientError when unparseable."""

    def __call__(self, text: str, /) -> list[Fact]:
        """The facts, in the order of the answer."""


class Extractor(Protocol):
    """Infers facts from a conversation and stages them; writes nothing to the live memories."""

    def extract(self, scope: Scope, messages: Sequence[Message], *, language: str | None) -> list[StagedFact]:
        """Facts worth keeping, embedded. `language` (ISO 639-1) constrains the answer's language on a second run."""


class LanguageIdentifier(Protocol):
    """Names the main language of a text as an ISO 639-1 code, or None when there is too little to tell."""

    def __call__(self, text: str, /) -> str | None:
        """The language's code."""


class Segmenter(Protocol):
    """Text to the space-separated, lower-case terms of the keyword index."""

    def __call__(self, text: str, /) -> str:
        """The terms, each once."""


class WordFinder(Protocol):
    """Certain words of a text, each once: those that carry its statement, or the names in it."""

    def __call__(self, text: str, /) -> list[str]:
        """The words in reading order."""


class EntityRecogniser(Protocol):
    """The named things a text mentions, in reading order, each once."""

    def __call__(self, text: str, /) -> list[Entity]:
        """The entities, without vectors."""


class JobLedger(Protocol):
    """The truth about every job. Each method is one transaction.

    Raises:
        TransientError: with Backend.DATABASE_UNAVAILABLE when PostgreSQL cannot answer.
    """

    def submit(self, candidate: Candidate) -> Submission:
        """Write job and outbox row, or find the job of the same idempotency key.

        Raises TooManyOpenJobs, with nothing written, when too many wait already.
        """

    def claim(self, job_id: str, step: Step, owner: str, *, follows: str | None = None) -> Claim:
        """Take the lease of a step, if it is this step's turn.

        An owner that begins with `follows` is the caller's own attempt before this one: its lease is taken over.
        """

    def complete(self, job: Job, result: StepResult) -> Finish | None:
        """Store the step's effect and move the pointer: what the job came to when that ended it.

        Raises Fenced when the lease was lost.
        """

    def fail(self, job: Job, error: TransientError) -> float | None:
        """Note a failed attempt: seconds until the next, or None when the job is dead now."""

    def bury(self, job: Job, error: PermanentError) -> None:
        """End the job as dead at once."""

    def extend(self, job: Job) -> bool:
        """Renew the lease; False when it is not ours any more."""

    def hand_back(self, job_id: str, owner: str) -> bool:
        """Give the step up whose lease owner begins so, as nobody's failure; False when nobody such holds it.

        Whoever still runs it can complete nothing any more.
        """

    def view(self, job_id: str) -> JobView | None:
        """The job as it may be shown, or None."""

    def explain(self, job_id: str) -> Explanation | None:
        """Every decision of the job's completed steps, or None."""


class JobDesk(Protocol):
    """The operators' side of the ledger.

    Raises:
        TransientError: with Backend.DATABASE_UNAVAILABLE.
    """

    def page(self, wanted: JobFilter, *, limit: int, cursor: int | None = None) -> JobPage:
        """Up to `limit` jobs accepted before the cursor, the latest first."""

    def ids(self, wanted: JobFilter, *, limit: int | None = None) -> list[str]:
        """The jobs' ids in the order of their acceptance."""

    def audit(self, job_id: str) -> list[AuditEntry]:
        """What operators did to a job, oldest first."""

    def act(self, job_id: str, act: Act, operator: Operator) -> Acted:
        """Do it, in one transaction with the line in the audit; or say why not."""


class JobStats(Protocol):
    """The ledger in figures.

    Raises:
        TransientError: with Backend.DATABASE_UNAVAILABLE.
    """

    def counts(self) -> JobCounts:
        """Everything, counted now."""

    def open_jobs(self) -> int:
        """How many jobs have not ended, at most a second ago."""


class UserSettingsStore(Protocol):
    """The users' switches.

    Raises:
        TransientError: with Backend.DATABASE_UNAVAILABLE.
    """

    def get(self, scope: Scope) -> UserSettings:
        """The user's switches."""

    def change(self, scope: Scope, changes: Mapping[str, bool]) -> UserSettings:
        """Set some switches and give all of them."""


class TokenStore(Protocol):
    """The service tokens.

    Raises:
        TransientError: with Backend.DATABASE_UNAVAILABLE.
    """

    def create(self, name: str, scopes: Sequence[TokenScope], expires_at: datetime | None = None) -> str:
        """Make a token and return it, the only time it can be read; raises InvalidField on a name in use."""

    def known(self) -> list[TokenView]:
        """Every token there was, the oldest first."""

    def revoke(self, name: str) -> bool:
        """End a token; False when there is no live one of this name."""

    def caller(self, token: str) -> Caller | None:
        """Whose live token this is, or None."""


class MemoryIndex(Protocol):
    """Finds published memories of one scope by vector.

    Raises:
        TransientError: with Backend.DATABASE_UNAVAILABLE.
    """

    def nearest(self, scope: Scope, vector: Vector, limit: int) -> list[Neighbour]:
        """The nearest memories, closest first."""


class MemoryStore(Protocol):
    """Every stored memory of every scope, for maintenance.

    Raises:
        TransientError: with Backend.DATABASE_UNAVAILABLE.
    """

    def texts(self) -> Iterator[tuple[str, str, Mapping[str, JsonValue]]]:
        """Memory id, text and metadata, of present, earlier and audited texts."""

    def remove(self, memory_id: str, *, reason: str) -> None:
        """Delete a memory and every text of it, with its entity links; history and audit keep that it was."""


class MemoryKeeper(Protocol):
    """Changes single memories on purpose, each in one transaction. Ids are UUIDs.

    Raises:
        TransientError: with Backend.DATABASE_UNAVAILABLE.
    """

    def note_run(self, scope: Scope, run_id: str) -> None:
        """A run manages memories itself: its own candidate stays out, also one that is queued already."""

    def add(self, origin: Origin, fact: StagedFact) -> Changed:
        """Write one memory; a text that was forgotten before is welcome again."""

    def update(
        self, scope: Scope, memory_id: str, wording: Wording | None, details: Details, writer: Writer
    ) -> Changed:
        """Change text, details or both of a memory; its id, its owner and its creation stay."""

    def archive(self, scope: Scope, memory_id: str, writer: Writer) -> Changed:
        """Take a memory out of every recall and list; restorable."""

    def restore(self, scope: Scope, memory_id: str, writer: Writer) -> Changed:
        """Bring an archived memory back."""

    def item(self, scope: Scope, memory_id: str) -> MemoryItem | None:
        """One memory of the scope, whatever its status."""

    def history(self, scope: Scope, memory_id: str) -> list[HistoryEntry] | None:
        """Every change of a memory of the scope, oldest first; None when the scope has none of this id."""


class MemoryListing(Protocol):
    """A user's memories to look at; no model is needed.

    Raises:
        TransientError: with Backend.DATABASE_UNAVAILABLE.
    """

    def page(self, scope: Scope, wanted: ItemFilter, *, limit: int, cursor: str | None = None) -> ItemPage:
        """Up to `limit` memories, the latest first; raises InvalidField on a cursor that is none."""

    def overview(self, scope: Scope, *, time_zone: str, days: int) -> Overview:
        """Totals and, for each of the last days of the user's time zone, how many were added."""

    def topics(self, scope: Scope, *, limit: int) -> list[Topic]:
        """The names mentioned most."""

    def related(self, scope: Scope, memory_id: str, *, limit: int) -> list[Neighbour] | None:
        """The memories nearest to one of the scope, without itself; None when the scope has none of this id."""


class Eraser(Protocol):
    """Forgets for good, with a receipt.

    Raises:
        TransientError: with Backend.DATABASE_UNAVAILABLE; `forget_all` answers with it instead.
    """

    def forget(self, scope: Scope, memory_id: str, writer: Writer) -> Changed:
        """Remove one memory and every copy of it."""

    def forget_all(self, scope: Scope, writer: Writer, progress: Callable[[int], None] = ...) -> Changed:
        """Remove everything of a user in batches; when it is interrupted, the next call goes on."""

    def scan(self, scope: Scope, memory_id: str | None = None) -> Traces:
        """What of a user, or of one memory of theirs, stands in each store, read anew."""


class Calibration(Protocol):
    """Maps a model's cosine to the common score on which 0.45 is the cut."""

    def score(self, cosine: float) -> float:
        """A score in 0..1, monotone in the cosine."""
