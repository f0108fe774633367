"""The peer of the chain: six tasks that do nothing, with the service's own Celery settings."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import redis
from celery import Celery, chain
from celery.signals import worker_ready

from domain.jobs import Step

app = Celery("bare")
app.config_from_object("celeryconfig")
_TASKS: list[Any] = []
_QUEUES = ("ingest.llm", "ingest.fast")
_POLL_SECONDS = 0.02


def _nothing(job_id: str) -> str:  # noqa: ARG001 - as the real tasks
    return "done"


# The same names, so that they are routed to the same queues.
for _step in Step:
    _TASKS.append(app.task(name=_step.task_name)(_nothing))


def _touch_heartbeat(**_: object) -> None:
    Path(os.environ["POCO_HEARTBEAT_FILE"]).touch()


worker_ready.connect(_touch_heartbeat)


def bare_chains(broker_url: str, number: int) -> float:
    """Send so many chains from this process; the chains a second, from the first send to the last end.

    The end is when no message is waiting or in work, seen five times in a row.
    """
    before = time.perf_counter()
    for place in range(number):
        chain(*(task.si(f"00000000-0000-0000-0000-{place:012}") for task in _TASKS)).apply_async()
    return number / (_drained(redis.Redis.from_url(broker_url)) - before)


def _drained(client: redis.Redis) -> float:
    empty: list[float] = []
    while len(empty) < 5:
        left = sum(client.llen(queue) for queue in _QUEUES) + int(client.hlen("unacked"))
        empty = [] if left else [*empty, time.perf_counter()]
        time.sleep(_POLL_SECONDS)
    return empty[0]


if __name__ == "__main__":
    print(bare_chains(str(app.conf.broker_url), int(sys.argv[1])))
