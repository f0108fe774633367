"""Step 1, admission filter: refuse what must never be looked at, clean the rest."""

from __future__ import annotations

from admission.gate import admit
from domain.candidate import Rejected
from domain.jobs import Advance, Finish, Job, Outcome, StepResult


def admit_step(job: Job) -> StepResult:
    """Judge the candidate by the deterministic rules (Poco note, section 4.1)."""
    verdict = admit(job.candidate)
    if isinstance(verdict, Rejected):
        return Finish(Outcome.REJECTED, reason=verdict.reason, rule=verdict.rule, trace=verdict.cuts)
    dropped = {f"dropped_{rule}": number for rule, number in verdict.dropped.items()}
    return Advance(messages=verdict.messages, counts=dropped, trace=verdict.cuts)
