"""Managing memories on purpose: what is added, corrected, archived, restored, and whose it is."""

from __future__ import annotations

import threading
import uuid
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import insert, select, update

from domain.errors import Backend, Fenced, InvalidField, TransientError
from domain.jobs import Finish, Outcome, Publish, Step
from domain.lifecycle import Action, Changed, ChangeStatus, Details, ItemFilter, Writer
from domain.scope import Scope
from domain.text import content_hash
from storage.database import Database
from storage.forget import SqlEraser
from storage.keeper import SqlMemoryKeeper
from storage.ledger import SqlJobLedger
from storage.listing import SqlMemoryListing
from storage.maintenance import Retention, expire, maintain
from storage.memories import SqlMemoryIndex
from storage.tables import AuditRow, HistoryRow, MemoryRow, RunRow
from tests.fakes import FakeEmbedder, fake_vector, unique_scope
from tests.ledgers import claimed, rows, view
from tests.lifecycles import ANNA, Life, published, said

FEISHU = "用户在“飞书”维护值班表"


@pytest.fixture
def life(database: Database, scope: Scope) -> Life:
    return Life(database, scope, FakeEmbedder())


def mine(scope: Scope) -> Any:
    return MemoryRow.payload["user_id"].astext == scope.key


def operations(database: Database, memory_id: str) -> list[str]:
    statement = select(AuditRow.operation).where(AuditRow.memory_id == uuid.UUID(memory_id)).order_by(AuditRow.id)
    with database.transaction() as connection:
        return list(connection.execute(statement).scalars())


def test_an_add_makes_exactly_one_memory_with_everything_that_belongs_to_it(life: Life) -> None:
    changed = life.wish(Action.ADD, text=f"  {FEISHU}。 ", run_id="run-1", trace_id="t")
    assert (changed.status, changed.inserted_count) == (ChangeStatus.ADDED, 1)
    row = life.row(str(changed.memory_id))
    known = {key: row.payload[key] for key in ("data", "type", "confidence", "importance", "sensitivity")}
    assert known == {"data": FEISHU, "type": "fact", "confidence": 1.0, "importance": 0.5, "sensitivity": 0}
    assert (row.payload["is_explicit"], row.payload["source"], row.payload["status"]) == (True, "manage", "active")
    assert row.payload["hash"] == content_hash(FEISHU)
    assert "飞书" in row.payload["text_lemmatized"].split()
    assert life.links() == {"飞书": [changed.memory_id]}
    assert operations(life.database, str(changed.memory_id)) == ["create"]
    assert rows(life.database, HistoryRow, HistoryRow.memory_id == changed.memory_id, HistoryRow.event == "ADD") == 1


def test_what_is_said_about_a_memory_is_kept_and_comes_back(life: Life) -> None:
    details = Details("constraint", "Diet", 0.8, 0.9, 1, False, "2099-01-31", {"category": "food"})
    item = SqlMemoryKeeper(life.database).item(life.scope, life.add("用户对花生严重过敏", details))
    assert item is not None
    assert item.details == details


def test_the_same_text_again_is_known_already(life: Life) -> None:
    first = life.add("用户喜欢乌龙茶")
    again = life.wish(Action.ADD, text="用户喜欢乌龙茶。")
    assert (again.status, again.memory_id, again.inserted_count) == (ChangeStatus.ALREADY_KNOWN, first, 0)
    assert rows(life.database, MemoryRow, mine(life.scope)) == 1


@pytest.mark.parametrize(
    "again",
    [
        "用户\u200b喜欢\u2060乌龙茶",
        "\u202e用户喜欢乌龙茶\u202c",
        "用户喜欢乌龙茶\x00\x1b\ud83d",
        "\ufeff用户喜欢乌龙茶\u200e",
        "用户喜欢乌龙茶\U000e0041\U000e0042",
    ],
    ids=ascii,
)
def test_what_nobody_sees_makes_no_other_memory(life: Life, again: str) -> None:
    first = life.add(again)
    assert life.row(first).payload["data"] == "用户喜欢乌龙茶"
    known = life.wish(Action.ADD, text="用户喜欢乌龙茶")
    assert (known.status, known.memory_id) == (ChangeStatus.ALREADY_KNOWN, first)
    second = life.add("用户喜欢 Cafe\u0301")
    assert life.row(second).payload["data"] == "用户喜欢 Caf\u00e9"
    assert life.wish(Action.UPDATE, memory_id=second, text=again).reason == "already_known"


@pytest.mark.parametrize(
    ("text", "details", "reason"),
    [
        ("我的密码是 " + "Qm7x@" + "99821", Details(), "credential"),
        ("用户喜欢乌龙茶", Details(title="密码是 " + "Qm7x@" + "99821"), "credential"),
        ("用户喜欢乌龙茶", Details(metadata={"password": "Qm7x@" + "99821"}), "credential"),
        ("项目文档在 https://example.com/a/b", Details(), "has_url"),
        ("配置放在 /etc/poco/settings.toml 里", Details(), "has_path"),
        ("用户" + "很" * 600, Details(), "too_long"),
        ("茶", Details(), "not_a_statement"),
    ],
)
def test_the_rules_hold_for_what_is_managed_too(life: Life, text: str, details: Details, reason: str) -> None:
    changed = life.wish(Action.ADD, text=text, details=details)
    assert (changed.status, changed.reason, changed.success) == (ChangeStatus.REJECTED, reason, False)
    kept = life.add("用户住在杭州西湖区")
    assert life.wish(Action.UPDATE, memory_id=kept, text=text, details=details).reason == reason
    assert rows(life.database, MemoryRow, mine(life.scope)) == 1
    assert life.embedder.embedded
    assert all(words != text for words, _ in life.embedder.embedded)


@pytest.mark.parametrize(
    ("action", "fields", "field", "rule"),
    [
        (Action.ADD, {}, "text", "required"),
        (Action.ADD, {"text": " 。 "}, "text", "required"),
        (Action.ADD, {"text": "a b", "memory_id": str(uuid.uuid4())}, "memory_id", "unexpected"),
        (Action.UPDATE, {"text": "a b"}, "memory_id", "required"),
        (Action.UPDATE, {"memory_id": str(uuid.uuid4())}, "text", "required"),
        (Action.DELETE, {}, "memory_id", "required"),
        (Action.DELETE, {"memory_id": str(uuid.uuid4()), "text": "x"}, "text", "unexpected"),
        (Action.NONE, {"text": "x"}, "text", "unexpected"),
        (Action.ADD, {"text": "a b", "details": Details(metadata={"user_id": "x"})}, "metadata", "reserved_key"),
    ],
)
def test_a_wish_that_is_not_well_formed_is_named_and_changes_nothing(
    life: Life, action: Action, fields: dict[str, Any], field: str, rule: str
) -> None:
    with pytest.raises(InvalidField) as caught:
        life.wish(action, run_id="run-x", **fields)
    assert (caught.value.field, caught.value.rule) == (field, rule)
    assert rows(life.database, RunRow, RunRow.scope == life.scope.key) == 0


# Kind: mem0ai/mem0#5160.
def test_an_update_keeps_what_it_is_not_about_and_renews_what_is_derived(life: Life) -> None:
    memory_id = life.add(FEISHU, Details(metadata={"category": "work"}))
    before = life.row(memory_id).payload
    changed = life.wish(
        Action.UPDATE, memory_id=memory_id, text="用户在“钉钉”维护值班表", details=Details(importance=0.9)
    )
    assert (changed.status, changed.memory_id) == (ChangeStatus.UPDATED, memory_id)
    row = life.row(memory_id)
    kept = ("user_id", "created_at", "attributed_to", "category", "source", "type")
    assert {key: row.payload[key] for key in kept} == {key: before[key] for key in kept}
    assert (row.payload["importance"], row.payload["hash"]) == (0.9, content_hash(row.payload["data"]))
    assert row.payload["updated_at"] > before["updated_at"]
    assert tuple(row.vector) == pytest.approx(fake_vector("用户在“钉钉”维护值班表"), abs=1e-6)
    history = SqlMemoryKeeper(life.database).history(life.scope, memory_id)
    assert history is not None
    assert [(entry.event, entry.old_text, entry.new_text) for entry in history] == [
        ("ADD", None, FEISHU),
        ("UPDATE", FEISHU, "用户在“钉钉”维护值班表"),
    ]
    assert operations(life.database, memory_id) == ["create", "update"]


# Kind: CortexReach/memory-lancedb-pro#544.
def test_an_update_leaves_no_way_to_the_old_words(life: Life) -> None:
    memory_id = life.add(FEISHU)
    life.wish(Action.UPDATE, memory_id=memory_id, text="用户在“钉钉”维护值班表")
    assert life.links() == {"钉钉": [memory_id]}
    words = life.row(memory_id).payload["text_lemmatized"].split()
    assert "飞书" not in words
    assert "钉钉" in words


def test_a_row_of_an_older_mem0_is_upgraded_where_it_stands(life: Life) -> None:
    key = uuid.uuid4()
    old = {"data": "用户喜欢红茶", "user_id": life.scope.key, "created_at": "2025-01-01T08:00:00+08:00"}
    with life.database.transaction() as connection:
        connection.execute(insert(MemoryRow).values(id=key, vector=list(fake_vector("x")), payload=old))
    assert life.wish(Action.UPDATE, memory_id=str(key), text="用户喜欢绿茶").status is ChangeStatus.UPDATED
    payload = life.row(str(key)).payload
    assert payload["memory_schema_version"] == 2
    assert payload["created_at"] == old["created_at"]
    assert (payload["hash"], payload["status"]) == (content_hash("用户喜欢绿茶"), "active")
    assert "绿茶" in payload["text_lemmatized"]


def test_an_update_that_changes_nothing_writes_nothing(life: Life) -> None:
    memory_id = life.add(FEISHU)
    assert life.wish(Action.UPDATE, memory_id=memory_id, text=FEISHU).status is ChangeStatus.UNCHANGED
    assert operations(life.database, memory_id) == ["create"]


def test_an_update_to_the_text_of_another_memory_is_refused_whole(life: Life) -> None:
    first, second = life.add("用户喜欢红茶"), life.add("用户喜欢绿茶")
    changed = life.wish(Action.UPDATE, memory_id=second, text="用户喜欢红茶")
    assert (changed.status, changed.reason) == (ChangeStatus.REJECTED, "already_known")
    assert life.row(second).payload["data"] == "用户喜欢绿茶"
    assert life.row(first).payload["data"] == "用户喜欢红茶"
    assert operations(life.database, second) == ["create"]


@pytest.mark.parametrize("action", [Action.UPDATE, Action.DELETE])
def test_somebody_elses_memory_stays_untouched(life: Life, action: Action) -> None:
    other = Life(life.database, unique_scope(), life.embedder)
    memory_id = other.add(FEISHU)
    before = other.row(memory_id).payload
    fields: dict[str, Any] = {"text": "用户喜欢红茶"} if action is Action.UPDATE else {}
    changed = life.wish(action, memory_id=memory_id, **fields)
    assert changed == Changed(ChangeStatus.FORBIDDEN, memory_id)
    assert life.archive(memory_id).status is ChangeStatus.FORBIDDEN
    assert other.row(memory_id).payload == before
    keeper = SqlMemoryKeeper(life.database)
    assert (keeper.item(life.scope, memory_id), keeper.history(life.scope, memory_id)) == (None, None)
    unknown = str(uuid.uuid4())
    assert life.wish(action, memory_id=unknown, **fields) == Changed(ChangeStatus.NOT_FOUND, unknown)


def test_an_archived_memory_is_out_of_sight_until_it_is_restored(life: Life) -> None:
    memory_id = life.add(FEISHU)
    listing, index, keeper = (
        SqlMemoryListing(life.database),
        SqlMemoryIndex(life.database),
        SqlMemoryKeeper(life.database),
    )
    assert life.archive(memory_id).status is ChangeStatus.ARCHIVED
    assert life.archive(memory_id).status is ChangeStatus.UNCHANGED
    assert index.nearest(life.scope, fake_vector(FEISHU), 5) == []
    assert listing.page(life.scope, ItemFilter(), limit=5).items == ()
    archived = listing.page(life.scope, ItemFilter(statuses=("archived",)), limit=5)
    assert [item.id for item in archived.items] == [memory_id]
    assert keeper.restore(life.scope, memory_id, ANNA).status is ChangeStatus.RESTORED
    assert [found.id for found in index.nearest(life.scope, fake_vector(FEISHU), 5)] == [memory_id]
    assert operations(life.database, memory_id) == ["create", "archive", "restore"]


def test_a_backend_that_is_away_is_said_and_nothing_is_written(life: Life) -> None:
    life.embedder.failure = TransientError(Backend.EMBEDDING_UNAVAILABLE, "HTTP 500")
    changed = life.wish(Action.ADD, text=FEISHU, run_id="run-1")
    assert (changed.status, changed.reason) == (ChangeStatus.BACKEND_ERROR, "embedding_unavailable")
    assert rows(life.database, MemoryRow, mine(life.scope)) == 0
    # The run has decided to manage by itself all the same.
    assert rows(life.database, RunRow, RunRow.scope == life.scope.key, RunRow.run_id == "run-1") == 1


def test_the_candidate_of_a_run_that_managed_stays_out_in_both_orders(life: Life, ledger: SqlJobLedger) -> None:
    queued, _ = said(ledger, life.scope, "我以后都在飞书维护值班表", FEISHU, run_id="run-1")
    running = claimed(ledger, queued, Step.CLEANUP)
    assert running.closed is None
    assert life.wish(Action.NONE, run_id="run-1").status is ChangeStatus.NONE
    ledger.complete(running, Publish(running.staged))
    assert view(ledger, queued).outcome is Outcome.SKIPPED_MANAGED
    later, _ = said(ledger, life.scope, "我以后都在飞书维护值班表", FEISHU, run_id="run-1")
    assert claimed(ledger, later, Step.CLEANUP).closed == Finish(Outcome.SKIPPED_MANAGED, reason="run_managed")
    assert rows(life.database, MemoryRow, mine(life.scope)) == 0


def test_the_candidate_of_another_run_is_published(life: Life, ledger: SqlJobLedger) -> None:
    life.wish(Action.NONE, run_id="run-1")
    job_id, _ = said(ledger, life.scope, "我以后都在飞书维护值班表", FEISHU, run_id="run-2")
    job = claimed(ledger, job_id, Step.CLEANUP)
    ledger.complete(job, Publish(job.staged))
    assert view(ledger, job_id).outcome is Outcome.PUBLISHED


def test_managing_and_publishing_at_the_same_moment_never_both_write(life: Life, ledger: SqlJobLedger) -> None:
    for number in range(10):
        run = f"run-{number}"
        job_id, fact = said(ledger, life.scope, f"我的工号是 {number} 号啊", f"用户的工号是 {number}", run_id=run)
        job = claimed(ledger, job_id, Step.CLEANUP)
        barrier = threading.Barrier(2)

        def write(publish: bool, job: Any = job, run: str = run, barrier: threading.Barrier = barrier) -> None:
            barrier.wait()
            if publish:
                ledger.complete(job, Publish(job.staged))
            else:
                life.wish(Action.NONE, run_id=run)

        threads = [threading.Thread(target=write, args=(publish,)) for publish in (True, False)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        written = rows(life.database, MemoryRow, MemoryRow.id == uuid.UUID(fact.id))
        assert (view(ledger, job_id).outcome, written) in {(Outcome.PUBLISHED, 1), (Outcome.SKIPPED_MANAGED, 0)}


# Kind: vectorize-io/hindsight#3166.
def test_an_agent_does_not_translate_a_memory_but_its_user_may(life: Life) -> None:
    memory_id = life.add("用户最近在准备晋升答辩")
    before = life.row(memory_id).payload
    agent = Life(life.database, life.scope, life.embedder, writer=Writer("agent", "service"))
    english = {"memory_id": memory_id, "text": "The user passed the promotion review"}
    changed = agent.wish(Action.UPDATE, **english)
    assert (changed.status, changed.reason) == (ChangeStatus.REJECTED, "language_drift")
    assert life.row(memory_id).payload == before
    assert agent.wish(Action.UPDATE, memory_id=memory_id, text="用户通过了 promotion review 答辩").success
    assert life.wish(Action.UPDATE, **english).success


# Kind: simstudioai/sim#536.
def test_what_was_deleted_can_be_added_again(life: Life) -> None:
    first = life.add(FEISHU)
    assert life.forget(first).status is ChangeStatus.DELETED
    second = life.wish(Action.ADD, text=FEISHU)
    assert (second.status, second.inserted_count) == (ChangeStatus.ADDED, 1)
    assert second.memory_id != first


# Kind: simstudioai/sim#536.
def test_what_was_archived_can_be_added_again_and_stays_archived_beside_it(life: Life, ledger: SqlJobLedger) -> None:
    first = life.add(FEISHU)
    assert life.archive(first).success
    second = life.wish(Action.ADD, text=FEISHU)
    assert (second.status, second.inserted_count) == (ChangeStatus.ADDED, 1)
    assert life.links() == {"飞书": sorted([first, str(second.memory_id)])}
    again = life.wish(Action.ADD, text=FEISHU)
    assert (again.status, again.memory_id) == (ChangeStatus.ALREADY_KNOWN, second.memory_id)
    keeper = SqlMemoryKeeper(life.database)
    back = keeper.restore(life.scope, first, ANNA)
    assert (back.status, back.reason) == (ChangeStatus.REJECTED, "already_known")
    assert life.archive(str(second.memory_id)).success
    assert keeper.restore(life.scope, first, ANNA).success


def test_a_conversation_does_not_bring_back_what_was_archived(life: Life, ledger: SqlJobLedger) -> None:
    archived = life.add(FEISHU)
    life.archive(archived)
    seen, _ = published(ledger, life.scope, "我以后都在飞书维护值班表", FEISHU)
    assert (seen.outcome, seen.reason) == (Outcome.NO_EFFECT, "already_known")
    assert rows(life.database, MemoryRow, mine(life.scope)) == 1
    other = Life(life.database, unique_scope(), life.embedder)
    seen, _ = published(ledger, other.scope, "我以后都在飞书维护值班表", FEISHU)
    assert seen.outcome is Outcome.PUBLISHED


def expired(life: Life, content: str) -> str:
    """A memory whose last day was long ago, as the sweep leaves it."""
    memory_id = life.add(content)
    with life.database.transaction() as connection:
        payload = {**life.row(memory_id).payload, "expiration_date": "2020-01-31"}
        connection.execute(update(MemoryRow).where(MemoryRow.id == uuid.UUID(memory_id)).values(payload=payload))
        expire(connection, life.scope.key)
    assert life.row(memory_id).payload["status"] == "expired"
    return memory_id


def test_an_expired_memory_comes_back_with_a_new_last_day_and_only_so(life: Life) -> None:
    memory_id = expired(life, FEISHU)
    index, keeper = SqlMemoryIndex(life.database), SqlMemoryKeeper(life.database)
    refused = keeper.restore(life.scope, memory_id, ANNA)
    assert (refused.status, refused.reason) == (ChangeStatus.REJECTED, "expired")
    assert life.wish(Action.UPDATE, memory_id=memory_id, details=Details(importance=0.9)).success
    assert index.nearest(life.scope, fake_vector(FEISHU), 5) == []
    assert life.wish(Action.UPDATE, memory_id=memory_id, details=Details(expires_at="2099-01-31")).success
    assert [memory.id for memory in index.nearest(life.scope, fake_vector(FEISHU), 5)] == [memory_id]


def test_an_expired_memory_does_not_come_back_beside_a_newer_one_of_the_same_text(life: Life) -> None:
    memory_id = expired(life, FEISHU)
    life.add(FEISHU)
    changed = life.wish(Action.UPDATE, memory_id=memory_id, details=Details(expires_at="2099-01-31"))
    assert (changed.status, changed.reason) == (ChangeStatus.REJECTED, "already_known")


# Kinds: mem0ai/mem0#4536, mem0ai/mem0#5867.
@pytest.mark.parametrize(
    ("known", "sentence", "fact"),
    [
        ("用户爱吃川菜", "我现在不吃辣了，改吃粤菜", "用户现在不吃辣，改吃粤菜"),
        ("User eats meat every day", "I have become a vegan this spring", "User has become a vegan"),
        ("用户最喜欢的球员是梅西", "我弟弟最喜欢的球员是罗纳尔多", "用户的弟弟最喜欢的球员是罗纳尔多"),
        ("用户的工号是 1024", "我弟弟的工号是 1025", "用户的弟弟的工号是 1025"),
        ("User prefers tea", "My partner prefers tea with milk", "User's partner prefers tea"),
        ("用户喜欢红茶", "我喜欢绿茶", "用户喜欢绿茶"),
    ],
)
def test_a_new_fact_stands_beside_what_it_resembles_or_contradicts(
    life: Life, ledger: SqlJobLedger, known: str, sentence: str, fact: str
) -> None:
    first = life.add(known)
    before = life.row(first)
    job_id, one = said(ledger, life.scope, sentence, fact)
    job = claimed(ledger, job_id, Step.CLEANUP)
    # Nothing is nearer than the very same vector.
    ledger.complete(job, Publish((replace(job.staged[0], vector=tuple(before.vector)),)))
    assert view(ledger, job_id).outcome is Outcome.PUBLISHED
    assert life.row(first).payload == before.payload
    listed = SqlMemoryListing(life.database).page(life.scope, ItemFilter(), limit=5).items
    assert {item.id: item.content for item in listed} == {first: known, one.id: fact}


# Kind: MemTensor/MemOS#2329.
def test_an_id_stays_the_id_of_its_memory_whatever_happens_around_it(life: Life, ledger: SqlJobLedger) -> None:
    memory_id = life.add(FEISHU)
    keeper = SqlMemoryKeeper(life.database)
    for happens in (
        lambda: published(ledger, life.scope, "我以后都在飞书维护值班表", FEISHU),
        lambda: life.wish(Action.ADD, text=FEISHU),
        lambda: life.wish(Action.UPDATE, memory_id=memory_id, text="用户在“钉钉”维护值班表"),
        lambda: published(ledger, life.scope, "我每天早上六点起床跑步", "用户每天早上六点起床跑步"),
        lambda: life.archive(memory_id),
        lambda: keeper.restore(life.scope, memory_id, ANNA),
        lambda: maintain(life.database, Retention()),
    ):
        happens()
        history = keeper.history(life.scope, memory_id)
        assert history is not None
        assert history[0].new_text == FEISHU
    assert life.row(memory_id).payload["data"] == "用户在“钉钉”维护值班表"
    assert life.links() == {"钉钉": [memory_id]}


# Kind: MemTensor/MemOS#2329.
def test_a_fact_has_one_id_from_its_first_step_to_its_memory(life: Life, ledger: SqlJobLedger) -> None:
    seen, one = published(ledger, life.scope, "我以后都在飞书维护值班表", FEISHU)
    item = SqlMemoryKeeper(life.database).item(life.scope, one.id)
    explained = ledger.explain(seen.id)
    assert item is not None
    assert item.content == FEISHU
    assert explained is not None
    assert one.id in str(explained)


def test_a_name_is_one_entity_however_it_is_written(life: Life) -> None:
    made = [
        life.add(f"用户在“{name}”项目里负责第 {n} 部分") for n, name in enumerate(("Poco  UI", "POCO UI", "poco ui"))
    ]
    ((_, linked),) = life.links().items()
    assert linked == sorted(made)
    life.forget(made[0])
    assert list(life.links().values()) == [sorted(made[1:])]


# Kind: mem0ai/mem0#6243.
def test_links_of_one_name_survive_changes_at_the_same_moment(life: Life) -> None:
    old = [life.add(f"用户在“飞书”里有第 {number} 个群") for number in range(6)]

    def change(number: int) -> None:
        if number % 2:
            life.forget(old[number])
        else:
            life.add(f"用户在“飞书”里建了第 {number} 张表")

    threads = [threading.Thread(target=change, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with life.database.transaction() as connection:
        present = {str(key) for key in connection.execute(select(MemoryRow.id).where(mine(life.scope))).scalars()}
    assert set(life.links()["飞书"]) == present
    assert len(present) == 6


def test_a_worker_that_sleeps_through_a_forget_of_its_user_brings_nothing_back(
    life: Life, ledger: SqlJobLedger
) -> None:
    job_id, fact = said(ledger, life.scope, "我以后都在飞书维护值班表", FEISHU)
    running = claimed(ledger, job_id, Step.CLEANUP)
    changed = SqlEraser(life.database).forget_all(life.scope, ANNA)
    assert changed.status is ChangeStatus.DELETED
    with pytest.raises(Fenced):
        ledger.complete(running, Publish(running.staged))
    seen = view(ledger, job_id)
    assert (seen.outcome, seen.reason, seen.has_content) == (Outcome.CANCELLED, "forgotten", False)
    assert rows(life.database, MemoryRow, MemoryRow.id == uuid.UUID(fact.id)) == 0


def test_publishing_still_works_for_a_user_who_came_back(life: Life, ledger: SqlJobLedger) -> None:
    SqlEraser(life.database).forget_all(life.scope, ANNA)
    seen, _ = published(ledger, life.scope, "我以后都在飞书维护值班表", FEISHU)
    assert seen.outcome is Outcome.PUBLISHED
    assert rows(life.database, MemoryRow, mine(life.scope)) == 1
