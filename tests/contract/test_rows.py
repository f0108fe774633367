"""What we rely on in mem0's internals: a test for each row of the table of risks in the Poco note, section 12.1.

A test's id holds its row, so that a failure names it. Where our own store took the place of what the row names, its
test holds the format that this store shares with mem0, and says so.
"""

from __future__ import annotations

import inspect
import re
import sqlite3
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, text

from domain.facts import Entity, EntityType, StagedFact
from domain.lifecycle import Writer
from domain.scope import Scope
from domain.text import content_hash
from storage.database import Database
from storage.entities import entity_key, link, unlink
from storage.forget import SqlEraser
from storage.history import SqlHistory
from storage.history_file import COLUMNS
from storage.keeper import SqlMemoryKeeper
from storage.mem0_adapter import build_memory, import_mem0
from storage.mem0_stores import CapturingVectorStore, RememberingEmbedder, SilentHistory
from storage.memories import SqlMemoryIndex
from storage.tables import ENTITIES, MEMORIES, EntityRow
from tests.contract.conftest import StockModel
from tests.contract.newest import ROWS, fingerprints
from tests.fakes import DIMS, FakeEmbedder, FakeIndex, fake_vector, unique_scope

TEA, COFFEE = "用户喜欢喝茶", "用户喜欢喝咖啡"
TURNS = [{"role": "user", "content": "我喜欢喝茶"}, {"role": "assistant", "content": "好的"}]
UNLINK, LINK, CONNECTION, HISTORY, MESSAGES, RESULTS, ATTRIBUTED, DELETE, SCHEMA = ROWS


def row(name: str) -> pytest.MarkDecorator:
    """The row of the table that a test holds."""
    return pytest.mark.parametrize("row_name", [name], indirect=True)


@pytest.fixture(autouse=True)
def row_name(request: pytest.FixtureRequest) -> None:
    """Tell the row to the report on another release."""
    request.node.user_properties.append(("row", getattr(request, "param", "")))


def entities(database: Database, scope: Scope) -> dict[str, dict[str, Any]]:
    """The payloads of a scope's entities by name."""
    mine = select(EntityRow.payload).where(EntityRow.payload["user_id"].astext == scope.key)
    with database.transaction() as connection:
        return {payload["data"]: payload for payload in connection.execute(mine).scalars()}


def linked(database: Database, scope: Scope, name: str, *memory_ids: str) -> None:
    """Link memories to a name, by our own store."""
    entity = Entity(name, EntityType.QUOTED, fake_vector(name))
    facts = [StagedFact(key, TEA, fake_vector(TEA), "user", entities=(entity,)) for key in memory_ids]
    with database.transaction() as connection:
        link(connection, scope.key, facts)


def parameters(function: Callable[..., object]) -> list[str]:
    return [name for name in inspect.signature(function).parameters if name != "self"]


def test_each_row_of_the_table_has_a_test() -> None:
    marks = [mark for test in list(globals().values()) for mark in getattr(test, "pytestmark", [])]
    held = {mark.args[1][0] for mark in marks if mark.args[0] == "row_name"}
    assert held == set(ROWS)


def test_the_code_that_the_report_compares_is_there(mem0_dir: Path) -> None:
    import_mem0(mem0_dir)
    assert [name for name, digest in fingerprints().items() if digest == sha256().hexdigest()] == []


# We take links out ourselves (storage/entities.py). What has to hold is that either side can undo the other's links.
@row(UNLINK)
def test_mem0_takes_out_the_links_that_we_wrote(stock: Any, database: Database) -> None:
    scope, gone, stays = unique_scope(), str(uuid.uuid4()), str(uuid.uuid4())
    linked(database, scope, "飞书", gone, stays)
    linked(database, scope, "邮件", gone)
    assert parameters(stock._remove_memory_from_entity_store) == ["memory_id", "filters"]
    assert stock.entity_store is not None
    stock._remove_memory_from_entity_store(gone, {"user_id": scope.key})
    assert {name: payload["linked_memory_ids"] for name, payload in entities(database, scope).items()} == {
        "飞书": [stays]
    }


@row(UNLINK)
def test_we_take_out_the_links_that_mem0_wrote(stock: Any, database: Database) -> None:
    scope, gone, stays = unique_scope(), str(uuid.uuid4()), str(uuid.uuid4())
    for memory_id in (gone, stays):
        stock._upsert_entity("飞书", "QUOTED", memory_id, {"user_id": scope.key})
    stock._upsert_entity("邮件", "QUOTED", gone, {"user_id": scope.key})
    with database.transaction() as connection:
        unlink(connection, scope.key, [gone])
    assert {name: payload["linked_memory_ids"] for name, payload in entities(database, scope).items()} == {
        "飞书": [stays]
    }


# Links are written by us as well, in the transaction that publishes. The row must be mem0's to the last key.
@row(LINK)
def test_mem0_writes_an_entity_as_we_do(stock: Any, database: Database) -> None:
    scope, memory_id = unique_scope(), str(uuid.uuid4())
    assert parameters(stock._upsert_entity) == ["entity_text", "entity_type", "memory_id", "filters"]
    stock._upsert_entity("飞书", "QUOTED", memory_id, {"user_id": scope.key})
    linked(database, scope, "邮件", memory_id)
    theirs, ours = (entities(database, scope)[name] for name in ("飞书", "邮件"))
    assert theirs == {**ours, "data": "飞书"}


@row(LINK)
def test_one_name_stays_one_entity_whoever_links_it(stock: Any, database: Database) -> None:
    scope, ours, theirs = unique_scope(), str(uuid.uuid4()), str(uuid.uuid4())
    linked(database, scope, "Blue  Heron", ours)
    stock._upsert_entity("blue heron", "PROPER", theirs, {"user_id": scope.key})
    stock._upsert_entity("Night Owl", "PROPER", theirs, {"user_id": scope.key})
    linked(database, scope, "night  owl", ours)
    assert {name: sorted(payload["linked_memory_ids"]) for name, payload in entities(database, scope).items()} == {
        "Blue  Heron": sorted([ours, theirs]),
        "Night Owl": sorted([ours, theirs]),
    }


@row(LINK)
@pytest.mark.parametrize("name", ["飞书", "  Blue\tHERON ", "ＡＢＣ", "İstanbul", "a\u3000b"])
def test_mem0_tells_names_apart_as_we_do(stock: Any, name: str) -> None:
    assert stock._normalize_entity_text(name) == entity_key(name)


# Nobody reaches into mem0's connection here: `db` is replaced as a whole, so what counts is what is called on it.
@row(CONNECTION)
def test_our_history_takes_every_call_of_mem0_but_the_reset(mem0_dir: Path) -> None:
    main = import_mem0(mem0_dir)
    called = set(re.findall(r"self\.db\.(\w+)", inspect.getsource(main.Memory)))
    answered = {"add_history", "batch_add_history", "get_history", "save_messages", "get_last_messages", "close"}
    assert called == {*answered, "reset"}
    for name in answered:
        assert parameters(getattr(SqlHistory, name)) == parameters(getattr(main.SQLiteManager, name)), name


@row(CONNECTION)
def test_an_inference_asks_its_history_for_messages_and_writes_through_it_alone(mem0_dir: Path) -> None:
    inference = Inference(mem0_dir, unique_scope(), {"text": TEA})
    inference.add()
    assert inference.called("db") == ["get_last_messages", "batch_add_history", "save_messages"]
    assert isinstance(inference.memory.db.part, SilentHistory)


@row(CONNECTION)
def test_the_connection_that_mem0_opens_by_itself_can_be_closed(mem0_dir: Path) -> None:
    memory = build_memory(mem0_dir, dims=DIMS)
    assert memory.db.connection is None
    assert list(mem0_dir.glob("*.db")) == []


@pytest.fixture
def history_db(stock: Any, mem0_dir: Path, tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A file in which stock mem0 has noted an added, updated and deleted memory, and a conversation."""
    path = tmp_path / "history.db"
    stock.db = import_mem0(mem0_dir).SQLiteManager(str(path))
    scope = unique_scope()
    stock.llm.facts = [{"text": TEA, "attributed_to": "user"}]
    (added,) = stock.add(TURNS, user_id=scope.key)["results"]
    stock.update(added["id"], text=COFFEE)
    stock.delete(added["id"])
    connection = sqlite3.connect(path)
    connection.execute("CREATE TEMP TABLE expected AS SELECT ? AS memory_id, ? AS scope", (added["id"], scope.key))
    yield connection
    connection.close()
    stock.db.close()


# History is our table; an existing file is moved over, and cleaned, by `poco-memory history`.
@row(HISTORY)
def test_the_file_names_the_memory_of_each_change(history_db: sqlite3.Connection) -> None:
    columns = [column[1] for column in history_db.execute("PRAGMA table_info(history)")]
    assert columns == list(COLUMNS)
    changes = history_db.execute(
        "SELECT event, old_memory, new_memory FROM history JOIN expected USING (memory_id) ORDER BY history.rowid"
    ).fetchall()
    assert changes == [("ADD", None, TEA), ("UPDATE", TEA, COFFEE), ("DELETE", COFFEE, None)]


@row(HISTORY)
def test_our_history_answers_as_mem0s_does(database: Database, mem0_dir: Path) -> None:
    memory_id = str(uuid.uuid4())
    histories = import_mem0(mem0_dir).SQLiteManager(":memory:"), SqlHistory(database)
    for history in histories:
        record = {"memory_id": memory_id, "new_memory": TEA, "event": "ADD", "created_at": "2026-01-01T00:00:00+00:00"}
        history.batch_add_history([record])
        for day, old, new, event in ((2, TEA, COFFEE, "UPDATE"), (3, COFFEE, None, "DELETE")):
            at = f"2026-01-0{day}T00:00:00+00:00"
            history.add_history(
                *(memory_id, old, new, event),
                created_at=record["created_at"],
                updated_at=at,
                is_deleted=int(new is None),
                actor_id="anna",
                role="user",
            )
    theirs, ours = ([{**change, "id": ""} for change in history.get_history(memory_id)] for history in histories)
    assert theirs == ours
    histories[0].close()


# No conversation is kept here. In a file that is cleaned the whole table goes, and there must be no third one.
@row(MESSAGES)
def test_a_conversation_is_noted_in_the_file_by_its_scope(history_db: sqlite3.Connection) -> None:
    tables = {name for (name,) in history_db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert tables == {"history", "messages"}
    columns = [column[1] for column in history_db.execute("PRAGMA table_info(messages)")]
    assert columns == ["id", "session_scope", "role", "content", "name", "created_at"]
    query = "SELECT content, session_scope = 'user_id=' || scope FROM messages, expected ORDER BY messages.rowid"
    assert history_db.execute(query).fetchall() == [(turn["content"], 1) for turn in TURNS]


# The adapter compares these ids with what reached its store, and takes text and role from there.
@row(RESULTS)
def test_add_tells_id_text_and_event_of_what_it_inserted(mem0_dir: Path) -> None:
    inference = Inference(mem0_dir, unique_scope(), {"text": TEA, "attributed_to": "user"}, {"text": COFFEE})
    results = inference.add()
    assert [set(result) for result in results] == [{"id", "memory", "event"}] * 2
    stored = [(memory_id, payload["data"], "ADD") for memory_id, _, payload in inference.store.captured]
    assert [(result["id"], result["memory"], result["event"]) for result in results] == stored
    assert [text for _, text, _ in stored] == [TEA, COFFEE]
    assert Inference(mem0_dir, unique_scope()).add() == []


@row(RESULTS)
def test_add_takes_what_the_adapter_passes(mem0_dir: Path) -> None:
    added = inspect.signature(import_mem0(mem0_dir).Memory.add).parameters
    assert [name for name in ("messages", "user_id", "infer", "prompt") if name not in added] == []


@row(ATTRIBUTED)
def test_the_role_of_a_fact_is_what_the_model_said(mem0_dir: Path) -> None:
    facts = [{"text": TEA, "attributed_to": "system"}, {"text": COFFEE}]
    inference = Inference(mem0_dir, unique_scope(), *facts)
    inference.add()
    roles = [payload.get("attributed_to", "absent") for _, _, payload in inference.store.captured]
    assert roles == ["system", "absent"]


@row(ATTRIBUTED)
def test_get_tells_the_role_of_what_was_inferred_or_published_and_of_no_explicit_add(
    stock: Any, published: tuple[Scope, StagedFact]
) -> None:
    scope, fact = published
    stock.llm.facts = [{"text": TEA, "attributed_to": "assistant"}]
    (inferred,) = stock.add(TURNS, user_id=scope.key)["results"]
    (explicit,) = stock.add(COFFEE, user_id=scope.key, infer=False)["results"]
    roles = [stock.get(memory_id).get("attributed_to") for memory_id in (fact.id, inferred["id"], explicit["id"])]
    assert roles == ["user", "assistant", None]


# We delete in one transaction. mem0's order decides what another program leaves that dies in the middle of its own.
@row(DELETE)
def test_mem0_deletes_the_vector_before_it_writes_history_and_unlinks(
    stock: Any, published: tuple[Scope, StagedFact], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    for name in ("vector_store", "db"):
        monkeypatch.setattr(stock, name, Recorded(name, getattr(stock, name), calls))
    monkeypatch.setattr(stock, "_remove_memory_from_entity_store", lambda *_: calls.append("unlink"))
    stock.delete(published[1].id)
    assert calls == ["vector_store.get", "vector_store.delete", "db.add_history", "unlink"]


@row(DELETE)
def test_what_a_delete_of_mem0_leaves_that_breaks_off_is_found_and_swept(
    stock: Any, database: Database, published: tuple[Scope, StagedFact], monkeypatch: pytest.MonkeyPatch
) -> None:
    scope, fact = published

    def broken(*_: object, **__: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(stock.db, "add_history", broken)
    with pytest.raises(OSError, match="disk full"):
        stock.delete(fact.id)
    eraser = SqlEraser(database)
    left = eraser.scan(scope, fact.id)
    assert (left.memories, left.entity_links, left.history) == (0, 1, 1)
    assert eraser.forget_all(scope, Writer("operator")).success
    assert eraser.scan(scope, fact.id).total == 0


# The two tables are mem0's own, and rows of either side are read by both.
@row(SCHEMA)
def test_our_tables_are_those_that_mem0_would_make(stock: Any, database: Database, mem0_dir: Path) -> None:
    made = f"contract_{uuid.uuid4().hex[:8]}"
    store = type(stock.vector_store)
    options = {"embedding_model_dims": DIMS, "diskann": False, "hnsw": True, "collection_name": made}
    access = dict.fromkeys(("dbname", "user", "password", "host", "port"))
    store(**options, **access, connection_pool=stock.vector_store.connection_pool).create_col()
    assert stock.entity_store.collection_name == ENTITIES
    types = text(
        "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute"
        " WHERE attrelid = cast(:name AS regclass) AND attnum > 0 ORDER BY attnum"
    )
    with database.transaction() as connection:
        theirs, *ours = (connection.execute(types, {"name": name}).all() for name in (made, MEMORIES, ENTITIES))
        connection.execute(text(f"DROP TABLE {made}"))
    assert ours == [theirs, theirs]


@row(SCHEMA)
def test_a_fact_comes_with_the_payload_that_we_publish(mem0_dir: Path) -> None:
    scope = unique_scope()
    inference = Inference(mem0_dir, scope, {"text": TEA, "attributed_to": "user"})
    inference.add()
    ((memory_id, vector, payload),) = inference.store.captured
    assert uuid.UUID(memory_id)
    assert vector == fake_vector(TEA)
    times = [datetime.fromisoformat(str(payload.pop(name))) for name in ("created_at", "updated_at")]
    assert [at.utcoffset() for at in times] == [timedelta(0)] * 2
    assert payload == {
        "data": TEA,
        "hash": content_hash(TEA),
        "user_id": scope.key,
        "text_lemmatized": TEA,
        "attributed_to": "user",
    }


@row(SCHEMA)
def test_mem0_asks_our_store_by_these_names(mem0_dir: Path) -> None:
    inference = Inference(mem0_dir, unique_scope(), {"text": TEA})
    inference.add()
    assert inference.called("vector_store") == ["search", "insert"]
    assert inference.arguments["vector_store.search"] == {"query", "vectors", "top_k", "filters"}
    assert inference.arguments["vector_store.insert"] == {"vectors", "ids", "payloads"}


@row(SCHEMA)
def test_a_closer_memory_has_the_larger_score_and_it_is_ours(stock: Any, database: Database) -> None:
    scope = unique_scope()
    for words in (TEA, COFFEE):
        stock.add(words, user_id=scope.key, infer=False)
    asked = fake_vector(TEA)
    theirs = stock.vector_store.search(query=TEA, vectors=list(asked), top_k=5, filters={"user_id": scope.key})
    ours = SqlMemoryIndex(database).nearest(scope, asked, 5)
    assert [memory.payload["data"] for memory in theirs] == [memory.text for memory in ours] == [TEA, COFFEE]
    assert [memory.score for memory in theirs] == pytest.approx([max(0, memory.similarity) for memory in ours])
    assert theirs[0].score > theirs[1].score


@row(SCHEMA)
def test_a_row_that_stock_mem0_added_is_a_memory_of_its_user(stock: Any, database: Database) -> None:
    scope = unique_scope()
    (added,) = stock.add(TEA, user_id=scope.key, infer=False)["results"]
    item = SqlMemoryKeeper(database).item(scope, added["id"])
    assert item is not None
    assert (item.content, item.status) == (TEA, "active")
    assert item.created_at is not None
    assert datetime.fromisoformat(item.created_at).utcoffset() == timedelta(0)


@dataclass
class Recorded:
    """A part of mem0 that notes which of its methods were called, and with which named arguments."""

    name: str
    part: Any
    calls: list[str]
    arguments: dict[str, set[str]] = field(default_factory=dict)

    def __getattr__(self, method: str) -> Any:
        found = getattr(self.part, method)

        def call(*positional: object, **named: object) -> object:
            self.calls.append(f"{self.name}.{method}")
            self.arguments[f"{self.name}.{method}"] = set(named)
            return found(*positional, **named)

        return call


class Inference:
    """`add(infer=True)` on a mem0 whose parts are replaced as the adapter replaces them, and recorded."""

    def __init__(self, mem0_dir: Path, scope: Scope, *facts: dict[str, str]) -> None:
        self.scope = scope
        self.calls: list[str] = []
        self.arguments: dict[str, set[str]] = {}
        self.store = CapturingVectorStore(FakeIndex(), scope)
        self.memory = build_memory(mem0_dir, dims=DIMS)
        self.memory.llm, self.memory.embedding_model = StockModel(list(facts)), RememberingEmbedder(FakeEmbedder(), 200)
        for name, part in (("vector_store", self.store), ("db", SilentHistory())):
            setattr(self.memory, name, Recorded(name, part, self.calls, self.arguments))

    def add(self) -> list[dict[str, Any]]:
        return list(self.memory.add(TURNS, user_id=self.scope.key, infer=True, prompt="RULES")["results"])

    def called(self, part: str) -> list[str]:
        """The methods of a part in the order of their calls."""
        return [call.removeprefix(f"{part}.") for call in self.calls if call.startswith(f"{part}.")]
