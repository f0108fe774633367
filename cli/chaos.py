"""`poco-memory chaos`: break a scratch stack on purpose, and see that nothing is lost or done twice."""

from __future__ import annotations

import secrets
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.output import DONE, FAILED, complain, say, say_json

if TYPE_CHECKING:
    from chaos.run import Report

_MOST_SHOWN = 5


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command()(chaos)


def chaos(
    seconds: Annotated[float, typer.Option(min=5, help="How long things are broken; the whole run takes longer.")] = 60,
    seed: Annotated[int | None, typer.Option(help="Repeats the plan of an earlier run.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
    unique_index: Annotated[
        bool, typer.Option(help="Without it, nothing but the ledger keeps an effect from happening twice.")
    ] = True,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the scratch folder with its logs.")] = False,
) -> None:
    """Break a scratch stack: kill, freeze and cut off its processes and servers, and check that nothing is lost.

    Your own stack is not touched. Exit code 1 when an accepted candidate was lost or had its effect twice, or another
    promise was broken; the scratch folder with the logs is kept then.

    Example: poco-memory chaos --seconds 60 --seed 7
    """
    from chaos.run import run_chaos

    chosen = secrets.randbelow(1_000_000) if seed is None else seed
    folder = Path(tempfile.mkdtemp(prefix="poco-chaos-"))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(FAILED))
    holds = False
    try:
        report = run_chaos(
            folder / "home",
            seconds=seconds,
            seed=chosen,
            with_unique_index=unique_index,
            tell=complain if json else say,
        )
        holds = report.holds
    finally:
        if holds and not keep:
            shutil.rmtree(folder)
        else:
            complain(f"Logs: {folder / 'home' / 'logs'}")
    if json:
        say_json(report.document())
    else:
        _show(report)
    raise typer.Exit(DONE if report.holds else FAILED)


def _show(report: Report) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("", "invariant", "checked", "", title=f"{report.accepted} candidates, {report.faults.total()} faults")
    for verdict in report.verdicts:
        mark = "[green]✓[/]" if verdict.holds else "[red]✗[/]"
        table.add_row(str(verdict.number), verdict.name, str(verdict.checked), mark)
    Console().print(table)
    say("Faults: " + ", ".join(f"{name} {number}" for name, number in report.faults.most_common()) + ".")
    say("Submits with a known key: " + ", ".join(f"{name} {number}" for name, number in report.repeats.items()) + ".")
    say("Outcomes: " + ", ".join(f"{name} {number}" for name, number in report.outcomes.most_common()) + ".")
    say(
        f"faults {report.faults.total()}, accepted {report.accepted}, lost {report.lost}, doubled {report.doubled}, "
        f"{report.seconds:.0f} seconds, seed {report.seed}."
    )
    for verdict in report.verdicts:
        for line in verdict.broken[:_MOST_SHOWN]:
            complain(f"{verdict.number} {verdict.name}: {line}.")
        if len(verdict.broken) > _MOST_SHOWN:
            complain(f"{verdict.number} {verdict.name}: {len(verdict.broken) - _MOST_SHOWN} more.")
