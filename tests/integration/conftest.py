"""The service as processes for the integration tests, in front of a scripted model."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from domain.scope import Scope
from runtime.embedded.servers import Servers
from runtime.home import free_port
from storage.database import Database
from storage.ledger import LedgerTimes, SqlJobLedger
from storage.migrate import upgrade
from tests.conftest import new_database
from tests.fakes import unique_scope
from tests.ledgers import SHORT
from tests.planted import PLANTED
from tests.scripted_model import ScriptedModel
from tests.stack import Stack, running_stack
from tests.wires import Wire

EMBEDDING_DIMS = 64


@pytest.fixture(scope="session")
def model() -> Iterator[ScriptedModel]:
    """An OpenAI-compatible endpoint that answers by script."""
    with ScriptedModel(dims=EMBEDDING_DIMS) as running:
        yield running


def scripted(url: str, broker_url: str, model: ScriptedModel) -> dict[str, object]:
    """The settings of a service on this database and broker, in front of the scripted model."""
    return {
        "database_url": url,
        "broker_url": broker_url,
        "llm_model": "scripted",
        "llm_base_url": model.url,
        "llm_api_key": f"{PLANTED}-key-of-the-model",
        "embedding_model": "scripted",
        "embedding_base_url": model.url,
        "embedding_api_key": f"{PLANTED}-key-of-the-embedder",
        "embedding_dims": EMBEDDING_DIMS,
    }


@pytest.fixture(scope="session")
def stack_url(servers: Servers) -> str:
    """The database of the running service."""
    url = new_database(servers, f"stack_{uuid.uuid4().hex[:8]}")
    upgrade(url, embedding_model="scripted", dims=EMBEDDING_DIMS)
    return url


@pytest.fixture(scope="session")
def stack(
    servers: Servers, stack_url: str, model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stack]:
    """API, relay and worker with short leases and a model that has two seconds to answer."""
    with running_stack(
        tmp_path_factory.mktemp("stack"),
        "api",
        "relay",
        "worker",
        **scripted(stack_url, servers.broker_url, model),
        llm_timeout_seconds=2,
        embedding_timeout_seconds=2,
        lease_seconds=3,
        handoff_seconds=5,
        reaper_seconds=0.5,
        maintenance_seconds=1,
    ) as running:
        yield running


@pytest.fixture
def stack_database(stack_url: str) -> Iterator[Database]:
    """The service's database, to look at what it wrote."""
    made = Database(stack_url)
    yield made
    made.dispose()


@pytest.fixture
def user_id() -> str:
    """A user that no other test has."""
    return f"u-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def scope() -> Scope:
    """A scope that no other test has."""
    return unique_scope()


@pytest.fixture
def ledger(database: Database) -> SqlJobLedger:
    """A ledger whose retries are due at once."""
    return SqlJobLedger(database, policy=SHORT, times=LedgerTimes())


@pytest.fixture
def wire(servers: Servers) -> Iterator[Wire]:
    """A way to the test broker, not connected yet."""
    host, port = servers.broker_url.rpartition("@")[2].partition("/")[0].split(":")
    made = Wire(free_port(), (host, int(port)))
    yield made
    made.cut()
