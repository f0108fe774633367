"""Renews the leases of running steps, so that a short lease finds a dead worker soon and a slow model is left alone."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import structlog

from domain.errors import TransientError
from domain.jobs import Job
from domain.ports import JobLedger

log = structlog.get_logger(__name__)
# How long the thread sleeps when there is nothing to renew.
_REST_SECONDS = 10.0


@dataclass(slots=True)
class _Held:
    job: Job
    ledger: JobLedger
    every: float
    due: float
    until: float


class LeaseKeeper:
    """One thread for all steps that run in a process; it is started with the first of them, so after a fork."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._held: dict[int, _Held] = {}
        self._process: int | None = None
        self._wakes_at = 0.0

    @contextmanager
    def held(self, job: Job, *, ledger: JobLedger, every: float, longest: float) -> Iterator[None]:
        """Renew the job's lease each `every` seconds until the block ends, but for no longer than `longest` seconds.

        A step that hangs beyond every time limit is given to another worker in the end, and cannot complete when it
        wakes.
        """
        now = time.monotonic()
        held = _Held(job, ledger, every, due=now + every, until=now + longest)
        with self._changed:
            self._start()
            self._held[id(held)] = held
            # Waking the thread for each short step would cost more than the step's own transactions.
            if held.due < self._wakes_at:
                self._changed.notify()
        try:
            yield
        finally:
            self._let_go(held)

    def _start(self) -> None:
        if self._process != os.getpid():
            self._process = os.getpid()
            threading.Thread(target=self._renew_for_ever, daemon=True, name="leases").start()

    def _renew_for_ever(self) -> None:
        while True:
            for held in self._due():
                try:
                    self._renew(held)
                except Exception as exc:  # noqa: BLE001
                    # This thread serves every step of the process and must go on; the text may quote a row.
                    log.error("memory_lease_not_renewed", **_ids(held.job), error=type(exc).__name__)  # noqa: TRY400

    def _due(self) -> list[_Held]:
        """Wait until a lease is due or an earlier one comes; the leases that are due."""
        with self._changed:
            now = time.monotonic()
            self._wakes_at = min((held.due for held in self._held.values()), default=now + _REST_SECONDS)
            self._changed.wait(max(0.0, self._wakes_at - now))
            now = time.monotonic()
            return [held for held in self._held.values() if held.due <= now]

    def _renew(self, held: _Held) -> None:
        job, now = held.job, time.monotonic()
        if now > held.until:
            self._let_go(held)
            log.warning("memory_lease_given_up", **_ids(job))
            return
        held.due = now + held.every
        try:
            renewed = held.ledger.extend(job)
        except TransientError as exc:
            # The next round tries again; if the lease runs out meanwhile, the fence refuses our completion.
            log.warning("memory_lease_not_renewed", **_ids(job), backend=exc.backend)
            return
        if not renewed and self._let_go(held):
            log.warning("memory_lease_lost", **_ids(job))

    def _let_go(self, held: _Held) -> bool:
        """Stop renewing; False when the step had ended already."""
        with self._changed:
            return self._held.pop(id(held), None) is not None


def _ids(job: Job) -> dict[str, str | None]:
    return {"job_id": job.id, "step": job.step.task_name, "trace_id": job.candidate.trace_id}


KEEPER = LeaseKeeper()
