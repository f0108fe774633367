"""What the broker must be like, and what happens when it is not there for a while."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from domain.errors import ConfigurationError
from runtime.checks import check_broker
from runtime.embedded.servers import Servers
from runtime.spec import PROJECT_ROOT


@pytest.fixture
def evicting(servers: Servers) -> Iterator[str]:
    """The test broker, for a moment with a policy that drops keys."""
    with redis.Redis.from_url(servers.broker_url) as client:
        client.config_set("maxmemory-policy", "allkeys-lru")
        yield servers.broker_url
        client.config_set("maxmemory-policy", "noeviction")


# Kind: celery/celery#7801.
def test_a_broker_that_may_drop_messages_is_refused_with_what_to_change(evicting: str) -> None:
    with pytest.raises(ConfigurationError, match=r"allkeys-lru.*noeviction"):
        check_broker(evicting)


def test_the_relay_does_not_start_on_such_a_broker(evicting: str, database_url: str, tmp_path: Path) -> None:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("POCO_")}
    ours = {
        "POCO_HOME": str(tmp_path),
        "POCO_DATABASE_URL": database_url,
        "POCO_BROKER_URL": evicting,
        "POCO_EMBEDDING_MODEL": "fake",
        "POCO_EMBEDDING_BASE_URL": "http://127.0.0.1:1/v1",
        "POCO_EMBEDDING_DIMS": "384",
    }
    done = subprocess.run(
        [sys.executable, "-m", "cli.main", "relay"],
        env=clean | ours,
        cwd=PROJECT_ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert "maxmemory-policy allkeys-lru" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_broker_as_it_should_be_is_taken(servers: Servers) -> None:
    check_broker(servers.broker_url)


# Kind: celery/kombu#337.
@pytest.mark.parametrize(("delays", "timeout"), [("1,2,4", "30"), ("1,300", "120"), ("300", "1")])
def test_a_message_is_never_out_longer_than_its_visibility_timeout(delays: str, timeout: str) -> None:
    program = "import celeryconfig as c; print(c.broker_transport_options['visibility_timeout'], c.task_time_limit)"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "POCO_BROKER_URL": "redis://127.0.0.1:1/0", "POCO_RETRY_DELAYS": delays}
        | {"POCO_LLM_TIMEOUT_SECONDS": timeout},
        cwd=PROJECT_ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    visibility, limit = (float(number) for number in done.stdout.split())
    longest = max(float(delay) for delay in delays.split(","))
    assert visibility > 2 * (limit + longest)
