"""Where the processes of one server keep their figures, so that one of them can show those of all.

prometheus_client keeps a file for each process that ever ran. Here a process takes the lowest free number instead, and
one that takes a number over goes on counting in its file: there are as many files as processes at a time.
"""

from __future__ import annotations

import fcntl
import itertools
import os
from pathlib import Path

# The name is prometheus_client's.
FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"


class Slots:
    """Numbers for running processes. A lock of the kernel holds each: no child inherits it, it ends with its owner."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._owner: int | None = None
        self._number = 0
        self._lock: int | None = None

    def mine(self) -> str:
        """This process's number; a forked child gets one of its own."""
        if self._owner != os.getpid():
            self._number, self._lock = self._take()
            self._owner = os.getpid()
        return str(self._number)

    def _take(self) -> tuple[int, int]:
        for number in itertools.count():
            descriptor = os.open(self._folder / f"{number}.slot", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
            try:
                fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(descriptor)
            else:
                return number, descriptor
        raise AssertionError("unreachable")


def fresh_folder(home: Path, name: str, port: int) -> Path:
    """An empty folder for one server's figures; whoever listens on the port is the only one who uses it."""
    folder = home.absolute() / "run" / "metrics" / f"{name}-{port}"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for left_over in (*folder.glob("*.db"), *folder.glob("*.slot")):
        left_over.unlink(missing_ok=True)
    return folder
