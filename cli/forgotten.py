"""`poco-memory verify-forgotten`: look through every store for what should be gone."""

from __future__ import annotations

import uuid
from dataclasses import asdict
from typing import Annotated

import typer

from cli.output import FAILED, complain, say, say_json
from cli.processes import services_of_this_process
from domain.errors import InvalidField
from domain.scope import Scope


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("verify-forgotten")(verify_forgotten)


def verify_forgotten(
    scope: Annotated[str, typer.Option("--scope", help="The user, as tenant:user.")],
    memory: Annotated[str | None, typer.Option("--memory", help="One memory; without it, everything.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """Count what is left of a user, or of one memory, in every store; exit code 1 when anything is.

    A forgotten memory is also looked for by its keyed mark: a copy of its text is found under any id.

    Example: poco-memory verify-forgotten --scope acme:lin
    """
    try:
        whose = Scope.from_key(scope)
        memory_id = str(uuid.UUID(memory)) if memory else None
    except InvalidField as exc:
        raise typer.BadParameter(f"--scope is tenant:user; {exc}") from None
    except ValueError:
        raise typer.BadParameter(f"--memory: {memory!r} is no memory id (a UUID)") from None
    left = services_of_this_process().eraser.scan(whose, memory_id)
    if as_json:
        say_json({"scope": scope, "memory_id": memory_id, "left": asdict(left), "total": left.total})
    else:
        for store, count in asdict(left).items():
            say(f"{store.replace('_', ' '):<14} {count}")
    if left.total:
        complain(f"Something is left: {left.total}.")
        raise typer.Exit(FAILED)
    if not as_json:
        say("Nothing is left.")
