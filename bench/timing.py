"""How a call is timed: a warm-up, then every call on its own, interleaved between ours and the peer's."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence

WARM_UP = 3


def medians(calls: Sequence[Callable[[int], object]], rounds: int) -> list[float]:
    """The median milliseconds of each call."""
    return [statistics.median(taken) for taken in times(calls, rounds)]


def times(calls: Sequence[Callable[[int], object]], rounds: int) -> list[list[float]]:
    """The milliseconds of each call, taken in turns so that noise meets all of them alike."""
    for number in range(WARM_UP):
        for call in calls:
            call(number)
    taken: list[list[float]] = [[] for _ in calls]
    for number in range(rounds):
        for place, call in enumerate(calls):
            before = time.perf_counter()
            call(number)
            taken[place].append((time.perf_counter() - before) * 1000)
    return taken
