"""Starting and ending one child process, with all the processes it may have started itself."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass

from runtime.home import Home
from runtime.procfs import group_is_alive, identity
from runtime.spec import ProcessSpec

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)
_POLL_SECONDS = 0.05
_KILL_SECONDS = 5.0


@dataclass(slots=True)
class Child:
    """A started process; `identity` tells it from a later one with the same id."""

    spec: ProcessSpec
    process: subprocess.Popen[bytes]
    identity: str

    @property
    def pid(self) -> int:
        """Its process id, which is also the id of its group."""
        return self.process.pid

    def exit_code(self) -> int | None:
        """None while it runs; once it has ended, its group is ended too and its code is told."""
        if self.process.returncode is None and _has_exited(self.pid):
            # Before it is reaped: until then the kernel cannot give the group's id to anybody else.
            _kill_group(self.pid)
            self.process.wait()
        return self.process.returncode

    def stop(self) -> int:
        """Ask it to end, wait as long as its spec allows, then kill its group; gives the exit code."""
        if self.exit_code() is None:
            self.process.send_signal(self.spec.stop_signal)
            deadline = time.monotonic() + self.spec.stop_seconds
            while self.exit_code() is None and time.monotonic() < deadline:
                time.sleep(_POLL_SECONDS)
        return self.kill()

    def kill(self) -> int:
        """End it and its group at once; gives the exit code."""
        if self.exit_code() is None:
            _kill_group(self.pid)
        return self.process.wait()


def spawn(spec: ProcessSpec, home: Home) -> Child:
    """Start a process in its own session, its output going to its log. Call this from the main thread only.

    Raises:
        OSError: when the program cannot be executed.
    """
    spec.prepare()
    log = home.open_log(spec.name)
    try:
        process = subprocess.Popen(  # noqa: S603 - our own command
            spec.command,
            env=dict(spec.environment),
            cwd=spec.directory,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            user=spec.account.uid if spec.account else None,
            group=spec.account.gid if spec.account else None,
            extra_groups=[] if spec.account else None,
            preexec_fn=die_with_parent(spec.stop_signal),
        )
    finally:
        os.close(log)
    return Child(spec, process, identity(process.pid) or "")


def die_with_parent(number: int) -> Callable[[], None]:
    """What a child does before its program starts: ask the kernel for a signal when this thread ends."""
    parent = os.getpid()

    def arrange() -> None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, number)
        if os.getppid() != parent:
            os._exit(1)

    return arrange


def _has_exited(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _kill_group(pid: int) -> None:
    """Kill the group and wait until its members are gone: a signal is delivered later than it is sent."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    deadline = time.monotonic() + _KILL_SECONDS
    while group_is_alive(pid) and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS / 10)
