"""The benchmarks' parts work: a costless worker publishes what it is handed in, and so does one with a slow model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bench.load import driver_of, fill, scopes
from bench.manage import bench_manage
from bench.service import Place
from bench.waiting import bench_waiting
from runtime.embedded.servers import Servers
from runtime.home import Home
from tests.conftest import own_broker


def place(servers: Servers, folder: Path) -> Place:
    return Place(Home.open(folder / "home"), replace(servers, broker_url=own_broker(servers, 6)))


def test_a_costless_worker_publishes_both_facts_of_each_candidate(servers: Servers, tmp_path: Path) -> None:
    here = place(servers, tmp_path)
    settings = here.settings(here.new_database())
    with driver_of(settings) as driver:
        fill(driver.database, 10)
        with here.running(here.relay(settings), here.worker(settings, app="bench.zero")):
            measured = driver.measured(driver.one_each(scopes(2), 2))
    assert len(measured.milliseconds) == 4
    assert measured.quantile(0.5) > 0


def test_threads_wait_for_a_slow_model_side_by_side(servers: Servers, tmp_path: Path) -> None:
    shown = bench_waiting(place(servers, tmp_path), (("threads", 4),), 0.2)
    assert "threads    4" in shown


def test_what_is_managed_is_timed_beside_stock_mem0_and_every_call_must_succeed(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Stock mem0 is told both by the environment, which later tests must not find changed.
    for name in ("MEM0_DIR", "MEM0_TELEMETRY"):
        monkeypatch.setenv(name, "")
    shown = bench_manage(replace(place(servers, tmp_path), memories=60)).splitlines()
    assert [line.split()[0] for line in shown] == ["manage,", "add", "update", "delete"]
    assert all(line.count("p50") == 3 for line in shown[1:])
