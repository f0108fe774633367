"""Connections that the server dropped: noticed before they are used, unless that happened a moment ago."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from domain.errors import TransientError
from storage import database as module
from storage.database import Database


def backend(database: Database) -> int:
    with database.transaction() as connection:
        return int(connection.execute(text("SELECT pg_backend_pid()")).scalar_one())


def end(database: Database, pid: int) -> None:
    with database.transaction() as connection:
        connection.execute(text("SELECT pg_terminate_backend(:pid, 5000)"), {"pid": pid})


def test_a_connection_that_rested_is_replaced_when_the_server_dropped_it(
    database: Database, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FRESH_SECONDS", 0.0)
    other = Database(database_url)
    pid = backend(database)
    end(other, pid)
    assert backend(database) != pid
    other.dispose()


def test_one_that_was_dropped_just_now_is_a_failure_that_passes(database: Database, database_url: str) -> None:
    other = Database(database_url)
    end(other, backend(database))
    with pytest.raises(TransientError):
        backend(database)
    assert backend(database)
    other.dispose()


def test_a_statement_by_itself_is_committed_at_once(database: Database) -> None:
    with database.statement() as connection:
        connection.execute(text("CREATE TABLE IF NOT EXISTS by_itself (number int)"))
        connection.execute(text("INSERT INTO by_itself VALUES (1)"))
        with database.transaction() as another:
            assert another.execute(text("SELECT count(*) FROM by_itself")).scalar_one() == 1
    with database.transaction() as connection:
        connection.execute(text("DROP TABLE by_itself"))
