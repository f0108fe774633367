"""`poco-memory history`: move mem0's old `history.db` into the database, and keep the forgotten out of the file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.output import FAILED, complain, say, say_json
from cli.processes import services_of_this_process
from domain.errors import InvalidField

if TYPE_CHECKING:
    from storage.history_move import Cleaned, Moved

_PROGRESS_EVERY = 10_000
_OTHER = "Does another program write to the file?"

FileArgument = Annotated[
    Path, typer.Argument(metavar="PATH", exists=True, dir_okay=False, help="The SQLite file of mem0 2.0.12.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON document.")]

app = typer.Typer(help="Move or clean a history.db of mem0. Needs the database only.", no_args_is_help=True)


def register(parent: typer.Typer) -> None:
    """Add the verb."""
    parent.add_typer(app, name="history")


@app.command("import")
def import_file(
    path: FileArgument,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be moved, and move nothing.")] = False,
    erase: Annotated[bool, typer.Option("--erase", help="Overwrite and remove the file once all is moved.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Move every change whose memory lives into the database; exit code 1 when one could not be moved.

    What is there already stays, so the command may run again. A memory that is gone has no history, and conversations
    are never kept. Without --erase the file is only read, and a later forget does not reach it.

    Example: poco-memory history import /app/history/history.db --dry-run
    """
    from storage import history_move

    if dry_run and erase:
        raise typer.BadParameter("--dry-run and --erase exclude each other")
    database = services_of_this_process().database
    work = history_move.look if dry_run else history_move.move
    complaint = None
    with _wrong_file_is_wrong_usage():
        seen = work(database, path, (lambda *_: None) if as_json else _tell_progress)
        if erase:
            complaint = _complaint(*history_move.erase(database, path))
    is_erased = erase and complaint is None
    if as_json:
        say_json({**_document(seen), "dry_run": dry_run, "erased": is_erased})
    else:
        _tell(seen, "would be moved" if dry_run else "moved")
        say("The file is overwritten and removed." if is_erased else "The file is as it was. Remove it with --erase.")
    if complaint:
        complain(complaint)
    if complaint or seen.stuck:
        raise typer.Exit(FAILED)


@app.command("scrub")
def scrub_file(
    path: FileArgument,
    delete: Annotated[bool, typer.Option("--delete", help="Remove what is found; without it nothing changes.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Find what a file still holds of memories that are gone, and its conversations; exit code 1 while some is left.

    For a file that another program goes on using. With --delete it is gone from free pages and the journal as well.

    Example: poco-memory history scrub /app/history/history.db --delete
    """
    from storage import history_move

    database = services_of_this_process().database
    with _wrong_file_is_wrong_usage():
        seen, found = history_move.outdated(database, path)
        is_removed = delete and not seen.is_strange
        if is_removed:
            found = history_move.clean(database, path)
    if as_json:
        say_json({"changes": found.changes, "messages": found.messages, "removed": is_removed})
    else:
        removed = ", removed" if is_removed else ""
        say(f"Changes of memories that are gone: {found.changes}. Messages: {found.messages}{removed}.")
    complaint = _complaint(seen, found if is_removed else None) if delete else "Remove them with --delete."
    if complaint and (delete or found.changes + found.messages):
        complain(complaint)
        raise typer.Exit(FAILED)


@contextmanager
def _wrong_file_is_wrong_usage() -> Iterator[None]:
    try:
        yield
    except InvalidField as exc:
        raise typer.BadParameter(str(exc)) from None


def _complaint(seen: Moved, cleaned: Cleaned | None) -> str | None:
    """Why rows are still in a file that should be without them; None when they are not."""
    if cleaned is not None:
        return f"Bytes of removed rows are left in {cleaned.ids_left} places. {_OTHER}" if cleaned.ids_left else None
    if seen.is_strange:
        return "None of the file's memories is or was in this database. Is it another one's? Nothing is removed."
    return f"Changes of living memories that are not moved: {seen.stuck + seen.moved}. Nothing is removed."


def _tell_progress(read: int, total: int) -> None:
    if read % _PROGRESS_EVERY == 0 and read < total:
        say(f"{read} of {total} changes read.")


def _tell(seen: Moved, word: str) -> None:
    say(f"Changes read: {seen.read}, {word}: {seen.moved}, there already: {seen.known}.")
    for reason, count in sorted(seen.refused.items()):
        say(f"  not moved  {reason:<16} {count}")
    if seen.messages:
        say(f"Messages, which are never moved: {seen.messages}.")


def _document(seen: Moved) -> dict[str, object]:
    refused = {reason.value: count for reason, count in sorted(seen.refused.items())}
    return {
        "read": seen.read,
        "moved": seen.moved,
        "known": seen.known,
        "refused": refused,
        "messages": seen.messages,
    }
