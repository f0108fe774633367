"""What a step before the last leaves behind: facts kept, changed and dropped, and nothing by a late worker."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import update

from domain.errors import Fenced
from domain.facts import Entity, EntityType, FactVerdict, StagedFact
from domain.jobs import Advance, Job, Step
from domain.scope import Scope
from storage.database import Database
from storage.ledger import SqlJobLedger
from storage.tables import JobRow, StagedRow
from tests.fakes import fake_vector, staged
from tests.ledgers import age, claimed, rows, submit, view


def extracted(ledger: SqlJobLedger, scope: Scope, *facts: StagedFact) -> Job:
    """A job whose language check is claimed, with these facts staged."""
    job_id = submit(ledger, scope).job_id
    first = claimed(ledger, job_id, Step.ADMIT)
    ledger.complete(first, Advance(messages=first.candidate.messages, counts={"seen": 1, "dropped": 2}))
    ledger.complete(claimed(ledger, job_id, Step.EXTRACT), Advance(staged=facts))
    return claimed(ledger, job_id, Step.CHECK_LANGUAGE)


def test_facts_are_kept_changed_and_dropped_and_keep_their_vectors(ledger: SqlJobLedger, scope: Scope) -> None:
    first, second, third = staged("用户喜欢茶"), staged("用户喜欢水"), staged("用户喜欢酒")
    job = extracted(ledger, scope, first, second, third)
    one, _, three = job.staged
    named = replace(three, text_lemmatized="酒", entities=(Entity("酒", EntityType.TOPIC, fake_vector("酒")),))
    ledger.complete(job, Advance(staged=(named, one), counts={"seen": 3}, trace=(FactVerdict(one.id),)))
    after = claimed(ledger, job.id, Step.VALIDATE)
    assert [(fact.id, fact.text, fact.text_lemmatized) for fact in after.staged] == [
        (third.id, third.text, "酒"),
        (first.id, first.text, ""),
    ]
    assert [fact.vector for fact in after.staged] == [three.vector, one.vector]
    assert [entity.text for entity in after.staged[0].entities] == ["酒"]
    assert view(ledger, job.id).counts == {"seen": 3, "dropped": 2}


def test_a_step_may_drop_everything_or_stage_anew(ledger: SqlJobLedger, database: Database, scope: Scope) -> None:
    job = extracted(ledger, scope, staged("用户喜欢茶"))
    ledger.complete(job, Advance(staged=(staged("用户喜欢水"),)))
    after = claimed(ledger, job.id, Step.VALIDATE)
    assert [fact.text for fact in after.staged] == ["用户喜欢水"]
    ledger.complete(after, Advance(staged=()))
    assert rows(database, StagedRow, StagedRow.job_id == job.id) == 0


def test_a_step_that_stages_nothing_leaves_what_is_staged(ledger: SqlJobLedger, scope: Scope) -> None:
    job = extracted(ledger, scope, staged("用户喜欢茶"))
    ledger.complete(job, Advance())
    assert claimed(ledger, job.id, Step.VALIDATE).staged == job.staged
    assert claimed_messages(ledger, job) == job.candidate.messages


def claimed_messages(ledger: SqlJobLedger, job: Job) -> object:
    again = ledger.claim(job.id, Step.VALIDATE, "again", follows="worker")
    return again.job.messages  # type: ignore[union-attr]


@pytest.mark.parametrize("keeps", [True, False], ids=["one statement", "staged anew"])
def test_a_late_worker_changes_no_staged_fact(
    ledger: SqlJobLedger, database: Database, scope: Scope, keeps: bool
) -> None:
    late = extracted(ledger, scope, staged("用户喜欢茶"), staged("用户喜欢水"))
    age(database, late.id, 3600)
    current = claimed(ledger, late.id, Step.CHECK_LANGUAGE)
    with pytest.raises(Fenced):
        ledger.complete(late, Advance(staged=late.staged[:1] if keeps else (staged("用户喜欢酒"),)))
    ledger.complete(current, Advance())
    assert claimed(ledger, late.id, Step.VALIDATE).staged == current.staged


def test_an_earlier_runs_decisions_give_way(ledger: SqlJobLedger, database: Database, scope: Scope) -> None:
    job = extracted(ledger, scope, staged("用户喜欢茶"))
    (fact,) = job.staged
    ledger.complete(job, Advance(trace=(FactVerdict(fact.id, "first"),)))
    with database.transaction() as connection:
        connection.execute(update(JobRow).where(JobRow.id == job.id).values(step=Step.EXTRACT))
    ledger.complete(claimed(ledger, job.id, Step.EXTRACT), Advance(trace=(FactVerdict(fact.id, "second"),)))
    explanation = ledger.explain(job.id)
    assert explanation is not None
    assert explanation.decisions == ((Step.EXTRACT, FactVerdict(fact.id, "second")),)
