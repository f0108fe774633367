from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from domain.errors import Backend, PermanentError, TransientError
from domain.jobs import Advance, Finish, Job, Outcome, Status, Step, StepResult
from pipeline.runner import GoOn, Signal, StepFunction, Stop, TryAgain, run_step
from tests.fakes import FakeLedger, job


def run(ledger: FakeLedger, function: StepFunction, step: Step = Step.ADMIT) -> Signal:
    return run_step(ledger.job.id, step, owner="me", ledger=ledger, steps={step: function})


def advance(_: Job) -> StepResult:
    return Advance(counts={"seen": 1})


def never(_: Job) -> StepResult:
    raise AssertionError("the step must not run")


def failing(_: Job) -> StepResult:
    raise TransientError(Backend.LLM_UNAVAILABLE, "HTTP 500")


def test_a_finished_step_lets_the_chain_go_on() -> None:
    ledger = FakeLedger(job())
    assert run(ledger, advance) == GoOn()
    assert ledger.job.step == Step.EXTRACT


def test_a_named_outcome_ends_the_chain_without_a_retry() -> None:
    ledger = FakeLedger(job())
    assert run(ledger, lambda _: Finish(Outcome.NO_EFFECT)) == Stop("finished")
    assert (ledger.status, ledger.errors) == (Status.SUCCESS, [])


def test_a_second_delivery_of_a_finished_step_does_nothing_and_goes_on() -> None:
    ledger = FakeLedger(job())
    run(ledger, advance)
    assert run(ledger, never) == GoOn()
    assert len(ledger.results) == 1


def test_a_step_that_somebody_else_holds_is_left_alone() -> None:
    ledger = FakeLedger(job(), owner="other")
    assert run(ledger, never) == Stop("not_ours")


def test_a_delivery_before_its_time_waits_for_the_rest() -> None:
    ledger = FakeLedger(job(), due_in=1.5)
    assert run(ledger, never) == TryAgain(1.5, "not due yet")


def test_a_failing_backend_is_tried_four_times_and_then_buried() -> None:
    ledger = FakeLedger(job())
    signals = [run(ledger, failing) for _ in range(4)]
    waits = [signal.seconds for signal in signals if isinstance(signal, TryAgain)]
    assert waits == [1.0, 2.0, 4.0]
    assert signals[-1] == Stop("dead", "llm_unavailable")
    assert ledger.status is Status.DEAD


def test_a_permanent_error_is_buried_at_once() -> None:
    def broken(_: Job) -> StepResult:
        raise PermanentError("bad_payload", "no messages")

    ledger = FakeLedger(job())
    assert run(ledger, broken) == Stop("dead", "bad_payload")
    assert ledger.buried == ["bad_payload"]


def test_a_fault_of_ours_counts_as_an_attempt_and_is_told_without_its_text() -> None:
    def faulty(_: Job) -> StepResult:
        raise ValueError("the user said something private")

    ledger = FakeLedger(job())
    signal = run(ledger, faulty)
    assert isinstance(signal, TryAgain)
    assert "ValueError at test_runner.py:" in ledger.errors[0]
    assert "private" not in ledger.errors[0]


def test_a_worker_that_lost_its_lease_stops() -> None:
    ledger = FakeLedger(job(), steal_lease=True)
    assert run(ledger, advance) == Stop("fenced")
    assert ledger.results == []


def test_an_unreachable_ledger_decides_nothing() -> None:
    ledger = FakeLedger(job(), away=TransientError(Backend.DATABASE_UNAVAILABLE, "down"))
    with pytest.raises(TransientError):
        run(ledger, never)
    assert ledger.status is Status.PENDING


def test_the_lease_is_kept_alive_while_the_step_runs() -> None:
    seen: list[str] = []

    @contextmanager
    def keep_alive(_: Job) -> Iterator[None]:
        seen.append("begin")
        yield
        seen.append("end")

    def step(_: Job) -> StepResult:
        seen.append("step")
        return Advance()

    ledger = FakeLedger(job())
    run_step(ledger.job.id, Step.ADMIT, owner="me", ledger=ledger, steps={Step.ADMIT: step}, keep_alive=keep_alive)
    assert seen == ["begin", "step", "end"]
