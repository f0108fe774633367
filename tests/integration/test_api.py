from __future__ import annotations

import json
import socket
import urllib.parse
import uuid
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from storage.database import Database
from storage.tables import JobRow
from tests.planted import PLANTED
from tests.scripted_model import ScriptedModel, reply_facts
from tests.stack import TOKEN, Stack, running_stack

INGEST = "/v1/memories/ingest"
SEARCH = "/v1/memories/search"
TURNS = [{"role": "user", "content": "以后都用中文"}, {"role": "assistant", "content": "好的"}]


def body(user_id: str, **fields: object) -> dict[str, Any]:
    return {"tenant_id": "test", "user_id": user_id, "messages": TURNS, **fields}


def jobs(database: Database) -> int:
    with database.transaction() as connection:
        return int(connection.execute(select(func.count()).select_from(JobRow)).scalar_one())


def test_a_new_candidate_is_accepted_and_the_same_key_finds_its_job(stack: Stack, user_id: str) -> None:
    first = stack.post(INGEST, body(user_id, idempotency_key="k1"))
    again = stack.post(INGEST, body(user_id, idempotency_key="k1"))
    assert (first.status, again.status) == (202, 200)
    assert first.body["job_id"] == again.body["job_id"]
    assert uuid.UUID(first.body["job_id"])


def test_a_job_shows_states_and_times_but_no_content(stack: Stack, user_id: str) -> None:
    job_id = stack.ingest(user_id, f"以后都用 {PLANTED}", "好的", trace_id="trace-1")
    shown = stack.finished(job_id)
    assert shown["trace_id"] == "trace-1"
    assert {"status", "step", "step_name", "outcome", "reason", "attempts", "counts", "created_at"} <= set(shown)
    assert PLANTED not in json.dumps(shown)


def test_a_job_explains_which_rule_dropped_what_without_a_word_of_it(
    stack: Stack, model: ScriptedModel, user_id: str
) -> None:
    model.when(f"[{user_id}]", reply_facts(["用户偏好用中文写周报", "用户偏好用 12 号字体写周报"]))
    messages = [f"[INFO] {PLANTED}\n以后都用中文写周报 [{user_id}]\n稿件在 /srv/{PLANTED}/a.md", "好的"]
    job_id = stack.ingest(user_id, *messages)
    assert stack.finished(job_id)["outcome"] == "published"
    shown = stack.get(f"/v1/jobs/{job_id}/explain").body
    assert shown["messages"] == [
        {
            "message": 0,
            "dropped": [
                {"rule": "log_line", "first_line": 1, "last_line": 1},
                {"rule": "path", "first_line": 3, "last_line": 3},
            ],
        }
    ]
    kept, dropped = sorted(shown["facts"], key=lambda fact: fact["rule"] or "")
    assert (kept["kept"], kept["step"], kept["rule"]) == (True, "memory.cleanup", None)
    assert (dropped["kept"], dropped["step"], dropped["rule"]) == (False, "memory.validate", "number_not_said")
    evidence = kept["evidence"]
    assert messages[evidence["message"]][evidence["start"] : evidence["end"]] == f"以后都用中文写周报 [{user_id}]"
    assert PLANTED not in json.dumps(shown)
    (found,) = stack.search(user_id, "用户偏好用中文写周报")["items"]
    assert found["id"] == kept["fact_id"]
    assert "evidence" not in found["metadata"]


def test_the_explanation_of_a_refused_secret_names_message_and_rule(stack: Stack, user_id: str) -> None:
    job_id = stack.ingest(user_id, "我的密码是 Hk82-qq-Lm", "好的")
    stack.finished(job_id)
    shown = stack.get(f"/v1/jobs/{job_id}/explain").body
    assert (shown["reason"], shown["messages"][0]["dropped"][0]["rule"]) == ("credential", "password_zh")
    assert "Hk82" not in json.dumps(shown)


def test_the_older_text_form_is_accepted(stack: Stack, model: ScriptedModel, user_id: str) -> None:
    model.when(f"[{user_id}]", reply_facts(["用户偏好中文"]))
    answer = stack.post(INGEST, {"tenant_id": "test", "user_id": user_id, "text": f"以后都用中文 [{user_id}]"})
    assert answer.status == 202
    assert stack.finished(answer.body["job_id"])["outcome"] == "published"


def test_an_event_is_accepted_like_a_candidate(stack: Stack, model: ScriptedModel, user_id: str) -> None:
    model.when(f"[{user_id}]", reply_facts(["用户偏好中文"]))
    payload = {
        "tenant_id": "test",
        "user_id": user_id,
        "source_message_id": 1,
        "source_role": "user",
        "source_text": f"以后都用中文 [{user_id}]",
        "idempotency_key": "1",
    }
    event = {"event": "memory.extract.requested", "version": "v1", "payload": payload}
    assert stack.post("/v1/events", event).status == 202
    again = stack.post("/v1/events", event)
    assert again.status == 200
    assert stack.finished(again.body["job_id"])["outcome"] == "published"


@pytest.mark.parametrize(
    ("raw", "field", "rule"),
    [
        (b"", "body", "json"),
        (b"{", "body", "json"),
        (b"[]", "body", "object"),
        (b"\xff\xfe", "body", "json"),
        (b'{"a": NaN}', "body", "json"),
        (b'{"a": ' + b"9" * 5000 + b"}", "body", "json"),
        (b'{"a": ' + b"[" * 100_000, "body", "json"),
        (b"{}", "tenant_id", "required"),
        (json.dumps(body("*")).encode(), "user_id", "no_wildcard"),
        (json.dumps(body("a b")).encode(), "user_id", "no_whitespace"),
        (json.dumps(body("u", messages=[])).encode(), "messages", "too_short"),
        (json.dumps(body("u", metadata={"user_id": "x"})).encode(), "metadata", "reserved_key"),
        (json.dumps(body("u", metadata={"a": "x" * 9000})).encode(), "metadata", "max_bytes"),
        (
            json.dumps(body("u", messages=[{"role": "user", "content": "x" * 65_537}])).encode(),
            "messages[0].content",
            "max_bytes",
        ),
        (
            json.dumps(body("u", messages=[{"role": "user", "content": "x" * 60_000}] * 5)).encode(),
            "messages",
            "max_bytes",
        ),
    ],
)
def test_bad_input_is_named_and_nothing_is_written(
    stack: Stack, stack_database: Database, raw: bytes, field: str, rule: str
) -> None:
    before = jobs(stack_database)
    answer = stack.post(INGEST, raw)
    assert answer.status == 422
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert (answer.body["errors"][0]["field"], answer.body["errors"][0]["rule"]) == (field, rule)
    assert jobs(stack_database) == before


def test_text_that_no_database_can_hold_is_accepted_without_those_characters(stack: Stack, user_id: str) -> None:
    messages = [{"role": "user", "content": "以后都用中文\x00\ud800"}, {"role": "assistant", "content": "好"}]
    assert stack.post(INGEST, body(user_id, messages=messages)).status == 202


def test_a_body_over_every_limit_is_refused_unread(stack: Stack) -> None:
    address = urllib.parse.urlsplit(stack.url)
    # Only announced, not sent: whoever goes on sending to a server that has answered may meet a closed connection.
    head = f"POST {INGEST} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: 3000000\r\n\r\n"
    with socket.create_connection((str(address.hostname), int(address.port or 0)), timeout=10) as connection:
        connection.sendall(head.encode())
        answer = b"".join(iter(lambda: connection.recv(4096), b""))
    assert answer.split()[1] == b"413"
    assert b'"code":"request_entity_too_large"' in answer.replace(b" ", b"")


@pytest.mark.parametrize("chunk", [b"zz\r\n", b"5\r\nab", b"5\r\nabcdefgh\r\n0\r\n\r\n"])
def test_a_broken_chunk_is_the_senders_fault(stack: Stack, chunk: bytes) -> None:
    address = urllib.parse.urlsplit(stack.url)
    head = f"POST {INGEST} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\nTransfer-Encoding: chunked\r\n\r\n"
    with socket.create_connection((str(address.hostname), int(address.port or 0)), timeout=10) as connection:
        connection.sendall(head.encode() + chunk)
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(1000).split()[1] in (b"400", b"422")


@pytest.mark.parametrize("path", [INGEST, SEARCH, "/v1/events"])
@pytest.mark.parametrize("token", [None, "", "wrong", TOKEN + "x", "tökén"])
def test_without_the_token_nothing_is_answered(stack: Stack, path: str, token: str | None) -> None:
    answer = stack.post(path, {}, token=token and token.encode().decode("latin-1"))
    assert (answer.status, answer.body["code"]) == (401, "unauthorized")


def test_a_job_needs_the_token_too(stack: Stack, user_id: str) -> None:
    assert stack.get(f"/v1/jobs/{stack.ingest(user_id, '以后都用中文', '好的')}", token=None).status == 401


@pytest.mark.parametrize("job_id", [str(uuid.uuid4()), "not-a-uuid", "%00", "1' OR '1'='1".replace(" ", "%20")])
def test_an_unknown_job_is_not_found(stack: Stack, job_id: str) -> None:
    assert stack.get(f"/v1/jobs/{job_id}").status == 404
    assert stack.get(f"/v1/jobs/{job_id}/explain").status == 404


def test_wrong_paths_and_methods_have_the_same_form(stack: Stack) -> None:
    assert (stack.get("/nowhere").status, stack.get(INGEST).status) == (404, 405)
    assert stack.get("/nowhere").body["code"] == "not_found"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"query": ""}, "query"),
        ({"query": "  "}, "query"),
        ({"query": "x" * 4001}, "query"),
        ({"top_k": 0}, "top_k"),
        ({"top_k": 51}, "top_k"),
        ({"top_k": "many"}, "top_k"),
        ({"min_score": 1.1}, "min_score"),
        ({"min_score": -0.1}, "min_score"),
        ({"user_id": "*"}, "user_id"),
        ({"tenant_id": ""}, "tenant_id"),
        ({"filters": {"user_id": "other"}}, "filters"),
    ],
)
def test_a_wrong_search_is_named(stack: Stack, user_id: str, change: dict[str, Any], field: str) -> None:
    answer = stack.post(SEARCH, {"tenant_id": "test", "user_id": user_id, "query": "茶", **change})
    assert answer.status == 422
    assert answer.body["errors"][0]["field"] == field


def test_a_search_without_memories_finds_nothing_and_is_available(stack: Stack, user_id: str) -> None:
    assert stack.search(user_id, "茶") == {"items": [], "total": 0, "available": True, "error_reason": None}


def test_a_query_with_nul_and_lone_surrogates_is_answered(stack: Stack, user_id: str) -> None:
    assert stack.search(user_id, "茶\x00\ud800")["available"]


def test_another_users_memories_are_never_found(stack: Stack, model: ScriptedModel, user_id: str) -> None:
    model.when(f"[{user_id}]", reply_facts(["用户偏好乌龙茶"]))
    stack.finished(stack.ingest(user_id, f"以后都喝乌龙茶 [{user_id}]", "好的"))
    assert stack.search(user_id, "用户偏好乌龙茶")["total"] == 1
    for other in (user_id + "x", user_id[:-1], user_id.upper()):
        assert stack.search(other, "用户偏好乌龙茶", min_score=0)["total"] == 0


def test_a_search_with_the_embedder_down_says_so(stack: Stack, model: ScriptedModel, user_id: str) -> None:
    assert stack.get("/health/ready").status == 200
    model.embeddings_fail = 503
    try:
        found = stack.search(user_id, f"never asked before: {PLANTED} {user_id}")
        ready = stack.get("/health/ready")
    finally:
        model.embeddings_fail = None
    assert found == {"items": [], "total": 0, "available": False, "error_reason": "embedding_unavailable"}
    assert (ready.status, ready.body["checks"]) == (
        503,
        {"database": "ok", "broker": "ok", "embedder": "HTTP 503"},
    )


def test_health_needs_no_token_and_names_each_part(stack: Stack) -> None:
    assert stack.get("/health/live", token=None).body == {"status": "ok"}
    ready = stack.get("/health/ready", token=None)
    assert ready.status == 200
    assert ready.body["checks"] == {"database": "ok", "broker": "ok", "embedder": "ok"}


def test_a_full_service_refuses_with_429_and_says_when_to_come_back(
    stack: Stack, stack_database: Database, user_id: str, tmp_path: Path
) -> None:
    settings = {
        name.removeprefix("POCO_").lower(): value
        for name, value in stack.environment.items()
        if name.startswith("POCO_")
    }
    del settings["api_port"], settings["home"]
    changed = settings | {"max_open_jobs_per_scope": 1, "backlog_warning": 1}
    with running_stack(tmp_path, "api", **changed) as full:
        before = jobs(stack_database)
        stack.stop("worker")
        try:
            assert full.post(INGEST, body(user_id)).status == 202
            refused = full.post(INGEST, body(user_id))
            assert (refused.status, refused.body["code"]) == (429, "too_many_open_jobs")
            assert int(refused.headers["Retry-After"]) > 0
            assert jobs(stack_database) == before + 1
            full.wait_until(lambda: full.get("/health/ready").body["backlog"] == "high", 5, "the backlog is not told")
        finally:
            stack.start("worker")
