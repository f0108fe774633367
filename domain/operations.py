"""What an operator asks of the ledger: which jobs, and what to do with them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from domain.errors import Backend, InvalidField, PocoError
from domain.jobs import JobView, Outcome, Status, Step
from domain.text import storable

MAX_WORDS = 500
# Every reason that names a backend, so that an outage can be replayed without knowing which part was away.
BACKEND_ERROR = "backend_error"
_LONGEST = timedelta(days=36_500)
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def span(field: str, value: str) -> timedelta:
    """A span of time as people write it: 30s, 15m, 2h, 7d.

    Raises:
        InvalidField: it is none.
    """
    match = re.fullmatch(r"(\d{1,6})([smhd])", value, re.ASCII)
    if match is None:
        raise InvalidField(field, "span", "must be a time such as 30s, 15m, 2h or 7d")
    found = timedelta(**{_UNITS[match[2]]: int(match[1])})
    if found > _LONGEST:
        # Further back than the calendar reaches.
        raise InvalidField(field, "span", "must be at most a hundred years")
    return found


def ago(field: str, value: str | None) -> datetime | None:
    """The moment that long ago; None for None. Raises as `span` does."""
    return None if value is None else datetime.now(UTC) - span(field, value)


@dataclass(frozen=True, slots=True)
class JobFilter:
    """Which jobs are meant; what is empty or None leaves that side open. Times are compared with the last change."""

    statuses: tuple[Status, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    reasons: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    scope: str | None = None
    since: datetime | None = None
    before: datetime | None = None

    @property
    def reason_names(self) -> frozenset[str]:
        """The reasons with `backend_error` spelled out."""
        backends = (str(backend) for backend in Backend) if BACKEND_ERROR in self.reasons else ()
        return frozenset(self.reasons) - {BACKEND_ERROR} | frozenset(backends)


@dataclass(frozen=True, slots=True)
class JobPage:
    """Some jobs, the latest accepted first, and where the next page begins; None on the last one."""

    jobs: tuple[JobView, ...]
    next_cursor: int | None


class Act(StrEnum):
    """What can be done with a job."""

    RETRY = "retry"  # from the step that failed
    RESTART = "restart"  # from the first step, forgetting what was done
    CANCEL = "cancel"  # end it now, whatever is running


@dataclass(frozen=True, slots=True)
class Operator:
    """Who does it and why; both are kept in the audit."""

    name: str
    why: str | None = None

    def __post_init__(self) -> None:
        for field, value in (("operator", self.name), ("why", self.why)):
            if value is not None and (not value.strip() or len(value) > MAX_WORDS or storable(value) != value):
                raise InvalidField(field, "words", f"must be 1 to {MAX_WORDS} characters without NUL")


class Refusal(StrEnum):
    """Why nothing was done."""

    NOT_FOUND = "not_found"
    NOT_DEAD = "not_dead"  # only a job that waits for its retry or is dead can be retried, only a dead one restarted
    NOT_OPEN = "not_open"  # it has ended already
    CONTENT_GONE = "content_gone"  # what was said has been removed after its time


@dataclass(frozen=True, slots=True)
class Acted:
    """What became of one wish: the job's new status, or why nothing was done."""

    job_id: str
    status: Status | None
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One thing an operator did to a job."""

    operation: str
    operator: str | None
    why: str | None
    at: datetime


@dataclass(frozen=True, slots=True)
class JobCounts:
    """The ledger in figures. Ages in seconds; None when there is no such row."""

    by_state: Mapping[tuple[Status, Outcome | None], int]
    dead_by_reason: Mapping[str, int]
    open_by_step: Mapping[Step, int]
    oldest_open_seconds: float | None
    outbox_ready: int
    outbox_oldest_seconds: float | None

    @property
    def open(self) -> int:
        """Jobs that have not ended."""
        return sum(self.open_by_step.values())


class TooManyOpenJobs(PocoError):
    """So many candidates wait that no more are taken; nothing was written. `retry_after` is in seconds."""

    def __init__(self, whose: str, limit: int, retry_after: int) -> None:
        super().__init__(f"{whose} has {limit} open jobs already; try again in {retry_after} seconds")
        self.retry_after = retry_after
