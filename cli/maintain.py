"""`poco-memory maintain`: remove what is kept too long now, without waiting for the relay."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from cli.output import say, say_json
from cli.processes import services_of_this_process

if TYPE_CHECKING:
    from storage.maintenance import Maintained


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command()(maintain)


def maintain(as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False) -> None:
    """Remove what is kept too long: what was said in dead jobs, expired memories, old jobs and history.

    The relay does this on its own; see POCO_DEAD_PAYLOAD_DAYS, POCO_JOB_DAYS and POCO_HISTORY_DAYS.

    Example: POCO_DEAD_PAYLOAD_DAYS=0 poco-memory maintain
    """

    from storage.maintenance import Maintained
    from storage.maintenance import maintain as one_batch

    services = services_of_this_process()
    total = Maintained()
    while True:
        done = one_batch(services.database, services.retention)
        total += done
        if not done.has_more:
            break
        if not as_json:
            say(_sentence(total))
    if as_json:
        say_json(asdict(total))
    else:
        say(_sentence(total))


def _sentence(total: Maintained) -> str:
    return ", ".join(f"{name.replace('_', ' ')}: {count}" for name, count in asdict(total).items())
