"""What the supervisor has to know about one process."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

PROJECT_ROOT = Path(__file__).resolve().parents[1]


class Lifetime(Enum):
    """Whether a process stays, or does its work once before the others start."""

    SERVICE = "service"
    TASK = "task"


@dataclass(frozen=True, slots=True)
class Account:
    """Another user to run as."""

    uid: int
    gid: int


def _nothing() -> None:
    """Most processes need no preparation."""


@dataclass(frozen=True, slots=True)
class ProcessSpec:
    """One process: how to start it, how to see that it works, how to end it.

    `prepare` runs before each start and raises a PocoError when starting is hopeless. `health` answers within about
    two seconds and never raises; a task is ready when it has exited with 0. `after` names processes that must be ready
    first. `metrics` is where it shows its metrics. `environment` is the whole environment, with secrets, and so not
    shown. After one of `hopeless_codes` another start cannot help.
    """

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(repr=False)
    health: Callable[[], bool]
    address: str | None = None
    metrics: str | None = None
    after: tuple[str, ...] = ()
    lifetime: Lifetime = Lifetime.SERVICE
    prepare: Callable[[], None] = _nothing
    stop_signal: signal.Signals = signal.SIGTERM
    stop_seconds: float = 10.0
    account: Account | None = None
    directory: Path = PROJECT_ROOT
    hopeless_codes: frozenset[int] = frozenset()
