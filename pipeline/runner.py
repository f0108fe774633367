"""Run one step of one job: claim, do, complete. What became of it is decided here and in the ledger, nowhere else."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import PurePath
from typing import TypeAlias

from domain.errors import Backend, Fenced, PermanentError, TransientError
from domain.jobs import Advance, AlreadyDone, Claimed, Job, NotOurs, NotYet, Step, StepResult
from domain.ports import JobLedger

StepFunction: TypeAlias = Callable[[Job], StepResult]
KeepAlive: TypeAlias = Callable[[Job], AbstractContextManager[object]]


@dataclass(frozen=True, slots=True)
class GoOn:
    """The chain continues with the next step."""


@dataclass(frozen=True, slots=True)
class Stop:
    """This delivery ends; `why` is a constant word for the log, `reason` why a job is dead."""

    why: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class TryAgain:
    """The step failed and is due again in some seconds. `error` names the backend, never content."""

    seconds: float
    error: str


Signal: TypeAlias = GoOn | Stop | TryAgain


def run_step(
    job_id: str,
    step: Step,
    *,
    owner: str,
    ledger: JobLedger,
    steps: Mapping[Step, StepFunction],
    follows: str | None = None,
    keep_alive: KeepAlive = nullcontext,
) -> Signal:
    """Run a step unless it is done, not due, or somebody else's. `owner` and `follows` are as in `JobLedger.claim`.

    Raises:
        TransientError: only when the ledger itself cannot be reached; nothing was decided then.
    """
    claim = ledger.claim(job_id, step, owner, follows=follows)
    if isinstance(claim, AlreadyDone):
        return GoOn()
    if isinstance(claim, NotYet):
        return TryAgain(claim.seconds, "not due yet")
    if isinstance(claim, NotOurs):
        return Stop("not_ours")
    try:
        return _run_claimed(claim, ledger, steps[step], keep_alive)
    except Fenced:
        return Stop("fenced")


def _run_claimed(claim: Claimed, ledger: JobLedger, function: StepFunction, keep_alive: KeepAlive) -> Signal:
    job = claim.job
    if job.closed is not None:
        # Nothing is asked of a model that would be dropped at the end.
        ledger.complete(job, job.closed)
        return Stop("finished")
    try:
        with keep_alive(job):
            result = function(job)
    except TransientError as exc:
        return _failed(job, exc, ledger)
    except PermanentError as exc:
        ledger.bury(job, exc)
        return Stop("dead", exc.reason)
    except Exception as exc:  # noqa: BLE001
        # A fault of ours, or the step's time limit: it counts as a failed attempt, told without its text,
        # which may quote the conversation.
        return _failed(job, TransientError(Backend.INTERNAL, _where(exc)), ledger)
    ledger.complete(job, result)
    return GoOn() if isinstance(result, Advance) else Stop("finished")


def _failed(job: Job, error: TransientError, ledger: JobLedger) -> Signal:
    delay = ledger.fail(job, error)
    return Stop("dead", error.backend) if delay is None else TryAgain(delay, str(error))


def _where(exc: Exception) -> str:
    frame = traceback.extract_tb(exc.__traceback__)[-1]
    return f"{type(exc).__name__} at {PurePath(frame.filename).name}:{frame.lineno}"
