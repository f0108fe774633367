"""What operators do with jobs: found, retried from the failed step, restarted, cancelled, and audited."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import update

from domain.errors import Fenced, InvalidField, PermanentError
from domain.jobs import Advance, AlreadyDone, Claimed, NotOurs, Outcome, Status, Step
from domain.operations import Act, Acted, JobFilter, Operator, Refusal
from domain.scope import Scope
from pipeline.operate import act_on_all
from storage.database import Database
from storage.desk import SqlJobDesk
from storage.ledger import SqlJobLedger
from storage.outbox import send_ready
from storage.stats import SqlJobStats
from storage.tables import JobRow, StagedRow
from tests.fakes import staged, unique_scope
from tests.ledgers import DOWN, UNKNOWN_JOB, claimed, ready_jobs, rows, run_through, sender, submit, view

ANNA = Operator("anna", "the model is back")
BROKEN = PermanentError("llm_unavailable", "HTTP 500")


@pytest.fixture
def desk(database: Database) -> SqlJobDesk:
    return SqlJobDesk(database)


def dead_at(ledger: SqlJobLedger, scope: Scope, step: Step = Step.CHECK_LANGUAGE) -> str:
    """A job that died at a step, with one staged fact from the step before it."""
    job_id = submit(ledger, scope).job_id
    for before in list(Step)[: step - 1]:
        job = claimed(ledger, job_id, before)
        facts = (staged("likes tea"),) if before is Step.EXTRACT else None
        ledger.complete(job, Advance(staged=facts, messages=job.candidate.messages))
    ledger.bury(claimed(ledger, job_id, step), BROKEN)
    return job_id


def test_a_retry_resumes_at_the_step_that_failed_with_what_was_staged(
    ledger: SqlJobLedger, desk: SqlJobDesk, database: Database, scope: Scope
) -> None:
    job_id = dead_at(ledger, scope)
    assert desk.act(job_id, Act.RETRY, ANNA) == Acted(job_id, Status.PENDING)
    sent: list[tuple[str, Step]] = []
    send_ready(database, sender(sent))
    assert (job_id, Step.CHECK_LANGUAGE) in sent
    assert ledger.claim(job_id, Step.EXTRACT, "worker") == AlreadyDone()
    job = claimed(ledger, job_id, Step.CHECK_LANGUAGE)
    assert [fact.text for fact in job.staged] == ["likes tea"]
    assert job.messages == job.candidate.messages
    shown = view(ledger, job_id)
    assert (shown.outcome, shown.reason, shown.retry_count, shown.finished_at) == (None, None, 0, None)


def test_a_restart_begins_at_the_first_step_with_nothing_done(
    ledger: SqlJobLedger, desk: SqlJobDesk, database: Database, scope: Scope
) -> None:
    job_id = dead_at(ledger, scope)
    assert desk.act(job_id, Act.RESTART, ANNA).status is Status.PENDING
    assert rows(database, StagedRow, StagedRow.job_id == job_id) == 0
    job = claimed(ledger, job_id, Step.ADMIT)
    assert (job.messages, job.staged) == ((), ())
    assert view(ledger, job_id).attempts == {"admit": 1}


def test_a_retried_job_waits_behind_what_its_scope_has_open(
    ledger: SqlJobLedger, desk: SqlJobDesk, database: Database, scope: Scope
) -> None:
    job_id = dead_at(ledger, scope)
    younger = submit(ledger, scope).job_id
    running = claimed(ledger, younger, Step.ADMIT)
    desk.act(job_id, Act.RETRY, ANNA)
    assert ready_jobs(database, job_id) == []
    assert ledger.claim(job_id, Step.CHECK_LANGUAGE, "worker") == NotOurs()
    ledger.complete(running, Advance())
    ledger.bury(claimed(ledger, younger, Step.EXTRACT), BROKEN)
    assert ready_jobs(database, job_id) == [job_id]


def test_a_job_that_waits_for_its_retry_can_be_told_to_try_now(
    ledger: SqlJobLedger, desk: SqlJobDesk, database: Database, scope: Scope
) -> None:
    job_id = submit(ledger, scope).job_id
    claimed(ledger, job_id, Step.ADMIT)
    with database.transaction() as connection:
        later = datetime.now(UTC) + timedelta(hours=1)
        waiting = {"status": Status.FAILED, "next_retry_at": later, "lease_owner": None}
        connection.execute(update(JobRow).where(JobRow.id == job_id).values(waiting))
    assert not isinstance(ledger.claim(job_id, Step.ADMIT, "worker"), Claimed)
    assert desk.act(job_id, Act.RETRY, ANNA).refusal is None
    assert isinstance(ledger.claim(job_id, Step.ADMIT, "worker"), Claimed)


def test_a_retried_job_has_all_its_attempts_again(ledger: SqlJobLedger, desk: SqlJobDesk, scope: Scope) -> None:
    job_id = submit(ledger, scope).job_id
    delays = [ledger.fail(claimed(ledger, job_id, Step.ADMIT), DOWN)]
    while delays[-1] is not None:
        time.sleep(delays[-1])
        delays.append(ledger.fail(claimed(ledger, job_id, Step.ADMIT), DOWN))
    desk.act(job_id, Act.RETRY, ANNA)
    assert ledger.fail(claimed(ledger, job_id, Step.ADMIT), DOWN) == delays[0]


def test_a_worker_of_a_cancelled_and_restarted_job_changes_nothing(
    ledger: SqlJobLedger, desk: SqlJobDesk, scope: Scope
) -> None:
    job_id = submit(ledger, scope).job_id
    running = claimed(ledger, job_id, Step.ADMIT)
    desk.act(job_id, Act.CANCEL, ANNA)
    desk.act(job_id, Act.RESTART, ANNA)
    claimed(ledger, job_id, Step.ADMIT)
    with pytest.raises(Fenced):
        ledger.complete(running, Advance())


# Kind: vectorize-io/hindsight#2165.
def test_cancelling_fences_the_running_worker_and_lets_the_next_job_go(
    ledger: SqlJobLedger, desk: SqlJobDesk, database: Database, scope: Scope
) -> None:
    job_id, following = submit(ledger, scope).job_id, submit(ledger, scope).job_id
    running = claimed(ledger, job_id, Step.ADMIT)
    assert desk.act(job_id, Act.CANCEL, ANNA).status is Status.DEAD
    with pytest.raises(Fenced):
        ledger.complete(running, Advance())
    assert view(ledger, job_id).outcome is Outcome.CANCELLED
    assert ready_jobs(database, following) == [following]


@pytest.mark.parametrize("act", list(Act))
def test_what_has_succeeded_is_left_alone(ledger: SqlJobLedger, desk: SqlJobDesk, scope: Scope, act: Act) -> None:
    done = run_through(ledger, submit(ledger, scope).job_id, ())
    expected = Refusal.NOT_OPEN if act is Act.CANCEL else Refusal.NOT_DEAD
    assert desk.act(done.id, act, ANNA) == Acted(done.id, Status.SUCCESS, expected)
    assert view(ledger, done.id) == done
    assert desk.audit(done.id) == []


@pytest.mark.parametrize("act", [Act.RETRY, Act.RESTART])
def test_a_job_whose_content_is_gone_cannot_run_again(
    ledger: SqlJobLedger, desk: SqlJobDesk, database: Database, scope: Scope, act: Act
) -> None:
    job_id = dead_at(ledger, scope)
    with database.transaction() as connection:
        connection.execute(update(JobRow).where(JobRow.id == job_id).values(payload=None))
    assert desk.act(job_id, act, ANNA).refusal is Refusal.CONTENT_GONE
    assert not view(ledger, job_id).has_content


def test_an_unknown_job_is_not_found(desk: SqlJobDesk) -> None:
    assert desk.act(UNKNOWN_JOB, Act.RETRY, ANNA) == Acted(UNKNOWN_JOB, None, Refusal.NOT_FOUND)


def test_the_audit_says_who_did_what_and_why(ledger: SqlJobLedger, desk: SqlJobDesk, scope: Scope) -> None:
    job_id = dead_at(ledger, scope)
    desk.act(job_id, Act.RETRY, ANNA)
    desk.act(job_id, Act.CANCEL, Operator("ben"))
    entries = [(entry.operation, entry.operator, entry.why) for entry in desk.audit(job_id)]
    assert entries == [("job_retry", "anna", "the model is back"), ("job_cancel", "ben", None)]


@pytest.mark.parametrize(("name", "why"), [("", None), ("anna", " "), ("x" * 501, None), ("a\0b", None)])
def test_an_operator_has_a_name_and_says_something_or_nothing(name: str, why: str | None) -> None:
    with pytest.raises(InvalidField):
        Operator(name, why)


def test_each_filter_narrows_and_pages_join_up(ledger: SqlJobLedger, desk: SqlJobDesk, scope: Scope) -> None:
    dead = [dead_at(ledger, scope), dead_at(ledger, scope, Step.EXTRACT), dead_at(ledger, scope)]
    waiting = submit(ledger, scope).job_id

    def found(**fields: Any) -> list[str]:
        return desk.ids(JobFilter(scope=scope.key, **fields))

    assert found() == [*dead, waiting]
    assert found(statuses=(Status.PENDING,)) == [waiting]
    assert found(outcomes=(Outcome.DEAD,)) == dead
    assert found(steps=(Step.EXTRACT,)) == [dead[1]]
    assert found(reasons=("backend_error",)) == dead
    assert found(reasons=("poison",)) == []
    assert found(since=datetime.now(UTC) + timedelta(minutes=1)) == []
    assert found(before=datetime.now(UTC) - timedelta(minutes=1)) == []
    assert desk.ids(JobFilter(scope=unique_scope().key)) == []
    first = desk.page(JobFilter(scope=scope.key), limit=3)
    rest = desk.page(JobFilter(scope=scope.key), limit=3, cursor=first.next_cursor)
    assert [job.id for job in (*first.jobs, *rest.jobs)] == [waiting, *reversed(dead)]
    assert rest.next_cursor is None


def test_many_are_chosen_once_and_each_is_told(ledger: SqlJobLedger, desk: SqlJobDesk, scope: Scope) -> None:
    dead = [dead_at(ledger, scope) for _ in range(3)]
    wanted = JobFilter(scope=scope.key, statuses=(Status.DEAD,))
    count, done = act_on_all(desk, wanted, Act.RETRY, ANNA, limit=2)
    assert count == 2
    assert [acted.job_id for acted in done] == dead[:2]
    assert desk.ids(wanted) == dead[2:]


def test_the_figures_follow_the_ledger(ledger: SqlJobLedger, database: Database, scope: Scope) -> None:
    before = SqlJobStats(database).counts()
    dead_at(ledger, scope)
    submit(ledger, scope)
    after = SqlJobStats(database).counts()
    key = (Status.DEAD, Outcome.DEAD)
    assert after.by_state[key] == before.by_state.get(key, 0) + 1
    assert after.dead_by_reason["llm_unavailable"] == before.dead_by_reason.get("llm_unavailable", 0) + 1
    assert after.open == before.open + 1
    assert after.open_by_step[Step.ADMIT] == before.open_by_step.get(Step.ADMIT, 0) + 1
    # The dead one was never sent either, which the relay has still to notice.
    assert after.outbox_ready == before.outbox_ready + 2
    assert after.oldest_open_seconds is not None
    assert after.outbox_oldest_seconds is not None
    assert SqlJobStats(database).open_jobs() == after.open
