"""The six tasks of the chain. Each claims its step, makes one call into `pipeline`, and lets the ledger decide."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

import structlog
from celery import Task, chain
from structlog.contextvars import bind_contextvars, clear_contextvars

from domain.errors import TransientError
from domain.jobs import Job, Step
from domain.ports import JobLedger
from pipeline.runner import GoOn, Stop, TryAgain, run_step
from runtime.wiring import process_services
from tasks.app import app
from tasks.lease import KEEPER
from tasks.request import attempt

log = structlog.get_logger(__name__)
_LEDGER_DOWN_SECONDS = 4.0


class StepFailed(Exception):
    """A step is tried again; the text names the backend and holds no user content."""


class StepTask(Task):
    """A task that runs one step and ends its chain when the ledger says so."""

    max_retries = None
    Request = "tasks.request:StepRequest"

    def before_start(self, _task_id: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Name the job in every line that is logged until the task has ended, Celery's own lines too."""
        clear_contextvars()
        bind_contextvars(job_id=args[0] if args else kwargs.get("job_id"))

    def run_step(self, job_id: str, step: Step) -> str:
        """Run the step; returns a word for the log, raises Celery's Retry when it is due again."""
        wired = process_services()
        every, longest = wired.settings.lease_seconds / 3, app.conf.task_time_limit
        keep_alive = partial(_traced_lease, ledger=wired.ledger, every=every, longest=longest)
        try:
            signal = run_step(
                job_id,
                step,
                owner=attempt(self.request.id, self.request.retries) + _place(),
                follows=attempt(self.request.id, self.request.retries - 1),
                ledger=wired.ledger,
                steps=wired.steps,
                keep_alive=keep_alive,
            )
        except TransientError as exc:
            # The ledger itself is away, so nothing was decided: knock again, without counting an attempt.
            signal = TryAgain(_LEDGER_DOWN_SECONDS, str(exc))
        except Exception as exc:  # noqa: BLE001
            # Its text would go to the log and to Flower, and may quote what was being stored. The lease runs out.
            raise StepFailed(type(exc).__name__) from None
        return self._obey(job_id, step, signal)

    def _obey(self, job_id: str, step: Step, signal: GoOn | Stop | TryAgain) -> str:
        if isinstance(signal, GoOn):
            return "done"
        if isinstance(signal, TryAgain):
            log.warning(
                "memory_ingest_retry_scheduled",
                job_id=job_id,
                step=step.task_name,
                seconds=round(signal.seconds, 3),
                error=signal.error,
            )
            raise self.retry(exc=StepFailed(signal.error), countdown=signal.seconds)
        if signal.why == "dead":
            log.error("memory_ingest_failed", job_id=job_id, step=step.task_name, reason=signal.reason)
        # Raising Ignore would leave the task STARTED in Flower for ever.
        self.request.chain = None
        return signal.why


def _traced_lease(job: Job, *, ledger: JobLedger, every: float, longest: float) -> AbstractContextManager[None]:
    """The lease of a step, whose lines carry the trace of the request from now on."""
    bind_contextvars(trace_id=job.candidate.trace_id)
    return KEEPER.held(job, ledger=ledger, every=every, longest=longest)


@app.task(name=Step.ADMIT.task_name, bind=True, base=StepTask)
def admit(self: StepTask, job_id: str) -> str:
    """Step 1: refuse what must never be looked at, clean the rest."""
    return self.run_step(job_id, Step.ADMIT)


@app.task(name=Step.EXTRACT.task_name, bind=True, base=StepTask)
def extract(self: StepTask, job_id: str) -> str:
    """Step 2: let the model find the facts worth keeping."""
    return self.run_step(job_id, Step.EXTRACT)


@app.task(name=Step.CHECK_LANGUAGE.task_name, bind=True, base=StepTask)
def check_language(self: StepTask, job_id: str) -> str:
    """Step 3: keep facts in the user's language."""
    return self.run_step(job_id, Step.CHECK_LANGUAGE)


@app.task(name=Step.VALIDATE.task_name, bind=True, base=StepTask)
def validate(self: StepTask, job_id: str) -> str:
    """Step 4: drop facts that hold what must not be stored."""
    return self.run_step(job_id, Step.VALIDATE)


@app.task(name=Step.RELINK.task_name, bind=True, base=StepTask)
def relink(self: StepTask, job_id: str) -> str:
    """Step 5: recognise names and keyword terms."""
    return self.run_step(job_id, Step.RELINK)


@app.task(name=Step.CLEANUP.task_name, bind=True, base=StepTask)
def cleanup(self: StepTask, job_id: str) -> str:
    """Step 6: publish, and drop what is left."""
    return self.run_step(job_id, Step.CLEANUP)


_TASKS = {
    Step.ADMIT: admit,
    Step.EXTRACT: extract,
    Step.CHECK_LANGUAGE: check_language,
    Step.VALIDATE: validate,
    Step.RELINK: relink,
    Step.CLEANUP: cleanup,
}


def send_chain(job_id: str, first: Step) -> None:
    """Send the chain of a job from one step on; only its id goes over the wire."""
    chain(*(_signature(step, job_id) for step in Step if step >= first)).apply_async()


def _signature(step: Step, job_id: str) -> Any:
    return _TASKS[step].si(job_id)


def _place() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"
