"""Rows that another program, or an older rule, left in mem0's table: no one of them spoils the others."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import insert, text

from domain.lifecycle import Action, ChangeStatus, Details, ItemFilter
from domain.scope import Scope
from storage.database import Database
from storage.forget import SqlEraser
from storage.keeper import SqlMemoryKeeper
from storage.listing import SqlMemoryListing
from storage.memories import SqlMemoryIndex
from storage.tables import EntityRow
from tests.fakes import DIMS, FakeEmbedder, fake_vector
from tests.integration.conftest import EMBEDDING_DIMS
from tests.lifecycles import ANNA, Life
from tests.scripted_model import ScriptedModel, bigram_vector
from tests.stack import Stack

TEA = "用户喜欢红茶"


STRANGE: list[dict[str, Any]] = [
    {"evidence": "page 7"},
    {"evidence": {"page": 7}},
    {"evidence": {"message": "0", "start": None, "end": 3.5, "role": 7}},
    {"data": 5},
    {"data": {"text": TEA}},
    {"created_at": 5, "updated_at": ["x"]},
    {"created_at": "yesterday", "updated_at": "infinity"},
    {"created_at": "2026-03-01T00:30:00"},
    {"expiration_date": {"a": 1}},
    {"expiration_date": "some day"},
    {"status": 3},
    {"type": ["a"], "confidence": "high", "sensitivity": True, "is_explicit": 1, "run_id": 7},
    {"text_lemmatized": None, "hash": None, "attributed_to": 4},
]


@pytest.fixture
def life(database: Database, scope: Scope) -> Life:
    return Life(database, scope, FakeEmbedder())


def stored(database: Database, payload: object, vector: Sequence[float] | None = fake_vector(TEA)) -> str:
    """A row with any payload at all."""
    key = uuid.uuid4()
    row = {"id": key, "vector": vector and str(list(vector)), "payload": json.dumps(payload)}
    statement = "INSERT INTO poco_memories VALUES (:id, CAST(:vector AS vector), CAST(:payload AS jsonb))"
    with database.transaction() as connection:
        connection.execute(text(statement), row)
    return str(key)


def looked_at(database: Database, scope: Scope, memory_id: str) -> dict[str, Any]:
    """Everything a user can look at; whatever is in the table, none of it may fail."""
    listing, keeper = SqlMemoryListing(database), SqlMemoryKeeper(database)
    return {
        "listed": [item.content for item in listing.page(scope, ItemFilter(), limit=9).items],
        "found": [memory.text for memory in SqlMemoryIndex(database).nearest(scope, fake_vector(TEA), 9)],
        "related": listing.related(scope, memory_id, limit=9),
        "overview": listing.overview(scope, time_zone="Asia/Shanghai", days=3),
        "topics": listing.topics(scope, limit=9),
        "item": keeper.item(scope, memory_id),
        "history": keeper.history(scope, memory_id),
    }


# Kinds: mem0ai/mem0#4402, mem0ai/mem0#5160.
@pytest.mark.parametrize("strange", STRANGE, ids=str)
@pytest.mark.parametrize("vector", [fake_vector(TEA), None], ids=["vector", "no vector"])
def test_a_row_of_another_program_can_be_seen_corrected_and_forgotten(
    life: Life, strange: dict[str, Any], vector: Sequence[float] | None
) -> None:
    good = life.add("用户住在杭州西湖区")
    payload = {"data": TEA, "user_id": life.scope.key, "category": "drinks", **strange}
    odd = stored(life.database, payload, vector)
    seen = looked_at(life.database, life.scope, odd)
    assert "用户住在杭州西湖区" in seen["listed"]
    assert "用户住在杭州西湖区" in seen["found"]
    assert all(isinstance(words, str) for words in (*seen["listed"], *seen["found"]))
    details = seen["item"].details
    assert details.metadata == {"category": "drinks"}
    assert {type(details.type), type(seen["item"].run_id), type(seen["item"].created_at)} <= {str, type(None)}
    assert type(details.confidence) in (float, type(None))
    assert looked_at(life.database, life.scope, good)["item"].content == "用户住在杭州西湖区"
    changed = life.wish(Action.UPDATE, memory_id=odd, text="用户喜欢绿茶", details=Details(importance=0.4))
    assert changed.status is ChangeStatus.UPDATED
    seen = looked_at(life.database, life.scope, odd)
    assert (seen["item"].content, seen["item"].details.importance) == ("用户喜欢绿茶", 0.4)
    assert seen["history"][-1].new_text == "用户喜欢绿茶"
    assert life.forget(odd).status is ChangeStatus.DELETED
    assert SqlEraser(life.database).forget_all(life.scope, ANNA).success


def test_what_is_answered_of_such_rows_is_as_published(stack: Stack, stack_database: Database, user_id: str) -> None:
    base = {"data": TEA, "user_id": f"test:{user_id}", "category": "drinks"}
    ids = [stored(stack_database, base | strange, bigram_vector(TEA, EMBEDDING_DIMS)) for strange in STRANGE]
    body = {"tenant_id": "test", "user_id": user_id}
    # The stack holds each answer against the published document.
    listed = stack.post("/v1/memories/list-user", body).body["items"]
    assert {item["id"] for item in listed} >= {ids[0], ids[3]}
    assert all(item["metadata"] == {"category": "drinks"} for item in listed)
    for path in ("overview", "topics"):
        assert stack.post(f"/v1/memories/{path}", body).status == 200
    for path in ("related", "history"):
        assert {stack.post(f"/v1/memories/{path}", {**body, "memory_id": key}).status for key in ids} == {200}
    assert stack.search(user_id, TEA)["total"] > 0


# Kind: mem0ai/mem0#6817.
@pytest.mark.parametrize("secret", ["部署密码是 " + "Qm7x@" + "99821", "The deploy password is " + "Qm7x@" + "99821"])
def test_a_secret_that_was_stored_before_the_rules_reaches_no_prompt(
    stack: Stack, stack_database: Database, model: ScriptedModel, user_id: str, secret: str
) -> None:
    harmless = "用户每周二部署"
    for words in (secret, harmless):
        row = {"data": words, "user_id": f"test:{user_id}"}
        stored(stack_database, row, bigram_vector(words, EMBEDDING_DIMS))
    stack.finished(stack.ingest(user_id, f"以后 deploy 部署都走流水线 [{user_id}]", "好的"))
    asked = [json.dumps(one.body, ensure_ascii=False) for one in model.requests]
    (prompt,) = [body for body in asked if f"[{user_id}]" in body]
    assert harmless in prompt
    assert secret[-9:] not in prompt
    found = stack.search(user_id, secret, min_score=0)["items"]
    assert [hit["content"] for hit in found] == [harmless]


@pytest.mark.parametrize("vector", [None, [0.0] * DIMS], ids=["none", "zeros"])
def test_a_memory_without_a_direction_is_near_nothing(life: Life, vector: list[float] | None) -> None:
    odd = stored(life.database, {"data": TEA, "user_id": life.scope.key}, vector)
    good = life.add("用户住在杭州西湖区")
    listing, index = SqlMemoryListing(life.database), SqlMemoryIndex(life.database)
    for asked in (fake_vector("x"), fake_vector("用户住在杭州西湖区")):
        assert [memory.id for memory in index.nearest(life.scope, asked, 9)] == [good]
    assert index.nearest(life.scope, (0.0,) * DIMS, 9) == []
    assert (listing.related(life.scope, good, limit=9), listing.related(life.scope, odd, limit=9)) == ([], [])


@pytest.mark.parametrize("links", [None, "x", 5, {"a": 1}, [], ["no-uuid", None, 5]], ids=str)
def test_an_entity_of_another_program_spoils_no_topics(life: Life, links: object) -> None:
    memory_id = life.add("用户在“飞书”维护值班表")
    entity = {"data": "钉钉", "entity_type": "PROPER", "user_id": life.scope.key, "linked_memory_ids": links}
    with life.database.transaction() as connection:
        connection.execute(insert(EntityRow).values(id=uuid.uuid4(), payload=entity))
    listing = SqlMemoryListing(life.database)
    assert [topic.name for topic in listing.topics(life.scope, limit=9)] == ["飞书"]
    again = life.add("用户用“钉钉”打卡")
    assert {topic.name for topic in listing.topics(life.scope, limit=9)} == {"飞书", "钉钉"}
    assert life.forget(memory_id).status is ChangeStatus.DELETED
    assert life.forget(again).status is ChangeStatus.DELETED


@pytest.mark.parametrize("links", ["{}", {"{}": 1}, ["{}", 5, ["{}"]], ["{}", "other"]], ids=str)
def test_a_memory_leaves_the_links_of_another_program(life: Life, links: object) -> None:
    memory_id = stored(life.database, {"data": TEA, "user_id": life.scope.key})
    payload = {"data": "钉钉", "user_id": life.scope.key, "linked_memory_ids": links}
    said = json.loads(json.dumps(payload).replace("{}", memory_id))
    with life.database.transaction() as connection:
        connection.execute(insert(EntityRow).values(id=uuid.uuid4(), payload=said))
    assert life.forget(memory_id).status is ChangeStatus.DELETED
    assert life.links() == ({"钉钉": ["other"]} if "other" in str(links) else {})


@pytest.mark.parametrize(
    "payload", [None, [1], "x", 5, {}, {"user_id": None, "data": TEA}, {"user_id": ["a"]}], ids=str
)
def test_a_row_that_belongs_to_nobody_is_nobodys(life: Life, payload: object) -> None:
    key = stored(life.database, payload)
    seen = looked_at(life.database, life.scope, key)
    assert (seen["listed"], seen["found"], seen["item"], seen["related"]) == ([], [], None, None)
    assert life.wish(Action.UPDATE, memory_id=key, text="用户喜欢绿茶").status is ChangeStatus.FORBIDDEN
    assert life.archive(key).status is ChangeStatus.FORBIDDEN
    assert life.forget(key).status is ChangeStatus.FORBIDDEN
    assert SqlMemoryKeeper(life.database).restore(life.scope, key, ANNA).status is ChangeStatus.FORBIDDEN
