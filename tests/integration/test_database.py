"""Connections that the server dropped: noticed before they are used, unless that happened a moment ago."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import Pool, QueuePool, text
from sqlalchemy.exc import ProgrammingError

from domain.errors import TransientError
from domain.lifecycle import NO_DETAILS, ItemFilter
from domain.scope import Scope
from storage import database as module
from storage.database import Database
from storage.forget import SqlEraser
from storage.keeper import SqlMemoryKeeper
from storage.ledger import LedgerTimes, SqlJobLedger
from storage.listing import SqlMemoryListing
from storage.memories import SqlMemoryIndex
from storage.user_settings import SqlUserSettings
from tests.fakes import fake_vector
from tests.ledgers import SHORT, UNKNOWN_JOB
from tests.lifecycles import ANNA


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


LOOKS: list[Callable[[Database, Scope], object]] = [
    lambda database, scope: SqlMemoryIndex(database).nearest(scope, fake_vector("x"), 5),
    lambda database, scope: SqlMemoryListing(database).page(scope, ItemFilter(text="茶"), limit=5),
    lambda database, scope: SqlMemoryListing(database).overview(scope, time_zone="UTC", days=1),
    lambda database, scope: SqlMemoryListing(database).topics(scope, limit=5),
    lambda database, scope: SqlMemoryListing(database).related(scope, UNKNOWN_JOB, limit=5),
    lambda database, scope: SqlMemoryKeeper(database).history(scope, UNKNOWN_JOB),
    lambda database, scope: SqlMemoryKeeper(database).update(scope, UNKNOWN_JOB, None, NO_DETAILS, ANNA),
    lambda database, scope: SqlMemoryKeeper(database).archive(scope, UNKNOWN_JOB, ANNA),
    lambda database, scope: SqlEraser(database).forget(scope, UNKNOWN_JOB, ANNA),
    lambda database, scope: SqlEraser(database).forget_all(scope, ANNA),
    lambda database, scope: SqlJobLedger(database, policy=SHORT, times=LedgerTimes()).view(UNKNOWN_JOB),
    lambda database, scope: SqlUserSettings(database).get(scope),
]


# Kind: open-webui/open-webui#30133.
@pytest.mark.parametrize("look", LOOKS)
def test_who_finds_nothing_gives_the_connection_back(
    database_url: str, scope: Scope, look: Callable[[Database, Scope], object]
) -> None:
    small = Database(database_url, pool_size=1)
    pid = backend(small)
    for _ in range(30):
        look(small, scope)
    # The only connection there is: without it, this would wait for the pool and fail.
    assert backend(small) == pid
    assert _at_rest(small.engine.pool) == (1, 0)
    small.dispose()


def test_who_fails_gives_the_connection_back_too(database_url: str) -> None:
    small = Database(database_url, pool_size=1)
    for block in (small.transaction, small.statement) * 2:
        with pytest.raises(ProgrammingError), block() as connection:
            connection.execute(text("SELECT * FROM nowhere"))
    assert backend(small)
    assert _at_rest(small.engine.pool) == (1, 0)
    small.dispose()


def _at_rest(pool: Pool) -> tuple[int, int]:
    assert isinstance(pool, QueuePool)
    return pool.checkedin(), pool.checkedout()


def test_a_statement_by_itself_is_committed_at_once(database: Database) -> None:
    with database.statement() as connection:
        connection.execute(text("CREATE TABLE IF NOT EXISTS by_itself (number int)"))
        connection.execute(text("INSERT INTO by_itself VALUES (1)"))
        with database.transaction() as another:
            assert another.execute(text("SELECT count(*) FROM by_itself")).scalar_one() == 1
    with database.transaction() as connection:
        connection.execute(text("DROP TABLE by_itself"))
