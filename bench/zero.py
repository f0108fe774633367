"""A worker whose model and embedder answer at once, inside its own process: `celery --app=bench.zero worker`.

Everything else is the service as it is. Where BENCH_TIMES names a file, each task adds a line to it: its name and the
milliseconds that it took in all, in the claim, in the step itself and in the completion.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from typing import Any

from celery.signals import task_postrun, task_prerun

from bench.costless import ZeroEmbedder, ZeroModel
from domain.jobs import Claim, Job, Step, StepResult
from domain.ports import JobLedger
from runtime.wiring import process_services
from tasks.app import app

__all__ = ["app"]


@dataclass
class TimedLedger:
    """A ledger that notes how long it is busy."""

    ledger: JobLedger
    spent: dict[str, float] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        """Everything that is not timed."""
        return getattr(self.ledger, name)

    def claim(self, job_id: str, step: Step, owner: str, *, follows: str | None = None) -> Claim:
        """As the ledger's, timed."""
        before = time.perf_counter()
        claim = self.ledger.claim(job_id, step, owner, follows=follows)
        self.spent = {"claim": time.perf_counter() - before, "claimed_at": time.perf_counter()}
        return claim

    def complete(self, job: Job, result: StepResult) -> None:
        """As the ledger's, timed."""
        before = time.perf_counter()
        self.ledger.complete(job, result)
        self.spent |= {"work": before - self.spent["claimed_at"], "complete": time.perf_counter() - before}


def _time_tasks(path: str, ledger: TimedLedger) -> None:
    begun: dict[str, float] = {}

    def begin(task_id: str, **_: object) -> None:
        begun[task_id] = time.perf_counter()

    def end(task_id: str, task: Any, **_: object) -> None:
        row = {"whole": time.perf_counter() - begun.pop(task_id), **ledger.spent}
        parts = (f"{row.get(part, 0) * 1000:.3f}" for part in ("whole", "claim", "work", "complete"))
        with open(path, "a", encoding="utf-8") as file:  # noqa: PTH123 - appends of one line
            file.write(" ".join((task.name, *parts)) + "\n")

    task_prerun.connect(begin, weak=False)
    task_postrun.connect(end, weak=False)


_wired = process_services()
vars(_wired).update(model=ZeroModel(), embedder=ZeroEmbedder())
if path := os.environ.get("BENCH_TIMES"):
    timed = TimedLedger(_wired.ledger)
    vars(_wired).update(ledger=timed)
    _time_tasks(path, timed)
