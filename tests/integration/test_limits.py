"""A token may make so many requests a minute; without Redis everybody may, and the metrics say so."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from runtime.embedded.servers import Servers
from storage.migrate import upgrade
from tests.conftest import new_database, own_broker
from tests.integration.conftest import EMBEDDING_DIMS, scripted
from tests.integration.test_gateway import mine
from tests.scrapes import value
from tests.scripted_model import ScriptedModel
from tests.stack import OPERATOR_TOKEN, Answer, Stack, running_stack
from tests.wires import Wire

SETTINGS = "/api/v1/memory/settings"


@pytest.fixture
def limited(
    servers: Servers, model: ScriptedModel, wire: Wire, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stack]:
    """An API that takes four requests of a service a minute and two of a user, at the end of a wire to Redis."""
    url = new_database(servers, f"limits_{uuid.uuid4().hex[:8]}")
    upgrade(url, embedding_model="scripted", dims=EMBEDDING_DIMS)
    settings = scripted(url, wire.to(own_broker(servers, 11)), model)
    limits = {"service_requests_per_minute": 4, "user_requests_per_minute": 2}
    with running_stack(tmp_path_factory.mktemp("limits"), "api", **settings, **limits) as stack:
        yield stack


def searched(stack: Stack) -> Answer:
    return stack.post("/v1/memories/search", {"tenant_id": "test", "user_id": "u", "query": "茶"})


def refused(answers: list[Answer]) -> list[Answer]:
    return [answer for answer in answers if answer.status == 429]


def test_what_is_over_the_limit_of_a_token_is_refused_until_redis_is_away(limited: Stack, wire: Wire) -> None:
    wire.connect()
    # A minute may begin in between: it takes twice the limit to be sure of a refusal.
    over = refused([searched(limited) for _ in range(9)])
    assert over
    assert all(answer.body["code"] == "too_many_requests" for answer in over)
    assert all(1 <= int(answer.headers["Retry-After"]) <= 60 for answer in over)
    assert limited.get("/v1/jobs/stats", token=OPERATOR_TOKEN).status == 200, "another token has a limit of its own"
    assert refused([mine(limited, "anna", "GET", SETTINGS) for _ in range(5)])
    assert mine(limited, "ben", "GET", SETTINGS).status == 200, "another user has a limit of its own"
    assert not refused([limited.get("/health/live") for _ in range(12)])
    counted = limited.scrape("api")
    assert value(counted, "memory_requests_refused_total", kind="service") == len(over)
    assert value(counted, "memory_requests_refused_total", kind="user") >= 1
    assert value(counted, "memory_rate_unchecked_total") == 0
    wire.cut()
    assert not refused([searched(limited) for _ in range(12)])
    assert value(limited.scrape("api"), "memory_rate_unchecked_total") == 12
    assert 1 <= limited.log("api").count("memory_rate_unchecked") < 12, "said once in a while, not for each request"


def test_redis_sees_no_name_of_a_user(limited: Stack, wire: Wire, servers: Servers) -> None:
    from runtime.broker import broker_client

    wire.connect()
    mine(limited, "somebody-with-a-name", "GET", SETTINGS)
    client = broker_client(own_broker(servers, 11), seconds=5)
    keys = [key.decode() for key in client.scan_iter("*")]
    client.close()
    assert any("poco-rate" in key for key in keys)
    assert not any("somebody" in key for key in keys)
