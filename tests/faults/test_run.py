"""One run of `poco-memory chaos` of a minute, without the unique index: each invariant is a test of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from chaos.faults import ROUND
from chaos.invariants import INVARIANTS
from runtime.spec import PROJECT_ROOT

SECONDS = 60
# The minute, the start, a candidate that is poison or waits for its last retry, and a machine with other work.
pytestmark = pytest.mark.timeout(600)
NAMES = [check.__name__.replace("_", " ") for check in INVARIANTS]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("chaos")
    done = subprocess.run(
        [sys.executable, "-m", "cli.main", "chaos", f"--seconds={SECONDS}", "--seed=1", "--no-unique-index", "--json"],
        env={**os.environ, "TMPDIR": str(folder)},
        cwd=PROJECT_ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=550,
    )
    assert done.stdout, done.stderr[-4000:]
    found: dict[str, Any] = json.loads(done.stdout)
    holds = all(verdict["holds"] for verdict in found["invariants"])
    assert done.returncode == (0 if holds else 1), done.stderr[-4000:]
    # What a run found is kept where something broke, and nothing else.
    assert [path.name for path in Path(folder).iterdir() if path.name.startswith("poco-chaos-")] == [] or not holds
    return found


@pytest.mark.parametrize("number", range(1, len(NAMES) + 1), ids=NAMES)
def test_the_invariant_holds_and_had_something_to_look_at(report: dict[str, Any], number: int) -> None:
    verdict = report["invariants"][number - 1]
    assert (verdict["number"], verdict["name"]) == (number, NAMES[number - 1])
    assert verdict["broken"] == []
    assert verdict["checked"] > 0


def test_every_kind_of_fault_was_done(report: dict[str, Any]) -> None:
    assert set(report["faults_by_kind"]) == set(ROUND)
    assert report["faults"] == sum(report["faults_by_kind"].values()) >= len(ROUND)
    assert set(report["repeats_by_kind"]) == {"submitted again", "two submits at once"}


def test_nothing_is_lost_or_doubled(report: dict[str, Any]) -> None:
    assert (report["lost"], report["doubled"]) == (0, 0)
    assert sum(report["outcomes"].values()) == report["accepted"] > SECONDS
    assert report["seconds"] > SECONDS
