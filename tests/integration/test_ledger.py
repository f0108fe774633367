from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable

import pytest
from sqlalchemy import select

from domain.candidate import Message, Role
from domain.errors import Backend, Fenced, PermanentError, TransientError
from domain.facts import Entity, EntityType, StagedFact
from domain.jobs import (
    Advance,
    AlreadyDone,
    Claimed,
    Finish,
    NotOurs,
    NotYet,
    Outcome,
    Status,
    Step,
    Submission,
)
from domain.retry import RetryPolicy
from domain.scope import Scope
from storage.database import Database
from storage.ledger import LedgerTimes, SqlJobLedger
from storage.tables import AuditRow, EntityRow, HistoryRow, JobRow, MemoryRow, OutboxRow, StagedRow
from tests.fakes import fake_vector, staged, unique_scope
from tests.ledgers import DOWN, SHORT, UNKNOWN_JOB, age, claimed, ready_jobs, rows, run_through, submit, view

UNREADABLE = TransientError(Backend.LLM_UNPARSEABLE, "no JSON")


def test_a_submission_writes_one_job_and_one_outbox_row(ledger: SqlJobLedger, database: Database, scope: Scope) -> None:
    made = submit(ledger, scope)
    assert made.created
    assert view(ledger, made.job_id).status is Status.PENDING
    assert ready_jobs(database, made.job_id) == [made.job_id]


def test_the_same_key_again_finds_the_same_job(ledger: SqlJobLedger, database: Database, scope: Scope) -> None:
    first, again = submit(ledger, scope, key="k"), submit(ledger, scope, key="k")
    assert (again.job_id, again.trace_id, again.created) == (first.job_id, first.trace_id, False)
    assert rows(database, JobRow, JobRow.scope == scope.key) == 1
    assert rows(database, OutboxRow, OutboxRow.job_id == first.job_id) == 1


def test_the_same_key_of_another_user_is_another_job(ledger: SqlJobLedger, scope: Scope) -> None:
    assert submit(ledger, scope, key="k").job_id != submit(ledger, unique_scope(), key="k").job_id


def test_simultaneous_submissions_with_one_key_make_one_job(
    ledger: SqlJobLedger, database: Database, scope: Scope
) -> None:
    made: list[Submission] = []
    threads = [threading.Thread(target=lambda: made.append(submit(ledger, scope, key="k"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({submission.job_id for submission in made}) == 1
    assert [submission.created for submission in made].count(True) == 1


def test_a_claim_hands_the_candidate_over_and_raises_the_fence(ledger: SqlJobLedger, scope: Scope) -> None:
    job = claimed(ledger, submit(ledger, scope).job_id, Step.ADMIT)
    assert job.fence == 1
    assert job.candidate.scope == scope
    assert job.candidate.messages == (Message(Role.USER, "以后都用简体中文"), Message(Role.ASSISTANT, "好的"))
    assert job.candidate.metadata == {"category": "preference"}


def test_a_step_in_work_is_not_given_to_a_second_worker(ledger: SqlJobLedger, scope: Scope) -> None:
    job_id = submit(ledger, scope).job_id
    claimed(ledger, job_id, Step.ADMIT)
    assert ledger.claim(job_id, Step.ADMIT, "other") == NotOurs()


@pytest.mark.parametrize("job_id", [UNKNOWN_JOB])
def test_an_unknown_job_is_nobodys(ledger: SqlJobLedger, job_id: str) -> None:
    assert ledger.claim(job_id, Step.ADMIT, "worker") == NotOurs()
    assert ledger.view(job_id) is None


def test_a_later_step_waits_for_the_earlier_one(ledger: SqlJobLedger, scope: Scope) -> None:
    assert ledger.claim(submit(ledger, scope).job_id, Step.EXTRACT, "worker") == NotOurs()


def test_a_finished_step_is_passed_on_and_not_run_again(ledger: SqlJobLedger, scope: Scope) -> None:
    job = claimed(ledger, submit(ledger, scope).job_id, Step.ADMIT)
    ledger.complete(job, Advance(messages=job.candidate.messages, counts={"dropped_url": 2}))
    assert ledger.claim(job.id, Step.ADMIT, "other") == AlreadyDone()
    seen = view(ledger, job.id)
    assert (seen.step_name, seen.status, seen.counts) == ("memory.extract", Status.PROCESSING, {"dropped_url": 2})


def test_a_worker_that_lost_its_lease_changes_nothing(database: Database, scope: Scope) -> None:
    ledger = SqlJobLedger(database, policy=SHORT, times=LedgerTimes(lease=0.1))
    sleeper = claimed(ledger, submit(ledger, scope).job_id, Step.ADMIT)
    time.sleep(0.15)
    successor = claimed(ledger, sleeper.id, Step.ADMIT)
    attempts: list[Callable[[], object]] = [
        lambda: ledger.complete(sleeper, Advance(counts={"zombie": 1})),
        lambda: ledger.complete(sleeper, Finish(Outcome.NO_EFFECT)),
        lambda: ledger.fail(sleeper, DOWN),
        lambda: ledger.bury(sleeper, PermanentError("bad", "x")),
    ]
    for act in attempts:
        with pytest.raises(Fenced):
            act()
    assert not ledger.extend(sleeper)
    assert ledger.extend(successor)
    ledger.complete(successor, Advance(counts={"successor": 1}))
    assert view(ledger, sleeper.id).counts == {"successor": 1}


def test_a_failed_step_is_due_after_its_delay_and_not_before(database: Database, scope: Scope) -> None:
    ledger = SqlJobLedger(database, policy=RetryPolicy((60.0,)), times=LedgerTimes())
    job = claimed(ledger, submit(ledger, scope).job_id, Step.ADMIT)
    assert ledger.fail(job, DOWN) == 60
    seen = view(ledger, job.id)
    assert (seen.status, seen.retry_count, seen.last_error) == (Status.FAILED, 1, "llm_unavailable: HTTP 500")
    early = ledger.claim(job.id, Step.ADMIT, "worker")
    assert isinstance(early, NotYet)
    assert 0 < early.seconds <= 60
    age(database, job.id, 60)
    assert claimed(ledger, job.id, Step.ADMIT).fence == 2


def test_the_fourth_failure_of_a_step_is_the_jobs_end(ledger: SqlJobLedger, database: Database, scope: Scope) -> None:
    job_id = submit(ledger, scope).job_id
    delays = []
    for _ in range(4):
        delays.append(ledger.fail(claimed(ledger, job_id, Step.ADMIT), DOWN))
        time.sleep(0.08)
    assert delays == [0.05, 0.05, 0.05, None]
    seen = view(ledger, job_id)
    assert (seen.status, seen.outcome, seen.reason) == (Status.DEAD, Outcome.DEAD, "llm_unavailable")
    assert seen.attempts == {"admit": 4}
    assert ledger.claim(job_id, Step.ADMIT, "worker") == NotOurs()


def test_unreadable_model_answers_are_counted_and_the_count_outlives_the_step(
    ledger: SqlJobLedger, scope: Scope
) -> None:
    job_id = submit(ledger, scope).job_id
    for error in (UNREADABLE, DOWN, UNREADABLE):
        ledger.fail(claimed(ledger, job_id, Step.ADMIT), error)
        time.sleep(0.08)
    ledger.complete(claimed(ledger, job_id, Step.ADMIT), Advance(counts={"kept": 1}))
    assert view(ledger, job_id).counts == {"memory_json_parse_fail": 2, "kept": 1}


def test_attempts_are_counted_anew_for_each_step(ledger: SqlJobLedger, scope: Scope) -> None:
    job_id = submit(ledger, scope).job_id
    for step in (Step.ADMIT, Step.EXTRACT):
        for _ in range(3):
            assert ledger.fail(claimed(ledger, job_id, step), DOWN) is not None
            time.sleep(0.08)
        ledger.complete(claimed(ledger, job_id, step), Advance())
    assert view(ledger, job_id).attempts == {"admit": 4, "extract": 4}


# Kind: lxfight/astrbot_plugin_mnemosyne#150.
def test_a_permanent_error_ends_the_job_at_once_and_keeps_its_payload(
    ledger: SqlJobLedger, database: Database, scope: Scope
) -> None:
    job = claimed(ledger, submit(ledger, scope).job_id, Step.ADMIT)
    ledger.bury(job, PermanentError("bad_payload", "no messages"))
    seen = view(ledger, job.id)
    assert (seen.status, seen.reason, seen.last_error) == (Status.DEAD, "bad_payload", "bad_payload: no messages")
    assert rows(database, JobRow, JobRow.id == job.id, JobRow.payload.is_not(None)) == 1


def test_only_the_oldest_open_job_of_a_scope_is_ready(ledger: SqlJobLedger, database: Database, scope: Scope) -> None:
    first, second, third = (submit(ledger, scope).job_id for _ in range(3))
    everything = (first, second, third)
    assert ready_jobs(database, *everything) == [first]
    assert ledger.claim(second, Step.ADMIT, "worker") == NotOurs()
    ledger.complete(claimed(ledger, first, Step.ADMIT), Finish(Outcome.NO_EFFECT))
    assert sorted(ready_jobs(database, *everything)) == sorted([first, second])
    for _ in range(4):
        ledger.fail(claimed(ledger, second, Step.ADMIT), DOWN)
        time.sleep(0.08)
    assert third in ready_jobs(database, *everything)


def test_a_finished_job_keeps_no_content(ledger: SqlJobLedger, database: Database, scope: Scope) -> None:
    seen = run_through(ledger, submit(ledger, scope).job_id, (staged("用户偏好简体中文"),))
    assert (seen.status, seen.outcome, seen.counts) == (
        Status.SUCCESS,
        Outcome.PUBLISHED,
        {"inserted": 1, "duplicates": 0},
    )
    assert rows(database, JobRow, JobRow.id == seen.id, JobRow.payload.is_(None), JobRow.messages.is_(None)) == 1
    assert rows(database, StagedRow, StagedRow.job_id == seen.id) == 0


def test_staging_again_replaces_what_an_earlier_run_staged(
    ledger: SqlJobLedger, database: Database, scope: Scope
) -> None:
    job_id = submit(ledger, scope).job_id
    ledger.complete(claimed(ledger, job_id, Step.ADMIT), Advance())
    ledger.complete(claimed(ledger, job_id, Step.EXTRACT), Advance(staged=(staged("a"), staged("b"))))
    ledger.complete(claimed(ledger, job_id, Step.CHECK_LANGUAGE), Advance(staged=(staged("c"),)))
    assert [fact.text for fact in claimed(ledger, job_id, Step.VALIDATE).staged] == ["c"]


def test_publishing_writes_memory_history_entities_and_audit(
    ledger: SqlJobLedger, database: Database, scope: Scope
) -> None:
    name = Entity("林清", EntityType.PROPER, fake_vector("林清"))
    facts = tuple(
        StagedFact(str(uuid.uuid4()), text, fake_vector(text), "user", {}, "林清", (name,))
        for text in ("林清喜欢茶", "林清住杭州")
    )
    run_through(ledger, submit(ledger, scope).job_id, facts)
    ids = [fact.id for fact in facts]
    assert rows(database, MemoryRow, MemoryRow.payload["user_id"].astext == scope.key) == 2
    assert rows(database, HistoryRow, HistoryRow.memory_id.in_(ids), HistoryRow.event == "ADD") == 2
    assert rows(database, AuditRow, AuditRow.scope == scope.key, AuditRow.operation == "create") == 2
    with database.transaction() as connection:
        entity = connection.execute(
            select(EntityRow.payload).where(EntityRow.payload["user_id"].astext == scope.key)
        ).scalar_one()
    assert entity == {
        "data": "林清",
        "entity_type": "PROPER",
        "linked_memory_ids": sorted(ids),
        "user_id": scope.key,
    }


def test_a_later_memory_joins_the_entity_that_is_there(ledger: SqlJobLedger, database: Database, scope: Scope) -> None:
    spellings = ("Blue Heron", "blue  heron")
    facts = []
    for number, spelling in enumerate(spellings):
        name = Entity(spelling, EntityType.PROPER, fake_vector("heron"))
        text_of = f"fact {number} about the heron"
        facts.append(StagedFact(str(uuid.uuid4()), text_of, fake_vector(text_of), "user", {}, "", (name,)))
        run_through(ledger, submit(ledger, scope).job_id, (facts[-1],))
    with database.transaction() as connection:
        found = connection.execute(
            select(EntityRow.payload).where(EntityRow.payload["user_id"].astext == scope.key)
        ).scalar_one()
    assert (found["data"], found["linked_memory_ids"]) == (spellings[0], sorted(fact.id for fact in facts))


def test_a_known_text_is_not_published_again(ledger: SqlJobLedger, database: Database, scope: Scope) -> None:
    run_through(ledger, submit(ledger, scope).job_id, (staged("用户偏好简体中文"),))
    again = run_through(ledger, submit(ledger, scope).job_id, (staged("用户偏好简体中文"), staged("用户叫林清")))
    assert again.counts == {"inserted": 1, "duplicates": 1}
    third = run_through(ledger, submit(ledger, scope).job_id, (staged("用户叫林清"),))
    assert (third.outcome, third.reason) == (Outcome.NO_EFFECT, "already_known")
    assert rows(database, MemoryRow, MemoryRow.payload["user_id"].astext == scope.key) == 2


def test_the_same_text_of_two_users_is_two_memories(ledger: SqlJobLedger, database: Database, scope: Scope) -> None:
    other = unique_scope()
    for each in (scope, other):
        assert run_through(ledger, submit(ledger, each).job_id, (staged("用户偏好简体中文"),)).counts["inserted"] == 1


@pytest.mark.parametrize(
    "end", [Finish(Outcome.REJECTED, reason="credential", rule="aws_key"), Finish(Outcome.NO_EFFECT)]
)
def test_an_outcome_without_effect_leaves_nothing(
    ledger: SqlJobLedger, database: Database, scope: Scope, end: Finish
) -> None:
    job_id = submit(ledger, scope).job_id
    ledger.complete(claimed(ledger, job_id, Step.ADMIT), Advance())
    ledger.complete(claimed(ledger, job_id, Step.EXTRACT), Advance(staged=(staged("a"),)))
    ledger.complete(claimed(ledger, job_id, Step.CHECK_LANGUAGE), end)
    seen = view(ledger, job_id)
    assert (seen.status, seen.outcome, seen.reason, seen.rule) == (Status.SUCCESS, end.outcome, end.reason, end.rule)
    assert rows(database, StagedRow, StagedRow.job_id == job_id) == 0
    assert rows(database, MemoryRow, MemoryRow.payload["user_id"].astext == scope.key) == 0


def test_eight_threads_racing_two_jobs_of_a_scope_find_one_runner(ledger: SqlJobLedger, scope: Scope) -> None:
    jobs = [submit(ledger, scope).job_id for _ in range(2)]
    wins: list[str] = []

    def race(job_id: str) -> None:
        if isinstance(ledger.claim(job_id, Step.ADMIT, "racer"), Claimed):
            wins.append(job_id)

    threads = [threading.Thread(target=race, args=(jobs[place % 2],)) for place in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wins == [jobs[0]]
