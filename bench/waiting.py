"""Extraction with a model that thinks for two seconds: candidates a second by concurrency, processes beside threads.

The model is an HTTP server in a process of its own (`bench.slow_model`); the steps that compute have a worker of their
own with two processes, as in docker-compose.yml.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from bench.load import driver_of, scopes
from bench.service import Place, megabytes

SECONDS = 2.0
KINDS = (("prefork", 4), ("prefork", 16), ("threads", 4), ("threads", 16), ("threads", 32), ("threads", 64))
_ROUNDS = 4


def bench_waiting(place: Place, kinds: tuple[tuple[str, int], ...] = KINDS, seconds: float = SECONDS) -> str:
    """A line for each pool and concurrency: candidates a second, the share of what the model allows, memory."""
    lines = [f"waiting: a model that thinks for {seconds:g} s, {_ROUNDS} candidates for each that can wait at once"]
    with _model(seconds) as url:
        lines += [_line(place, url, pool, number, seconds) for pool, number in kinds]
    return "\n".join(lines)


def _line(place: Place, url: str, pool: str, concurrency: int, seconds: float) -> str:
    endpoint = {"llm_base_url": url, "embedding_base_url": url}
    settings = place.settings(place.new_database(), **endpoint)
    waiting = settings.model_copy(update={"worker_pool": pool, "worker_concurrency": concurrency})
    llm = place.worker(waiting, queues="ingest.llm", name="llm", app="tasks.app")
    fast = place.worker(settings, queues="ingest.fast", name="fast", app="tasks.app")
    with driver_of(settings) as driver, place.running(place.relay(settings), llm, fast) as children:
        driver.measured(driver.backlog(scopes(concurrency), concurrency))
        measured = driver.measured(driver.backlog(scopes(concurrency * 2), concurrency * _ROUNDS))
        memory = megabytes(children[1])
    allowed = concurrency / seconds
    return (
        f"    {pool:8} {concurrency:3}   {measured.a_second:6.1f} /s   {measured.a_second / allowed:4.0%} of "
        f"{allowed:g} /s   {memory:6.0f} MB"
    )


@contextmanager
def _model(seconds: float) -> Iterator[str]:
    """The endpoint's URL while it runs."""
    command = [sys.executable, "-m", "bench.slow_model", str(seconds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        try:
            yield f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
        finally:
            server.terminate()
