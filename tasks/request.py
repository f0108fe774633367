"""What a stopping worker does with a step that outlives the time for its end."""

from __future__ import annotations

from typing import Any

import structlog
from celery.worker.request import Request

from domain.errors import TransientError
from runtime.wiring import process_services

log = structlog.get_logger(__name__)


def attempt(task_id: str, number: int) -> str:
    """How the lease owner of a message's attempt begins; a message that is delivered again keeps its number."""
    return f"{task_id}:{number}@"


class StepRequest(Request):
    """A cancelled step goes back to the ledger at once, so that another worker need not wait for its lease."""

    def cancel(self, pool: Any, signal: Any = None, emit_retry: bool = True) -> None:
        """End the step as the pool can, and hand it back; this runs in the worker's main process."""
        if self.time_start:
            log.warning("memory_ingest_drain_timeout", job_id=self.args[0], step=self.name)
        try:
            super().cancel(pool, signal, emit_retry)
        except NotImplementedError:
            # A thread cannot be ended. It is fenced off instead, and ends with its model call.
            self._announce_cancelled(emit_retry=emit_retry)
        self._hand_back(str(self.args[0]))

    def _hand_back(self, job_id: str) -> None:
        owner = attempt(self.id, self.request_dict.get("retries") or 0)
        try:
            if process_services().ledger.hand_back(job_id, owner):
                log.warning("memory_step_handed_back", job_id=job_id, step=self.name)
        except TransientError as exc:
            # The lease runs out instead.
            log.warning("memory_step_not_handed_back", job_id=job_id, step=self.name, backend=exc.backend)
