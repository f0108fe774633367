"""What time takes: content of dead jobs, expired memories, old jobs, stale outbox rows, history of what is gone."""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import func, insert, select, update

from domain.errors import PermanentError
from domain.jobs import Outcome, Status, Step
from domain.operations import Act, Operator, Refusal
from domain.scope import Scope
from storage import maintenance
from storage.database import Database
from storage.desk import SqlJobDesk
from storage.ledger import SqlJobLedger
from storage.maintenance import Maintained, Retention, maintain
from storage.memories import SqlMemoryIndex
from storage.tables import AuditRow, HistoryRow, JobRow, MemoryRow, OutboxRow, StagedRow
from tests.fakes import fake_vector, staged
from tests.ledgers import claimed, rows, run_through, submit, view
from tests.stack import Stack

DAYS = Retention(dead_payloads=14, jobs=90, history=365)


def later(database: Database, table: type, condition: Any, days: float) -> None:
    """Let rows have been written that many days ago."""
    column: Any = table.finished_at if table is JobRow else table.created_at  # type: ignore[attr-defined]
    with database.transaction() as connection:
        connection.execute(update(table).where(condition).values({column.key: column - timedelta(days=days)}))


def dead(ledger: SqlJobLedger, scope: Scope) -> str:
    job_id = submit(ledger, scope).job_id
    ledger.bury(claimed(ledger, job_id, Step.ADMIT), PermanentError("bad", "x"))
    return job_id


def stage(database: Database, job_id: str) -> None:
    with database.transaction() as connection:
        row = {"id": uuid.uuid4(), "job_id": job_id, "position": 0, "vector": list(fake_vector("a")), "payload": {}}
        connection.execute(insert(StagedRow).values(row))


def test_what_was_said_in_a_dead_job_goes_after_its_days_and_not_before(
    ledger: SqlJobLedger, database: Database, scope: Scope
) -> None:
    old, young = dead(ledger, scope), dead(ledger, scope)
    stage(database, old)
    stage(database, young)
    later(database, JobRow, JobRow.id == old, 14.1)
    later(database, JobRow, JobRow.id == young, 13.9)
    assert maintain(database, DAYS).payloads_removed >= 1
    assert not view(ledger, old).has_content
    assert view(ledger, young).has_content
    assert rows(database, StagedRow, StagedRow.job_id == old) == 0
    assert rows(database, StagedRow, StagedRow.job_id == young) == 1
    assert rows(database, JobRow, JobRow.id == old, JobRow.messages.is_(None)) == 1
    assert SqlJobDesk(database).act(old, Act.RETRY, Operator("anna")).refusal is Refusal.CONTENT_GONE


def test_an_ended_job_goes_after_its_days_and_an_open_one_stays(
    ledger: SqlJobLedger, database: Database, scope: Scope
) -> None:
    ended = run_through(ledger, submit(ledger, scope).job_id, (staged("likes tea"),)).id
    buried, waiting = dead(ledger, scope), submit(ledger, scope).job_id
    for job_id in (ended, buried, waiting):
        later(database, JobRow, JobRow.id == job_id, 91)
    assert maintain(database, DAYS).jobs_removed >= 2
    assert ledger.view(ended) is None
    assert ledger.view(buried) is None
    assert view(ledger, waiting).status is Status.PENDING
    assert rows(database, MemoryRow, MemoryRow.payload["user_id"].astext == scope.key) == 1


def memory(database: Database, ledger: SqlJobLedger, scope: Scope, last_day: datetime) -> str:
    """A published memory with a last day."""
    fact = staged(f"the lease ends {uuid.uuid4().hex}")
    dated = type(fact)(
        **{
            **{name: getattr(fact, name) for name in fact.__dataclass_fields__},
            "payload": {**fact.payload, "expiration_date": last_day.date().isoformat()},
        }
    )
    run_through(ledger, submit(ledger, scope).job_id, (dated,))
    return fact.id


def status(database: Database, memory_id: str) -> str:
    with database.transaction() as connection:
        statement = select(MemoryRow.payload["status"].astext).where(MemoryRow.id == memory_id)
        return str(connection.execute(statement).scalar_one())


def test_a_memory_past_its_last_day_is_marked_and_audited(
    ledger: SqlJobLedger, database: Database, scope: Scope
) -> None:
    now = datetime.now(UTC)
    lasting = memory(database, ledger, scope, now + timedelta(days=1))
    gone = memory(database, ledger, scope, now - timedelta(days=1))
    assert status(database, gone) == "active"
    assert maintain(database, DAYS).memories_expired >= 1
    assert (status(database, gone), status(database, lasting)) == ("expired", "active")
    assert rows(database, AuditRow, AuditRow.memory_id == uuid.UUID(gone), AuditRow.operation == "expire") == 1
    assert [found.id for found in SqlMemoryIndex(database).nearest(scope, fake_vector("a"), 5)] == [lasting]


def test_what_has_expired_can_be_learned_again_at_once(ledger: SqlJobLedger, database: Database, scope: Scope) -> None:
    first = staged("parks in garage 4")
    run_through(ledger, submit(ledger, scope).job_id, (first,))
    mark = func.jsonb_build_object("expiration_date", "2020-01-01")
    with database.transaction() as connection:
        payload = MemoryRow.payload.op("||")(mark)
        connection.execute(update(MemoryRow).where(MemoryRow.id == first.id).values(payload=payload))
    again = run_through(ledger, submit(ledger, scope).job_id, (staged("parks in garage 4"),))
    assert again.outcome is Outcome.PUBLISHED
    assert status(database, first.id) == "expired"
    assert rows(database, MemoryRow, MemoryRow.payload["user_id"].astext == scope.key) == 2


def test_the_outbox_keeps_only_open_jobs(ledger: SqlJobLedger, database: Database, scope: Scope) -> None:
    ended, waiting = dead(ledger, scope), submit(ledger, scope).job_id
    with database.transaction() as connection:
        connection.execute(insert(OutboxRow).values(job_id=ended, ready=False))
    assert rows(database, OutboxRow, OutboxRow.job_id == ended) >= 1
    for job_id in (ended, waiting):
        later(database, OutboxRow, OutboxRow.job_id == job_id, 1)
    assert maintain(database, DAYS).outbox_removed >= 1
    assert rows(database, OutboxRow, OutboxRow.job_id == ended) == 0
    assert rows(database, OutboxRow, OutboxRow.job_id == waiting) == 1


def test_history_outlives_its_memory_by_its_days_only(ledger: SqlJobLedger, database: Database, scope: Scope) -> None:
    lives = staged("likes tea")
    run_through(ledger, submit(ledger, scope).job_id, (lives,))
    old, young = str(uuid.uuid4()), str(uuid.uuid4())
    with database.transaction() as connection:
        for memory_id in (old, young):
            values = {"id": uuid.uuid4(), "memory_id": memory_id, "event": "DELETE", "created_at": func.now()}
            connection.execute(insert(HistoryRow).values(values))
    for memory_id, days in ((lives.id, 400), (old, 366), (young, 364)):
        later(database, HistoryRow, HistoryRow.memory_id == memory_id, days)
    assert maintain(database, DAYS).history_removed >= 1
    kept = [rows(database, HistoryRow, HistoryRow.memory_id == memory_id) for memory_id in (lives.id, old, young)]
    assert kept == [1, 0, 1]


def test_a_full_batch_says_that_there_is_more(
    ledger: SqlJobLedger, database: Database, scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    while maintain(database, DAYS).has_more:
        pass
    monkeypatch.setattr(maintenance, "BATCH", 2)
    for job_id in [dead(ledger, scope) for _ in range(3)]:
        later(database, JobRow, JobRow.id == job_id, 20)
    first = maintain(database, DAYS)
    assert (first.payloads_removed, first.has_more) == (2, True)
    second = maintain(database, DAYS)
    assert (second.payloads_removed, second.has_more) == (1, False)
    assert first + second == Maintained(payloads_removed=3)


def dead_in(stack: Stack, database: Database, user_id: str, days: float) -> str:
    """A job of the running service that died so many days ago."""
    job_id = stack.ingest(user_id, "谢谢", "好的")
    stack.finished(job_id)
    with database.transaction() as connection:
        values = {"status": Status.DEAD, "payload": {"messages": []}}
        connection.execute(update(JobRow).where(JobRow.id == job_id).values(values))
    later(database, JobRow, JobRow.id == job_id, days)
    return job_id


def test_the_relay_does_it_by_itself(stack: Stack, stack_database: Database, user_id: str) -> None:
    job_id = dead_in(stack, stack_database, user_id, 15)
    stack.wait_until(
        lambda: stack.get(f"/v1/jobs/{job_id}").body["has_content"] is False, 60, "the content is still there"
    )


def test_the_command_removes_now_and_says_what(stack: Stack, stack_database: Database, user_id: str) -> None:
    job_id = dead_in(stack, stack_database, user_id, 1)
    done = subprocess.run(
        [sys.executable, "-m", "cli.main", "maintain", "--json"],
        env=stack.environment | {"POCO_DEAD_PAYLOAD_DAYS": "0.5"},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert json.loads(done.stdout)["payloads_removed"] >= 1
    assert stack.get(f"/v1/jobs/{job_id}").body["has_content"] is False
