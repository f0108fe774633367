"""`poco-memory scrub`: find stored memories that hold a credential, and remove them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cli.output import FAILED, complain, say
from cli.processes import services_of_this_process

if TYPE_CHECKING:
    from pipeline.scrub import Finding


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command()(scrub)


def scrub(
    delete: Annotated[bool, typer.Option("--delete", help="Remove what is found; without it nothing changes.")] = False,
) -> None:
    """List stored memories that hold a credential, by id and rule; exit code 1 while some are left.

    Rows can be older than a rule, or written by another program. A search never returns them.

    Example: poco-memory scrub --delete
    """
    from pipeline.scrub import scrub as go_through

    def report(finding: Finding) -> None:
        say(f"{finding.memory_id}  {finding.rule}{'  removed' if delete else ''}")

    checked, found = go_through(services_of_this_process().store, delete=delete, report=report)
    removed = ", removed" if delete and found else ""
    say(f"Texts checked: {checked}. Memories with a credential: {found}{removed}.")
    if found and not delete:
        complain("Remove them with: poco-memory scrub --delete")
        raise typer.Exit(FAILED)
