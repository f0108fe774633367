"""What the `jobs` commands print: tables for people, plain documents for programs; never content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import zip_longest

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cli.output import say
from domain.candidate import Cut
from domain.jobs import Explanation
from domain.operations import AuditEntry, JobCounts, JobPage
from tasks.documents import audit_document, counts_document, job_document, plain


def whole_document(explanation: Explanation, audit: Sequence[AuditEntry]) -> dict[str, object]:
    """One job with its decisions and what operators did."""
    return {
        **job_document(explanation.view),
        "decisions": [{"step": step.task_name, **plain(asdict(entry))} for step, entry in explanation.decisions],
        "audit": audit_document(audit),
    }


def print_jobs(page: JobPage) -> None:
    """A table, and how to go on."""
    Console(width=None if Console().is_terminal else 200).print(jobs_table(page))
    if page.next_cursor is not None:
        say(f"There are more: --after {page.next_cursor}")


def jobs_table(page: JobPage) -> Table:
    """A line for each job."""
    table = Table("job", "scope", "status", "outcome", "reason", "next step", "tries", "changed")
    for job in page.jobs:
        step = job.step_name if job.finished_at is None or job.outcome == "dead" else ""
        tries = str(sum(job.attempts.values()))
        words = (job.id, job.scope, job.status, job.outcome or "", job.reason or "", step, tries, _age(job.updated_at))
        # A scope is the client's text and must not be read as markup.
        table.add_row(*(Text(word) for word in words))
    return table


def counts_table(counts: JobCounts) -> Table:
    """The open jobs by the step they wait for or run, and the dead ones by their reason."""
    table = Table("open at step", "jobs", "dead because of", "jobs")
    steps = [(step.task_name, str(count)) for step, count in sorted(counts.open_by_step.items())]
    reasons = [(reason, str(count)) for reason, count in sorted(counts.dead_by_reason.items())]
    for step, reason in zip_longest(steps, reasons, fillvalue=("", "")):
        table.add_row(*(Text(word) for word in (*step, *reason)))
    return table


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


def _words(value: object) -> str:
    return ", ".join(f"{name} {number}" for name, number in value.items()) if isinstance(value, Mapping) else str(value)


def _age(moment: datetime) -> str:
    seconds = int((datetime.now(UTC) - moment).total_seconds())
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit} ago"
    return f"{seconds} s ago"
