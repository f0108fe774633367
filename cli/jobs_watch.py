"""`poco-memory jobs watch`: the ledger as it moves. A screen on a terminal, a line each time elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from cli.jobs_show import counts_table, jobs_table
from cli.output import is_terminal, say
from domain.errors import TransientError
from domain.jobs import Status

if TYPE_CHECKING:
    from domain.operations import JobCounts, JobFilter, JobPage
    from domain.ports import JobDesk, JobStats

_ROWS = 15


@dataclass(frozen=True, slots=True)
class Glance:
    """What is seen in one moment; a fault instead of figures while the database is away."""

    counts: JobCounts | None = None
    page: JobPage | None = None
    fault: str | None = None


def watch(desk: JobDesk, stats: JobStats, wanted: JobFilter, *, every: float, times: int | None) -> None:
    """Look again every so many seconds until Ctrl-C, or only so many times."""
    try:
        if is_terminal():
            _on_screen(_glances(desk, stats, wanted, every, times))
        else:
            _as_lines(_glances(desk, stats, wanted, every, times))
    except KeyboardInterrupt:
        return


def _glances(desk: JobDesk, stats: JobStats, wanted: JobFilter, every: float, times: int | None) -> Iterator[Glance]:
    seen = 0
    while times is None or seen < times:
        if seen:
            time.sleep(every)
        seen += 1
        try:
            yield Glance(stats.counts(), desk.page(wanted, limit=_ROWS))
        except TransientError as exc:
            # An operator watches just then; the next look tries again.
            yield Glance(fault=str(exc))


def _on_screen(glances: Iterator[Glance]) -> None:
    with Live(console=Console(), auto_refresh=False) as live:
        for glance in glances:
            live.update(_screen(glance), refresh=True)


def _screen(glance: Glance) -> Group:
    if glance.counts is None or glance.page is None:
        return Group(Text(f"{time.strftime('%H:%M:%S')}  {glance.fault}", style="bold red"))
    return Group(Text(_line(glance.counts), style="bold"), counts_table(glance.counts), jobs_table(glance.page))


def _as_lines(glances: Iterator[Glance]) -> None:
    for glance in glances:
        say(_line(glance.counts) if glance.counts else f"{time.strftime('%H:%M:%S')}  {glance.fault}")


def _line(counts: JobCounts) -> str:
    dead = sum(number for (status, _), number in counts.by_state.items() if status is Status.DEAD)
    done = sum(number for (status, _), number in counts.by_state.items() if status is Status.SUCCESS)
    oldest = "none" if counts.oldest_open_seconds is None else f"{counts.oldest_open_seconds:.0f} s"
    return (
        f"{time.strftime('%H:%M:%S')}  open {counts.open}  oldest {oldest}  to send {counts.outbox_ready}  "
        f"done {done}  dead {dead}"
    )
