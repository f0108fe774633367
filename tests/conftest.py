"""Real servers for the tests: one PostgreSQL and one Valkey for the whole run, a database for each need."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from runtime.embedded.servers import Servers, embedded_servers
from storage.database import Database
from storage.migrate import upgrade
from tests.fakes import DIMS
from tests.planted import leaks


@pytest.fixture(scope="session", autouse=True)
def logs_of_the_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No log of the run holds what was planted. Set up before all else, so that at its end every stack has stopped."""
    yield
    found = leaks(tmp_path_factory.getbasetemp())
    assert not found, "\n".join(found)


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """PostgreSQL and Valkey; the run fails when they do not start."""
    with embedded_servers(tmp_path_factory.mktemp("servers") / "home") as running:
        yield running


def new_database(servers: Servers, name: str) -> str:
    """Make an empty database on the test server and give its URL."""
    with psycopg.connect(servers.database_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return f"{servers.database_url.rsplit('/', 1)[0]}/{name}"


def own_broker(servers: Servers, database: int) -> str:
    """A database of the test broker that no other stack works on; the workers of the session take what is in 0."""
    return f"{servers.broker_url.rsplit('/', 1)[0]}/{database}"


@pytest.fixture(scope="session")
def database_url(servers: Servers) -> str:
    """A migrated database for tests that call storage directly; each uses scopes of its own."""
    url = new_database(servers, f"direct_{uuid.uuid4().hex[:8]}")
    upgrade(url, embedding_model="fake", dims=DIMS)
    return url


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """The direct database, with connections of this test."""
    made = Database(database_url)
    yield made
    made.dispose()


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of this repository."""
    return Path(__file__).parents[1]
