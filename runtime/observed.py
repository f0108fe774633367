"""The ports with a counter and a clock around them; what they do and raise is unchanged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter

from domain.candidate import Candidate
from domain.errors import Backend, PermanentError, TransientError
from domain.facts import Fact, Vector
from domain.jobs import Advance, Claim, Explanation, Finish, Job, JobView, Outcome, Step, StepResult, Submission
from domain.operations import TooManyOpenJobs
from domain.ports import AnswerParser, Embedder, ExtractionModel, ExtractionPrompt, JobLedger, Purpose
from pipeline.runner import StepFunction
from runtime import metrics


@dataclass(frozen=True, slots=True)
class ObservedLedger:
    """domain.ports.JobLedger that counts candidates, retries and ends."""

    inner: JobLedger

    def submit(self, candidate: Candidate) -> Submission:
        """As the ledger does."""
        try:
            submission = self.inner.submit(candidate)
        except TooManyOpenJobs:
            metrics.INGESTS.labels("refused").inc()
            raise
        metrics.INGESTS.labels("accepted" if submission.created else "known").inc()
        return submission

    def claim(self, job_id: str, step: Step, owner: str, *, follows: str | None = None) -> Claim:
        """As the ledger does."""
        return self.inner.claim(job_id, step, owner, follows=follows)

    def complete(self, job: Job, result: StepResult) -> Finish | None:
        """As the ledger does."""
        finish = self.inner.complete(job, result)
        if job.step is Step.VALIDATE and isinstance(result, Advance | Finish):
            metrics.facts_dropped(result.counts)
        if finish is not None:
            metrics.job_finished(finish)
        return finish

    def fail(self, job: Job, error: TransientError) -> float | None:
        """As the ledger does."""
        delay = self.inner.fail(job, error)
        if delay is None:
            metrics.job_ended(Outcome.DEAD, error.backend)
        else:
            reason = metrics.bounded(error.backend, metrics.BACKENDS)
            metrics.RETRIES.labels(job.step.name.lower(), reason).inc()
        return delay

    def bury(self, job: Job, error: PermanentError) -> None:
        """As the ledger does."""
        self.inner.bury(job, error)
        metrics.job_ended(Outcome.DEAD, error.reason)

    def extend(self, job: Job) -> bool:
        """As the ledger does."""
        return self.inner.extend(job)

    def hand_back(self, job_id: str, owner: str) -> bool:
        """As the ledger does."""
        return self.inner.hand_back(job_id, owner)

    def view(self, job_id: str) -> JobView | None:
        """As the ledger does."""
        return self.inner.view(job_id)

    def explain(self, job_id: str) -> Explanation | None:
        """As the ledger does."""
        return self.inner.explain(job_id)


@dataclass(frozen=True, slots=True)
class ObservedModel:
    """domain.ports.ExtractionModel that is timed, its failures counted by kind."""

    inner: ExtractionModel

    @property
    def model(self) -> str:
        """The model's name."""
        return self.inner.model

    def answer(self, prompt: ExtractionPrompt) -> str:
        """As the model does."""
        try:
            with metrics.timed(metrics.MODEL_SECONDS):
                return self.inner.answer(prompt)
        except TransientError as exc:
            _count_model_error(exc)
            raise


@dataclass(frozen=True, slots=True)
class ObservedParser:
    """domain.ports.AnswerParser that counts what it cannot read."""

    inner: AnswerParser

    def __call__(self, text: str, /) -> list[Fact]:
        """As the parser does."""
        try:
            return self.inner(text)
        except TransientError as exc:
            _count_model_error(exc)
            raise


@dataclass(frozen=True, slots=True)
class ObservedEmbedder:
    """domain.ports.Embedder that is timed, its failures counted. A ping is no work and is not counted."""

    inner: Embedder

    @property
    def model(self) -> str:
        """The model's id."""
        return self.inner.model

    @property
    def dims(self) -> int:
        """Length of every vector."""
        return self.inner.dims

    def embed(self, texts: Sequence[str], purpose: Purpose) -> list[Vector]:
        """As the embedder does."""
        started = perf_counter()
        try:
            return self.inner.embed(texts, purpose)
        except TransientError:
            metrics.EMBEDDING_ERRORS.labels(purpose).inc()
            raise
        finally:
            metrics.EMBEDDING_SECONDS.labels(purpose).observe(perf_counter() - started)

    def ping(self) -> None:
        """As the embedder does."""
        self.inner.ping()

    def load(self) -> None:
        """Load a model that runs in this process now."""
        load = getattr(self.inner, "load", None)
        if load is not None:
            load()


def observed_steps(steps: Mapping[Step, StepFunction]) -> dict[Step, StepFunction]:
    """The same steps, timed."""
    return {step: partial(_timed_step, step, function) for step, function in steps.items()}


def _timed_step(step: Step, function: StepFunction, job: Job) -> StepResult:
    with metrics.timed(metrics.STEP_SECONDS, step.name.lower()):
        return function(job)


def _count_model_error(error: TransientError) -> None:
    metrics.MODEL_ERRORS.labels(metrics.bounded(error.backend, metrics.BACKENDS)).inc()
    if error.backend is Backend.LLM_UNPARSEABLE:
        metrics.PARSE_FAILS.inc()
