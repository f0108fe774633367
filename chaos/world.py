"""The stack that is broken: real servers and processes in a scratch home, started again whenever they end."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import psycopg

from chaos.model import DIMS, ChaosModel
from chaos.witness import DROP_UNIQUE_INDEX, INSTALL, OPEN_JOBS
from domain.errors import PocoError
from runtime.checks import beats, http_answers
from runtime.children import Child, spawn
from runtime.embedded.postgres import database_url, postgres_spec
from runtime.embedded.valkey import broker_url, valkey_spec
from runtime.home import Home
from runtime.procfs import children_of, connected, identity, signal_process
from runtime.spec import ProcessSpec
from storage.migrate import upgrade

WORKERS = ("worker-1", "worker-2")
RELAYS = ("relay-1", "relay-2")
API = "api"
SERVICES = (API, *RELAYS, *WORKERS)
# Short times, so that what a fault breaks is recovered within seconds.
LEASE_SECONDS = 2.0
TIMES = {
    "LEASE_SECONDS": str(LEASE_SECONDS),
    "HANDOFF_SECONDS": "3",
    "REAPER_SECONDS": "0.5",
    "RELAY_POLL_SECONDS": "0.5",
    "SHUTDOWN_SECONDS": "3",
    "LLM_TIMEOUT_SECONDS": "10",
    "EMBEDDING_TIMEOUT_SECONDS": "10",
}
_MODEL = "chaos"
_POLL_SECONDS = 0.05
_START_SECONDS = 90.0


class WorldBroken(PocoError):
    """The stack did not come up, or did not come back; says which process, with the end of its log."""


@dataclass(frozen=True, slots=True)
class Lease:
    """A job that a worker child works on now."""

    key: str
    pid: int
    step: int
    fence: int
    lost_count: int


@dataclass
class World:
    """The running processes. Only the main thread starts and ends them."""

    home: Home
    ports: Mapping[str, int]
    specs: Mapping[str, ProcessSpec]
    children: dict[str, Child] = field(default_factory=dict)

    @property
    def database_url(self) -> str:
        """The ledger's address, with its password."""
        return database_url(self.home, self.ports["postgres"])

    @property
    def broker_url(self) -> str:
        """The broker's address, with its password."""
        return broker_url(self.home, self.ports["valkey"])

    @property
    def token(self) -> str:
        """The API's token."""
        return self.home.secrets().service_token

    def start(self, name: str) -> None:
        """Start a process; it may take a while until it answers."""
        self.children[name] = spawn(self.specs[name], self.home)

    def signal(self, name: str, number: signal.Signals) -> None:
        """Send a signal to the main process of that name."""
        child = self.children[name]
        signal_process(child.pid, child.identity, number)

    def kill(self, name: str) -> None:
        """End a process with SIGKILL and wait until it is gone, leaving its children to the kernel."""
        self.signal(name, signal.SIGKILL)
        self.children[name].process.wait()

    def tend(self, seconds: float) -> None:
        """Let time pass, and start every service again that has ended."""
        deadline = time.monotonic() + seconds
        while True:
            for name in SERVICES:
                if self.children[name].exit_code() is not None:
                    self.start(name)
            if time.monotonic() >= deadline:
                return
            time.sleep(_POLL_SECONDS)

    def settle(self) -> None:
        """Wait until everything answers.

        Raises:
            WorldBroken: when something does not.
        """
        deadline = time.monotonic() + _START_SECONDS
        for name in self.children:
            while not self.specs[name].health():
                if time.monotonic() > deadline:
                    raise WorldBroken(f"{name} does not answer.\n{self.home.log_tail(name)}")
                self.tend(_POLL_SECONDS)

    def forget_broker_data(self) -> None:
        """Remove what a stopped broker would read at its next start."""
        shutil.rmtree(self.home.valkey / "appendonlydir", ignore_errors=True)

    def worker_children(self) -> list[int]:
        """The process ids of all pool children of all workers."""
        mains = [self.children[name].pid for name in WORKERS if name in self.children]
        return [pid for main in mains for pid in children_of(main)]

    def leases(self) -> list[Lease]:
        """What is worked on now; nothing when the database cannot be asked."""
        statement = (
            "SELECT idempotency_key, substring(lease_owner from '[0-9]+$')::int, step, fence, lost_count "
            "FROM memory_jobs WHERE lease_owner IS NOT NULL AND status = 'processing'"
        )
        return [Lease(*row) for row in self.ask(statement)]

    def open_jobs(self) -> int | None:
        """How many candidates have not ended; None when the database cannot be asked."""
        rows = self.ask(OPEN_JOBS)
        return int(rows[0][0]) if rows else None

    def ask(self, statement: Any, *values: object) -> list[tuple[Any, ...]]:
        """The rows of a query; none when the database cannot be reached."""
        try:
            with psycopg.connect(self.database_url, connect_timeout=2, autocommit=True) as connection:
                return connection.execute(statement, values).fetchall()
        except psycopg.OperationalError:
            return []

    def find_asker(self, port: int, to: int) -> int | None:
        """The worker child that talks to the model from this port to its own, or None when it is gone."""
        return connected(port, to, self.worker_children())


@contextmanager
def running_world(home: Home, model: ChaosModel, *, with_unique_index: bool) -> Iterator[World]:
    """Bring the stack up on an empty home and end it afterwards. Call this from the main thread.

    Raises:
        WorldBroken: when something does not come up.
    """
    with home.lock(), ExitStack() as stack:
        ports = home.claim_ports({"postgres": 0, "valkey": 0, API: 0})
        servers = {"valkey": valkey_spec(home, ports["valkey"]), "postgres": postgres_spec(home, ports["postgres"])}
        world = World(home, ports, servers | _services(home, ports, model.url))
        stack.callback(_end, world)
        for name in servers:
            world.start(name)
        _wait_for(world, *servers)
        upgrade(world.database_url, embedding_model=_MODEL, dims=DIMS)
        with psycopg.connect(world.database_url, autocommit=True) as connection:
            connection.execute(INSTALL)
            if not with_unique_index:
                connection.execute(DROP_UNIQUE_INDEX)
        for name in SERVICES:
            world.start(name)
        world.settle()
        model.find_asker = world.find_asker
        model.kill = partial(signal_by_id, number=signal.SIGKILL)
        yield world


def signal_by_id(pid: int, number: signal.Signals) -> bool:
    """Send a signal to the process that has this id now; False when there is none."""
    known = identity(pid)
    return known is not None and signal_process(pid, known, number)


def _end(world: World) -> None:
    for name in reversed(list(world.children)):
        child = world.children[name]
        # What is frozen cannot end.
        signal_process(child.pid, child.identity, signal.SIGCONT)
        if name in SERVICES:
            child.kill()
        else:
            child.stop()


def _wait_for(world: World, *names: str) -> None:
    deadline = time.monotonic() + _START_SECONDS
    for name in names:
        while not world.specs[name].health():
            if world.children[name].exit_code() is not None or time.monotonic() > deadline:
                raise WorldBroken(f"{name} did not come up.\n{world.home.log_tail(name)}")
            time.sleep(_POLL_SECONDS)


def _services(home: Home, ports: Mapping[str, int], model_url: str) -> dict[str, ProcessSpec]:
    environment = _environment(home, ports, model_url)
    api = ProcessSpec(
        name=API,
        command=_command("api"),
        environment=environment,
        health=partial(http_answers, "127.0.0.1", ports[API], "/health/live"),
    )
    relays = {name: _beating(name, home, environment, "relay") for name in RELAYS}
    workers = {name: _beating(name, home, environment, "worker", "--name", name) for name in WORKERS}
    return {API: api, **relays, **workers}


def _beating(name: str, home: Home, environment: Mapping[str, str], *arguments: str) -> ProcessSpec:
    heartbeat = home.heartbeat(name)
    return ProcessSpec(
        name=name,
        command=_command(*arguments),
        environment={**environment, "POCO_HEARTBEAT_FILE": str(heartbeat)},
        health=partial(beats, heartbeat),
        prepare=partial(heartbeat.unlink, missing_ok=True),
    )


def _command(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "cli.main", *arguments)


def _environment(home: Home, ports: Mapping[str, int], model_url: str) -> dict[str, str]:
    """The caller's environment without its own settings: a run must not touch any other stack."""
    settings = {
        **TIMES,
        "HOME": str(home.path),
        "DATABASE_URL": database_url(home, ports["postgres"]),
        "BROKER_URL": broker_url(home, ports["valkey"]),
        "SERVICE_TOKEN": home.secrets().service_token,
        "API_PORT": str(ports[API]),
        "LLM_MODEL": _MODEL,
        "LLM_BASE_URL": model_url,
        "EMBEDDING_MODEL": _MODEL,
        "EMBEDDING_BASE_URL": model_url,
        "EMBEDDING_DIMS": str(DIMS),
        "WORKER_CONCURRENCY": "2",
    }
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("POCO_")}
    own = {f"POCO_{name}": value for name, value in settings.items()}
    return {**inherited, **own, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
