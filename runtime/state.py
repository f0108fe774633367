"""What a supervisor writes down about its processes, so that others can show them and end them when it is gone."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from runtime.home import Home, write_private
from runtime.procfs import identity, is_alive, signal_process

_POLL_SECONDS = 0.05
_KILL_SECONDS = 5.0


class Phase(StrEnum):
    """Where a process or the whole stack stands. `finished` is a task that has done its work."""

    WAITING = "waiting"
    STARTING = "starting"
    READY = "ready"
    FINISHED = "finished"
    STOPPING = "stopping"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ProcessRecord:
    """One process as last seen by its supervisor; `identity` tells it from a later one with its id."""

    name: str
    phase: Phase
    address: str | None = None
    pid: int | None = None
    identity: str | None = None
    started_at: float | None = None
    restarts: int = 0
    stop_signal: int = signal.SIGTERM
    stop_seconds: float = 10.0
    metrics: str | None = None

    @property
    def is_alive(self) -> bool:
        """Whether this very process runs now."""
        return self.pid is not None and self.identity is not None and is_alive(self.pid, self.identity)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a start was given up."""

    process: str
    message: str


@dataclass(frozen=True, slots=True)
class StackState:
    """A supervisor and its processes, in the order of their start."""

    pid: int
    identity: str
    phase: Phase
    model: str
    embedding: str
    processes: tuple[ProcessRecord, ...] = ()
    failure: Failure | None = None

    @property
    def is_supervised(self) -> bool:
        """Whether the supervisor that wrote this lives."""
        return is_alive(self.pid, self.identity)

    def record(self, name: str) -> ProcessRecord | None:
        """The record of one process."""
        return next((record for record in self.processes if record.name == name), None)


def new_state(model: str, embedding: str) -> StackState:
    """The state of a supervisor that begins now: this process."""
    return StackState(os.getpid(), identity(os.getpid()) or "", Phase.STARTING, model, embedding)


def write_state(home: Home, state: StackState) -> None:
    """Replace what is written down."""
    write_private(home.state_file, json.dumps(asdict(state), indent=2))


def read_state(home: Home) -> StackState | None:
    """What was written down last, or None; a file that cannot be read tells nothing and counts as none."""
    try:
        stored: dict[str, Any] = json.loads(home.state_file.read_text())
        processes = tuple(ProcessRecord(**_with_phase(record)) for record in stored.pop("processes"))
        failure = stored.pop("failure")
        return StackState(**_with_phase(stored), processes=processes, failure=Failure(**failure) if failure else None)
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def end_orphans(records: Sequence[ProcessRecord]) -> list[str]:
    """End what a dead supervisor left behind, last started first; gives the names. Never touches a reused id."""
    ended = []
    for record in reversed(records):
        if record.is_alive:
            _end(record)
            ended.append(record.name)
    return ended


def _end(record: ProcessRecord) -> None:
    pid, known = record.pid or 0, record.identity or ""
    signal_process(pid, known, record.stop_signal)
    if not wait_until_gone(pid, known, record.stop_seconds):
        # The leader lives, so the group's id is still its own.
        os.killpg(pid, signal.SIGKILL)
        wait_until_gone(pid, known, _KILL_SECONDS)


def wait_until_gone(pid: int, known_identity: str, seconds: float) -> bool:
    """Wait for a process that is not our child; False when it outlives the time."""
    deadline = time.monotonic() + seconds
    while is_alive(pid, known_identity):
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_SECONDS)
    return True


def _with_phase(stored: dict[str, Any]) -> dict[str, Any]:
    return stored | {"phase": Phase(stored["phase"])}
