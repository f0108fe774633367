"""Adding, correcting and forgetting one memory on purpose beside stock mem0, both with as many memories stored.

Ours is called twice, in this process and through HTTP (stock mem0 has no HTTP of its own): admission and validation,
names, history, audit, marks and the receipt of what was forgotten included. Every call is timed by itself, in turns.
"""

from __future__ import annotations

import http.client
import json
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from sqlalchemy import insert, select

from bench.costless import ZeroEmbedder, zero_vector
from bench.load import fill
from bench.service import Place
from bench.stock import close, stock_memory
from bench.timing import WARM_UP, times
from domain.lifecycle import Action, Changed, Writer
from domain.scope import Scope
from pipeline.manage import AGENT, Wish, manage
from runtime.home import free_port
from runtime.settings import required_secret
from runtime.wiring import Services
from storage.database import Database
from storage.tables import EntityRow, MemoryRow

MEMORIES = 20_000
ROUNDS = 300
GOAL = 3
_A_NAME = 10
_TOKEN = "token-of-the-benchmark"
_ACTIONS = ("add", "update", "delete")


class _Memories(Protocol):
    def add(self, scope: Scope, text: str) -> object: ...
    def update(self, scope: Scope, memory_id: str, text: str) -> object: ...
    def delete(self, scope: Scope, memory_id: str) -> object: ...


def bench_manage(place: Place) -> str:
    """A line for each action: p50 and p95 of ours and of stock mem0, and how many times faster ours is."""
    memories = place.memories or MEMORIES
    # Ours has two callers, and no memory is taken twice.
    rounds = min(ROUNDS, memories // (2 * len(_ACTIONS)) - WARM_UP)
    taken: dict[str, list[list[float]]] = {}
    with _ours(place) as (ours, over_http, url), _stock(place) as (stock, stock_url):
        stored = [_fill(address, memories) for address in (url, stock_url)]
        peers: list[_Memories] = [ours, over_http, stock]
        chosen = [iter(stored[0]), iter(stored[0][memories // 2 :]), iter(stored[1])]
        for action in _ACTIONS:
            calls = [_call(peer, action, each) for peer, each in zip(peers, chosen, strict=True)]
            taken[action] = times(calls, rounds)
    return "\n".join([f"manage, {memories} memories, {rounds} calls each", *(_line(*row) for row in taken.items())])


def _call(peer: _Memories, action: str, stored: Iterator[tuple[Scope, str]]) -> Callable[[int], object]:
    """A call that takes the next stored memory each time."""

    def call(_: int) -> object:
        scope, memory_id = next(stored)
        match action:
            case "add":
                return peer.add(scope, _text())
            case "update":
                return peer.update(scope, memory_id, _text())
            case _:
                return peer.delete(scope, memory_id)

    return call


def _text() -> str:
    """A sentence with a name in it, as no other has it."""
    return f'User prefers short status reports for "Project {uuid.uuid4().hex[:6]}"'


def _line(action: str, taken: Sequence[Sequence[float]]) -> str:
    ours, over_http, stock = ([float(np.quantile(each, share)) for share in (0.5, 0.95)] for each in taken)
    shown = "   ".join(
        f"{name} p50 {p50:5.1f} p95 {p95:5.1f} ms"
        for name, (p50, p95) in (("ours", ours), ("over HTTP", over_http), ("stock mem0", stock))
    )
    ratio, through = stock[0] / ours[0], stock[0] / over_http[0]
    return f"    {action:7}{shown}   {ratio:.1f} times faster, {through:.1f} over HTTP; the goal is {GOAL}"


@dataclass(frozen=True)
class _InProcess:
    services: Services

    def add(self, scope: Scope, text: str) -> None:
        self._do(Wish(scope, Action.ADD, Writer(AGENT), text))

    def update(self, scope: Scope, memory_id: str, text: str) -> None:
        self._do(Wish(scope, Action.UPDATE, Writer(AGENT), text, memory_id=memory_id))

    def delete(self, scope: Scope, memory_id: str) -> None:
        self._do(Wish(scope, Action.DELETE, Writer(AGENT), memory_id=memory_id))

    def _do(self, wish: Wish) -> None:
        changed: Changed = manage(wish, self.services.manage_tools)
        if not changed.success:
            raise RuntimeError(f"{wish.action} came to {changed.status}, {changed.reason}")


@dataclass(frozen=True)
class _OverHttp:
    connection: http.client.HTTPConnection

    def add(self, scope: Scope, text: str) -> None:
        self._do(scope, action="add", text=text)

    def update(self, scope: Scope, memory_id: str, text: str) -> None:
        self._do(scope, action="update", memory_id=memory_id, text=text)

    def delete(self, scope: Scope, memory_id: str) -> None:
        self._do(scope, action="delete", memory_id=memory_id)

    def _do(self, scope: Scope, **asked: str) -> None:
        body = json.dumps({"tenant_id": scope.tenant_id, "user_id": scope.user_id, **asked})
        self.connection.request("POST", "/v1/memories/manage", body, {"Authorization": f"Bearer {_TOKEN}"})
        with self.connection.getresponse() as response:
            answer = json.loads(response.read())
        if not answer.get("success"):
            raise RuntimeError(f"{asked['action']} was answered with {response.status}")


@dataclass(frozen=True)
class _Stock:
    memory: Any

    def add(self, scope: Scope, text: str) -> None:
        self.memory.add(text, user_id=scope.key, infer=False)

    def update(self, scope: Scope, memory_id: str, text: str) -> None:  # noqa: ARG002 - stock mem0 asks for no owner
        self.memory.update(memory_id, text=text)

    def delete(self, scope: Scope, memory_id: str) -> None:  # noqa: ARG002
        self.memory.delete(memory_id)


@contextmanager
def _ours(place: Place) -> Iterator[tuple[_InProcess, _OverHttp, str]]:
    port = free_port()
    settings = place.settings(place.new_database(), service_token=_TOKEN, api_port=port)
    services = Services(settings)
    vars(services).update(embedder=ZeroEmbedder())
    connection = http.client.HTTPConnection("127.0.0.1", port)
    with place.running(place.api(settings, app="bench.zero_api:create_app()")):
        yield _InProcess(services), _OverHttp(connection), required_secret(settings, "database_url")
    connection.close()
    services.database.dispose()


@contextmanager
def _stock(place: Place) -> Iterator[tuple[_Stock, str]]:
    """Stock mem0 with the tables and indexes that it makes itself, in a database of its own."""
    url = place.empty_database()
    memory = stock_memory(url)
    # It looks for links of a memory only once its entity store was opened in this process.
    for store in (memory.vector_store, memory.entity_store):
        store.create_col()
    yield _Stock(memory), url
    close(memory)


def _fill(database_url: str, memories: int) -> list[tuple[Scope, str]]:
    """Store memories of a hundred users and a name for each ten of a user; gives scope and id of each, mixed."""
    database = Database(database_url)
    users = {scope.key: scope for scope in fill(database, memories)}
    with database.transaction() as connection:
        rows = connection.execute(select(MemoryRow.id, MemoryRow.payload["user_id"].astext)).all()
        of_user: dict[str, list[str]] = defaultdict(list)
        for memory_id, key in rows:
            of_user[key].append(str(memory_id))
        connection.execute(insert(EntityRow), [row for key, ids in of_user.items() for row in _names(key, ids)])
    with database.statement() as connection:
        connection.exec_driver_sql("VACUUM ANALYZE")
    database.dispose()
    mixed = np.random.default_rng(1).permutation(len(rows))
    return [(users[rows[place][1]], str(rows[place][0])) for place in mixed]


def _names(key: str, ids: Sequence[str]) -> Iterator[dict[str, object]]:
    for start in range(0, len(ids), _A_NAME):
        name = f"Project {start // _A_NAME}"
        payload = {
            "data": name,
            "entity_type": "QUOTED",
            "linked_memory_ids": sorted(ids[start : start + _A_NAME]),
            "user_id": key,
        }
        yield {"id": uuid.uuid4(), "vector": zero_vector(f"{key} {name}"), "payload": payload}
