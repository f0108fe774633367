"""`poco-memory tokens`: make and revoke the tokens with which programs call the HTTP API."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from cli.output import FAILED, complain, say, say_json
from cli.processes import services_of_this_process
from domain.access import AGENT_SCOPES, TokenScope, checked_token_name
from domain.errors import InvalidField
from domain.operations import span

if TYPE_CHECKING:
    from domain.access import TokenView

app = typer.Typer(help="Make, list and revoke API tokens. Needs the database only.", no_args_is_help=True)


def register(parent: typer.Typer) -> None:
    """Add the verb."""
    parent.add_typer(app, name="tokens")


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="Who will use it; shown in logs and in the audit.")],
    scope: Annotated[
        list[TokenScope] | None,
        typer.Option("--scope", help="What it is for; may be repeated. Default: ingest, search and manage."),
    ] = None,
    expires: Annotated[str | None, typer.Option("--expires", help="Ends after this time: 12h, 90d.")] = None,
) -> None:
    """Make a token and print it. It is kept as a hash only: this is the one time it can be read.

    Example: poco-memory tokens create night-crew --scope operate --expires 90d
    """
    try:
        ends = datetime.now(UTC) + span("--expires", expires) if expires else None
        token = services_of_this_process().tokens.create(name, scope or sorted(AGENT_SCOPES), ends)
    except InvalidField as exc:
        raise typer.BadParameter(str(exc)) from None
    say(token)


@app.command("list")
def list_tokens(as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False) -> None:
    """Show every token by its name: what it is for, since when and until when. Never the token.

    Example: poco-memory tokens list
    """
    from tasks.documents import token_document

    tokens = services_of_this_process().tokens.known()
    if as_json:
        say_json({"tokens": [token_document(token) for token in tokens]})
        return
    for token in tokens:
        say(f"{token.name:<24} {_state(token):<28} {', '.join(token.scopes)}")
    if not tokens:
        say("There are none. Make one with: poco-memory tokens create NAME")


@app.command()
def revoke(name: str) -> None:
    """End a token; processes notice within five seconds.

    Example: poco-memory tokens revoke night-crew
    """
    try:
        checked_token_name(name)
    except InvalidField as exc:
        raise typer.BadParameter(str(exc)) from None
    if not services_of_this_process().tokens.revoke(name):
        complain(f"There is no live token named {name}.")
        raise typer.Exit(FAILED)
    say(f"Revoked {name}.")


def _state(token: TokenView) -> str:
    if token.revoked_at:
        return f"revoked {token.revoked_at:%Y-%m-%d %H:%M}"
    if token.expires_at:
        word = "expires" if token.expires_at > datetime.now(UTC) else "expired"
        return f"{word} {token.expires_at:%Y-%m-%d %H:%M}"
    return f"since {token.created_at:%Y-%m-%d %H:%M}"
