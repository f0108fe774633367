"""Accept a candidate: check what no type can, then write job and outbox row in one transaction.

The HTTP endpoint and producers that share the database come through here alike.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from domain.candidate import Candidate, Message
from domain.errors import InvalidField
from domain.jobs import Submission
from domain.metadata import check_metadata
from domain.ports import JobLedger
from domain.scope import check_external_id, check_identifier
from domain.text import storable

_IDENTIFIERS = ("agent_id", "run_id")
_EXTERNAL_IDS = ("conversation_id", "source_message_id", "idempotency_key", "trace_id")


@dataclass(frozen=True, slots=True)
class SizeLimits:
    """Largest message, largest candidate and largest metadata, in bytes of UTF-8."""

    message: int = 64 * 1024
    candidate: int = 256 * 1024
    metadata: int = 8 * 1024


def submit(candidate: Candidate, *, ledger: JobLedger, limits: SizeLimits) -> Submission:
    """Put a candidate into the ledger, or find the job its idempotency key already made.

    Raises:
        InvalidField: nothing was written.
        TooManyOpenJobs: too many candidates wait already; nothing was written.
        TransientError: the database did not answer. When the connection broke during the commit it may have been
            written all the same: send it again with the same idempotency key.
    """
    if not candidate.messages:
        raise InvalidField("messages", "required", "must hold at least one message")
    _check_ids(candidate)
    check_metadata(candidate.metadata, max_bytes=limits.metadata)
    # NUL and lone surrogates fit neither UTF-8 nor jsonb; admission would drop them anyway.
    messages = tuple(Message(message.role, storable(message.content)) for message in candidate.messages)
    _check_sizes(messages, limits)
    return ledger.submit(replace(candidate, messages=messages))


def _check_ids(candidate: Candidate) -> None:
    for checks, names in ((check_identifier, _IDENTIFIERS), (check_external_id, _EXTERNAL_IDS)):
        for name in names:
            value = getattr(candidate, name)
            if value is not None:
                checks(name, value)


def _check_sizes(messages: tuple[Message, ...], limits: SizeLimits) -> None:
    sizes = [len(message.content.encode()) for message in messages]
    for position, size in enumerate(sizes):
        if size > limits.message:
            raise InvalidField(
                f"messages[{position}].content",
                "max_bytes",
                f"holds {size} bytes, at most {limits.message} are allowed",
            )
    if sum(sizes) > limits.candidate:
        raise InvalidField(
            "messages", "max_bytes", f"hold {sum(sizes)} bytes together, at most {limits.candidate} are allowed"
        )
