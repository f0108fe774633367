"""The leases of running steps are renewed by one thread, as long as the step may run and no longer."""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack

from domain.errors import Backend, TransientError
from domain.jobs import Job
from tasks.lease import LeaseKeeper
from tests.fakes import FakeLedger, job

PATIENCE = 10.0


class Counting(FakeLedger):
    """A ledger that counts renewals, and answers them as told."""

    def __init__(self, *answers: bool | TransientError) -> None:
        super().__init__(job())
        self.answers = list(answers)
        self.renewals: list[str] = []
        self.changed = threading.Condition()

    def extend(self, job: Job) -> bool:
        with self.changed:
            self.renewals.append(job.id)
            self.changed.notify()
            answer = self.answers.pop(0) if self.answers else True
        if isinstance(answer, TransientError):
            raise answer
        return answer

    def renewed(self, times: int) -> bool:
        with self.changed:
            return self.changed.wait_for(lambda: len(self.renewals) >= times, PATIENCE)


def test_a_lease_is_renewed_until_the_step_ends() -> None:
    ledger, keeper = Counting(), LeaseKeeper()
    with keeper.held(ledger.job, ledger=ledger, every=0.02, longest=60):
        assert ledger.renewed(3)
    seen = len(ledger.renewals)
    time.sleep(0.2)
    assert len(ledger.renewals) <= seen + 1


def test_a_database_that_is_away_is_asked_again() -> None:
    ledger, keeper = Counting(TransientError(Backend.DATABASE_UNAVAILABLE, "down")), LeaseKeeper()
    with keeper.held(ledger.job, ledger=ledger, every=0.02, longest=60):
        assert ledger.renewed(3)


def test_a_lost_lease_is_not_asked_for_again() -> None:
    ledger, keeper = Counting(True, False), LeaseKeeper()
    with keeper.held(ledger.job, ledger=ledger, every=0.02, longest=60):
        assert ledger.renewed(2)
        time.sleep(0.3)
    assert len(ledger.renewals) == 2


def test_a_step_that_hangs_beyond_every_limit_loses_its_lease() -> None:
    ledger, keeper = Counting(), LeaseKeeper()
    with keeper.held(ledger.job, ledger=ledger, every=0.02, longest=0.1):
        assert ledger.renewed(1)
        time.sleep(0.5)
        seen = len(ledger.renewals)
        time.sleep(0.3)
    assert len(ledger.renewals) == seen


def test_many_steps_share_one_thread() -> None:
    ledgers, keeper = [Counting() for _ in range(20)], LeaseKeeper()
    before = threading.active_count()
    with ExitStack() as stack:
        for ledger in ledgers:
            stack.enter_context(keeper.held(ledger.job, ledger=ledger, every=0.05, longest=60))
        assert all(ledger.renewed(2) for ledger in ledgers)
        assert threading.active_count() == before + 1
