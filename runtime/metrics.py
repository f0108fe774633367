"""Every metric that a process counts itself; those of the ledger are in `runtime.ledger_metrics`.

A label takes values from a fixed list only, anything else becomes `other`: no id, no text and no address ever gets
into a label. docs/metrics.md lists them; a test holds both together.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from time import perf_counter

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics, values
from prometheus_client.values import MultiProcessValue

from domain.candidate import RejectReason, RunKind
from domain.errors import POISON, Backend
from domain.facts import FactFault
from domain.jobs import Finish, Outcome, Step
from domain.memory import RecallResult
from domain.ports import Purpose
from domain.switches import UserSettings
from runtime.metrics_store import FOLDER_VARIABLE, Slots

OTHER = "other"
DROPPED = "dropped_"
BACKENDS = frozenset(str(backend) for backend in Backend)
# Why a job can be dead. `cancelled` is an operator's doing, `forgotten` a user's; both are counted in the ledger only.
DEAD_REASONS = BACKENDS | {POISON}
LEDGER_DEAD_REASONS = DEAD_REASONS | {"cancelled", "forgotten"}
END_REASONS = (
    DEAD_REASONS
    | {str(reason) for reason in RejectReason}
    | {"none", "post_validation", "nothing_durable", "nothing_staged", "already_known", "language_drift"}
    | {"forgotten_before", "run_managed", "memory_write_enabled"}
    | {f"run_{kind}" for kind in RunKind}
    | {part.name for part in fields(UserSettings)}
)
DECISIONS = ("ADD", "UPDATE", "DELETE", "NONE")
RECOVERIES = ("lost", "resent", "poisoned")
WAITED_FOR = ("database", "broker")
_FAST = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_SLOW = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0, 120.0)

disable_created_metrics()
if os.environ.get(FOLDER_VARIABLE):
    # Chosen before the first metric is made, as prometheus_client asks for.
    values.ValueClass = MultiProcessValue(process_identifier=Slots(Path(os.environ[FOLDER_VARIABLE])).mine)

REGISTRY = CollectorRegistry()


# The labels of each metric by its family's name.
LABELS: dict[str, tuple[str, ...]] = {}


def _counter(name: str, what: str, *labels: str) -> Counter:
    LABELS[name] = labels
    return Counter(name, what, labels, registry=REGISTRY)


def _histogram(name: str, what: str, *labels: str, buckets: tuple[float, ...]) -> Histogram:
    LABELS[name] = labels
    return Histogram(name, what, labels, registry=REGISTRY, buckets=buckets)


INGESTS = _counter("memory_ingest", "Candidates by what became of the request: accepted, known, refused.", "result")
HTTP_SECONDS = _histogram(
    "memory_http_seconds", "HTTP requests by endpoint and class of status.", "endpoint", "status", buckets=_FAST
)
SEARCH_SECONDS = _histogram("memory_search_seconds", "Searches: found, nothing, unavailable.", "result", buckets=_FAST)
SEARCH_HITS = _histogram("memory_search_hits", "Memories given to one search.", buckets=(0, 1, 2, 3, 5, 10, 20, 50))
SEARCH_FAILURES = _counter("memory_search_failures", "Searches that could not look, by the backend.", "reason")
SEARCH_WITHHELD = _counter("memory_search_withheld", "Memories a search kept back because they hold a credential.")

REQUESTS_REFUSED = _counter("memory_requests_refused", "Requests over the limit of their token: service, user.", "kind")
RATE_UNCHECKED = _counter("memory_rate_unchecked", "Requests that were not counted because Redis was away.")

STEP_SECONDS = _histogram("memory_step_seconds", "The work of one step: ok or failed.", "step", "result", buckets=_SLOW)
RETRIES = _counter("memory_job_retries", "Failed attempts that are tried again.", "step", "reason")
JOBS_ENDED = _counter("memory_jobs_ended", "Jobs that ended, by outcome and its reason.", "outcome", "reason")
DECISIONS_MADE = _counter("memory_decisions", "What facts and managing came to: ADD, UPDATE, DELETE, NONE.", "decision")
FACTS_DROPPED = _counter("memory_facts_dropped", "Facts that post-validation dropped, by its rule.", "rule")
MODEL_SECONDS = _histogram(
    "memory_model_seconds", "Calls of the extraction model: ok or failed.", "result", buckets=_SLOW
)
MODEL_ERRORS = _counter("memory_model_errors", "Failed calls of the extraction model, by kind.", "reason")
PARSE_FAILS = _counter("memory_json_parse_fail", "Answers of the model that held no readable facts.")
EMBEDDING_SECONDS = _histogram(
    "memory_embedding_seconds", "Calls of the embedding model, by purpose: store, query.", "purpose", buckets=_FAST
)
EMBEDDING_ERRORS = _counter("memory_embedding_errors", "Failed calls of the embedding model.", "purpose")

RELAY_SENT = _counter("memory_relay_sent", "Jobs handed to the broker.")
RELAY_WAITS = _counter("memory_relay_waits", "Rounds the relay gave up because a backend was away.", "backend")
RECOVERED = _counter("memory_jobs_recovered", "Jobs a sweep found: lost worker, sent again, given up.", "how")


def bounded(value: object, known: Collection[str]) -> str:
    """The value as a label, or `other`."""
    return str(value) if str(value) in known else OTHER


def job_ended(outcome: Outcome, reason: str | None) -> None:
    """A job of this process's doing became terminal."""
    JOBS_ENDED.labels(outcome, bounded(reason or "none", END_REASONS)).inc()


def job_finished(finish: Finish) -> None:
    """A job ended as its last step said; counts what its facts came to."""
    job_ended(finish.outcome, finish.reason)
    DECISIONS_MADE.labels("ADD").inc(finish.counts.get("inserted", 0))
    DECISIONS_MADE.labels("NONE").inc(finish.counts.get("duplicates", 0))


def managed(action: str, *, success: bool) -> None:
    """Somebody added, updated or deleted a memory on purpose, or decided to do nothing."""
    if success:
        DECISIONS_MADE.labels(bounded(action.upper(), DECISIONS)).inc()


def recovered(*, lost: int, resent: int, poisoned: int) -> None:
    """A sweep found so many jobs without a worker, sent so many again, and gave so many up."""
    for how, count in zip(RECOVERIES, (lost, resent, poisoned), strict=True):
        RECOVERED.labels(how).inc(count)
    JOBS_ENDED.labels(Outcome.DEAD, POISON).inc(poisoned)


def facts_dropped(counts: Mapping[str, int]) -> None:
    """Post-validation dropped facts: counts by `dropped_` and the rule."""
    for name, count in counts.items():
        if name.startswith(DROPPED):
            FACTS_DROPPED.labels(bounded(name.removeprefix(DROPPED), set(FactFault))).inc(count)


def searched(result: RecallResult, seconds: float) -> None:
    """A search was answered."""
    if result.available:
        SEARCH_HITS.observe(len(result.hits))
        SEARCH_WITHHELD.inc(result.withheld)
        word = "found" if result.hits else "nothing"
    else:
        SEARCH_FAILURES.labels(bounded(result.error_reason, BACKENDS)).inc()
        word = "unavailable"
    SEARCH_SECONDS.labels(word).observe(seconds)


@contextmanager
def timed(histogram: Histogram, *labels: str) -> Iterator[None]:
    """Observe how long the block took, under `labels` and then `ok` or `failed`."""
    started = perf_counter()
    word = "failed"
    try:
        yield
        word = "ok"
    finally:
        histogram.labels(*labels, word).observe(perf_counter() - started)


def _begin_at_zero() -> None:
    """A series that first appears with a 1 hides its first event from `increase()`."""
    endings = [(Outcome.DEAD, reason) for reason in DEAD_REASONS] + [(Outcome.PUBLISHED, "none")]
    for outcome, reason in endings:
        JOBS_ENDED.labels(outcome, reason)
    for counter, words in (
        (INGESTS, ("accepted", "known", "refused")),
        (SEARCH_FAILURES, BACKENDS),
        (MODEL_ERRORS, BACKENDS),
        (EMBEDDING_ERRORS, tuple(Purpose)),
        (DECISIONS_MADE, DECISIONS),
        (RECOVERED, RECOVERIES),
        (RELAY_WAITS, WAITED_FOR),
    ):
        for word in words:
            counter.labels(word)
    for step in Step:
        STEP_SECONDS.labels(step.name.lower(), "ok")


_begin_at_zero()
