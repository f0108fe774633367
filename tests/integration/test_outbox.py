"""What has to be sent is sent once, and what got lost is sent again."""

from __future__ import annotations

import multiprocessing
import time

import pytest
from sqlalchemy import delete, func, literal, select, text, update

from domain.errors import Backend, Fenced, TransientError
from domain.jobs import (
    Advance,
    Status,
    Step,
)
from domain.scope import Scope
from storage.database import Database
from storage.ledger import LedgerTimes, SqlJobLedger
from storage.outbox import Listener, send_ready
from storage.reaper import MAX_LOST, Reaped, reap
from storage.tables import JobRow, OutboxRow
from tests.ledgers import DOWN, SHORT, age, claimed, ready_jobs, rows, sender, submit, view


def test_the_outbox_sends_a_ready_job_once(ledger: SqlJobLedger, database: Database, scope: Scope) -> None:
    job_id = submit(ledger, scope).job_id
    sent: list[tuple[str, Step]] = []
    while send_ready(database, sender(sent)):
        pass
    assert sent.count((job_id, Step.ADMIT)) == 1
    assert rows(database, OutboxRow, OutboxRow.job_id == job_id) == 0


def test_a_job_that_could_not_be_sent_stays_in_the_outbox(
    ledger: SqlJobLedger, database: Database, scope: Scope
) -> None:
    job_id = submit(ledger, scope).job_id

    def broken(_: str, __: Step) -> None:
        raise ConnectionError("broker away")

    with pytest.raises(ConnectionError):
        send_ready(database, broken)
    assert ready_jobs(database, job_id) == [job_id]


def test_the_reaper_gives_a_dead_workers_step_back(database: Database, scope: Scope) -> None:
    times = LedgerTimes(lease=0.1)
    ledger = SqlJobLedger(database, policy=SHORT, times=times)
    job_id = submit(ledger, scope).job_id
    send_ready(database, sender([]))
    ledger.complete(claimed(ledger, job_id, Step.ADMIT), Advance())
    dead = claimed(ledger, job_id, Step.EXTRACT)
    time.sleep(0.15)
    assert reap(database, times).lost >= 1
    with pytest.raises(Fenced):
        ledger.complete(dead, Advance())
    sent: list[tuple[str, Step]] = []
    send_ready(database, sender(sent))
    assert (job_id, Step.EXTRACT) in sent


def test_a_job_that_keeps_killing_its_workers_is_buried_as_poison(database: Database, scope: Scope) -> None:
    times = LedgerTimes(lease=0.05)
    ledger = SqlJobLedger(database, policy=SHORT, times=times)
    job_id = submit(ledger, scope).job_id
    for _ in range(MAX_LOST + 1):
        claimed(ledger, job_id, Step.ADMIT)
        time.sleep(0.08)
        reap(database, times)
    seen = view(ledger, job_id)
    assert (seen.status, seen.reason) == (Status.DEAD, "poison")


@pytest.mark.parametrize("state", ["never picked up", "hand-off lost", "retry lost"])
def test_a_message_the_broker_lost_is_sent_again(database: Database, scope: Scope, state: str) -> None:
    times = LedgerTimes(lease=60, handoff=60)
    ledger = SqlJobLedger(database, policy=SHORT, times=times)
    job_id = submit(ledger, scope).job_id
    send_ready(database, sender([]))
    if state == "hand-off lost":
        ledger.complete(claimed(ledger, job_id, Step.ADMIT), Advance())
    if state == "retry lost":
        ledger.fail(claimed(ledger, job_id, Step.ADMIT), DOWN)
    reap(database, times)
    assert ready_jobs(database, job_id) == []
    age(database, job_id, 100)
    reap(database, times)
    assert ready_jobs(database, job_id) == [job_id]
    reap(database, times)
    assert ready_jobs(database, job_id) == [job_id]


def test_a_job_whose_older_one_is_gone_is_sent_though_nobody_promoted_it(database: Database, scope: Scope) -> None:
    times = LedgerTimes(lease=60, handoff=60)
    ledger = SqlJobLedger(database, policy=SHORT, times=times)
    first, second = (submit(ledger, scope).job_id for _ in range(2))
    with database.transaction() as connection:
        connection.execute(delete(JobRow).where(JobRow.id == first))
    assert ready_jobs(database, second) == []
    age(database, second, 100)
    reap(database, times)
    assert ready_jobs(database, second) == [second]


def _reads_its_own_rows(database: Database, number: int) -> None:
    for _ in range(100):
        with database.transaction() as connection:
            assert connection.execute(select(literal(number))).scalar_one() == number


# Kind: celery/celery#1564.
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_database_that_was_used_before_a_fork_hands_no_child_the_rows_of_another(database: Database) -> None:
    database.ping()
    forked = multiprocessing.get_context("fork")
    children = [forked.Process(target=_reads_its_own_rows, args=(database, number)) for number in range(4)]
    for child in children:
        child.start()
    _reads_its_own_rows(database, 99)
    for child in children:
        child.join(30)
    assert [child.exitcode for child in children] == [0, 0, 0, 0]


def test_a_server_that_became_read_only_is_a_backend_that_is_away(database: Database) -> None:
    def write_in_a_read_only_transaction() -> None:
        with database.transaction() as connection:
            connection.execute(text("SET TRANSACTION READ ONLY"))
            connection.execute(delete(OutboxRow))

    with pytest.raises(TransientError) as caught:
        write_in_a_read_only_transaction()
    assert (caught.value.backend, caught.value.detail) == (Backend.DATABASE_UNAVAILABLE, "ReadOnlySqlTransaction")


def test_a_quiet_ledger_gives_the_reaper_nothing_to_do(database: Database) -> None:
    with database.transaction() as connection:
        connection.execute(update(JobRow).values(status=Status.SUCCESS, lease_owner=None))
    assert reap(database, LedgerTimes()) == Reaped()


def test_a_listener_hears_of_a_submission_at_once(ledger: SqlJobLedger, database_url: str, scope: Scope) -> None:
    listener = Listener(database_url)
    submit(ledger, scope)
    before = time.monotonic()
    listener.wait(20)
    assert time.monotonic() - before < 10
    listener.close()


def test_a_listener_whose_server_goes_away_says_so(database: Database, database_url: str) -> None:
    listener = Listener(database_url)
    with database.transaction() as connection:
        ended = select(func.pg_terminate_backend(text("pid"))).select_from(text("pg_stat_activity"))
        connection.execute(ended.where(text("query = 'LISTEN poco_outbox'")))
    with pytest.raises(TransientError) as caught:
        listener.wait(10)
    assert caught.value.backend is Backend.DATABASE_UNAVAILABLE
    listener.close()


def test_a_listener_without_a_server_says_so() -> None:
    with pytest.raises(TransientError):
        Listener("postgresql://nobody@127.0.0.1:1/none")


def test_what_waits_in_a_long_queue_is_sent_again_ever_less_often(database: Database, scope: Scope) -> None:
    times = LedgerTimes(handoff=10)
    ledger = SqlJobLedger(database, policy=SHORT, times=times)
    job_id = submit(ledger, scope).job_id
    for grace in (10, 20, 40):
        send_ready(database, sender([]))
        _was_sent(database, job_id, seconds_ago=grace - 2)
        reap(database, times)
        assert ready_jobs(database, job_id) == []
        _was_sent(database, job_id, seconds_ago=grace + 2)
        reap(database, times)
        assert ready_jobs(database, job_id) == [job_id]
    claimed(ledger, job_id, Step.ADMIT)
    assert rows(database, JobRow, JobRow.id == job_id, JobRow.dispatch_count == 0) == 1


def _was_sent(database: Database, job_id: str, *, seconds_ago: int) -> None:
    sent = func.now() - func.make_interval(0, 0, 0, 0, 0, 0, literal(seconds_ago))
    with database.transaction() as connection:
        connection.execute(update(JobRow).where(JobRow.id == job_id).values(dispatched_at=sent))
