"""Twenty clients that learn, correct and forget the same users at once, and what must be true when they are done."""

from __future__ import annotations

import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest
from sqlalchemy import text

from tests.planted import PLANTED
from tests.security.conftest import Running
from tests.stack import Answer, Stack

CLIENTS, SECONDS = 20, 30
USERS = ("ann", "bob")
TOOLS = ("飞书", "钉钉", "语雀", "石墨", "印象", "腾讯")
THINGS = ("周报", "日记", "方案", "账目", "清单", "纪要", "诗歌", "合同", "简历", "计划", "提纲", "剧本")
# What a client of a busy service may hear: done, not there any more, already known, too many open jobs.
EXPECTED = {200, 202, 404, 422, 429}
pytestmark = pytest.mark.timeout(200)


@dataclass
class Storm:
    """What all clients know together: whose each id is, what was answered, and what must never have been answered."""

    stack: Stack
    until: float
    owners: dict[str, str] = field(default_factory=dict)
    answers: Counter[tuple[str, int]] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def see(self, memory_id: str, user: str) -> None:
        """Remember whose an id is, or that it was somebody else's before."""
        with self.lock:
            if self.owners.setdefault(memory_id, user) != user:
                self.faults.append(f"{memory_id} was of {self.owners[memory_id]} and is of {user}")

    def any_of(self, user: str, random: Random) -> str | None:
        with self.lock:
            known = [memory_id for memory_id, owner in self.owners.items() if owner == user]
        return random.choice(known[-30:]) if known else None


@dataclass
class Client:
    """One of those that do it; each has a random sequence of its own."""

    storm: Storm
    number: int

    def __post_init__(self) -> None:
        self.random = Random(self.number)
        self.user = USERS[self.number % 3 == 0]

    def run(self) -> None:
        deeds = {self.learn: 4, self.add: 5, self.update: 5, self.forget: 3, self.archive: 1, self.restore: 1}
        deeds |= {self.look: 2, self.search: 1, self.trespass: 2}
        while time.monotonic() < self.storm.until:
            self.random.choices(list(deeds), list(deeds.values()))[0]()

    def said(self, whose: str) -> str:
        return f'{whose}喜欢用"{self.random.choice(TOOLS)}"写 {PLANTED} {self.random.choice(THINGS)}'

    def ask(self, deed: str, path: str, **fields: Any) -> Answer:
        answer = self.storm.stack.post(path, {"tenant_id": "storm", "user_id": self.user, **fields})
        with self.storm.lock:
            self.storm.answers[(deed, answer.status)] += 1
            if answer.status not in EXPECTED:
                self.storm.faults.append(f"{deed}: {answer.status} {answer.body.get('code')}")
        return answer

    def ask_about(self, deed: str, path: str, user: str, **fields: Any) -> Answer | None:
        memory_id = self.storm.any_of(user, self.random)
        return self.ask(deed, path, memory_id=memory_id, **fields) if memory_id else None

    def learn(self) -> None:
        messages = [{"role": "user", "content": self.said("我")}, {"role": "assistant", "content": "好的"}]
        self.ask("learn", "/v1/memories/ingest", messages=messages)

    def add(self) -> None:
        answer = self.ask("add", "/v1/memories/manage", action="add", text=self.said("用户"), title=PLANTED)
        if answer.body.get("memory_id"):
            self.storm.see(answer.body["memory_id"], self.user)

    def update(self) -> None:
        self.ask_about("update", "/v1/memories/update-item", self.user, text=self.said("用户"))

    def forget(self) -> None:
        self.ask_about("forget", "/v1/memories/delete-item", self.user)

    def archive(self) -> None:
        self.ask_about("archive", "/v1/memories/delete-item", self.user, mode="archive")

    def restore(self) -> None:
        self.ask_about("restore", "/v1/memories/restore-item", self.user)

    def look(self) -> None:
        for item in self.ask("look", "/v1/memories/list-user", status=["active", "archived"]).body["items"]:
            self.storm.see(item["id"], self.user)

    def search(self) -> None:
        for item in self.ask("search", "/v1/memories/search", query=self.said("用户")).body["items"]:
            self.storm.see(item["id"], self.user)

    def trespass(self) -> None:
        (other,) = set(USERS) - {self.user}
        path = self.random.choice(("update-item", "delete-item", "restore-item", "history", "related"))
        fields = {"text": self.said("用户")} if path == "update-item" else {}
        answer = self.ask_about("trespass", f"/v1/memories/{path}", other, **fields)
        if answer is not None and answer.status != 404:
            self.storm.faults.append(f"{path} of another's memory: {answer.status}")


@pytest.fixture(scope="module")
def storm(running: Running) -> Storm:
    """The storm, after its last job has ended."""
    made = Storm(running.stack, time.monotonic() + SECONDS)
    with ThreadPoolExecutor(CLIENTS) as pool:
        for done in [pool.submit(Client(made, number).run) for number in range(CLIENTS)]:
            done.result()
    open_jobs = "SELECT 1 FROM memory_jobs WHERE status IN ('pending', 'processing', 'failed')"
    running.stack.wait_until(lambda: not found(running, open_jobs), 60, "jobs go on after the storm")
    return made


def found(running: Running, statement: str) -> list[tuple[Any, ...]]:
    with running.database.transaction() as connection:
        return [tuple(row) for row in connection.execute(text(statement))]


def test_every_answer_was_one_that_a_client_may_hear(storm: Storm) -> None:
    assert storm.faults == []


def test_enough_was_done_to_say_so(storm: Storm, running: Running) -> None:
    done = {deed for (deed, status), count in storm.answers.items() if status < 300 and count > 3}
    assert done >= {"learn", "add", "update", "forget", "archive", "restore", "look", "search"}
    assert storm.answers[("trespass", 404)] > 10
    outcomes = dict(found(running, "SELECT outcome, count(*) FROM memory_jobs GROUP BY 1"))
    assert outcomes["published"] > 3, outcomes
    assert set(outcomes) <= {"published", "no_effect", "cancelled"}, outcomes


CHECKS: list[tuple[str, str]] = [
    (
        "no text is active twice",
        """SELECT payload ->> 'user_id', payload ->> 'hash' FROM poco_memories
           WHERE coalesce(payload ->> 'status', 'active') = 'active' GROUP BY 1, 2 HAVING count(*) > 1""",
    ),
    (
        "every hash is that of its text",
        "SELECT id FROM poco_memories WHERE payload ->> 'hash' <> md5(payload ->> 'data')",
    ),
    (
        "every entity is linked to memories of its own user, and to some",
        """SELECT e.id, e.payload FROM poco_memories_entities e
           LEFT JOIN jsonb_array_elements_text(e.payload -> 'linked_memory_ids') AS linked(id) ON true
           LEFT JOIN poco_memories m
             ON m.id::text = linked.id AND m.payload ->> 'user_id' = e.payload ->> 'user_id'
           WHERE m.id IS NULL""",
    ),
    (
        "no name is an entity of a user twice",
        """SELECT payload ->> 'user_id', lower(payload ->> 'data') FROM poco_memories_entities
           GROUP BY 1, 2 HAVING count(*) > 1""",
    ),
    (
        "every quoted name of a memory is linked, and to those that quote it only",
        """SELECT m.id, e.id FROM poco_memories_entities e JOIN poco_memories m
             ON m.payload ->> 'user_id' = e.payload ->> 'user_id'
           WHERE e.payload ->> 'entity_type' = 'QUOTED'
             AND (e.payload -> 'linked_memory_ids' ? m.id::text)
               <> (position(e.payload ->> 'data' IN m.payload ->> 'data') > 0)""",
    ),
    (
        "nothing has a history that is gone",
        """SELECT h.memory_id FROM memory_history h LEFT JOIN poco_memories m ON m.id::text = h.memory_id
           WHERE m.id IS NULL""",
    ),
    (
        "every memory began once, and its history ends with its text",
        """SELECT m.id FROM poco_memories m WHERE
             (SELECT count(*) FROM memory_history h WHERE h.memory_id = m.id::text AND h.event = 'ADD') <> 1
             OR m.payload ->> 'data' <> (SELECT h.new_memory FROM memory_history h WHERE h.memory_id = m.id::text
                ORDER BY coalesce(h.updated_at, h.created_at) DESC LIMIT 1)""",
    ),
    (
        "no id has had two owners",
        "SELECT memory_id FROM memory_audit_logs GROUP BY 1 HAVING count(DISTINCT scope) > 1",
    ),
    (
        "every memory is its first owner's",
        """SELECT m.id FROM poco_memories m JOIN memory_audit_logs a ON a.memory_id = m.id
           WHERE a.scope <> m.payload ->> 'user_id'""",
    ),
    (
        "the audit keeps no text of what is gone",
        """SELECT a.id FROM memory_audit_logs a LEFT JOIN poco_memories m ON m.id = a.memory_id
           WHERE m.id IS NULL AND (a.before IS NOT NULL OR a.after IS NOT NULL)""",
    ),
    ("nothing is staged", "SELECT id FROM memory_staged"),
    ("nothing is left to send", "SELECT id FROM memory_outbox"),
]


@pytest.mark.parametrize("statement", [check[1] for check in CHECKS], ids=[check[0] for check in CHECKS])
def test_afterwards(storm: Storm, running: Running, statement: str) -> None:
    assert found(running, statement) == []


def test_whose_an_id_is_has_never_changed(storm: Storm, running: Running) -> None:
    rows = found(running, "SELECT id::text, payload ->> 'user_id' FROM poco_memories")
    assert rows
    assert [row for row in rows if row[0] in storm.owners and row[1] != f"storm:{storm.owners[row[0]]}"] == []
