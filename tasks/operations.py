"""What an operator may ask for over HTTP, checked field by field."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from domain.errors import InvalidField
from domain.jobs import Outcome, Status, Step
from domain.operations import MAX_WORDS, JobFilter, ago, span
from domain.scope import Scope
from tasks.contracts import Contract, ExternalId

StepName = Literal["admit", "extract", "check_language", "validate", "relink", "cleanup"]
_SPAN = "As 30s, 15m, 2h or 7d."


@contextmanager
def _as_problem() -> Iterator[None]:
    try:
        yield
    except InvalidField as exc:
        raise PydanticCustomError(exc.rule, exc.message) from None


class Wanted(Contract):
    """Which jobs are meant; what is left out leaves that side open."""

    reason: list[ExternalId] = Field([], max_length=50, description="`backend_error` means any backend.")
    step: list[StepName] = Field([], max_length=50, description="The next step to run.")
    scope: str | None = Field(None, description="One user, as tenant:user.")
    since: str | None = Field(None, description=f"Changed within this time. {_SPAN}")
    older_than: str | None = Field(None, description=f"Not changed within this time. {_SPAN}")

    @field_validator("since", "older_than")
    @classmethod
    def _is_span(cls, value: str | None) -> str | None:
        if value is not None:
            with _as_problem():
                span("", value)
        return value

    @field_validator("scope")
    @classmethod
    def _is_scope(cls, value: str | None) -> str | None:
        with _as_problem():
            return None if value is None else Scope.from_key(value).key

    def filter(self, statuses: tuple[Status, ...] = (), outcomes: tuple[Outcome, ...] = ()) -> JobFilter:
        """The filter this describes, with its times counted from now."""
        return JobFilter(
            statuses=statuses,
            outcomes=outcomes,
            reasons=tuple(self.reason),
            steps=tuple(Step[name.upper()] for name in self.step),
            scope=self.scope,
            since=ago("since", self.since),
            before=ago("older_than", self.older_than),
        )


class JobsQuery(Wanted):
    """A page of jobs, the latest accepted first."""

    status: list[Status] = Field([], max_length=50)
    outcome: list[Outcome] = Field([], max_length=50)
    limit: int = Field(50, ge=1, le=1000)
    cursor: int | None = Field(None, ge=0, lt=2**63, description="`next_cursor` of the page before.")


class ActOnOne(Contract):
    """Do something with one job."""

    why: str | None = Field(None, min_length=1, max_length=MAX_WORDS, description="Kept in the audit.")


class ActOnMany(Wanted, ActOnOne):
    """Do something with every dead job that the filters leave, the oldest first."""

    limit: int = Field(100, ge=1, le=1000)
    dry_run: bool = Field(False, description="Say which jobs are meant and do nothing.")
