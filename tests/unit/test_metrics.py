from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import structlog
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from domain.candidate import Candidate
from domain.errors import Backend, ConfigurationError, PermanentError, TransientError
from domain.jobs import Advance, Claimed, Finish, Outcome, Status, Step, Submission
from domain.memory import Hit, RecallResult
from domain.operations import JobCounts, TooManyOpenJobs
from domain.ports import ExtractionPrompt, Purpose
from runtime import metrics, metrics_server
from runtime.home import Home
from runtime.ledger_metrics import FRESH_SECONDS, LedgerCollector
from runtime.metrics_store import FOLDER_VARIABLE, Slots, fresh_folder
from runtime.observed import ObservedEmbedder, ObservedLedger, ObservedModel, ObservedParser, observed_steps
from runtime.processes import build_stack
from runtime.settings import Settings
from tests.fakes import FakeEmbedder, FakeLedger, job
from tests.scrapes import names, value

AWAY = TransientError(Backend.DATABASE_UNAVAILABLE, "away")
COUNTS = JobCounts({(Status.DEAD, Outcome.DEAD): 3}, {"poison": 2, "made up": 1}, {Step.EXTRACT: 4}, None, 0, None)


def shown() -> str:
    return generate_latest(metrics.REGISTRY).decode()


class Rise:
    """How much a sample has risen since this was made."""

    def __init__(self, name: str, **labels: str) -> None:
        self._name, self._labels = name, labels
        self._before = value(shown(), name, **labels)

    @property
    def now(self) -> float:
        return value(shown(), self._name, **self._labels) - self._before


class FullLedger(FakeLedger):
    def submit(self, candidate: Candidate) -> Submission:
        raise TooManyOpenJobs("this user", 1, 5)


def claimed(ledger: FakeLedger, step: Step) -> Claimed:
    claim = ledger.claim(ledger.job.id, step, "worker")
    assert isinstance(claim, Claimed)
    return claim


def test_a_refused_candidate_is_counted_and_refused_all_the_same() -> None:
    refused = Rise("memory_ingest_total", result="refused")
    with pytest.raises(TooManyOpenJobs):
        ObservedLedger(FullLedger(job())).submit(job().candidate)
    assert refused.now == 1


def test_retries_and_the_end_are_counted_by_step_and_reason() -> None:
    inner = FakeLedger(job())
    ledger = ObservedLedger(inner)
    retries = Rise("memory_job_retries_total", step="admit", reason="database_unavailable")
    dead = Rise("memory_jobs_ended_total", outcome="dead", reason="database_unavailable")
    for _ in range(4):
        ledger.fail(claimed(inner, Step.ADMIT).job, AWAY)
        inner.status = Status.FAILED
    assert (retries.now, dead.now) == (3, 1)


def test_a_reason_nobody_knows_is_no_label() -> None:
    inner = FakeLedger(job())
    other = Rise("memory_jobs_ended_total", outcome="dead", reason="other")
    ObservedLedger(inner).bury(claimed(inner, Step.ADMIT).job, PermanentError("told by somebody", "x"))
    assert other.now == 1
    assert "told by somebody" not in shown()


def test_what_published_facts_came_to_is_counted() -> None:
    inner = FakeLedger(job())
    added, known = (Rise("memory_decisions_total", decision=word) for word in ("ADD", "NONE"))
    finish = Finish(Outcome.PUBLISHED, counts={"inserted": 2, "duplicates": 1})
    assert ObservedLedger(inner).complete(claimed(inner, Step.CLEANUP).job, finish) == finish
    assert (added.now, known.now) == (2, 1)


def test_dropped_facts_are_counted_by_rule_and_only_those_of_post_validation() -> None:
    ungrounded, other = (Rise("memory_facts_dropped_total", rule=rule) for rule in ("ungrounded", "other"))
    for step in (Step.ADMIT, Step.VALIDATE):
        inner = FakeLedger(job())
        counts = {"dropped_ungrounded": 2, "dropped_made_up": 1, "extracted": 9}
        ObservedLedger(inner).complete(claimed(inner, step).job, Advance(counts=counts))
    assert (ungrounded.now, other.now) == (2, 1)


def test_a_step_is_timed_also_when_it_fails() -> None:
    def broken(_: object) -> Advance:
        raise ValueError("private words")

    steps = observed_steps({Step.RELINK: broken, Step.ADMIT: lambda _: Advance()})
    failed = Rise("memory_step_seconds_count", step="relink", result="failed")
    done = Rise("memory_step_seconds_count", step="admit", result="ok")
    with pytest.raises(ValueError, match="private"):
        steps[Step.RELINK](job())
    steps[Step.ADMIT](job())
    assert (failed.now, done.now) == (1, 1)
    assert "private" not in shown()


@dataclass
class FailingModel:
    failure: TransientError
    model: str = "failing"

    def answer(self, prompt: ExtractionPrompt) -> str:
        raise self.failure


def unreadable(_: str, /) -> list[object]:
    raise TransientError(Backend.LLM_UNPARSEABLE, "no JSON")


def test_model_failures_are_counted_by_kind_and_unreadable_answers_by_themselves() -> None:
    slow = Rise("memory_model_errors_total", reason="llm_timeout")
    failed = Rise("memory_model_seconds_count", result="failed")
    misread = Rise("memory_json_parse_fail_total")
    with pytest.raises(TransientError):
        ObservedModel(FailingModel(TransientError(Backend.LLM_TIMEOUT, "slow"))).answer(ExtractionPrompt("", "", ()))
    assert (slow.now, failed.now, misread.now) == (1, 1, 0)
    with pytest.raises(TransientError):
        ObservedParser(unreadable)("text")  # type: ignore[arg-type]
    assert misread.now == 1


def test_an_embedder_is_timed_by_purpose_and_its_failures_counted() -> None:
    calls = Rise("memory_embedding_seconds_count", purpose="query")
    errors = Rise("memory_embedding_errors_total", purpose="query")
    inner = FakeEmbedder()
    embedder = ObservedEmbedder(inner)
    embedder.load()
    embedder.embed(["a"], Purpose.QUERY)
    inner.failure = TransientError(Backend.EMBEDDING_UNAVAILABLE, "away")
    with pytest.raises(TransientError):
        embedder.embed(["a"], Purpose.QUERY)
    assert (calls.now, errors.now) == (2, 1)


@pytest.mark.parametrize(
    ("result", "word", "hits", "failures"),
    [
        (RecallResult((Hit("1", "t", 0.9, {}),), withheld=2), "found", 1, 0),
        (RecallResult(), "nothing", 0, 0),
        (RecallResult(available=False, error_reason="database_unavailable"), "unavailable", 0, 1),
    ],
)
def test_nothing_found_and_not_available_are_counted_apart(
    result: RecallResult, word: str, hits: int, failures: int
) -> None:
    searches, found = Rise("memory_search_seconds_count", result=word), Rise("memory_search_hits_sum")
    failed = Rise("memory_search_failures_total", reason="database_unavailable")
    withheld = Rise("memory_search_withheld_total")
    metrics.searched(result, 0.1)
    assert (searches.now, found.now, failed.now, withheld.now) == (1, hits, failures, result.withheld)


def test_what_a_sweep_gave_up_is_an_ended_job_too() -> None:
    lost, resent, poisoned = (Rise("memory_jobs_recovered_total", how=how) for how in ("lost", "resent", "poisoned"))
    dead = Rise("memory_jobs_ended_total", outcome="dead", reason="poison")
    metrics.recovered(lost=3, resent=2, poisoned=1)
    assert (lost.now, resent.now, poisoned.now, dead.now) == (3, 2, 1, 1)


@dataclass
class Stats:
    failure: TransientError | None = None
    asked: int = 0
    now: float = field(default=0.0)

    def counts(self) -> JobCounts:
        self.asked += 1
        if self.failure is not None:
            raise self.failure
        return COUNTS

    def open_jobs(self) -> int:
        return COUNTS.open

    def clock(self) -> float:
        return self.now


def ledger_registry(stats: Stats, backlog_warning: int = 4) -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(LedgerCollector(stats, backlog_warning=backlog_warning, clock=stats.clock))
    return registry


def test_the_ledgers_figures_are_asked_for_once_in_some_seconds() -> None:
    stats = Stats()
    registry = ledger_registry(stats)
    assert stats.asked == 0
    for _ in range(3):
        generate_latest(registry)
    assert stats.asked == 1
    stats.now = FRESH_SECONDS + 1
    generate_latest(registry)
    assert stats.asked == 2


def test_the_ledgers_figures_hold_known_words_only() -> None:
    scrape = generate_latest(ledger_registry(Stats())).decode()
    assert value(scrape, "memory_jobs", status="dead", outcome="dead") == 3
    assert value(scrape, "memory_jobs_dead", reason="poison") == 2
    assert value(scrape, "memory_jobs_dead", reason="other") == 1
    assert value(scrape, "memory_jobs_open", step="extract") == 4
    assert value(scrape, "memory_backlog_high") == 1
    assert "made up" not in scrape
    assert value(generate_latest(ledger_registry(Stats(), 5)).decode(), "memory_backlog_high") == 0


def test_a_ledger_that_cannot_be_read_shows_no_figure_and_comes_back() -> None:
    stats = Stats(failure=AWAY)
    registry = ledger_registry(stats)
    scrape = generate_latest(registry).decode()
    assert names(scrape) == {"memory_ledger_up"}
    assert value(scrape, "memory_ledger_up") == 0
    stats.failure, stats.now = None, FRESH_SECONDS + 1
    assert value(generate_latest(registry).decode(), "memory_ledger_up") == 1


def test_a_number_is_free_again_when_its_process_has_ended(tmp_path: Path) -> None:
    mine = Slots(tmp_path)
    assert (mine.mine(), mine.mine()) == ("0", "0")
    holder = f"from runtime.metrics_store import Slots; from pathlib import Path; import time;\
slots = Slots(Path({str(tmp_path)!r})); print(slots.mine(), flush=True); time.sleep(600)"
    other = subprocess.Popen([sys.executable, "-c", holder], stdout=subprocess.PIPE, text=True)
    assert other.stdout is not None
    with other.stdout:
        assert other.stdout.readline() == "1\n"
        third = subprocess.run(
            [sys.executable, "-c", holder.replace("time.sleep(600)", "0")], capture_output=True, text=True, check=True
        )
        assert third.stdout == "2\n"
        other.send_signal(signal.SIGKILL)
        other.wait()
    again = subprocess.run(
        [sys.executable, "-c", holder.replace("time.sleep(600)", "0")], capture_output=True, text=True, check=True
    )
    assert again.stdout == "1\n"


def test_processes_after_one_another_count_on_in_the_same_files(tmp_path: Path) -> None:
    folder = fresh_folder(tmp_path, "worker", 1)
    count = "from runtime import metrics; metrics.RELAY_SENT.inc()"
    for _ in range(3):
        subprocess.run(
            [sys.executable, "-c", count], env={**os.environ, FOLDER_VARIABLE: str(folder)}, check=True, cwd=Path.cwd()
        )
    registry = CollectorRegistry()
    MultiProcessCollector(registry, path=str(folder))
    assert value(generate_latest(registry).decode(), "memory_relay_sent_total") == 3
    assert {path.name for path in folder.iterdir()} == {"0.slot", "counter_0.db", "histogram_0.db"}


def test_a_server_begins_at_zero_and_leaves_other_files_alone(tmp_path: Path) -> None:
    folder = fresh_folder(tmp_path, "api", 1)
    for name in ("counter_0.db", "0.slot", "note.txt"):
        (folder / name).touch()
    assert fresh_folder(tmp_path, "api", 1) == folder
    assert [path.name for path in folder.iterdir()] == ["note.txt"]
    assert folder.stat().st_mode & 0o777 == 0o700


def test_without_a_port_nothing_is_shown_and_a_taken_one_stops_no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    said = structlog.testing.CapturingLogger()
    monkeypatch.setattr(
        metrics_server,
        "log",
        structlog.wrap_logger(said, processors=[], wrapper_class=structlog.make_filtering_bound_logger(0)),
    )
    metrics_server.serve(Settings(), metrics.REGISTRY)
    assert said.calls == []
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        metrics_server.serve(Settings(metrics_port=taken.getsockname()[1]), metrics.REGISTRY)
    (call,) = said.calls
    assert (call.method_name, call.kwargs["event"]) == ("error", "memory_metrics_not_served")


def test_each_process_of_the_stack_has_a_port_of_its_own(tmp_path: Path) -> None:
    settings = Settings(database_url="postgresql://u:p@h/d", broker_url="redis://h/0")
    home = Home.open(tmp_path / "home")
    specs = {spec.name: spec for spec in build_stack(settings, home).specs}
    addresses = {name: spec.metrics for name, spec in specs.items() if spec.metrics}
    assert set(addresses) == {"api", "relay", "worker"}
    assert len(set(addresses.values())) == 3
    for name, address in addresses.items():
        assert address == f"127.0.0.1:{specs[name].environment['POCO_METRICS_PORT']}"
    again = {spec.name: spec.metrics for spec in build_stack(settings, home).specs if spec.metrics}
    assert again == addresses


def test_a_taken_metrics_port_is_told_by_its_variable(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        settings = Settings(database_url="postgresql://u:p@h/d", broker_url="redis://h/0", metrics_port=port)
        with pytest.raises(ConfigurationError, match=rf"POCO_METRICS_PORT: port {port} is in use"):
            build_stack(settings, Home.open(tmp_path / "home"))
