"""Move the history of an existing `history.db` into our table, and clean the file of what is forgotten.

A change is moved when its memory lives: a forgotten memory has no history. Each page is one transaction under the
locks of the scopes it touches, so that nothing of a memory is written while it is being forgotten.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, func, select
from sqlalchemy.dialects.postgresql import insert

from domain.text import storable
from storage.database import Database, lock_scope
from storage.history_file import Change, HistoryFile, changing, reading, unlink
from storage.tables import AuditRow, HistoryRow, MemoryRow

_TEXTS = ("old_memory", "new_memory", "event", "actor_id", "role")
_SAME = ("memory_id", "old_memory", "new_memory", "event")
Progress = Callable[[int, int], None]


class Unfit(StrEnum):
    """Why a change is not moved."""

    FORGOTTEN = "forgotten"
    NO_SUCH_MEMORY = "no_such_memory"
    NOT_A_MEMORY_ID = "not_a_memory_id"
    NOT_A_ROW_ID = "not_a_row_id"
    ID_TAKEN = "id_taken"
    NO_EVENT = "no_event"
    NOT_TEXT = "not_text"
    UNREADABLE_TIME = "unreadable_time"


# Their memory is gone, so nothing is lost with the file.
GONE = frozenset({Unfit.FORGOTTEN, Unfit.NO_SUCH_MEMORY, Unfit.NOT_A_MEMORY_ID})


@dataclass(slots=True)
class Moved:
    """What became of the file's changes, and how many messages it holds, which are never moved."""

    read: int = 0
    moved: int = 0
    known: int = 0
    refused: Counter[Unfit] = field(default_factory=Counter)
    messages: int = 0

    @property
    def stuck(self) -> int:
        """Changes of living memories that could not be moved."""
        return sum(count for reason, count in self.refused.items() if reason not in GONE)

    @property
    def is_strange(self) -> bool:
        """Whether none of the file's memories is or was in this database: it may belong to another one."""
        return self.read > 0 and not (self.moved or self.known or self.stuck or self.refused[Unfit.FORGOTTEN])


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What was or would be removed from a file, and how many removed ids its bytes still hold."""

    changes: int
    messages: int
    ids_left: int = 0


@dataclass(slots=True)
class _Judged:
    """One page: the rows to insert, how many are there already, and what is not moved for which reason."""

    new: list[dict[str, Any]] = field(default_factory=list)
    known: int = 0
    refused: list[tuple[Unfit, Change]] = field(default_factory=list)


def move(database: Database, path: Path, progress: Progress = lambda *_: None) -> Moved:
    """Write every change whose memory lives into our table; what is there already stays as it is."""
    with reading(path) as file:
        return _through(database, file, _write, progress)


def look(database: Database, path: Path, progress: Progress = lambda *_: None) -> Moved:
    """What `move` would do; nothing is written."""
    with reading(path) as file:
        return _through(database, file, _judged, progress)


def erase(database: Database, path: Path) -> tuple[Moved, Cleaned | None]:
    """Empty and remove a file of which everything is moved, or do nothing and say what is not."""
    with changing(path) as file:
        seen = _through(database, file, _judged, lambda *_: None)
        if seen.moved or seen.stuck or seen.is_strange:
            return seen, None
        for page in file.pages():
            file.remove(page)
        messages = file.remove_messages()
    cleaned = Cleaned(seen.read, messages, file.ids_left)
    if not cleaned.ids_left:
        unlink(path)
    return seen, cleaned


def outdated(database: Database, path: Path) -> tuple[Moved, Cleaned]:
    """What `clean` would remove; nothing is written."""
    with reading(path) as file:
        seen = _through(database, file, _judged, lambda *_: None)
    return seen, Cleaned(sum(seen.refused[reason] for reason in GONE), seen.messages)


def clean(database: Database, path: Path) -> Cleaned:
    """Remove from the file the changes of memories that are gone, and all conversations."""
    changes = 0
    with changing(path) as file:
        for page in file.pages():
            with database.transaction() as connection:
                judged = _judged(connection, page)
            gone = [change for reason, change in judged.refused if reason in GONE]
            file.remove(gone)
            changes += len(gone)
        messages = file.remove_messages()
    return Cleaned(changes, messages, file.ids_left)


def _through(
    database: Database, file: HistoryFile, handle: Callable[[Connection, Sequence[Change]], _Judged], progress: Progress
) -> Moved:
    total = file.count("history")
    seen = Moved(messages=file.count("messages"))
    for page in file.pages():
        with database.transaction() as connection:
            judged = handle(connection, page)
        seen.read += len(page)
        seen.moved += len(judged.new)
        seen.known += judged.known
        seen.refused.update(reason for reason, _ in judged.refused)
        progress(seen.read, total)
    return seen


def _write(connection: Connection, page: Sequence[Change]) -> _Judged:
    for scope in sorted(set(_owners(connection, page).values())):
        lock_scope(connection, scope)
    judged = _judged(connection, page)
    if judged.new:
        connection.execute(insert(HistoryRow).on_conflict_do_nothing(), judged.new)
    return judged


def _judged(connection: Connection, page: Sequence[Change]) -> _Judged:
    living = _owners(connection, page)
    forgotten = _forgotten(connection, page)
    there = _there(connection, page)
    judged = _Judged()
    for change in page:
        row = _row(change, living, forgotten)
        if isinstance(row, Unfit):
            judged.refused.append((row, change))
        elif (known := there.get(row["id"])) is None:
            judged.new.append(row)
        elif known == {name: row[name] for name in _SAME}:
            judged.known += 1
        else:
            judged.refused.append((Unfit.ID_TAKEN, change))
    return judged


def _row(change: Change, living: Mapping[uuid.UUID, str], forgotten: set[uuid.UUID]) -> dict[str, Any] | Unfit:
    """The row of our table, or why there can be none."""
    values = change.values
    memory_id, row_id = _uuid(values["memory_id"]), _uuid(values["id"])
    times = {name: _time(values[name]) for name in ("created_at", "updated_at")}
    texts = {name: values[name] for name in _TEXTS}
    unfit = {
        Unfit.NOT_A_MEMORY_ID: memory_id is None,
        Unfit.FORGOTTEN: memory_id not in living and memory_id in forgotten,
        Unfit.NO_SUCH_MEMORY: memory_id not in living,
        Unfit.NOT_A_ROW_ID: row_id is None,
        Unfit.NO_EVENT: not texts["event"],
        Unfit.NOT_TEXT: not all(_is_text(text) for text in texts.values()),
        Unfit.UNREADABLE_TIME: any(values[name] is not None and times[name] is None for name in times),
    }
    reason = next((reason for reason, is_so in unfit.items() if is_so), None)
    deleted = int(bool(values["is_deleted"]))
    return reason or {"id": row_id, "memory_id": str(memory_id), **texts, **times, "is_deleted": deleted}


def _owners(connection: Connection, page: Sequence[Change]) -> dict[uuid.UUID, str]:
    """The living memories of a page and whose they are; empty for a row without an owner."""
    owner = func.coalesce(MemoryRow.payload["user_id"].astext, "")
    rows = connection.execute(select(MemoryRow.id, owner).where(MemoryRow.id.in_(_ids(page, "memory_id"))))
    return {memory_id: str(user_id) for memory_id, user_id in rows}


def _forgotten(connection: Connection, page: Sequence[Change]) -> set[uuid.UUID]:
    forgets = AuditRow.memory_id.in_(_ids(page, "memory_id")), AuditRow.operation == "forget"
    return {key for key in connection.execute(select(AuditRow.memory_id).where(*forgets)).scalars() if key}


def _there(connection: Connection, page: Sequence[Change]) -> dict[uuid.UUID, dict[str, Any]]:
    columns = [getattr(HistoryRow, name) for name in _SAME]
    rows = connection.execute(select(HistoryRow.id, *columns).where(HistoryRow.id.in_(_ids(page, "id"))))
    return {row.id: {name: getattr(row, name) for name in _SAME} for row in rows}


def _ids(page: Sequence[Change], column: str) -> set[uuid.UUID]:
    return {key for change in page if (key := _uuid(change.values[column])) is not None}


def _uuid(value: object) -> uuid.UUID | None:
    try:
        return uuid.UUID(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _is_text(value: object) -> bool:
    return value is None or (isinstance(value, str) and storable(value) == value)


def _time(value: object) -> datetime | None:
    """A stored time; one without a zone was written as UTC."""
    try:
        at = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return at.replace(tzinfo=UTC) if at and at.tzinfo is None else at
