"""A scrub finds and removes stored secrets, whoever wrote them."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, insert, select

from domain.scope import Scope
from pipeline.scrub import Finding, scrub
from storage.database import Database
from storage.scrub import SqlMemoryStore
from storage.tables import AuditRow, EntityRow, HistoryRow, MemoryRow
from tests.fakes import unique_scope

SECRET = "部署密码是 " + "Qm7x@" + "99821"
# What stands in a payload beside the text, as it is published.
ORDINARY = {
    "attributed_to": "user",
    "created_at": "2026-12-02T23:21:11.413000+00:00",
    "source": "task_completed",
    "job_id": str(uuid.uuid4()),
    "trace_id": uuid.uuid4().hex,
    "hash": uuid.uuid4().hex,
    "status": "active",
}


def stored(database: Database, scope: Scope, text: str, before: str | None = None) -> str:
    """A memory as mem0 itself leaves it, with one entity and one line of history."""
    key = uuid.uuid4()
    with database.transaction() as connection:
        connection.execute(insert(MemoryRow).values(id=key, payload={**ORDINARY, "data": text, "user_id": scope.key}))
        connection.execute(
            insert(HistoryRow).values(
                id=uuid.uuid4(), memory_id=str(key), old_memory=before, new_memory=text, event="UPDATE"
            )
        )
        connection.execute(
            insert(AuditRow).values(
                memory_id=key, scope=scope.key, operation="create", operator_type="system", after={"data": text}
            )
        )
        entity = {"data": "x", "user_id": scope.key, "linked_memory_ids": [str(key)]}
        connection.execute(insert(EntityRow).values(id=uuid.uuid4(), payload=entity))
    return str(key)


def run(database: Database, *, delete: bool) -> list[Finding]:
    found: list[Finding] = []
    scrub(SqlMemoryStore(database), delete=delete, report=found.append)
    return found


def test_a_stored_secret_is_reported_and_removed_with_everything_that_repeats_it(database: Database) -> None:
    scope = unique_scope()
    good, bad = stored(database, scope, "用户喜欢喝茶"), stored(database, scope, SECRET)
    once = stored(database, scope, "用户换了密码", before=SECRET)
    reported = [finding.memory_id for finding in run(database, delete=False)]
    assert sorted(reported) == sorted({bad, once})
    with database.transaction() as connection:
        assert len(connection.execute(select(MemoryRow.id).where(_of(scope))).all()) == 3

    rules = {finding.memory_id: finding.rule for finding in run(database, delete=True)}
    assert rules[bad] == rules[once] == "password_zh"
    with database.transaction() as connection:
        left = [str(row.id) for row in connection.execute(select(MemoryRow.id).where(_of(scope)))]
        links = [row.payload["linked_memory_ids"] for row in connection.execute(_entities(scope))]
        history = connection.execute(select(HistoryRow.memory_id).where(HistoryRow.memory_id.in_([bad, once]))).all()
        audit = connection.execute(select(AuditRow.operation, AuditRow.after).where(AuditRow.scope == scope.key)).all()
    assert (left, links) == ([good], [[good]])
    assert history == []
    kept = [row.after for row in audit if row.operation == "create" and row.after is not None]
    assert (sorted(row.operation for row in audit), kept) == (
        ["create"] * 3 + ["forget"] * 2,
        [{"data": "用户喜欢喝茶"}],
    )
    assert run(database, delete=True) == []


def test_history_of_a_memory_that_is_gone_and_rows_without_an_owner_are_cleared_too(database: Database) -> None:
    gone, unowned = stored(database, unique_scope(), SECRET), uuid.uuid4()
    with database.transaction() as connection:
        connection.execute(delete(MemoryRow).where(MemoryRow.id == uuid.UUID(gone)))
        connection.execute(insert(MemoryRow).values(id=unowned, payload={"data": "x", "db_password": SECRET[-10:]}))
    assert {finding.memory_id for finding in run(database, delete=True)} == {gone, str(unowned)}
    with database.transaction() as connection:
        texts = connection.execute(select(HistoryRow.new_memory).where(HistoryRow.memory_id == gone)).scalars().all()
        assert texts == []
        assert connection.execute(select(MemoryRow.id).where(MemoryRow.id == unowned)).all() == []
        audit = connection.execute(select(AuditRow.operation).where(AuditRow.memory_id == unowned)).scalars().all()
        assert audit == ["forget"]


def test_more_rows_than_a_page_are_all_checked(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storage.scrub.PAGE", 2)
    ids = {stored(database, unique_scope(), "用户喜欢喝茶") for _ in range(5)}
    texts = [memory_id for memory_id, text, _ in SqlMemoryStore(database).texts() if text == "用户喜欢喝茶"]
    # Each stands in the memory, in its history and in its audit.
    assert {memory_id: texts.count(memory_id) for memory_id in ids} == dict.fromkeys(ids, 3)


def test_the_command_says_what_it_found_without_the_text(database: Database, database_url: str, tmp_path: Path) -> None:
    bad = stored(database, unique_scope(), SECRET)
    command = [str(Path(sys.executable).with_name("poco-memory")), "scrub"]
    environment = {
        **os.environ,
        "POCO_HOME": str(tmp_path),
        "POCO_DATABASE_URL": database_url,
        "POCO_BROKER_URL": "redis://127.0.0.1:1/0",
    }
    first = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert first.returncode == 1
    assert f"{bad}  password_zh" in first.stdout
    assert SECRET[-8:] not in first.stdout + first.stderr
    last = subprocess.run(
        [*command, "--delete"], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert (last.returncode, f"{bad}  password_zh  removed" in last.stdout) == (0, True)


def _of(scope: Scope) -> Any:
    return MemoryRow.payload["user_id"].astext == scope.key


def _entities(scope: Scope) -> Any:
    return select(EntityRow.payload).where(EntityRow.payload["user_id"].astext == scope.key)
