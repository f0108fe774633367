"""The chain on real servers with a real worker: what each answer of the model comes to."""

from __future__ import annotations

import itertools
import json
import signal
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import redis
from sqlalchemy import func, select

from runtime.embedded.servers import Servers
from storage import outbox
from storage.database import Database
from storage.tables import AuditRow, EntityRow, HistoryRow, MemoryRow, StagedRow
from tests.scripted_model import Reply, ScriptedModel, reply_facts, reply_slow, reply_status, reply_text
from tests.stack import Stack

ZH = "以后技术方案都用简体中文写"
ZH_FACT = "用户偏好用简体中文写技术方案"
EN = "From now on I always want short emails on Fridays"
EN_FACT = "User prefers short emails on Fridays"


def tell(stack: Stack, model: ScriptedModel, user_id: str, *replies: Reply, text: str = ZH) -> dict[str, Any]:
    """Hand in a candidate whose extraction is answered by the given replies, and wait for its end."""
    marker = f"[{user_id}]"
    model.when(marker, *replies)
    return stack.finished(stack.ingest(user_id, f"{text} {marker}", f"好的 {marker}"))


def memories(database: Database, user_id: str) -> list[str]:
    statement = select(MemoryRow.payload["data"].astext).where(MemoryRow.payload["user_id"].astext == f"test:{user_id}")
    with database.transaction() as connection:
        return [text for (text,) in connection.execute(statement)]


def calls(model: ScriptedModel, user_id: str) -> list[float]:
    """When the model was asked about this user's messages, in seconds."""
    return [request.at for request in model.requests if f"[{user_id}]" in json.dumps(request.body, ensure_ascii=False)]


@pytest.mark.parametrize(
    "reply",
    [
        reply_facts([ZH_FACT]),
        reply_text("```json\n" + json.dumps({"memory": [{"text": ZH_FACT, "attributed_to": "user"}]}) + "\n```"),
        reply_text("<think>hm</think>好的：" + json.dumps({"memory": [{"text": ZH_FACT, "attributed_to": "user"}]})),
    ],
    ids=["plain", "fenced", "prose"],
)
def test_a_candidate_becomes_a_memory_that_a_search_finds(
    stack: Stack, model: ScriptedModel, user_id: str, reply: Reply
) -> None:
    job = tell(stack, model, user_id, reply)
    assert (job["status"], job["outcome"]) == ("success", "published")
    assert job["counts"]["inserted"] == 1
    assert job["attempts"] == dict.fromkeys(["admit", "extract", "check_language", "validate", "relink", "cleanup"], 1)
    found = stack.search(user_id, ZH_FACT)
    assert [item["content"] for item in found["items"]] == [ZH_FACT]
    assert (found["total"], found["available"], found["error_reason"]) == (1, True, None)
    assert found["items"][0]["metadata"]["attributed_to"] == "user"


def test_everything_that_belongs_to_a_memory_is_written_with_it(
    stack: Stack, model: ScriptedModel, stack_database: Database, user_id: str
) -> None:
    tell(stack, model, user_id, reply_facts(['用户的搭档叫"林清"']), text='我的搭档叫"林清"')
    scope = f"test:{user_id}"
    with stack_database.transaction() as connection:
        memory = connection.execute(select(MemoryRow).where(MemoryRow.payload["user_id"].astext == scope)).one()
        entity = connection.execute(select(EntityRow.payload).where(EntityRow.payload["user_id"].astext == scope)).one()
        history = connection.execute(select(HistoryRow.event).where(HistoryRow.memory_id == str(memory.id))).all()
        audit = connection.execute(select(AuditRow.operation).where(AuditRow.memory_id == memory.id)).all()
    assert "林清" in memory.payload["text_lemmatized"].split()
    said = f'我的搭档叫"林清" [{user_id}]'
    assert memory.payload["evidence"] == {"message": 0, "start": 0, "end": len(said), "role": "user"}
    assert (entity.payload["data"], entity.payload["linked_memory_ids"]) == ("林清", [str(memory.id)])
    assert ([row.event for row in history], [row.operation for row in audit]) == (["ADD"], ["create"])


def test_an_empty_answer_has_no_effect_and_is_not_tried_again(stack: Stack, model: ScriptedModel, user_id: str) -> None:
    job = tell(stack, model, user_id, reply_facts([]))
    assert (job["status"], job["outcome"], job["reason"]) == ("success", "no_effect", "nothing_durable")
    assert len(calls(model, user_id)) == 1


def test_drift_is_answered_by_one_constrained_run_with_the_old_rules(
    stack: Stack, model: ScriptedModel, stack_database: Database, user_id: str
) -> None:
    job = tell(stack, model, user_id, reply_facts(["User prefers Chinese"]), reply_facts([ZH_FACT]))
    assert (job["outcome"], job["counts"]["language_retries"]) == ("published", 1)
    assert memories(stack_database, user_id) == [ZH_FACT]
    first, second = (
        request.body["messages"][1]["content"]
        for request in model.requests
        if f"[{user_id}]" in json.dumps(request.body, ensure_ascii=False)
    )
    rules = first[first.index("## Custom Instructions") : first.index("# Output:")].strip()
    assert rules in second
    assert len(second) > len(first)


def test_a_second_drift_fails_the_write_and_leaves_nothing(
    stack: Stack, model: ScriptedModel, stack_database: Database, user_id: str
) -> None:
    job = tell(stack, model, user_id, reply_facts(["User prefers Chinese"]), reply_facts(["Still English, sorry"]))
    assert (job["status"], job["outcome"]) == ("success", "language_drift")
    assert memories(stack_database, user_id) == []
    assert len(calls(model, user_id)) == 2


def test_a_failing_model_is_asked_again_after_one_two_and_four_seconds(
    stack: Stack, model: ScriptedModel, user_id: str
) -> None:
    failures = [reply_status(500), reply_status(429), reply_status(500)]
    job = tell(stack, model, user_id, *failures, reply_facts([ZH_FACT]))
    assert (job["outcome"], job["attempts"]["extract"]) == ("published", 4)
    times = calls(model, user_id)
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert [round(gap) for gap in gaps] == [1, 2, 4]


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (reply_status(500), "llm_unavailable"),
        (reply_status(429), "llm_rate_limited"),
        (reply_text("I am sorry, I cannot do that."), "llm_unparseable"),
        (reply_slow(3, reply_facts([ZH_FACT])), "llm_timeout"),
    ],
    ids=["500", "429", "no JSON", "timeout"],
)
def test_a_model_that_keeps_failing_ends_the_job_after_four_attempts(
    stack: Stack, model: ScriptedModel, stack_database: Database, user_id: str, reply: Reply, reason: str
) -> None:
    job = tell(stack, model, user_id, *([reply] * 4))
    assert (job["status"], job["outcome"], job["reason"]) == ("dead", "dead", reason)
    assert job["attempts"]["extract"] == 4
    assert job["last_error"].startswith(reason)
    assert len(calls(model, user_id)) == 4
    assert memories(stack_database, user_id) == []
    with stack_database.transaction() as connection:
        staged = select(func.count()).select_from(StagedRow).where(StagedRow.job_id == job["job_id"])
        assert connection.execute(staged).scalar_one() == 0


def test_a_secret_never_reaches_the_model(
    stack: Stack, model: ScriptedModel, stack_database: Database, user_id: str
) -> None:
    job = tell(stack, model, user_id, text="以后都用这个密钥 sk-" + "a1B2c3D4" * 5)
    assert (job["status"], job["outcome"], job["reason"]) == ("success", "rejected", "credential")
    assert job["rule"]
    assert calls(model, user_id) == []
    assert memories(stack_database, user_id) == []


def test_bad_facts_are_dropped_and_the_good_ones_stay(
    stack: Stack, model: ScriptedModel, stack_database: Database, user_id: str
) -> None:
    job = tell(stack, model, user_id, reply_facts([ZH_FACT, "用户喜欢很长的文档" * 80]))
    assert (job["outcome"], job["counts"]["inserted"]) == ("published", 1)
    assert memories(stack_database, user_id) == [ZH_FACT]


def test_jobs_of_one_user_run_in_the_order_of_acceptance(
    stack: Stack, model: ScriptedModel, stack_database: Database, user_id: str
) -> None:
    markers = [f"[{user_id}-{number}]" for number in range(3)]
    model.when(markers[0], reply_slow(1, reply_facts(["用户的偏好是喝茶"])))
    model.when(markers[1], reply_facts(["用户的偏好是喝咖啡"]))
    model.when(markers[2], reply_facts(["用户的偏好是喝水"]))
    jobs = [
        stack.ingest(user_id, f"我的偏好是{drink} {marker}", "好的")
        for drink, marker in zip(("喝茶", "喝咖啡", "喝水"), markers, strict=True)
    ]
    ends = [stack.finished(job)["finished_at"] for job in jobs]
    assert ends == sorted(ends)
    assert len(memories(stack_database, user_id)) == 3


# Kind: celery/kombu#337.
def test_a_chain_that_is_delivered_three_times_has_one_effect(
    stack: Stack, model: ScriptedModel, stack_database: Database, user_id: str
) -> None:
    marker = f"[{user_id}]"
    model.when(marker, *[reply_slow(0.5, reply_facts([ZH_FACT]))] * 3)
    job_id = stack.ingest(user_id, f"{ZH} {marker}", "好的")
    for _ in range(2):
        with stack_database.transaction() as connection:
            outbox.add(connection, job_id, ready=True)
    job = stack.finished(job_id)
    assert (job["outcome"], set(job["attempts"].values())) == ("published", {1})
    assert len(calls(model, user_id)) == 1
    assert memories(stack_database, user_id) == [ZH_FACT]


def test_many_users_at_once_each_get_their_own_memory(
    stack: Stack, model: ScriptedModel, stack_database: Database, user_id: str
) -> None:
    users = [f"{user_id}-{number}" for number in range(20)]
    for user in users:
        model.when(f"[{user}]", reply_facts([f"用户的代号是 {user}"]))
    jobs = [stack.ingest(user, f"我的代号是 {user} [{user}]", "好的") for user in users]
    assert {stack.finished(job)["outcome"] for job in jobs} == {"published"}
    assert [memories(stack_database, user) for user in users] == [[f"用户的代号是 {user}"] for user in users]


# Kind: celery/celery#7801.
def test_a_finished_job_leaves_nothing_in_the_broker(
    stack: Stack, model: ScriptedModel, servers: Servers, user_id: str
) -> None:
    tell(stack, model, user_id, reply_facts([ZH_FACT]))
    client = redis.Redis.from_url(servers.broker_url)
    assert list(client.scan_iter(match="celery-task-meta*")) == []
    assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
    client.close()


@contextmanager
def watched(broker_url: str) -> Iterator[list[str]]:
    """Every command the broker gets during the block, as MONITOR shows it."""
    client = redis.Redis.from_url(broker_url)
    end, seen = uuid.uuid4().hex, list[str]()

    def listen() -> None:
        with client.monitor() as monitor:  # type: ignore[no-untyped-call]
            ready.set()
            for command in monitor.listen():
                seen.append(str(command["command"]))
                if end in seen[-1]:
                    return

    ready = threading.Event()
    thread = threading.Thread(target=listen)
    thread.start()
    ready.wait(10)
    yield seen
    client.echo(end)
    thread.join(10)
    client.close()


def test_nothing_a_user_said_travels_through_the_broker_or_the_logs(
    stack: Stack, model: ScriptedModel, servers: Servers, user_id: str
) -> None:
    secret_word = f"marker{user_id[2:]}"
    model.when(secret_word, reply_facts([f"{EN_FACT}, said {secret_word}"]))
    with watched(servers.broker_url) as seen:
        job_id = stack.ingest(user_id, f"{EN}, said {secret_word}", "Noted.")
        assert stack.finished(job_id)["outcome"] == "published"
    everything = "\n".join(seen)
    assert job_id in everything
    assert secret_word not in everything
    assert user_id not in everything
    for verb in ("api", "relay", "worker"):
        assert secret_word not in stack.log(verb)


# Kind: vectorize-io/hindsight#2165.
def test_a_killed_worker_loses_nothing(
    stack: Stack, model: ScriptedModel, stack_database: Database, user_id: str
) -> None:
    marker = f"[{user_id}]"
    model.when(marker, reply_slow(1.5, reply_facts([ZH_FACT])), reply_facts([ZH_FACT]))
    job_id = stack.ingest(user_id, f"{ZH} {marker}", "好的")
    stack.wait_until(lambda: calls(model, user_id), 20, "the extraction does not begin")
    stack.stop("worker", signal.SIGKILL)
    assert stack.get(f"/v1/jobs/{job_id}").body["status"] == "processing"
    stack.start("worker")
    job = stack.finished(job_id)
    assert (job["outcome"], job["attempts"]["extract"]) == ("published", 2)
    assert memories(stack_database, user_id) == [ZH_FACT]


def test_jobs_accepted_while_the_relay_is_away_are_sent_when_it_comes_back(
    stack: Stack, model: ScriptedModel, user_id: str
) -> None:
    marker = f"[{user_id}]"
    model.when(marker, reply_facts([ZH_FACT]))
    stack.stop("relay")
    job_id = stack.ingest(user_id, f"{ZH} {marker}", "好的")
    time.sleep(0.5)
    assert stack.get(f"/v1/jobs/{job_id}").body["status"] == "pending"
    stack.start("relay")
    assert stack.finished(job_id)["outcome"] == "published"
