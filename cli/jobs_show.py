"""What the `jobs` commands print: tables for people, plain documents for programs; never content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from enum import Enum

from rich.console import Console
from rich.table import Table

from cli.output import say
from domain.candidate import Cut
from domain.jobs import Explanation, JobView
from domain.operations import AuditEntry, JobCounts, JobPage


def job_document(job: JobView) -> dict[str, object]:
    """One job, times in ISO 8601."""
    fields = {"job_id" if key == "id" else key: value for key, value in asdict(job).items()}
    return {key: _plain(value) for key, value in fields.items()}


def whole_document(explanation: Explanation, audit: Sequence[AuditEntry]) -> dict[str, object]:
    """One job with its decisions and what operators did."""
    return {
        **job_document(explanation.view),
        "decisions": [
            {"step": step.task_name, **{key: _plain(value) for key, value in asdict(entry).items()}}
            for step, entry in explanation.decisions
        ],
        "audit": [{key: _plain(value) for key, value in asdict(entry).items()} for entry in audit],
    }


def counts_document(counts: JobCounts) -> dict[str, object]:
    """The figures; states as `status` or `status/outcome`."""
    return {
        "open": counts.open,
        "by_state": {_state(status, outcome): count for (status, outcome), count in counts.by_state.items()},
        "open_by_step": {step.task_name: count for step, count in sorted(counts.open_by_step.items())},
        "dead_by_reason": dict(sorted(counts.dead_by_reason.items())),
        "oldest_open_seconds": counts.oldest_open_seconds,
        "outbox_ready": counts.outbox_ready,
        "outbox_oldest_seconds": counts.outbox_oldest_seconds,
    }


def print_jobs(page: JobPage) -> None:
    """A table, and how to go on."""
    table = Table("job", "scope", "status", "outcome", "reason", "next step", "tries", "changed")
    for job in page.jobs:
        step = job.step_name if job.finished_at is None or job.outcome == "dead" else ""
        table.add_row(
            job.id,
            job.scope,
            job.status,
            job.outcome or "",
            job.reason or "",
            step,
            str(sum(job.attempts.values())),
            _age(job.updated_at),
        )
    Console(width=None if Console().is_terminal else 200).print(table)
    if page.next_cursor is not None:
        say(f"There are more: --after {page.next_cursor}")


def print_job(explanation: Explanation, audit: Sequence[AuditEntry]) -> None:
    """One line for each thing that is known."""
    for key, value in job_document(explanation.view).items():
        if value not in (None, {}, []):
            say(f"{key:<14} {_words(value)}")
    for step, entry in explanation.decisions:
        if isinstance(entry, Cut):
            say(f"  {step.task_name}: message {entry.message}, lines {entry.first + 1}-{entry.last + 1}: {entry.rule}")
        else:
            say(f"  {step.task_name}: fact {entry.fact_id}: {entry.rule or 'kept'}")
    for done in audit:
        say(f"  {done.at:%Y-%m-%d %H:%M:%S} {done.operation} by {done.operator}: {done.why or 'no reason given'}")


def print_counts(counts: JobCounts) -> None:
    """The figures as lines."""
    for key, value in counts_document(counts).items():
        if isinstance(value, Mapping):
            for name, number in value.items():
                say(f"{key:<22} {name:<32} {number}")
        else:
            say(f"{key:<22} {'none' if value is None else value}")


def _state(status: str, outcome: str | None) -> str:
    return f"{status}/{outcome}" if outcome else str(status)


def _words(value: object) -> str:
    return ", ".join(f"{name} {number}" for name, number in value.items()) if isinstance(value, Mapping) else str(value)


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    return value.value if isinstance(value, Enum) else value


def _age(moment: datetime) -> str:
    seconds = int((datetime.now(UTC) - moment).total_seconds())
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit} ago"
    return f"{seconds} s ago"
