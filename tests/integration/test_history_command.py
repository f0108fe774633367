"""An old history.db of mem0 moves into the database, and nothing of a forgotten memory stays in the file."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, insert, select

from domain.errors import InvalidField
from domain.lifecycle import Writer
from domain.scope import Scope
from storage import history_file, history_move
from storage.database import Database, lock_scope
from storage.forget import SqlEraser
from storage.history import SqlHistory
from storage.history_move import Unfit, clean, erase, look, move, outdated
from storage.keeper import SqlMemoryKeeper
from storage.mem0_adapter import import_mem0
from storage.tables import HistoryRow, MemoryRow

SECRET = "用户的口令本放在三楼" + "的保险柜里" * 20
MADE = "2026-01-01T09:00:00+00:00"


@dataclass
class Old:
    """A file that mem0's own SQLiteManager writes, beside a database that holds some of its memories."""

    path: Path
    mem0: Any
    database: Database
    scope: Scope

    def lives(self, *events: str, words: str = "用户喜欢喝茶") -> str:
        """A living memory with these events in the file."""
        memory_id = self.gone(*events, words=words)
        with self.database.transaction() as connection:
            payload = {"data": words, "user_id": self.scope.key}
            connection.execute(insert(MemoryRow).values(id=uuid.UUID(memory_id), payload=payload))
        return memory_id

    def gone(self, *events: str, words: str = "用户喜欢喝茶") -> str:
        """A memory that only the file knows."""
        memory_id = str(uuid.uuid4())
        for day, event in enumerate(events, start=1):
            at = None if event == "ADD" else f"2026-02-{day:02}T09:00:00+00:00"
            self.mem0.add_history(memory_id, words, f"{words}{day}", event, created_at=MADE, updated_at=at)
        return memory_id

    def row(self, **values: object) -> None:
        """A row that mem0 would not write."""
        row = {"id": str(uuid.uuid4()), "event": "ADD", "created_at": MADE, **values}
        with closing(sqlite3.connect(self.path)) as connection, connection:
            marks = ", ".join("?" * len(row))
            connection.execute(f"INSERT INTO history ({', '.join(row)}) VALUES ({marks})", list(row.values()))

    def forget(self, memory_id: str) -> None:
        assert SqlEraser(self.database).forget(self.scope, memory_id, Writer("operator")).success

    def events(self, memory_id: str) -> list[str]:
        return [change["event"] for change in SqlHistory(self.database).get_history(memory_id)]

    def holds(self, words: str) -> list[str]:
        """The files beside each other in which these words stand, deleted or not."""
        needle = words.encode()[:60]
        return [file.name for file in sorted(self.path.parent.iterdir()) if needle in file.read_bytes()]


@pytest.fixture
def old(database: Database, scope: Scope, tmp_path: Path) -> Iterator[Old]:
    (tmp_path / "old").mkdir()
    path = tmp_path / "old" / "history.db"
    mem0 = import_mem0(tmp_path / "mem0").SQLiteManager(str(path))
    # What SQLite does unless it was compiled otherwise: deleted rows stay readable.
    mem0.connection.execute("PRAGMA secure_delete = OFF")
    yield Old(path, mem0, database, scope)
    mem0.close()


def total(database: Database) -> int:
    with database.transaction() as connection:
        return int(connection.execute(select(func.count()).select_from(HistoryRow)).scalar_one())


def test_history_of_living_memories_is_moved_in_order_and_once(old: Old) -> None:
    tea, tram = old.lives("ADD", "UPDATE", "UPDATE", "DELETE"), old.lives("ADD", words="用户坐电车")
    before = total(old.database)
    first, second = move(old.database, old.path), move(old.database, old.path)
    assert (first.read, first.moved, first.known) == (5, 5, 0)
    assert (second.read, second.moved, second.known) == (5, 0, 5)
    assert total(old.database) == before + 5
    assert (old.events(tea), old.events(tram)) == (["ADD", "UPDATE", "UPDATE", "DELETE"], ["ADD"])
    theirs, ours = old.mem0.get_history(tea), SqlHistory(old.database).get_history(tea)
    for change in (*theirs, *ours):
        change["updated_at"] = change["updated_at"] and datetime.fromisoformat(change["updated_at"])
        change["created_at"] = datetime.fromisoformat(change["created_at"])
    assert sorted(theirs, key=lambda change: str(change["id"])) == sorted(ours, key=lambda change: str(change["id"]))


def test_a_look_writes_nothing_and_tells_what_a_move_would(old: Old) -> None:
    old.lives("ADD", "UPDATE")
    old.gone("ADD")
    before = total(old.database)
    seen = look(old.database, old.path)
    assert total(old.database) == before
    assert seen == move(old.database, old.path)


def test_the_source_is_not_written(old: Old) -> None:
    old.lives("ADD")
    old.mem0.close()
    before = (old.path.read_bytes(), old.path.stat().st_mtime_ns)
    old.path.chmod(0o444)
    move(old.database, old.path)
    assert (old.path.read_bytes(), old.path.stat().st_mtime_ns) == before
    assert [file.name for file in old.path.parent.iterdir()] == [old.path.name]
    with pytest.raises(InvalidField, match="cannot be written"), history_file.reading(old.path) as file:
        file.remove([change for page in file.pages() for change in page])


def test_a_forgotten_memory_gets_no_history_and_is_counted_by_name(old: Old) -> None:
    forgotten = old.lives("ADD", "UPDATE")
    unknown = old.gone("ADD")
    old.forget(forgotten)
    seen = move(old.database, old.path)
    assert (seen.moved, seen.refused) == (0, {Unfit.FORGOTTEN: 2, Unfit.NO_SUCH_MEMORY: 1})
    assert old.events(forgotten) == old.events(unknown) == []


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"memory_id": "7"}, Unfit.NOT_A_MEMORY_ID),
        ({"memory_id": None}, Unfit.NOT_A_MEMORY_ID),
        ({"memory_id": b"\xff"}, Unfit.NOT_A_MEMORY_ID),
        ({"id": "7"}, Unfit.NOT_A_ROW_ID),
        ({"event": None}, Unfit.NO_EVENT),
        ({"event": ""}, Unfit.NO_EVENT),
        ({"new_memory": b"\x00\xff"}, Unfit.NOT_TEXT),
        ({"new_memory": "NUL \x00"}, Unfit.NOT_TEXT),
        ({"created_at": "yesterday"}, Unfit.UNREADABLE_TIME),
        ({"updated_at": 1767258000}, Unfit.UNREADABLE_TIME),
    ],
)
def test_a_row_that_cannot_be_kept_is_named_and_the_others_are_moved(
    old: Old, values: dict[str, object], reason: Unfit
) -> None:
    memory_id = old.lives("ADD")
    old.row(**{"memory_id": memory_id, **values})
    seen = move(old.database, old.path)
    assert (seen.moved, seen.refused) == (1, {reason: 1})


def test_text_that_is_no_utf8_is_named_and_not_quoted(old: Old) -> None:
    memory_id = old.lives()
    with closing(sqlite3.connect(old.path)) as connection, connection:
        values = (str(uuid.uuid4()), memory_id, b"\xff\xfe private")
        connection.execute(
            "INSERT INTO history (id, memory_id, new_memory, event) VALUES (?, ?, CAST(? AS TEXT), 'ADD')", values
        )
    assert move(old.database, old.path).refused == {Unfit.NOT_TEXT: 1}


def test_an_id_that_another_change_has_already_is_not_taken_for_known(old: Old) -> None:
    memory_id = old.lives("ADD")
    move(old.database, old.path)
    with closing(sqlite3.connect(old.path)) as connection, connection:
        connection.execute("UPDATE history SET new_memory = 'another'")
    assert move(old.database, old.path).refused == {Unfit.ID_TAKEN: 1}
    assert old.events(memory_id) == ["ADD"]


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("2026-01-01T01:00:00-08:00", datetime(2026, 1, 1, 9, tzinfo=UTC)),
        ("2026-01-01 09:00:00", datetime(2026, 1, 1, 9, tzinfo=UTC)),
        (None, None),
    ],
)
def test_a_time_keeps_its_moment_and_one_without_zone_was_utc(
    old: Old, written: str | None, kept: datetime | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGTZ", "Asia/Shanghai")
    memory_id = old.lives()
    old.row(memory_id=memory_id, created_at=written)
    old.row(memory_id=memory_id, event="UPDATE", updated_at="2026-05-01T00:00:00+00:00")
    move(old.database, old.path)
    with old.database.transaction() as connection:
        query = select(HistoryRow.created_at).where(HistoryRow.memory_id == memory_id, HistoryRow.event == "ADD")
        assert connection.execute(query).scalar_one() == kept
    entries = SqlMemoryKeeper(old.database).history(old.scope, memory_id)
    assert entries is not None
    assert [entry.event for entry in entries] == old.events(memory_id) == ["ADD", "UPDATE"]


def test_a_file_of_many_pages_is_moved_whole_with_progress(old: Old, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history_file, "PAGE", 3)
    memory_ids = [old.lives("ADD", "UPDATE") for _ in range(4)]
    told: list[tuple[int, int]] = []
    move(old.database, old.path, lambda *figures: told.append(figures))
    assert told == [(3, 8), (6, 8), (8, 8)]
    assert [old.events(memory_id) for memory_id in memory_ids] == [["ADD", "UPDATE"]] * 4


def test_a_memory_that_is_forgotten_while_its_history_comes_gets_none(
    old: Old, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory_id = old.lives("ADD")

    def overtaken(connection: Any, scope: str) -> None:
        old.forget(memory_id)
        lock_scope(connection, scope)

    monkeypatch.setattr(history_move, "lock_scope", overtaken)
    assert move(old.database, old.path).refused == {Unfit.FORGOTTEN: 1}
    assert old.events(memory_id) == []


def not_a_database(path: Path) -> None:
    path.write_bytes(b"no database at all, but long enough to be read as a header of one. " * 20)


def without_history(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE other (id TEXT)")


def without_columns(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("ALTER TABLE history DROP COLUMN actor_id")


def cut_off(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("VACUUM")
    path.write_bytes(path.read_bytes()[:5000])


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (not_a_database, "is no SQLite database"),
        (without_history, "has no table history"),
        (without_columns, "has a history without actor_id"),
        (cut_off, "is a damaged SQLite database"),
        (lambda path: path.unlink(), "cannot be opened"),
    ],
)
@pytest.mark.parametrize("act", [move, look, outdated, clean, erase])
def test_what_is_no_history_is_refused_in_a_sentence(
    old: Old, act: Callable[[Database, Path], object], spoil: Callable[[Path], None], words: str
) -> None:
    old.lives("ADD")
    old.mem0.close()
    spoil(old.path)
    with pytest.raises(InvalidField, match=words):
        act(old.database, old.path)


def test_a_file_that_another_program_writes_to_is_refused(old: Old, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history_file, "_BUSY_SECONDS", 0.05)
    old.lives("ADD")
    with closing(sqlite3.connect(old.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(InvalidField, match="in use"):
            erase(old.database, old.path)
    assert old.path.exists()


# Kind: ollama/ollama#16543.
@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_no_byte_of_a_forgotten_memory_stays_in_a_cleaned_file(old: Old, mode: str) -> None:
    old.mem0.connection.execute(f"PRAGMA journal_mode = {mode}")
    stays = old.lives("ADD", "UPDATE", words="用户喜欢喝茶" * 10)
    old.row(memory_id=stays, created_at="yesterday")
    forgotten = old.lives("ADD", "UPDATE", words=SECRET)
    deleted = old.gone("ADD", words=f"早已删除的{SECRET}")
    old.mem0.connection.execute("DELETE FROM history WHERE memory_id = ?", (deleted,))
    old.mem0.connection.commit()
    old.mem0.save_messages([{"role": "user", "content": f"我说过{SECRET}"}], f"user_id={old.scope.key}")
    old.mem0.close()
    old.forget(forgotten)
    assert all(old.holds(words) for words in (SECRET, f"我说过{SECRET}", f"早已删除的{SECRET}"))
    _, found = outdated(old.database, old.path)
    cleaned = clean(old.database, old.path)
    assert (found.changes, found.messages) == (cleaned.changes, cleaned.messages) == (2, 1)
    assert cleaned.ids_left == 0
    assert [old.holds(words) for words in (SECRET, f"我说过{SECRET}", f"早已删除的{SECRET}")] == [[], [], []]
    assert old.holds("用户喜欢喝茶") == ["history.db"]
    assert [change.values["memory_id"] for change in changes(old.path)] == [stays] * 3
    assert clean(old.database, old.path).changes == 0


def changes(path: Path) -> list[history_file.Change]:
    with history_file.reading(path) as file:
        return [change for page in file.pages() for change in page]


def test_bytes_that_are_left_are_found(old: Old) -> None:
    forgotten = old.lives("ADD", words=SECRET)
    old.forget(forgotten)
    with history_file.reading(old.path) as file:
        ids = {str(change.values["id"]).encode() for page in file.pages() for change in page}
    old.mem0.connection.execute("DELETE FROM history")
    old.mem0.connection.commit()
    assert old.holds(SECRET)
    assert history_file._ids_left(old.path, ids) > 0


def test_rows_are_overwritten_before_the_file_becomes_smaller(old: Old) -> None:
    old.gone("ADD", words=SECRET)
    seen: dict[str, list[str]] = {}
    with history_file.changing(old.path) as file:
        for page in file.pages():
            file.remove(page)
        file.connection.set_trace_callback(lambda statement: seen.update({statement: old.holds(SECRET)}))
    assert seen["VACUUM"] == ["history.db-journal"]


def test_the_journal_is_overwritten_before_it_goes(old: Old, monkeypatch: pytest.MonkeyPatch) -> None:
    old.gone(*["UPDATE"] * 28, words=SECRET * 20)
    old.lives("ADD")
    seen: list[list[str]] = []
    clear = history_file._clear_journal

    def watched(connection: sqlite3.Connection, path: Path) -> None:
        seen.append(old.holds(SECRET))
        monkeypatch.setattr(os, "fsync", lambda _: seen.append(old.holds(SECRET)))
        clear(connection, path)

    monkeypatch.setattr(history_file, "_clear_journal", watched)
    clean(old.database, old.path)
    assert seen == [["history.db-journal"], []]
    assert [file.name for file in old.path.parent.iterdir()] == ["history.db"]


def test_a_file_is_erased_once_everything_in_it_is_safe(old: Old) -> None:
    memory_id = old.lives("ADD", "UPDATE")
    old.forget(old.lives("ADD", words=SECRET))
    assert erase(old.database, old.path)[1] is None
    assert len(changes(old.path)) == 3
    move(old.database, old.path)
    old.row(memory_id=memory_id, event="UPDATE", created_at="yesterday")
    assert erase(old.database, old.path)[1] is None
    with closing(sqlite3.connect(old.path)) as connection, connection:
        connection.execute("DELETE FROM history WHERE created_at = 'yesterday'")
    _, cleaned = erase(old.database, old.path)
    assert cleaned == history_move.Cleaned(3, 0)
    assert list(old.path.parent.iterdir()) == []
    assert old.events(memory_id) == ["ADD", "UPDATE"]


def test_a_file_of_another_database_is_not_erased(old: Old) -> None:
    old.gone("ADD")
    seen, cleaned = erase(old.database, old.path)
    assert (seen.is_strange, cleaned) == (True, None)
    assert len(changes(old.path)) == 1


def run(old: Old, url: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    clean_environment = {name: value for name, value in os.environ.items() if not name.startswith("POCO_")}
    return subprocess.run(
        [sys.executable, "-m", "cli.main", "history", *arguments],
        env={**clean_environment, "POCO_DATABASE_URL": url, "POCO_HOME": str(old.path.parent / "home")},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_the_command_moves_cleans_and_erases(old: Old, database_url: str) -> None:
    memory_id, forgotten = old.lives("ADD", "UPDATE"), old.lives("ADD", words=SECRET)
    old.forget(forgotten)
    old.mem0.close()
    path = str(old.path)
    dry = run(old, database_url, "import", path, "--dry-run")
    assert (dry.returncode, old.events(memory_id)) == (0, [])
    assert "Changes read: 3, would be moved: 2, there already: 0." in dry.stdout
    assert "forgotten        1" in dry.stdout
    found = run(old, database_url, "scrub", path)
    assert found.returncode == 1
    assert "Changes of memories that are gone: 1." in found.stdout
    removed = run(old, database_url, "scrub", path, "--delete", "--json")
    assert json.loads(removed.stdout) == {"changes": 1, "messages": 0, "removed": True}
    assert run(old, database_url, "scrub", path).returncode == 0
    erased = run(old, database_url, "import", path, "--erase", "--json")
    expected = {"read": 2, "moved": 2, "known": 0, "refused": {}, "messages": 0, "dry_run": False, "erased": True}
    assert (erased.returncode, json.loads(erased.stdout)) == (0, expected)
    assert not old.path.exists()
    assert old.events(memory_id) == ["ADD", "UPDATE"]


def test_the_command_says_what_it_cannot_move_or_read(old: Old, database_url: str) -> None:
    old.row(memory_id=old.lives("ADD"), created_at="yesterday")
    stuck = run(old, database_url, "import", str(old.path), "--erase")
    assert stuck.returncode == 1
    assert "unreadable_time  1" in stuck.stdout
    assert "The file is as it was." in stuck.stdout
    assert "that are not moved: 1. Nothing is removed." in stuck.stderr
    assert len(changes(old.path)) == 2
    again = run(old, database_url, "import", str(old.path))
    assert again.returncode == 1
    assert "The file is as it was." in again.stdout
    old.mem0.connection.execute("UPDATE history SET memory_id = ?", (str(uuid.uuid4()),))
    old.mem0.connection.commit()
    strange = run(old, database_url, "scrub", str(old.path), "--delete")
    assert strange.returncode == 1
    assert "is or was in this database" in strange.stderr
    assert len(changes(old.path)) == 2
    old.mem0.close()
    not_a_database(old.path)
    refused = run(old, database_url, "import", str(old.path))
    assert refused.returncode == 2
    assert "is no SQLite database" in refused.stderr
    assert run(old, database_url, "import", "/nowhere/history.db").returncode == 2
    both = run(old, database_url, "import", str(old.path), "--dry-run", "--erase")
    assert (both.returncode, "exclude each other" in both.stderr) == (2, True)
