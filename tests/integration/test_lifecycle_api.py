"""The internal interfaces for managing memories: what they answer, and what they refuse by field and rule."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from tests.ledgers import UNKNOWN_JOB
from tests.scripted_model import ScriptedModel, reply_facts
from tests.stack import OPERATOR_TOKEN, Answer, Stack

FEISHU = "用户在“飞书”维护值班表"
PATHS = ("manage", "list-user", "overview", "topics", "related", "history", "update-item", "delete-item", "delete-user")


def asked(stack: Stack, path: str, user_id: str, **fields: Any) -> Answer:
    return stack.post(f"/v1/memories/{path}", {"tenant_id": "test", "user_id": user_id, **fields})


def added(stack: Stack, user_id: str, text: str = FEISHU, **fields: Any) -> str:
    answer = asked(stack, "manage", user_id, action="add", text=text, **fields)
    assert answer.status == 200, answer
    return str(answer.body["memory_id"])


def test_a_memory_lives_from_add_to_forget(stack: Stack, user_id: str) -> None:
    details: dict[str, Any] = {"type": "constraint", "title": "Rota", "importance": 0.9, "expires_at": "2099-01-31"}
    memory_id = added(stack, user_id, metadata={"category": "work"}, **details)
    items = asked(stack, "list-user", user_id, type=["constraint"]).body["items"]
    assert [item["id"] for item in items] == [memory_id]
    assert {key: items[0][key] for key in details} == details
    assert (items[0]["content"], items[0]["metadata"], items[0]["status"]) == (FEISHU, {"category": "work"}, "active")
    changed = asked(stack, "update-item", user_id, memory_id=memory_id, text="用户在“钉钉”维护值班表")
    assert (changed.status, changed.body["status"], changed.body["memory_id"]) == (200, "updated", memory_id)
    history = asked(stack, "history", user_id, memory_id=memory_id).body["history"]
    assert [(entry["event"], entry["old_text"]) for entry in history] == [("ADD", None), ("UPDATE", FEISHU)]
    assert [topic["name"] for topic in asked(stack, "topics", user_id).body["topics"]] == ["钉钉"]
    assert asked(stack, "overview", user_id, time_zone="Asia/Shanghai").body["by_source"] == {"manage": 1}
    hits = stack.search(user_id, "用户在“钉钉”维护值班表", min_score=0)["items"]
    assert [hit["id"] for hit in hits] == [memory_id]
    assert "text_lemmatized" not in str(hits)
    gone = asked(stack, "delete-item", user_id, memory_id=memory_id)
    assert (gone.status, gone.body["status"], gone.body["deleted_count"]) == (200, "deleted", 1)
    assert set(gone.body["erasure"]["after"].values()) == {0}
    assert asked(stack, "history", user_id, memory_id=memory_id).status == 404
    assert stack.search(user_id, "用户在“钉钉”维护值班表", min_score=0)["items"] == []


def test_an_answer_has_the_fields_of_the_contract(stack: Stack, user_id: str) -> None:
    answer = asked(stack, "manage", user_id, action="none", run_id="r-1").body
    assert answer == {
        "action": "none",
        "success": True,
        "memory_id": None,
        "inserted_count": 0,
        "deleted_count": 0,
        "reason": None,
        "status": "none",
    }
    refused = asked(stack, "manage", user_id, action="add", text="我的密码是 " + "Qm7x@" + "99821")
    assert (refused.status, refused.body["code"], refused.body["reason"]) == (422, "rejected", "credential")
    assert (refused.body["success"], refused.body["status"], refused.body["inserted_count"]) == (False, 422, 0)


def test_archive_and_restore(stack: Stack, user_id: str) -> None:
    memory_id = added(stack, user_id)
    archived = asked(stack, "manage", user_id, action="delete", memory_id=memory_id, mode="archive")
    assert archived.body["status"] == "archived"
    assert asked(stack, "list-user", user_id).body["items"] == []
    assert len(asked(stack, "list-user", user_id, status=["archived"]).body["items"]) == 1
    assert asked(stack, "restore-item", user_id, memory_id=memory_id).body["status"] == "restored"
    assert len(asked(stack, "list-user", user_id).body["items"]) == 1


def test_a_managed_run_keeps_its_own_candidate_out(stack: Stack, model: ScriptedModel, user_id: str) -> None:
    model.when(f"[{user_id}]", reply_facts(["用户偏好用中文写周报"]))
    run = f"run-{uuid.uuid4().hex[:8]}"
    assert asked(stack, "manage", user_id, action="none", run_id=run).status == 200
    job_id = stack.ingest(user_id, f"以后都用中文写周报 [{user_id}]", "好的", run_id=run)
    seen = stack.finished(job_id)
    assert (seen["outcome"], seen["reason"]) == ("skipped_managed", "run_managed")
    assert [request for request in model.requests if user_id in str(request.body)] == []


# Kind: MemTensor/MemOS#2202.
@pytest.mark.parametrize("path", ["history", "related", "update-item", "delete-item", "restore-item", "manage"])
def test_somebody_elses_id_and_an_unknown_one_get_the_same_answer(stack: Stack, user_id: str, path: str) -> None:
    theirs = added(stack, f"{user_id}-other")
    fields: dict[str, Any] = {"text": "用户喜欢红茶"} if path == "update-item" else {}
    if path == "manage":
        fields = {"action": "delete"}
    answers = [asked(stack, path, user_id, memory_id=memory_id, **fields) for memory_id in (theirs, str(uuid.uuid4()))]
    for answer in answers:
        answer.body.pop("memory_id", None)
        answer.body.pop("request_id")
    assert answers[0].status == 404
    assert answers[0].body == answers[1].body
    assert len(asked(stack, "list-user", f"{user_id}-other").body["items"]) == 1


def test_a_whole_user_is_forgotten_with_a_receipt(stack: Stack, user_id: str) -> None:
    for number in range(3):
        added(stack, user_id, f"用户在“飞书”里有第 {number} 个群")
    gone = asked(stack, "delete-user", user_id)
    assert (gone.status, gone.body["status"], gone.body["deleted_count"]) == (200, "deleted", 3)
    assert gone.body["erasure"]["before"]["memories"] == 3
    assert set(gone.body["erasure"]["after"].values()) == {0}
    assert asked(stack, "list-user", user_id).body == {"items": [], "next_cursor": None}


@pytest.fixture
def no_embeddings(model: ScriptedModel) -> Iterator[None]:
    """The embedding model fails, but only once it is asked for."""
    yield
    model.embeddings_fail = None


def test_looking_and_deleting_work_while_no_model_answers(
    stack: Stack, model: ScriptedModel, user_id: str, no_embeddings: None
) -> None:
    memory_id = added(stack, user_id)
    model.embeddings_fail = 500
    for path in ("list-user", "overview", "topics"):
        assert asked(stack, path, user_id).status == 200
    assert asked(stack, "related", user_id, memory_id=memory_id).status == 200
    away = asked(stack, "manage", user_id, action="add", text=f"用户喜欢 {uuid.uuid4().hex[:6]} 号茶")
    assert (away.status, away.body["code"], away.body["reason"]) == (503, "backend_error", "embedding_unavailable")
    assert asked(stack, "delete-item", user_id, memory_id=memory_id).status == 200


@pytest.mark.parametrize(
    ("path", "fields", "field", "rule"),
    [
        ("manage", {"action": "eat"}, "action", "enum"),
        ("manage", {"action": "add"}, "text", "required"),
        ("manage", {"action": "add", "text": "a b", "memory_id": UNKNOWN_JOB}, "memory_id", "unexpected"),
        ("manage", {"action": "delete", "memory_id": "7"}, "memory_id", "uuid_parsing"),
        ("manage", {"action": "add", "text": "x" * 4001}, "text", "too_long"),
        ("manage", {"action": "add", "text": "a b", "confidence": 1.5}, "confidence", "less_than_equal"),
        ("manage", {"action": "add", "text": "a b", "sensitivity": 3}, "sensitivity", "less_than_equal"),
        ("manage", {"action": "add", "text": "a b", "expires_at": "2020-01-01"}, "expires_at", "not_past"),
        ("manage", {"action": "add", "text": "a b", "type": "a b"}, "type", "string_pattern_mismatch"),
        ("manage", {"action": "add", "text": "a b", "metadata": {"hash": "x"}}, "metadata", "reserved_key"),
        ("manage", {"action": "add", "text": "a b", "run_id": "a b"}, "run_id", "no_whitespace"),
        ("list-user", {"since": "2026-01-01T00:00:00"}, "since", "timezone_aware"),
        ("list-user", {"cursor": "x"}, "cursor", "cursor"),
        ("list-user", {"limit": 0}, "limit", "greater_than_equal"),
        ("overview", {"time_zone": "Mars/Olympus"}, "time_zone", "time_zone"),
        ("overview", {"time_zone": "../../etc/passwd"}, "time_zone", "time_zone"),
        ("overview", {"days": 0}, "days", "greater_than_equal"),
        ("delete-user", {"mode": "archive"}, "mode", "extra_forbidden"),
        ("history", {}, "memory_id", "required"),
    ],
)
def test_a_wrong_field_is_named_with_its_rule(
    stack: Stack, user_id: str, path: str, fields: dict[str, Any], field: str, rule: str
) -> None:
    answer = asked(stack, path, user_id, **fields)
    assert answer.status == 422, answer
    assert (answer.body["errors"][0]["field"], answer.body["errors"][0]["rule"]) == (field, rule)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("user", ["*", "", " ", "a b", "a\x00b", "x" * 129, "a\u200bb"])
def test_no_endpoint_takes_a_user_that_could_mean_others(stack: Stack, path: str, user: str) -> None:
    answer = asked(stack, path, user, memory_id=UNKNOWN_JOB, action="none")
    assert answer.status == 422
    assert "user_id" in [error["field"] for error in answer.body["errors"]]


@pytest.mark.parametrize("path", PATHS)
def test_an_operator_may_not_look_at_memories(stack: Stack, path: str) -> None:
    answer = stack.post(f"/v1/memories/{path}", {}, token=OPERATOR_TOKEN)
    assert (answer.status, answer.body["code"]) == (403, "forbidden")
