"""A `history.db` as mem0 2.0.12 writes it: read without a change to it, or cleaned so that no byte of a row stays.

SQLite leaves deleted rows readable in free pages and in its journal. A file is changed here with secure_delete and
VACUUM only, its journal is overwritten, and at the end its bytes are searched for the ids of what was removed.
"""

from __future__ import annotations

import mmap
import os
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from domain.errors import InvalidField

COLUMNS = (
    *("id", "memory_id", "old_memory", "new_memory", "event"),
    *("created_at", "updated_at", "is_deleted", "actor_id", "role"),
)
_PAGE_OF_CHANGES = (
    "SELECT rowid, id, memory_id, old_memory, new_memory, event, created_at, updated_at, is_deleted, actor_id, role"
    " FROM history WHERE rowid > ? ORDER BY rowid LIMIT ?"
)
_COUNTS = {"history": "SELECT count(*) FROM history", "messages": "SELECT count(*) FROM messages"}
PAGE = 200
_BUSY_SECONDS = 5.0
_BEFORE_ALL = -(2**63)
_CHUNK = 1 << 20
_ID = re.compile(rb"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_FAULTS = {
    "SQLITE_NOTADB": "is no SQLite database",
    "SQLITE_CORRUPT": "is a damaged SQLite database",
    "SQLITE_BUSY": "is in use by another program; stop it and try again",
    "SQLITE_READONLY": "cannot be written, or a write to it was cut off: open it once with its own program",
    "SQLITE_CANTOPEN": "cannot be opened",
}


@dataclass(frozen=True, slots=True)
class Change:
    """One row of the file, unchecked: its place in the order of writing, and its values by column."""

    place: int
    values: dict[str, object] = field(repr=False)


@dataclass(slots=True)
class HistoryFile:
    """An open file."""

    connection: sqlite3.Connection
    removed: set[bytes] = field(default_factory=set)
    ids_left: int = 0

    def check(self) -> None:
        """Refuse what is no history of mem0."""
        found = {column[1] for column in self.connection.execute("PRAGMA table_info(history)")}
        if not found:
            raise _fault("has no table history")
        if missing := [name for name in COLUMNS if name not in found]:
            raise _fault(f"has a history without {', '.join(missing)}; open it once with mem0 2.0.12, which adds them")

    def count(self, table: str) -> int:
        """How many rows a table has; 0 when there is none of that name."""
        known = self.connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        return int(self.connection.execute(_COUNTS[table]).fetchone()[0]) if (table,) in known else 0

    def pages(self) -> Iterator[list[Change]]:
        """Every row of the history in the order of writing; removing rows of a page disturbs no later one."""
        last = _BEFORE_ALL
        while page := [
            Change(place, dict(zip(COLUMNS, values, strict=True)))
            for place, *values in self.connection.execute(_PAGE_OF_CHANGES, (last, PAGE))
        ]:
            yield page
            last = page[-1].place

    def remove(self, changes: Sequence[Change]) -> None:
        """Delete rows of the history."""
        self.removed |= {str(change.values["id"]).encode(errors="surrogateescape") for change in changes}
        self.connection.executemany("DELETE FROM history WHERE rowid = ?", [(change.place,) for change in changes])

    def remove_messages(self) -> int:
        """Delete what mem0 has kept of conversations; how many."""
        count = self.count("messages")
        if count:
            ids = self.connection.execute("SELECT id FROM messages")
            self.removed |= {str(key).encode(errors="surrogateescape") for (key,) in ids}
            self.connection.execute("DELETE FROM messages")
        return count


@contextmanager
def reading(path: Path) -> Iterator[HistoryFile]:
    """The file as it is at this moment; it is not written.

    Raises:
        InvalidField: it is no history of mem0, or cannot be read.
    """
    with _opened(path, "ro") as connection:
        connection.execute("BEGIN")
        file = HistoryFile(connection)
        file.check()
        yield file


@contextmanager
def changing(path: Path) -> Iterator[HistoryFile]:
    """The file to remove rows from, while nobody else writes; at the end `ids_left` says whether bytes are left.

    Raises:
        InvalidField: as `reading`, or another program uses it.
    """
    path = path.resolve()
    with _opened(path, "rw") as connection:
        connection.execute("PRAGMA secure_delete = ON")
        # A deleted journal would leave the old pages on the disk; a kept one can be overwritten.
        if connection.execute("PRAGMA journal_mode = PERSIST").fetchone() != ("persist",):
            raise _fault(_FAULTS["SQLITE_BUSY"])
        try:
            connection.execute("BEGIN IMMEDIATE")
            file = HistoryFile(connection)
            file.check()
            yield file
            connection.execute("COMMIT")
            connection.execute("VACUUM")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            _clear_journal(connection, path)
        file.ids_left = _ids_left(path, file.removed)


def unlink(path: Path) -> None:
    """Remove an emptied file and what SQLite keeps beside it."""
    path = path.resolve()
    for ending in ("-journal", "-wal", "-shm", ""):
        path.with_name(path.name + ending).unlink(missing_ok=True)


@contextmanager
def _opened(path: Path, mode: str) -> Iterator[sqlite3.Connection]:
    address = f"file:{quote(str(path))}?mode={mode}"
    try:
        with closing(sqlite3.connect(address, uri=True, timeout=_BUSY_SECONDS, isolation_level=None)) as connection:
            # An error of SQLite's own decoder would quote the text.
            connection.text_factory = lambda raw: raw.decode(errors="surrogateescape")
            yield connection
    except sqlite3.Error as exc:
        name = str(getattr(exc, "sqlite_errorname", None) or type(exc).__name__)
        known = next((words for code, words in _FAULTS.items() if name.startswith(code)), None)
        raise _fault(known or f"could not be read ({name})") from exc


def _fault(message: str) -> InvalidField:
    return InvalidField("PATH", "history_file", message)


def _clear_journal(connection: sqlite3.Connection, path: Path) -> None:
    """Overwrite the journal; under the exclusive lock it is nobody else's."""
    journal = path.with_name(f"{path.name}-journal")
    connection.execute("BEGIN EXCLUSIVE")
    if journal.exists():
        with journal.open("r+b") as file:
            left = journal.stat().st_size
            while left > 0:
                left -= file.write(bytes(min(left, _CHUNK)))
            file.flush()
            os.fsync(file.fileno())
    connection.execute("COMMIT")
    connection.execute("PRAGMA journal_mode = DELETE")


def _ids_left(path: Path, removed: set[bytes]) -> int:
    """How often the id of a removed row still stands in the bytes of the file; each row begins with its id."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return sum(found.group() in removed for found in _ID.finditer(content))
