"""Renews the lease of a running step, so that a short lease finds a dead worker soon and a slow model is left alone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import copy_context

import structlog

from domain.errors import TransientError
from domain.jobs import Job
from domain.ports import JobLedger

log = structlog.get_logger(__name__)


@contextmanager
def renewed_lease(job: Job, *, ledger: JobLedger, every: float) -> Iterator[None]:
    """Renew the job's lease each `every` seconds until the block ends."""
    done = threading.Event()
    # In our context, so that its lines carry the same ids.
    arguments = (_renew, job, ledger, every, done)
    thread = threading.Thread(target=copy_context().run, args=arguments, daemon=True, name="lease")
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _renew(job: Job, ledger: JobLedger, every: float, done: threading.Event) -> None:
    while not done.wait(every):
        try:
            if not ledger.extend(job):
                log.warning("memory_lease_lost", job_id=job.id, step=job.step.task_name)
                return
        except TransientError as exc:
            # The next round tries again; if the lease runs out meanwhile, the fence refuses our completion.
            log.warning("memory_lease_not_renewed", job_id=job.id, backend=exc.backend)
