"""For producers that share the database: the same call as the HTTP endpoint, without HTTP."""

from __future__ import annotations

from collections.abc import Mapping

from domain.candidate import Candidate
from domain.jobs import Submission
from pipeline.submit import submit


def enqueue(candidate: Candidate) -> Submission:
    """Accept a candidate; only POCO_DATABASE_URL is needed, the broker is the relay's business.

    Raises:
        InvalidField: the candidate breaks a rule; nothing was written.
        TooManyOpenJobs: too many candidates wait already; nothing was written.
        TransientError: the database did not answer; send it again with the same idempotency key.
    """
    from runtime.wiring import process_services

    wired = process_services()
    return submit(candidate, ledger=wired.ledger, limits=wired.size_limits)


def enqueue_event(event: Mapping[str, object]) -> Submission:
    """Accept a `memory.extract.requested` event, version 1 (SmartMate note, section 6.2).

    Raises:
        pydantic.ValidationError: the event is not one; nothing was written.
    """
    from tasks.contracts import Event

    return enqueue(Event.model_validate(event).payload.candidate())
