"""Who a process id belongs to, from /proc. An id alone is never enough: the kernel hands ids out again."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable
from pathlib import Path

_PROC = Path("/proc")


def identity(pid: int) -> str | None:
    """Boot id and start time of a living process, or None when it is gone or only waits to be reaped."""
    fields = _stat(pid)
    if fields is None or fields[0] in "ZX":
        return None
    return f"{_boot_id()}:{fields[19]}"


def is_alive(pid: int, known_identity: str) -> bool:
    """Whether this very process, not a later one with its id, still runs."""
    return identity(pid) == known_identity


def signal_process(pid: int, known_identity: str, number: int) -> bool:
    """Send a signal to exactly this process; False when it is gone."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return False
    try:
        # The descriptor pins the process, so the check below cannot be overtaken by a reused id.
        if not is_alive(pid, known_identity):
            return False
        signal.pidfd_send_signal(descriptor, number)
    except ProcessLookupError:
        return False
    finally:
        os.close(descriptor)
    return True


def working_in(directory: Path, command: str) -> list[int]:
    """Ids of the living processes of that command whose working directory is this one."""
    found = []
    for entry in _PROC.iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fits = (entry / "cwd").readlink() == directory and (entry / "comm").read_text().strip() == command
        except OSError:
            continue
        if fits and identity(int(entry.name)):
            found.append(int(entry.name))
    return found


def children_of(parent: int) -> list[int]:
    """Ids of the living processes that this one started, in the order of their ids."""
    found = []
    for entry in _PROC.iterdir():
        fields = _stat(int(entry.name)) if entry.name.isdigit() else None
        if fields is not None and fields[0] not in "ZX" and fields[1] == str(parent):
            found.append(int(entry.name))
    return sorted(found)


def connected(port: int, to: int, pids: Iterable[int]) -> int | None:
    """Which of these processes has a TCP connection (IPv4) from this port of its own to that port, or None."""
    for line in (_PROC / "net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        # One port of ours may serve connections to several others.
        if [int(end.rpartition(":")[2], 16) for end in fields[1:3]] == [port, to]:
            socket = f"socket:[{fields[9]}]"
            return next((pid for pid in pids if _holds(pid, socket)), None)
    return None


def _holds(pid: int, file: str) -> bool:
    try:
        return any(str(entry.readlink()) == file for entry in (_PROC / str(pid) / "fd").iterdir())
    except OSError:
        # It ended meanwhile.
        return False


def group_is_alive(group: int) -> bool:
    """Whether any member of the process group still runs; what only waits to be reaped does not."""
    for entry in _PROC.iterdir():
        fields = _stat(int(entry.name)) if entry.name.isdigit() else None
        if fields is not None and fields[0] not in "ZX" and fields[2] == str(group):
            return True
    return False


def _stat(pid: int) -> list[str] | None:
    """The fields of /proc/PID/stat from the state on; the name before them may hold anything."""
    try:
        text = (_PROC / str(pid) / "stat").read_text()
    except OSError:
        return None
    return text.rpartition(")")[2].split()


def _boot_id() -> str:
    return (_PROC / "sys/kernel/random/boot_id").read_text().strip()
