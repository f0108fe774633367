"""Processes may start in any order: what they need and does not answer yet is waited for."""

from __future__ import annotations

import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from runtime.embedded.servers import Servers
from storage.migrate import upgrade
from tests.conftest import new_database, own_broker
from tests.integration.conftest import EMBEDDING_DIMS, scripted
from tests.scripted_model import ScriptedModel, reply_facts, reply_slow
from tests.stack import Stack, running_stack
from tests.wires import Wire


@pytest.fixture
def own_url(servers: Servers) -> str:
    url = new_database(servers, f"start_{uuid.uuid4().hex[:8]}")
    upgrade(url, embedding_model="scripted", dims=EMBEDDING_DIMS)
    return url


@contextmanager
def own_stack(url: str, broker_url: str, model: ScriptedModel, folder: Path, *verbs: str) -> Iterator[Stack]:
    settings = {**scripted(url, broker_url, model), "reaper_seconds": 0.5, "handoff_seconds": 5}
    with running_stack(folder, *verbs, **settings) as stack:
        yield stack


def launched(stack: Stack, verb: str) -> Path:
    """Start a process without waiting for it; gives the file that it touches once it works."""
    heartbeat = stack.folder / f"{verb}.alive"
    with (stack.folder / f"{verb}.log").open("ab") as log:
        stack.processes[verb] = subprocess.Popen(
            [sys.executable, "-m", "cli.main", verb],
            env=stack.environment | {"POCO_HEARTBEAT_FILE": str(heartbeat)},
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    return heartbeat


def allow_connections(servers: Servers, url: str, allowed: bool) -> None:
    name = url.rsplit("/", 1)[1]
    with psycopg.connect(servers.database_url, autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {name} WITH ALLOW_CONNECTIONS {'true' if allowed else 'false'}")


@pytest.mark.parametrize("verb", ["worker", "relay"])
def test_a_process_waits_for_the_database(
    servers: Servers, own_url: str, model: ScriptedModel, tmp_path: Path, verb: str
) -> None:
    allow_connections(servers, own_url, False)
    with own_stack(own_url, own_broker(servers, 5), model, tmp_path) as stack:
        heartbeat = launched(stack, verb)
        stack.wait_until(lambda: stack.log(verb).count("memory_waiting_for_database") >= 2, 60, "it does not wait")
        assert stack.processes[verb].poll() is None
        assert not heartbeat.exists()
        allow_connections(servers, own_url, True)
        stack.wait_until(heartbeat.exists, 60, f"it does not go on:\n{stack.log(verb)[-2000:]}")


def test_a_worker_does_not_start_on_a_database_that_is_not_migrated(
    servers: Servers, model: ScriptedModel, tmp_path: Path
) -> None:
    url = new_database(servers, f"empty_{uuid.uuid4().hex[:8]}")
    with own_stack(url, own_broker(servers, 5), model, tmp_path) as stack:
        launched(stack, "worker")
        assert stack.processes["worker"].wait(timeout=60) == 2
        assert "poco-memory migrate" in stack.log("worker")
        stack.processes.pop("worker")


def test_worker_and_relay_wait_for_the_broker(
    servers: Servers, own_url: str, model: ScriptedModel, tmp_path: Path, wire: Wire
) -> None:
    user_id = f"u-{uuid.uuid4().hex[:12]}"
    model.when(f"[{user_id}]", reply_facts([]))
    with own_stack(own_url, wire.to(own_broker(servers, 5)), model, tmp_path, "api") as stack:
        waits: list[tuple[str, Callable[[], bool]]] = [
            ("worker", lambda: "Cannot connect to redis" in stack.log("worker")),
            ("relay", lambda: "memory_relay_waiting" in stack.log("relay")),
        ]
        for verb, is_waiting in waits:
            launched(stack, verb)
            stack.wait_until(is_waiting, 60, f"{verb} does not wait:\n{stack.log(verb)[-2000:]}")
            assert stack.processes[verb].poll() is None
        job_id = stack.ingest(user_id, f"以后都用中文写周报 [{user_id}]", "好的")
        wire.connect()
        assert stack.finished(job_id, 120)["status"] == "success"


# Kind: celery/celery#4671.
def test_a_step_that_outlives_its_broker_is_done_once_and_nothing_dies(
    servers: Servers, own_url: str, model: ScriptedModel, tmp_path: Path, wire: Wire
) -> None:
    user_id = f"u-{uuid.uuid4().hex[:12]}"
    model.when(f"[{user_id}]", reply_slow(3, reply_facts(["用户偏好用中文写周报"])))
    wire.connect()
    with own_stack(own_url, wire.to(own_broker(servers, 5)), model, tmp_path, "api", "relay", "worker") as stack:
        job_id = stack.ingest(user_id, f"以后都用中文写周报 [{user_id}]", "好的")
        stack.wait_until(lambda: user_id in str([one.body for one in model.requests]), 30, "the model is not asked")
        wire.cut()
        stack.wait_until(lambda: stack.get(f"/v1/jobs/{job_id}").body["step"] == 3, 30, "the step is not completed")
        # Long enough for a worker to see that it cannot go on.
        stack.wait_until(lambda: "Connection to broker lost" in stack.log("worker"), 30, "nobody notices")
        time.sleep(3)
        wire.connect()
        seen = stack.finished(job_id, 150)
    assert (seen["outcome"], seen["retry_count"], seen["lost_count"]) == ("published", 0, 0)
    assert set(seen["attempts"].values()) == {1}
