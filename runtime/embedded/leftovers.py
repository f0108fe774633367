"""Ending a server that a killed supervisor left behind, before another one opens the same data."""

from __future__ import annotations

import signal
import time
from pathlib import Path

from runtime.procfs import identity, signal_process, working_in

_POLL_SECONDS = 0.05


def end_leftovers(directory: Path, command: str, *, stop_signal: int, leader: int, seconds: float) -> None:
    """End every process of that command that works in the folder; call this only as its one supervisor.

    The leader gets the signal and ends the others; what outlives the time is killed.
    """
    if leader in working_in(directory, command):
        _signal(leader, stop_signal)
    deadline = time.monotonic() + seconds
    while left := working_in(directory, command):
        if time.monotonic() > deadline:
            for pid in left:
                _signal(pid, signal.SIGKILL)
        time.sleep(_POLL_SECONDS)


def _signal(pid: int, number: int) -> None:
    known = identity(pid)
    if known:
        signal_process(pid, known, number)
