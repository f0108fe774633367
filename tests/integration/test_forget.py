"""Forgetting is physical, says what it found and left, and what was forgotten does not come back by itself."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import pytest
from sqlalchemy import insert, inspect, select, text

from domain.errors import Backend, PermanentError, TransientError
from domain.jobs import Outcome, Step
from domain.lifecycle import Action, ChangeStatus, Details, Traces
from domain.scope import Scope
from storage.database import Database
from storage.forget import SqlEraser
from storage.forgotten import Marker
from storage.ledger import SqlJobLedger
from storage.outbox import send_ready
from storage.tables import (
    AuditRow,
    EntityRow,
    ForgottenRow,
    HistoryRow,
    JobRow,
    MemoryRow,
    OutboxRow,
    StagedRow,
)
from tests.fakes import FakeEmbedder, candidate, fake_vector, unique_scope
from tests.ledgers import claimed, rows, view
from tests.lifecycles import ANNA, Life, published, said

FEISHU = "用户在“飞书”维护值班表"
SENTENCE = "我以后都在飞书维护值班表"


@pytest.fixture
def life(database: Database, scope: Scope) -> Life:
    return Life(database, scope, FakeEmbedder())


def places_of(database: Database, words: str) -> list[str]:
    """The tables in which some row holds these words anywhere."""
    with database.transaction() as connection:
        return [
            table
            for table in inspect(connection).get_table_names()
            if connection.execute(
                text(f"SELECT count(*) FROM {table} AS r WHERE position(:words in to_jsonb(r)::text) > 0"),
                {"words": words},
            ).scalar_one()
        ]


# Kind: FoxRick/Collie#117.
def test_nothing_of_a_forgotten_memory_is_left_in_any_table(life: Life, ledger: SqlJobLedger) -> None:
    marker = f"代号{uuid.uuid4().hex[:8]}"
    fact = f"用户的“{marker}”是值班表"
    seen, one = published(ledger, life.scope, f"记住我的{marker}就是值班表", fact)
    assert seen.outcome is Outcome.PUBLISHED
    dead, _ = said(ledger, life.scope, f"记住我的{marker}就是值班表", fact)
    ledger.bury(claimed(ledger, dead, Step.CLEANUP), PermanentError("bad", "x"))
    waiting, _ = said(ledger, life.scope, f"记住我的{marker}就是值班表", fact)
    assert life.wish(Action.UPDATE, memory_id=one.id, text=f"用户的“{marker}”是排班表").success
    assert places_of(life.database, marker)
    changed = life.forget(one.id)
    assert changed.status is ChangeStatus.DELETED, changed
    assert places_of(life.database, marker) == []
    assert changed.erasure is not None
    before = changed.erasure.before
    assert (before.memories, before.vectors, before.history, before.job_payloads, before.staged) == (1, 1, 2, 2, 2)
    assert changed.erasure.after == Traces()
    assert view(ledger, waiting).outcome is Outcome.CANCELLED


def test_the_audit_keeps_that_it_was_and_nothing_of_what(life: Life) -> None:
    memory_id = life.add(FEISHU)
    life.forget(memory_id)
    with life.database.transaction() as connection:
        statement = select(AuditRow.__table__).where(AuditRow.memory_id == uuid.UUID(memory_id)).order_by(AuditRow.id)
        lines = connection.execute(statement).all()
    assert [(line.operation, line.before, line.after) for line in lines] == [
        ("create", None, None),
        ("forget", None, None),
    ]
    assert (lines[1].operator_type, lines[1].operator) == ("user", "anna")


# Kind: mem0ai/mem0#7226.
def test_a_shared_name_loses_one_link_and_a_lonely_one_goes(life: Life) -> None:
    first, second = life.add(FEISHU), life.add("用户每周在“飞书”写“邮件”")
    assert life.links() == {"飞书": sorted([first, second]), "邮件": [second]}
    life.forget(second)
    assert life.links() == {"飞书": [first]}
    life.forget(first)
    assert life.links() == {}


# Kind: mem0ai/mem0#7226.
def test_a_process_that_never_wrote_a_name_takes_it_away(life: Life, database_url: str) -> None:
    first, second = life.add(FEISHU), life.add("用户每周在“飞书”写“邮件”")
    program = (
        "import sys; from domain.lifecycle import Writer; from domain.scope import Scope; "
        "from storage.database import Database; from storage.forget import SqlEraser; url, key, *ids = sys.argv[1:]; "
        "print([SqlEraser(Database(url)).forget(Scope.from_key(key), i, Writer('user')).status for i in ids])"
    )
    command_line = [sys.executable, "-c", program, database_url, life.scope.key, first, second]
    done = subprocess.run(command_line, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.count("DELETED") == 2
    assert life.links() == {}


@contextmanager
def kept_by_the_database(database: Database, table: str) -> Iterator[None]:
    """What is deleted or changed in a table stays there during the block, and nobody is told."""
    with database.transaction() as connection:
        connection.execute(
            text("CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$")
        )
        connection.execute(
            text(f"CREATE TRIGGER keep BEFORE DELETE OR UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION keep()")
        )
    try:
        yield
    finally:
        with database.transaction() as connection:
            connection.execute(text("DROP FUNCTION keep CASCADE"))


# Kind: mem0ai/mem0#7226.
@pytest.mark.parametrize(
    ("table", "left"),
    [
        ("poco_memories_entities", "entity_links"),
        ("memory_history", "history"),
        ("memory_audit_logs", "audit_texts"),
        ("poco_memories", "memories"),
    ],
)
def test_what_is_left_in_a_store_is_said_and_the_next_call_takes_it(life: Life, table: str, left: str) -> None:
    memory_id = life.add(FEISHU)
    with kept_by_the_database(life.database, table):
        changed = life.forget(memory_id)
    assert (changed.status, changed.success) == (ChangeStatus.PARTIAL_CLEANUP, False)
    assert changed.erasure is not None
    assert asdict(changed.erasure.after)[left] == 1
    eraser = SqlEraser(life.database)
    assert eraser.forget_all(life.scope, ANNA).status is ChangeStatus.DELETED
    assert eraser.scan(life.scope) == Traces()


def test_other_memories_and_users_are_left_alone(life: Life, ledger: SqlJobLedger) -> None:
    other = Life(life.database, unique_scope(), life.embedder)
    theirs, mine, gone = other.add(FEISHU), life.add("用户喜欢红茶"), life.add(FEISHU)
    waiting, _ = said(ledger, life.scope, "我每天早上六点起床跑步", "用户每天早上六点起床跑步")
    life.forget(gone)
    assert other.row(theirs).payload["data"] == FEISHU
    assert life.row(mine).payload["data"] == "用户喜欢红茶"
    assert view(ledger, waiting).has_content
    assert len(other.links()["飞书"]) == 1


@pytest.mark.parametrize(
    ("sentence", "fact"),
    [
        (SENTENCE, FEISHU),
        ("说过了，我的值班表在飞书里面。", "用户在『飞书』 维护值班表！"),
        (SENTENCE, "用户把值班表放在飞书"),
    ],
    ids=["the same", "the fact in another spelling", "another fact from the same sentence"],
)
def test_a_late_job_does_not_bring_a_forgotten_fact_back(
    life: Life, ledger: SqlJobLedger, sentence: str, fact: str
) -> None:
    _, one = published(ledger, life.scope, SENTENCE, FEISHU)
    life.forget(one.id)
    seen, _ = published(ledger, life.scope, sentence, fact)
    assert (seen.outcome, seen.reason) == (Outcome.NO_EFFECT, "forgotten_before")
    assert seen.counts["forgotten_before"] == 1
    assert rows(life.database, MemoryRow, MemoryRow.payload["user_id"].astext == life.scope.key) == 0


def test_what_was_corrected_by_hand_is_not_learned_again_in_its_old_form(life: Life, ledger: SqlJobLedger) -> None:
    _, one = published(ledger, life.scope, SENTENCE, FEISHU)
    assert life.row(one.id).payload["evidence"]["role"] == "user"
    life.wish(Action.UPDATE, memory_id=one.id, text="用户在“钉钉”维护值班表")
    assert not {"evidence", "evidence_mac"} & set(life.row(one.id).payload)
    seen, _ = published(ledger, life.scope, "我又说了一遍以前的事情", FEISHU)
    assert seen.reason == "forgotten_before"
    seen, _ = published(ledger, life.scope, SENTENCE, "用户在飞书里维护值班表")
    assert seen.reason == "forgotten_before"


def test_an_add_on_purpose_lifts_the_mark(life: Life, ledger: SqlJobLedger) -> None:
    _, one = published(ledger, life.scope, SENTENCE, FEISHU)
    life.forget(one.id)
    again = life.add(FEISHU)
    assert rows(life.database, ForgottenRow, ForgottenRow.scope == life.scope.key) == 0
    assert life.row(again).payload["data"] == FEISHU


def test_the_same_text_has_another_mark_for_another_user_and_another_key() -> None:
    marks = {Marker(key, scope).mark("likes tea") for key in (b"one", b"two") for scope in ("t:a", "t:b")}
    assert len(marks) == 4
    assert Marker(b"one", "t:a").mark("Likes  TEA!") in marks


def test_another_user_may_learn_what_this_one_forgot(life: Life, ledger: SqlJobLedger) -> None:
    _, one = published(ledger, life.scope, SENTENCE, FEISHU)
    life.forget(one.id)
    seen, _ = published(ledger, unique_scope(), SENTENCE, FEISHU)
    assert seen.outcome is Outcome.PUBLISHED


def test_a_sentence_that_everybody_says_is_no_mark(life: Life, ledger: SqlJobLedger) -> None:
    _, one = published(ledger, life.scope, "是的", FEISHU)
    life.forget(one.id)
    seen, _ = published(ledger, life.scope, "是的", "用户每天早上六点起床跑步")
    assert seen.outcome is Outcome.PUBLISHED


def fill(life: Life, number: int) -> list[str]:
    return [life.add(f"用户在“飞书”里有第 {place} 个群") for place in range(number)]


def test_a_whole_user_goes_in_batches_with_a_receipt(
    life: Life, ledger: SqlJobLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storage.forget.BATCH", 2)
    fill(life, 5)
    said(ledger, life.scope, SENTENCE, FEISHU)
    told: list[int] = []
    changed = SqlEraser(life.database).forget_all(life.scope, ANNA, told.append)
    assert (changed.status, changed.deleted_count, told) == (ChangeStatus.DELETED, 5, [2, 4, 5])
    assert changed.erasure is not None
    before = changed.erasure.before
    assert (before.memories, before.entity_links, before.history, before.staged, before.audit_texts) == (5, 1, 5, 1, 5)
    assert changed.erasure.after == Traces()
    assert rows(life.database, AuditRow, AuditRow.scope == life.scope.key, AuditRow.operation == "forget") == 5


# Kind: FoxRick/Collie#117.
def test_nothing_of_a_forgotten_user_is_left_in_any_table(life: Life, ledger: SqlJobLedger) -> None:
    word = f"代号{uuid.uuid4().hex[:8]}"
    details = Details(title=f"关于{word}", metadata={"note": word, "deep": {"er": [word]}})
    archived, corrected = life.add(f"用户的“{word}”是红茶", details), life.add(f"用户的“{word}”是绿茶")
    life.archive(archived)
    life.wish(Action.UPDATE, memory_id=corrected, text=f"用户的“{word}”是白茶", details=details)
    life.forget(life.add(f"用户的“{word}”是花茶"))
    published(ledger, life.scope, f"记住我的{word}就是值班表", f"用户的“{word}”是值班表")
    dead, _ = said(ledger, life.scope, f"记住我的{word}就是排班表", f"用户的“{word}”是排班表")
    ledger.bury(claimed(ledger, dead, Step.CLEANUP), PermanentError("bad", "x"))
    said(ledger, life.scope, f"记住我的{word}就是日程表", f"用户的“{word}”是日程表")
    ledger.submit(candidate(("user", word), ("assistant", word), scope=life.scope))
    assert set(places_of(life.database, word)) >= {
        *("poco_memories", "poco_memories_entities", "memory_staged", "memory_history", "memory_jobs"),
        "memory_audit_logs",
    }
    assert SqlEraser(life.database).forget_all(life.scope, ANNA).status is ChangeStatus.DELETED
    assert places_of(life.database, word) == []


def test_what_a_relay_is_sending_does_not_keep_a_memory_from_being_forgotten(life: Life, ledger: SqlJobLedger) -> None:
    memory_id = life.add(FEISHU)
    job_id = ledger.submit(candidate(("user", f"他说：{FEISHU}。"), ("assistant", "好的"), scope=life.scope)).job_id
    forgotten: list[ChangeStatus] = []

    def send(sent: str, _: Step) -> None:
        # The relay holds its row until the broker has the message.
        if sent == job_id:
            forgotten.append(life.forget(memory_id).status)

    while send_ready(life.database, send):
        pass
    assert forgotten == [ChangeStatus.DELETED]
    assert (view(ledger, job_id).outcome, rows(life.database, OutboxRow, OutboxRow.job_id == uuid.UUID(job_id))) == (
        Outcome.CANCELLED,
        0,
    )


def test_forgetting_nobody_is_done_at_once(life: Life) -> None:
    changed = SqlEraser(life.database).forget_all(life.scope, ANNA)
    assert (changed.status, changed.deleted_count) == (ChangeStatus.DELETED, 0)


@contextmanager
def history_refuses(database: Database, memory_id: str) -> Iterator[None]:
    """The history of one memory cannot be deleted during the block."""
    with database.transaction() as connection:
        connection.execute(
            text(f"""
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
              IF old.memory_id = '{memory_id}' THEN RAISE 'no' USING errcode = 'P0001'; END IF;
              RETURN old;
            END $$""")
        )
        connection.execute(
            text("CREATE TRIGGER refuse BEFORE DELETE ON memory_history FOR EACH ROW EXECUTE FUNCTION refuse()")
        )
    try:
        yield
    finally:
        with database.transaction() as connection:
            connection.execute(text("DROP FUNCTION refuse CASCADE"))


# Kind: mem0ai/mem0#5696.
def test_one_memory_that_cannot_be_deleted_does_not_keep_the_others(life: Life) -> None:
    memories = fill(life, 3)
    eraser = SqlEraser(life.database)
    with history_refuses(life.database, memories[1]):
        changed = eraser.forget_all(life.scope, ANNA)
    assert (changed.status, changed.deleted_count, changed.success) == (ChangeStatus.PARTIAL_CLEANUP, 2, False)
    assert changed.erasure is not None
    assert changed.erasure.failed == {memories[1]: "RaiseException"}
    assert changed.erasure.after.memories == 1
    again = eraser.forget_all(life.scope, ANNA)
    assert (again.status, again.deleted_count) == (ChangeStatus.DELETED, 1)


def test_an_interrupted_forget_says_how_far_it_came_and_goes_on(life: Life, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storage.forget.BATCH", 2)
    fill(life, 5)
    eraser = SqlEraser(life.database)
    erase, calls = eraser._erase_rows, []

    def breaks(*arguments: Any) -> None:
        calls.append(arguments)
        if len(calls) == 2:
            raise TransientError(Backend.DATABASE_UNAVAILABLE, "OperationalError")
        erase(*arguments)

    monkeypatch.setattr(eraser, "_erase_rows", breaks)
    changed = eraser.forget_all(life.scope, ANNA)
    assert (changed.status, changed.deleted_count) == (ChangeStatus.PARTIAL_CLEANUP, 2)
    assert changed.reason == "database_unavailable"
    assert eraser.forget_all(life.scope, ANNA).deleted_count == 3
    assert eraser.scan(life.scope) == Traces()


def test_a_scan_finds_what_was_put_back(life: Life, ledger: SqlJobLedger) -> None:
    memory_id = life.add(FEISHU)
    life.forget(memory_id)
    eraser = SqlEraser(life.database)
    assert eraser.scan(life.scope, memory_id) == Traces()
    job_id, _ = said(ledger, life.scope, f"他说：{FEISHU}。", "用户每天早上六点起床跑步")
    copy, link = {"data": f"{FEISHU}。", "user_id": life.scope.key}, {"data": "飞书", "user_id": life.scope.key}
    with life.database.transaction() as connection:
        connection.execute(insert(MemoryRow).values(id=uuid.uuid4(), vector=list(fake_vector("x")), payload=copy))
        connection.execute(
            insert(EntityRow).values(id=uuid.uuid4(), payload={**link, "linked_memory_ids": [memory_id]})
        )
        connection.execute(insert(HistoryRow).values(id=uuid.uuid4(), memory_id=memory_id, event="ADD"))
        staged = {"id": uuid.uuid4(), "job_id": job_id, "position": 9, "vector": list(fake_vector("x"))}
        connection.execute(insert(StagedRow).values(**staged, payload={"data": FEISHU}))
    left = {store: count for store, count in asdict(eraser.scan(life.scope, memory_id)).items() if count}
    assert left == {"memories": 1, "entity_links": 1, "history": 1, "staged": 1, "job_payloads": 1, "outbox": 1}
    assert rows(life.database, JobRow, JobRow.id == uuid.UUID(job_id)) == 1


def command(url: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {"POCO_DATABASE_URL": url, "POCO_BROKER_URL": "redis://127.0.0.1:1/0"}
    return subprocess.run(
        [sys.executable, "-m", "cli.main", "verify-forgotten", *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_the_command_says_what_is_left_of_whom(life: Life, database_url: str) -> None:
    memory_id = life.add(FEISHU)
    found = command(database_url, "--scope", life.scope.key)
    assert found.returncode == 1
    assert "memories       1" in found.stdout
    life.forget(memory_id)
    for arguments in (("--memory", memory_id), ()):
        clean = command(database_url, "--scope", life.scope.key, *arguments)
        assert (clean.returncode, clean.stdout.splitlines()[-1]) == (0, "Nothing is left.")
    assert command(database_url, "--scope", "nobody").returncode == 2
    assert command(database_url, "--scope", "a:b", "--memory", "7").returncode == 2
