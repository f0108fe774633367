"""The application with a tenant whose memories nobody else may see, and a stranger who tries."""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass, field
from typing import Any

import pytest
import structlog
from flask import Flask
from pydantic import SecretStr
from sqlalchemy import select, text
from werkzeug.test import TestResponse

from api.app import create_app
from domain.scope import Scope
from runtime.embedded.servers import Servers
from runtime.settings import Settings
from runtime.user_tokens import signed
from runtime.wiring import Services
from storage.database import Database
from storage.migrate import upgrade
from storage.tables import Base
from tests.conftest import new_database, own_broker
from tests.planted import PLANTED
from tests.scripted_model import ScriptedModel
from tests.security.doors import BANK, OPERATE, STRANGER, USER, Door
from tests.security.identity_provider import Published, publishing
from tests.stack import OPERATOR_TOKEN, TOKEN, USER_SECRET, Stack, running_stack

DIMS = 64
# A word that stands in every memory of the other tenant and nowhere else.
SECRET_WORD = "nightjar"
# A refusal for asking too often would answer every row.
UNLIMITED: dict[str, Any] = {"service_requests_per_minute": 0, "user_requests_per_minute": 0}
_UNSET = object()
# So that two answers can be compared.
_SAME_ID = {"X-Request-Id": "request-1"}
# The rows of a scope in each table, by the columns they have.
_OF_SCOPE = {
    "poco_memories": "payload ->> 'user_id' = :scope",
    "poco_memories_entities": "payload ->> 'user_id' = :scope",
    "memory_history": "memory_id IN (SELECT id::text FROM poco_memories WHERE payload ->> 'user_id' = :scope)",
    "memory_staged": "job_id IN (SELECT id FROM memory_jobs WHERE scope = :scope)",
    "memory_outbox": "job_id IN (SELECT id FROM memory_jobs WHERE scope = :scope)",
    "memory_tokens": "false",
    "memory_schema": "false",
}


@dataclass
class World:
    """The running application, and the ids of what is the other tenant's."""

    services: Services
    app: Flask
    ids: dict[str, str] = field(default_factory=dict)

    def call(
        self,
        door: Door,
        *,
        body: object = _UNSET,
        query: Mapping[str, str] | str | None = None,
        path: str | None = None,
        token: object = _UNSET,
        headers: Mapping[str, str] | None = None,
    ) -> TestResponse:
        """Call an endpoint as the door says, but for what is given; bytes are sent as they are."""
        said = door.body if body is _UNSET else body
        raw = said if isinstance(said, bytes) else b"" if said is None else self._filled(json.dumps(said)).encode()
        shown = token_for(door) if token is _UNSET else token
        return self.app.test_client().open(
            self._filled(path or door.path),
            method=door.method,
            data=raw,
            query_string=door.query if query is None else query,
            headers={**_SAME_ID, **({} if shown is None else {"Authorization": f"Bearer {shown}"}), **(headers or {})},
            buffered=True,
        )

    def faults(self, door: Door, expected: int | tuple[str, str], **call: Any) -> list[str]:
        """What is wrong with an answer: another status, no such error, or a word of the other tenant."""
        answer = self.call(door, **call)
        said, fits = answer.get_data(as_text=True), answer.status_code == expected
        if isinstance(expected, tuple):
            errors = answer.get_json()["errors"] if answer.status_code == 422 else []
            fits = any(error["field"].endswith(expected[0]) and error["rule"] == expected[1] for error in errors)
        if fits and SECRET_WORD not in said.casefold():
            return []
        return [f"{door.method} {door.path}: {answer.status_code} instead of {expected}: {said[:300]}"]

    @contextmanager
    def untouched(self) -> Iterator[None]:
        """Nothing of the other tenant changes meanwhile, in any table."""
        before = self.rows_of(BANK)
        assert len(before) > 10
        yield
        assert self.rows_of(BANK) == before

    def rows_of(self, scope: Scope) -> list[tuple[str, str]]:
        """Every row about a scope, with its table."""
        found: list[tuple[str, str]] = []
        with self.services.database.transaction() as connection:
            for table in Base.metadata.sorted_tables:
                where = text(_OF_SCOPE.get(table.name, "scope = :scope"))
                rows = select(text(f"to_jsonb({table.name})::text")).select_from(table).where(where)
                found += [(table.name, row[0]) for row in connection.execute(rows, {"scope": scope.key})]
        return sorted(found)

    def add(self, scope: Scope, words: str, **fields: Any) -> str:
        """A memory of this text."""
        body = {"tenant_id": scope.tenant_id, "user_id": scope.user_id, "action": "add", "text": words, **fields}
        answer = self.app.test_client().post("/v1/memories/manage", json=body, headers=bearer(TOKEN))
        assert answer.status_code == 200, answer.get_data(as_text=True)
        return str(answer.get_json()["memory_id"])

    def _filled(self, pattern: str) -> str:
        known = {**self.ids, "fresh": uuid.uuid4().hex}
        for name, value in known.items():
            pattern = pattern.replace(f"{{{name}}}", value)
        return pattern


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def user_token(scope: Scope) -> str:
    return signed(scope, USER_SECRET, Settings(user_jwt_secret=SecretStr(USER_SECRET)), seconds=3600)


def token_for(door: Door) -> str:
    """A token that opens the door."""
    if door.opens == USER:
        return user_token(STRANGER)
    return OPERATOR_TOKEN if door.opens == OPERATE else TOKEN


@pytest.fixture(scope="session")
def scripted_model() -> Iterator[ScriptedModel]:
    with ScriptedModel(dims=DIMS) as running:
        yield running


@pytest.fixture(scope="session")
def published() -> Iterator[Published]:
    with publishing() as provider:
        yield provider


@pytest.fixture(scope="session")
def world(servers: Servers, scripted_model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    url = new_database(servers, f"security_{uuid.uuid4().hex[:8]}")
    upgrade(url, embedding_model="scripted", dims=DIMS)
    folder = tmp_path_factory.mktemp("security")
    settings = Settings(
        home=folder,
        database_url=SecretStr(url),
        broker_url=SecretStr(servers.broker_url),
        service_token=SecretStr(TOKEN),
        operator_token=SecretStr(OPERATOR_TOKEN),
        user_jwt_secret=SecretStr(USER_SECRET),
        embedding_model="scripted",
        embedding_base_url=scripted_model.url,
        embedding_dims=DIMS,
        max_open_jobs_per_scope=100_000,
        **UNLIMITED,
    )
    with logging_to(folder / "service.log"):
        made = World(Services(settings), create_app(Services(settings)))
        inhabit(made)
        yield made
    made.services.database.dispose()
    made.app.extensions["poco"].database.dispose()


@dataclass(frozen=True)
class Running:
    """The service as processes, with a worker, and its database to look at."""

    stack: Stack
    database: Database


@pytest.fixture(scope="session")
def running(
    servers: Servers, scripted_model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Running]:
    url = new_database(servers, f"running_{uuid.uuid4().hex[:8]}")
    upgrade(url, embedding_model="scripted", dims=DIMS)
    with running_stack(
        tmp_path_factory.mktemp("running"),
        *("api", "relay", "worker"),
        database_url=url,
        broker_url=own_broker(servers, 7),
        embedding_model="scripted",
        embedding_base_url=scripted_model.url,
        embedding_dims=DIMS,
        max_open_jobs_per_scope=20,
        **UNLIMITED,
    ) as stack:
        database = Database(url)
        yield Running(stack, database)
        database.dispose()


@contextmanager
def logging_to(path: Any) -> Iterator[None]:
    """The application configures the logs of its process; here they go to a file, and afterwards all is as before."""
    root, before = logging.getLogger(), structlog.get_config()
    handlers, level = root.handlers[:], root.level
    try:
        with path.open("a", encoding="utf-8") as file, redirect_stderr(file):
            yield
    finally:
        root.handlers[:], root.level = handlers, level
        structlog.configure(**before)


def inhabit(world: World) -> None:
    """What the other tenant has: memories in each state, a job that waits, a run, switches, a line in every table."""
    world.ids["memory"] = world.add(BANK, f"用户在“{SECRET_WORD}”维护 {PLANTED} 值班表", run_id="run-1")
    archived, gone = (world.add(BANK, f"用户喜欢 {SECRET_WORD} {drink}") for drink in ("绿茶", "红茶"))
    client, agent = world.app.test_client(), bearer(TOKEN)
    whose = {"tenant_id": BANK.tenant_id, "user_id": BANK.user_id}
    for memory_id, mode in ((archived, "archive"), (gone, "forget")):
        body = {**whose, "memory_id": memory_id, "mode": mode}
        assert client.post("/v1/memories/delete-item", json=body, headers=agent).status_code == 200
    said = {**whose, "text": f"我住在 {SECRET_WORD} {PLANTED}", "idempotency_key": "key-1", "run_id": "run-2"}
    world.ids["job"] = client.post("/v1/memories/ingest", json=said, headers=agent).get_json()["job_id"]
    changed = client.post("/api/v1/memory/settings", json={}, headers=bearer(user_token(BANK)))
    assert changed.status_code == 200
