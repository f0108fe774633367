"""The ledger in metrics, asked when somebody scrapes. While it cannot be read, that is what is told, and no figure."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator

import structlog
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from domain.errors import TransientError
from domain.operations import JobCounts
from domain.ports import JobStats
from runtime.metrics import LEDGER_DEAD_REASONS, bounded

log = structlog.get_logger(__name__)
FRESH_SECONDS = 5.0


class LedgerCollector(Collector):
    """Gauges of the whole service, at most some seconds old. With several relays each tells the same: take the max.

    `memory_ledger_up` is 1, or 0 while the database cannot be read; then none of the others is there.
    """

    def __init__(self, stats: JobStats, *, backlog_warning: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._stats = stats
        self._backlog_warning = backlog_warning
        self._clock = clock
        self._lock = threading.Lock()
        self._counts: JobCounts | None = None
        self._asked_at = float("-inf")

    def describe(self) -> list[Metric]:
        """The names, without asking the database; prometheus_client asks at registration."""
        return [_up(None), *_gauges(JobCounts({}, {}, {}, None, 0, None), self._backlog_warning)]

    def collect(self) -> Iterator[Metric]:
        """The figures, for one scrape."""
        counts = self._fresh()
        yield _up(counts)
        if counts is not None:
            yield from _gauges(counts, self._backlog_warning)

    def _fresh(self) -> JobCounts | None:
        with self._lock:
            if self._clock() - self._asked_at > FRESH_SECONDS:
                self._counts = self._ask()
                self._asked_at = self._clock()
            return self._counts

    def _ask(self) -> JobCounts | None:
        try:
            return self._stats.counts()
        except TransientError as exc:
            log.warning("memory_metrics_without_ledger", backend=exc.backend, error=exc.detail)
            return None


def _up(counts: JobCounts | None) -> Metric:
    is_up = 0.0 if counts is None else 1.0
    return GaugeMetricFamily("memory_ledger_up", "Whether the ledger could be read: 1, or 0.", value=is_up)


def _gauges(counts: JobCounts, backlog_warning: int) -> Iterator[Metric]:
    jobs = GaugeMetricFamily("memory_jobs", "Jobs in the ledger.", labels=["status", "outcome"])
    for (status, outcome), count in counts.by_state.items():
        jobs.add_metric([status, outcome or "none"], count)
    yield jobs
    yield _by_label(
        "memory_jobs_dead",
        "Dead jobs in the ledger, by reason.",
        "reason",
        _known_reasons(counts.dead_by_reason.items()),
    )
    yield _by_label(
        "memory_jobs_open",
        "Jobs that have not ended, by the step that is next.",
        "step",
        {step.name.lower(): count for step, count in counts.open_by_step.items()},
    )
    for name, what, value in (
        (
            "memory_oldest_open_job_seconds",
            "Age of the oldest job that has not ended; 0: none.",
            counts.oldest_open_seconds,
        ),
        ("memory_outbox_ready", "Jobs that wait to be handed to the broker.", counts.outbox_ready),
        ("memory_outbox_oldest_seconds", "How long the oldest of them waits; 0: none.", counts.outbox_oldest_seconds),
        ("memory_backlog_high", "Whether POCO_BACKLOG_WARNING or more jobs are open.", counts.open >= backlog_warning),
    ):
        yield GaugeMetricFamily(name, what, value=float(value or 0))


def _by_label(name: str, what: str, label: str, values: dict[str, int]) -> Metric:
    family = GaugeMetricFamily(name, what, labels=[label])
    for word, count in values.items():
        family.add_metric([word], count)
    return family


def _known_reasons(dead: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Counts by known reason, those at zero too, and the rest under one name."""
    known = dict.fromkeys(sorted(LEDGER_DEAD_REASONS), 0)
    for reason, count in dead:
        word = bounded(reason, LEDGER_DEAD_REASONS)
        known[word] = known.get(word, 0) + count
    return known
