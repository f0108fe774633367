"""From accepted to searchable, with a model and an embedder that cost nothing (`bench.zero`, in the worker's process).

Beside a Celery chain of six tasks that do nothing, on the same broker with the same worker settings, and beside stock
mem0's `Memory.add` on the same number of stored memories, in as many processes as the worker has.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import psycopg
import redis

from bench.load import Driver, Measured, driver_of, fill, scopes
from bench.service import Place, environment_of
from bench.stock import adds_a_second
from runtime.settings import Settings, required_secret

PROCESSES = 2
MEMORIES = 20_000
ROUNDS = 3
JOBS = 240
SCOPES = (1, 8, 32)
COLD_SCOPES = 50


def bench_ingest(place: Place) -> str:
    """Throughput, times and shares, each with its peer."""
    settings = place.settings(place.new_database(), worker_concurrency=PROCESSES)
    memories = place.memories or MEMORIES
    lines = [f"ingest: {memories} memories stored, {PROCESSES} worker processes, medians of {ROUNDS} runs"]
    with driver_of(settings) as driver:
        fill(driver.database, memories)
        _analyse(settings)
        lines += _throughput(place, settings, driver)
        with _service(place, settings):
            driver.measured(driver.backlog(scopes(8), 24))
            lines += ["  from accepted to searchable"]
            lines += [_times(f"{number} scopes", driver, number) for number in SCOPES]
            lines += _hot(driver)
        lines += _shares(place, settings, driver)
    return "\n".join(lines)


@contextmanager
def _service(place: Place, settings: Settings) -> Iterator[None]:
    with place.running(place.relay(settings), place.worker(settings, app="bench.zero")):
        yield


def _throughput(place: Place, settings: Settings, driver: Driver) -> list[str]:
    """Each round starts everything anew: ours, then the peers."""
    ours: dict[int, list[float]] = defaultdict(list)
    bare, stock, alone = [], [], []
    for _ in range(ROUNDS):
        with _service(place, settings):
            driver.measured(driver.backlog(scopes(8), 24))
            for number in SCOPES:
                ours[number].append(driver.measured(driver.backlog(scopes(number), JOBS)).a_second)
        bare.append(_bare(place, settings))
        url = required_secret(settings, "database_url")
        stock.append(adds_a_second(url, 60, PROCESSES))
        alone.append(adds_a_second(url, 60, 1))
    medians = {number: statistics.median(found) for number, found in ours.items()}
    chain, mem0, loop = (statistics.median(found) for found in (bare, stock, alone))
    best = medians[SCOPES[-1]]
    return [
        "  candidates a second, handed in at once",
        *(f"    ours, {number:2} scopes          {found:7.1f} /s" for number, found in medians.items()),
        f"    bare six-step chain      {chain:7.1f} /s   (ours has {best / chain:.0%} of it; the goal is 60 %)",
        f"    stock mem0 add, one loop {loop:7.1f} /s   (ours has {best / loop:.1f} times it; the goal is 2)",
        f"    in {PROCESSES} processes           {mem0:7.1f} /s   (ours has {best / mem0:.1f} times it)",
    ]


def _bare(place: Place, settings: Settings) -> float:
    """The bare chain's worker on the same broker, with the same command line; its producer is a process as well."""
    redis.Redis.from_url(place.servers.broker_url).flushdb()
    worker = place.worker(settings, app="bench.bare")
    with place.running(replace(worker, health=Path(worker.environment["POCO_HEARTBEAT_FILE"]).exists)):
        command = [sys.executable, "-m", "bench.bare"]
        runs = (
            subprocess.run([*command, number], env=worker.environment, check=True, capture_output=True, text=True)
            for number in ("24", str(JOBS))
        )
        return [float(run.stdout) for run in runs][-1]


def _times(name: str, driver: Driver, number: int) -> str:
    rounds = max(6, JOBS // number)
    return _quantiles(name, driver.measured(driver.one_each(scopes(number), min(rounds, 120))))


def _quantiles(name: str, measured: Measured) -> str:
    p50, p95, p99 = (measured.quantile(share) for share in (0.5, 0.95, 0.99))
    return f"    {name:24} p50 {p50:6.0f} ms   p95 {p95:6.0f} ms   p99 {p99:6.0f} ms   {measured.a_second:6.1f} /s"


def _hot(driver: Driver) -> list[str]:
    """Fifty scopes with one candidate each at a time, alone and beside one that hands in as many as all of them."""
    cold = driver.measured(driver.one_each(scopes(COLD_SCOPES), 6))
    waiting = driver.backlog(scopes(1), COLD_SCOPES * 6)
    beside = driver.measured(driver.one_each(scopes(COLD_SCOPES), 6))
    driver.measured(waiting)
    ratio = beside.quantile(0.95) / cold.quantile(0.95)
    return [
        _quantiles("50 cold scopes", cold),
        _quantiles("the same beside a hot one", beside) + f"   (p95 is {ratio:.2f} times; the goal is 1.5)",
    ]


def _shares(place: Place, settings: Settings, driver: Driver) -> list[str]:
    """The mean time of each task in a worker, by part; taken with one process so that nothing waits for a core."""
    times = place.home.path / "times"
    alone = settings.model_copy(update={"worker_concurrency": 1})
    worker = place.worker(alone, app="bench.zero")
    worker = replace(worker, environment={**environment_of(alone), **worker.environment, "BENCH_TIMES": str(times)})
    with place.running(place.relay(alone), worker):
        driver.measured(driver.backlog(scopes(8), 24))
        times.unlink()
        driver.measured(driver.backlog(scopes(8), 96))
    rows = [line.split() for line in times.read_text().splitlines()]
    return list(_share_lines([(name, tuple(map(float, parts))) for name, *parts in rows]))


def _share_lines(rows: Sequence[tuple[str, tuple[float, ...]]]) -> Iterator[str]:
    by_task: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    for name, parts in rows:
        by_task[name].append(parts)
    means = {name: [statistics.fmean(column) for column in zip(*found, strict=True)] for name, found in by_task.items()}
    whole = sum(mean[0] for mean in means.values())
    yield "  the time in a worker by step, ms: whole = claim + step + complete + rest"
    for name, (task, claim, work, complete) in means.items():
        rest = task - claim - work - complete
        shown = f"{claim:5.1f} + {work:5.1f} + {complete:5.1f} + {rest:5.1f}"
        yield f"    {name:24} {task:6.1f} = {shown}   {task / whole:4.0%}"


def _analyse(settings: Settings) -> None:
    with psycopg.connect(required_secret(settings, "database_url"), autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
    os.sync()
