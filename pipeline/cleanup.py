"""Step 6, history cleanup: publish what passed every gate; the ledger drops everything else that was staged.

No conversation context was kept and no history written on the way, so there is nothing half-made to clean.
"""

from __future__ import annotations

from domain.jobs import Finish, Job, Outcome, Publish, StepResult


def cleanup_step(job: Job) -> StepResult:
    """Publish the staged facts in the transaction that ends the job."""
    if not job.staged:
        return Finish(Outcome.NO_EFFECT, reason="nothing_staged")
    return Publish(job.staged)
