"""Leases that their own holder takes over, what a dead job keeps, and how many jobs may wait."""

from __future__ import annotations

import time

import pytest

from domain.errors import Fenced, PermanentError
from domain.jobs import Advance, Claimed, NotOurs, Step
from domain.operations import TooManyOpenJobs
from domain.scope import Scope
from storage.database import Database
from storage.ledger import LedgerTimes, OpenJobLimits, SqlJobLedger
from storage.tables import JobRow, StagedRow
from tests.fakes import staged, unique_scope
from tests.ledgers import SHORT, claimed, rows, submit


def test_the_next_attempt_of_a_delivery_takes_its_own_lease_over(ledger: SqlJobLedger, scope: Scope) -> None:
    job_id = submit(ledger, scope).job_id
    first = ledger.claim(job_id, Step.ADMIT, "task-1:0@host:1")
    assert isinstance(first, Claimed)
    assert ledger.claim(job_id, Step.ADMIT, "task-1:0@host:2", follows="task-1:-1@") == NotOurs()
    assert ledger.claim(job_id, Step.ADMIT, "task-2:1@host:2", follows="task-2:0@") == NotOurs()
    assert ledger.claim(job_id, Step.ADMIT, "task_1:1@host:2", follows="task_1:0@") == NotOurs()
    again = ledger.claim(job_id, Step.ADMIT, "task-1:1@host:2", follows="task-1:0@")
    assert isinstance(again, Claimed)
    with pytest.raises(Fenced):
        ledger.complete(first.job, Advance())
    ledger.complete(again.job, Advance())


def test_taking_ones_own_lease_over_counts_no_lost_worker(database: Database, scope: Scope) -> None:
    ledger = SqlJobLedger(database, policy=SHORT, times=LedgerTimes(lease=0.05))
    job_id = submit(ledger, scope).job_id
    claimed(ledger, job_id, Step.ADMIT)
    time.sleep(0.1)
    assert isinstance(ledger.claim(job_id, Step.ADMIT, "worker", follows="worker"), Claimed)
    assert rows(database, JobRow, JobRow.id == job_id, JobRow.lost_count == 0) == 1


def test_a_dead_job_keeps_what_it_has_staged(ledger: SqlJobLedger, database: Database, scope: Scope) -> None:
    job_id = submit(ledger, scope).job_id
    ledger.complete(claimed(ledger, job_id, Step.ADMIT), Advance())
    ledger.complete(claimed(ledger, job_id, Step.EXTRACT), Advance(staged=(staged("likes tea"),)))
    ledger.bury(claimed(ledger, job_id, Step.CHECK_LANGUAGE), PermanentError("broken", "for good"))
    assert rows(database, StagedRow, StagedRow.job_id == job_id) == 1


def test_a_full_scope_takes_no_more_but_still_knows_its_keys(database: Database, scope: Scope) -> None:
    ledger = SqlJobLedger(database, policy=SHORT, times=LedgerTimes(), limits=OpenJobLimits(per_scope=2))
    first = submit(ledger, scope, key="k")
    submit(ledger, scope)
    with pytest.raises(TooManyOpenJobs) as refused:
        submit(ledger, scope)
    assert refused.value.retry_after > 0
    assert rows(database, JobRow, JobRow.scope == scope.key) == 2
    assert submit(ledger, scope, key="k").job_id == first.job_id
    assert submit(ledger, unique_scope()).created
    ledger.bury(claimed(ledger, first.job_id, Step.ADMIT), PermanentError("broken", "for good"))
    assert submit(ledger, scope).created


def test_a_full_service_takes_no_more_of_anybody(database: Database, scope: Scope) -> None:
    submit(SqlJobLedger(database, policy=SHORT, times=LedgerTimes()), scope)
    full = SqlJobLedger(database, policy=SHORT, times=LedgerTimes(), limits=OpenJobLimits(total=1))
    nobody = unique_scope()
    with pytest.raises(TooManyOpenJobs, match="the service"):
        submit(full, nobody)
    assert rows(database, JobRow, JobRow.scope == nobody.key) == 0
