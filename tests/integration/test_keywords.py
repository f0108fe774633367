"""The keyword index on the stored rows: Chinese and English words are found in it, by the index."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from domain.lifecycle import Action
from domain.scope import Scope
from nlp.segment import terms
from storage.database import Database
from tests.fakes import FakeEmbedder
from tests.lifecycles import Life

VECTOR = "to_tsvector('simple'::regconfig, payload ->> 'text_lemmatized')"
QUERY = "to_tsquery('simple'::regconfig, :query)"
HOLDS = f"{VECTOR} @@ {QUERY}"
RANKED = f"SELECT id::text, ts_rank({VECTOR}, {QUERY}) AS rank FROM poco_memories WHERE {HOLDS}"


@pytest.fixture
def life(database: Database, scope: Scope) -> Life:
    return Life(database, scope, FakeEmbedder())


def ranked(life: Life, query: str) -> dict[str, float]:
    """Memories of the scope that hold a word of the query, with PostgreSQL's own rank."""
    words = " | ".join("'" + term.replace("'", "''") + "'" for term in terms(query).split())
    with life.database.transaction() as connection:
        statement = text(f"{RANKED} AND payload ->> 'user_id' = :user")
        rows = connection.execute(statement, {"query": words, "user": life.scope.key}).all()
    return {row.id: row.rank for row in rows}


# Kinds: mem0ai/mem0#7164, NousResearch/hermes-agent#98464, mem0ai/mem0#6717.
@pytest.mark.parametrize(
    ("fact", "query"),
    [
        ("用户的生日是十月三日", "生日"),
        ("用户的生日是十月三日", "用户哪天过生日？"),
        ("用户长期吃素", "吃素"),
        ("用户在飞书维护排班表", "飞书"),
        ("用户在飞书维护排班表", "排班"),
        ("用户养鹅", "鹅"),
        ("用户对花生严重过敏", "花生过敏"),
        ("用戶偏好繁體中文", "繁體"),
        ("项目代号是罗塞塔棱镜", "棱镜"),
        ("User keeps the rota in Feishu", "rotas"),
        ("User is allergic to peanuts", "peanut allergy"),
        ("用户用 Node.js 和 foo_bar", "node.js"),
        ("用户的宠物是 Python 蛇", "ＰＹＴＨＯＮ"),
    ],
)
def test_a_word_of_a_stored_fact_is_found_by_the_keyword_index(life: Life, fact: str, query: str) -> None:
    wanted = life.add(fact)
    life.add("用户住在杭州西湖区" if "住" not in fact else "用户每天早上六点起床跑步")
    found = ranked(life, query)
    assert list(found) == [wanted]
    assert found[wanted] > 0


# Kind: CortexReach/memory-lancedb-pro#544.
@pytest.mark.parametrize(
    ("before", "after", "old", "new"),
    [
        ("用户在飞书维护值班表", "用户在钉钉维护值班表", "飞书", "钉钉"),
        ("User keeps the rota in Notion", "User keeps the rota in Linear", "notion", "linear"),
        ("用户只吃鱼", "用户只吃虾", "鱼", "虾"),
    ],
)
def test_a_corrected_memory_is_found_by_its_new_words_only(
    life: Life, before: str, after: str, old: str, new: str
) -> None:
    memory_id = life.add(before)
    assert list(ranked(life, old)) == [memory_id]
    assert life.wish(Action.UPDATE, memory_id=memory_id, text=after).success
    assert (ranked(life, old), list(ranked(life, new))) == ({}, [memory_id])
    life.forget(memory_id)
    assert ranked(life, new) == {}


@pytest.mark.parametrize("query", ["鹅", "吃素", "茶", "x"])
def test_a_query_of_one_or_two_signs_reads_the_index_and_not_the_table(life: Life, query: str) -> None:
    life.add("用户住在杭州西湖区")
    assert ranked(life, query) == {}
    with life.database.transaction() as connection:
        # So few rows as here would be read whole in any case.
        connection.execute(text("SET LOCAL enable_seqscan = off"))
        plan = connection.execute(text(f"EXPLAIN {RANKED}"), {"query": f"'{query}'"}).scalars()
        assert "poco_memories_text_lemmatized_idx" in "\n".join(plan)
