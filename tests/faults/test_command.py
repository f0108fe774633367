"""The command itself: that a run ended from outside takes everything it started with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from runtime.spec import PROJECT_ROOT


def still_running(folder: Path) -> list[int]:
    """Ids of the processes that were told of this folder, or work in it."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            told = entry.name.isdigit() and str(folder).encode() in (entry / "environ").read_bytes()
            if told or (entry.name.isdigit() and (entry / "cwd").readlink().is_relative_to(folder)):
                found.append(int(entry.name))
        except OSError:
            # It ended while we looked.
            continue
    return found


def test_a_run_that_is_terminated_ends_all_it_started(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "cli.main", "chaos", "--seconds=60", "--seed=1"],
        env={**os.environ, "TMPDIR": str(tmp_path), "PYTHONUNBUFFERED": "1"},
        cwd=PROJECT_ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert process.stdout is not None
        told = []
        for line in process.stdout:
            told.append(line)
            if " s  " in line:
                break
        assert "The stack is up" in told[0], "".join(told)
        # The stack of servers, two relays, two workers with two children each, and the API with its own child.
        assert len(still_running(tmp_path)) > 8
        process.send_signal(signal.SIGTERM)
        rest = process.communicate(timeout=240)[0]
        assert process.returncode == 1
        assert "Logs: " in rest
        deadline = time.monotonic() + 60
        while (left := still_running(tmp_path)) and time.monotonic() < deadline:
            time.sleep(0.2)
        assert left == []
    finally:
        process.kill()
        process.wait()
