"""Processes may start in any order: what they need and does not answer yet is waited for."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from runtime.embedded.servers import Servers
from runtime.home import free_port
from storage.migrate import upgrade
from tests.conftest import new_database
from tests.integration.conftest import EMBEDDING_DIMS
from tests.scripted_model import ScriptedModel, reply_facts
from tests.stack import Stack, running_stack


@pytest.fixture
def own_url(servers: Servers) -> str:
    url = new_database(servers, f"start_{uuid.uuid4().hex[:8]}")
    upgrade(url, embedding_model="scripted", dims=EMBEDDING_DIMS)
    return url


@contextmanager
def own_stack(url: str, broker_url: str, model: ScriptedModel, folder: Path, *verbs: str) -> Iterator[Stack]:
    settings = {"llm_model": "scripted", "llm_base_url": model.url, "embedding_model": "scripted"}
    ours = {"embedding_base_url": model.url, "embedding_dims": EMBEDDING_DIMS, "reaper_seconds": 0.5}
    with running_stack(folder, *verbs, database_url=url, broker_url=broker_url, **settings, **ours) as stack:
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
    with own_stack(own_url, servers.broker_url, model, tmp_path) as stack:
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
    with own_stack(url, servers.broker_url, model, tmp_path) as stack:
        launched(stack, "worker")
        assert stack.processes["worker"].wait(timeout=60) == 2
        assert "poco-memory migrate" in stack.log("worker")
        stack.processes.pop("worker")


@contextmanager
def forwarded(port: int, to: tuple[str, int]) -> Iterator[None]:
    """Whoever connects to this port of 127.0.0.1 during the block talks to the other address."""
    with socket.create_server(("127.0.0.1", port)) as server:
        threading.Thread(target=_accept, args=(server, to), daemon=True).start()
        yield


def _accept(server: socket.socket, to: tuple[str, int]) -> None:
    while True:
        try:
            here, _ = server.accept()
        except OSError:
            return
        there = socket.create_connection(to)
        for source, target in ((here, there), (there, here)):
            threading.Thread(target=_copy, args=(source, target), daemon=True).start()


def _copy(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    finally:
        target.close()


def test_worker_and_relay_wait_for_the_broker(
    servers: Servers, own_url: str, model: ScriptedModel, tmp_path: Path
) -> None:
    host, port = servers.broker_url.rpartition("@")[2].partition("/")[0].split(":")
    late = free_port()
    broker_url = servers.broker_url.replace(f"{host}:{port}", f"127.0.0.1:{late}")
    user_id = f"u-{uuid.uuid4().hex[:12]}"
    model.when(f"[{user_id}]", reply_facts([]))
    with own_stack(own_url, broker_url, model, tmp_path, "api") as stack:
        waits: list[tuple[str, Callable[[], bool]]] = [
            ("worker", lambda: "Cannot connect to redis" in stack.log("worker")),
            ("relay", lambda: "memory_relay_waiting" in stack.log("relay")),
        ]
        for verb, is_waiting in waits:
            launched(stack, verb)
            stack.wait_until(is_waiting, 60, f"{verb} does not wait:\n{stack.log(verb)[-2000:]}")
            assert stack.processes[verb].poll() is None
        job_id = stack.ingest(user_id, f"以后都用中文写周报 [{user_id}]", "好的")
        with forwarded(late, (host, int(port))):
            assert stack.finished(job_id, 120)["status"] == "success"
            for verb, _ in waits:
                stack.stop(verb)
