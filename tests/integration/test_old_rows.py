"""Rows that another program, or an older rule, left in mem0's table: no one of them spoils the others."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest
from sqlalchemy import text

from domain.lifecycle import Action, ChangeStatus, Details, ItemFilter
from domain.scope import Scope
from storage.database import Database
from storage.forget import SqlEraser
from storage.keeper import SqlMemoryKeeper
from storage.listing import SqlMemoryListing
from storage.memories import SqlMemoryIndex
from tests.fakes import FakeEmbedder, fake_vector
from tests.lifecycles import ANNA, Life

TEA = "用户喜欢红茶"


@pytest.fixture
def life(database: Database, scope: Scope) -> Life:
    return Life(database, scope, FakeEmbedder())


def stored(database: Database, payload: object, *, vector: bool = True) -> str:
    """A row with any payload at all."""
    key = uuid.uuid4()
    row = {"id": key, "vector": str(list(fake_vector(TEA))) if vector else None, "payload": json.dumps(payload)}
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
@pytest.mark.parametrize(
    "strange",
    [
        {"evidence": "page 7"},
        {"evidence": {"page": 7}},
        {"data": 5},
        {"data": {"text": TEA}},
        {"created_at": 5, "updated_at": ["x"]},
        {"created_at": "yesterday", "updated_at": "infinity"},
        {"created_at": "2026-03-01T00:30:00"},
        {"expiration_date": {"a": 1}, "status": 3},
        {"type": ["a"], "confidence": "high", "sensitivity": True, "is_explicit": 1, "run_id": 7},
        {"text_lemmatized": None, "hash": None, "attributed_to": 4},
    ],
    ids=str,
)
@pytest.mark.parametrize("vector", [True, False], ids=["vector", "no vector"])
def test_a_row_of_another_program_can_be_seen_corrected_and_forgotten(
    life: Life, strange: dict[str, Any], vector: bool
) -> None:
    good = life.add("用户住在杭州西湖区")
    payload = {"data": TEA, "user_id": life.scope.key, "category": "drinks", **strange}
    odd = stored(life.database, payload, vector=vector)
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
