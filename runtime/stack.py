"""Bringing the whole stack up and down, and telling how it is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace

from runtime.checks import beats, http_answers, postgres_answers, valkey_answers
from runtime.embedded.postgres import database_url
from runtime.embedded.valkey import broker_url
from runtime.home import Home
from runtime.processes import build_stack
from runtime.procfs import signal_process
from runtime.settings import Settings
from runtime.spec import PROJECT_ROOT
from runtime.state import (
    Failure,
    Phase,
    ProcessRecord,
    StackState,
    end_orphans,
    new_state,
    read_state,
    wait_until_gone,
    write_state,
)
from runtime.supervisor import Supervisor

SUPERVISOR = "supervisor"
_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_MARGIN_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class ProcessStatus:
    """How one process is; `uptime_seconds` is None when it does not run."""

    name: str
    pid: int | None
    address: str | None
    healthy: bool
    uptime_seconds: float | None
    metrics: str | None = None


def run_stack(
    settings: Settings, home: Home, *, start_seconds: float, show: Callable[[StackState], None]
) -> Failure | None:
    """Be the supervisor of this home until a signal says stop; None then, or why the start was given up.

    Raises:
        HomeInUse: when the stack is up already.
        ConfigurationError, EmbeddedServerError: before anything was started.
    """
    with home.lock():
        state = _take_over(settings, home)
        stack = build_stack(settings, home)

        def note(changed: StackState) -> None:
            write_state(home, changed)
            show(changed)

        supervisor = Supervisor(stack.specs, home, state, note, start_seconds)
        for number in _STOP_SIGNALS:
            signal.signal(number, lambda *_: supervisor.stop())
        return supervisor.run()


def launch_supervisor(home: Home, *, start_seconds: float) -> subprocess.Popen[bytes]:
    """Start `poco-memory up` on its own, apart from this terminal; its output goes to logs/supervisor.log."""
    log = home.open_log(SUPERVISOR)
    try:
        return subprocess.Popen(  # noqa: S603 - our own command
            (sys.executable, "-m", "cli.main", "up", "--timeout", str(start_seconds)),
            env=os.environ | {"POCO_HOME": str(home.path)},
            cwd=PROJECT_ROOT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    finally:
        os.close(log)


def stop_stack(home: Home) -> list[str]:
    """End every process of this home and nothing else; the names of those that ran, empty when none did.

    Raises:
        HomeInUse: when something else than a supervisor uses the home.
    """
    state = read_state(home)
    if state is None:
        with home.lock():
            return []
    running = [record.name for record in state.processes if record.is_alive]
    if state.is_supervised:
        signal_process(state.pid, state.identity, signal.SIGTERM)
        patience = sum(record.stop_seconds for record in state.processes) + _MARGIN_SECONDS
        if not wait_until_gone(state.pid, state.identity, patience):
            signal_process(state.pid, state.identity, signal.SIGKILL)
            wait_until_gone(state.pid, state.identity, _MARGIN_SECONDS)
    with home.lock():
        latest = read_state(home) or state
        end_orphans(latest.processes)
        write_state(home, replace(latest, phase=Phase.FINISHED, processes=()))
    return running


def running_stack(home: Home) -> StackState | None:
    """What runs in this home, or None when no supervisor does."""
    state = read_state(home)
    return state if state and state.is_supervised else None


def connection_environment(home: Home) -> dict[str, str]:
    """The variables with which a process reaches the embedded servers of a running stack; empty when none runs."""
    state = running_stack(home)
    secrets = home.known_secrets()
    if state is None or secrets is None:
        return {}
    makers = {"postgres": ("POCO_DATABASE_URL", database_url), "valkey": ("POCO_BROKER_URL", broker_url)}
    found = {
        "POCO_SERVICE_TOKEN": secrets.service_token,
        "POCO_OPERATOR_TOKEN": secrets.operator_token,
        "POCO_FLOWER_PASSWORD": secrets.flower_password,
    }
    if "POCO_USER_JWKS_URL" not in os.environ:
        found["POCO_USER_JWT_SECRET"] = secrets.user_jwt_secret
    for name, (variable, url) in makers.items():
        record = state.record(name)
        if record and record.address:
            found[variable] = url(home, _port(record))
    return found


def process_statuses(home: Home, state: StackState, now: float) -> list[ProcessStatus]:
    """How each process is, asked now; the finished migration is not one."""
    return [_status(home, record, now) for record in state.processes if record.phase is not Phase.FINISHED]


def log_problem(home: Home, failure: Failure) -> str:
    """A failed start as text: the process, the reason, the end of its log."""
    tail = home.log_tail(failure.process)
    lines = [f"{failure.process} did not start: {failure.message}."]
    if tail:
        lines += [f"The end of {home.log_file(failure.process)}:", tail]
    return "\n".join(lines)


def _take_over(settings: Settings, home: Home) -> StackState:
    """Announce this supervisor, and end what a killed one left; the old records stay until that is done."""
    earlier = read_state(home)
    state = new_state(model=settings.llm_model, embedding=settings.embedding_model)
    if earlier:
        write_state(home, replace(state, processes=earlier.processes))
        end_orphans(earlier.processes)
    write_state(home, state)
    return state


def _status(home: Home, record: ProcessRecord, now: float) -> ProcessStatus:
    alive = record.is_alive
    return ProcessStatus(
        name=record.name,
        pid=record.pid if alive else None,
        address=record.address,
        healthy=alive and _is_healthy(home, record),
        uptime_seconds=round(now - record.started_at, 1) if alive and record.started_at else None,
        metrics=record.metrics,
    )


def _port(record: ProcessRecord) -> int:
    return int((record.address or "").rpartition(":")[2])


def _is_healthy(home: Home, record: ProcessRecord) -> bool:
    host = (record.address or "").rpartition(":")[0]
    checks: dict[str, Callable[[], bool]] = {
        "postgres": lambda: postgres_answers(database_url(home, _port(record))),
        "valkey": lambda: valkey_answers(broker_url(home, _port(record))),
        "relay": lambda: beats(home.heartbeat("relay")),
        "worker": lambda: beats(home.heartbeat("worker")),
        "api": lambda: http_answers(host, _port(record), "/health/live"),
        "flower": lambda: http_answers(host, _port(record), "/healthcheck"),
    }
    return checks[record.name]() if record.name in checks else record.phase is Phase.READY
