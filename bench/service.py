"""The service's own processes for a benchmark: relay and workers as in production, on a database of their own."""

from __future__ import annotations

import os
import sys
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import psycopg

from cli.processes import api_arguments, worker_arguments, worker_environment
from runtime.checks import beats, http_answers
from runtime.children import Child, spawn
from runtime.embedded.servers import Servers
from runtime.home import Home
from runtime.procfs import children_of
from runtime.settings import Settings
from runtime.spec import PROJECT_ROOT, ProcessSpec
from storage.migrate import upgrade

ALL_QUEUES = "ingest.llm,ingest.fast"
_START_SECONDS = 120.0
_NOWHERE = "http://127.0.0.1:9/v1"


@dataclass(frozen=True)
class Place:
    """Where a benchmark runs: a home for logs, two servers, and how many memories are to be stored before."""

    home: Home
    servers: Servers
    memories: int | None = None

    def settings(self, database_url: str, **more: object) -> Settings:
        """Settings for a service with the costless model and embedder of `bench.zero`."""
        known = {
            "home": self.home.path,
            "database_url": database_url,
            "broker_url": self.servers.broker_url,
            "llm_model": "bench",
            "llm_base_url": _NOWHERE,
            "embedding_model": "bench",
            "embedding_base_url": _NOWHERE,
            "embedding_dims": 384,
            "log_level": "error",
        }
        return Settings.model_validate(known | more)

    def new_database(self) -> str:
        """A migrated database without a row; gives its URL."""
        url = self.empty_database()
        upgrade(url, embedding_model="bench", dims=384)
        return url

    def empty_database(self) -> str:
        """A database without a table; gives its URL."""
        name = f"bench_{uuid.uuid4().hex[:8]}"
        with psycopg.connect(self.servers.database_url, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return f"{self.servers.database_url.rsplit('/', 1)[0]}/{name}"

    def api(self, settings: Settings, *, app: str) -> ProcessSpec:
        """The HTTP API with an application, with the command line of `poco-memory api`."""
        return ProcessSpec(
            name="api",
            command=(sys.executable, "-m", "gunicorn", *api_arguments(settings, app=app)),
            environment=environment_of(settings),
            health=partial(http_answers, settings.api_host, settings.api_port, "/health/live"),
            stop_seconds=settings.shutdown_seconds + 5,
            directory=PROJECT_ROOT,
        )

    def relay(self, settings: Settings) -> ProcessSpec:
        """The relay."""
        return self._beating("relay", ("-m", "cli.main", "relay"), settings)

    def worker(self, settings: Settings, *, queues: str = ALL_QUEUES, name: str = "bench", app: str) -> ProcessSpec:
        """A worker of an app, with the command line of `poco-memory worker`."""
        spec = self._beating(name, ("-m", "celery", *worker_arguments(settings, queues, name, app=app)), settings)
        return replace(spec, environment={**spec.environment, **worker_environment(settings)})

    def _beating(self, name: str, arguments: Sequence[str], settings: Settings) -> ProcessSpec:
        heartbeat = self.home.heartbeat(name)
        return ProcessSpec(
            name=name,
            command=(sys.executable, *arguments),
            environment={**environment_of(settings), "POCO_HEARTBEAT_FILE": str(heartbeat)},
            health=partial(beats, heartbeat),
            prepare=partial(heartbeat.unlink, missing_ok=True),
            stop_seconds=settings.shutdown_seconds + 5,
            directory=PROJECT_ROOT,
        )

    @contextmanager
    def running(self, *specs: ProcessSpec) -> Iterator[list[Child]]:
        """The processes, ready, until the block ends."""
        children: list[Child] = []
        try:
            children += [spawn(spec, self.home) for spec in specs]
            self._wait(children)
            yield children
        finally:
            for child in children:
                child.stop()

    def _wait(self, children: Sequence[Child]) -> None:
        deadline = time.monotonic() + _START_SECONDS
        for child in children:
            while not child.spec.health():
                if child.exit_code() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"{child.spec.name} did not start:\n{self.home.log_tail(child.spec.name)}")
                time.sleep(0.05)


def environment_of(settings: Settings) -> Mapping[str, str]:
    """What a process with these settings is told; of the caller's environment nothing that begins with POCO_."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("POCO_")}
    secret = {"database_url", "broker_url", "service_token"}
    plain = settings.model_dump(include=settings.model_fields_set - secret)
    shown = {name: str(value) for name, value in plain.items() if value is not None}
    shown |= {name: value.get_secret_value() for name in secret if (value := getattr(settings, name))}
    told = {f"POCO_{name.upper()}": value for name, value in shown.items()}
    folder = str(settings.home / "mem0")
    return {**inherited, **told, "OMP_NUM_THREADS": "1", "MEM0_TELEMETRY": "False", "MEM0_DIR": folder}


def megabytes(child: Child) -> float:
    """The memory of a process and of those it started, each page counted once (proportional set size)."""
    pids = [child.pid, *children_of(child.pid)]
    rows = (Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines() for pid in pids)
    return sum(int(row.split()[1]) for text in rows for row in text if row.startswith("Pss:")) / 1024
