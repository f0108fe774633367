"""Users and their own memories: whose they are comes from the token, and every endpoint does what it says."""

from __future__ import annotations

import json
import urllib.request
import uuid
from typing import Any

import pytest
from pydantic import SecretStr

from domain.scope import Scope
from runtime.settings import Settings
from runtime.user_tokens import signed
from tests.ledgers import UNKNOWN_JOB
from tests.scripted_model import ScriptedModel, reply_facts
from tests.stack import OPERATOR_TOKEN, TOKEN, USER_SECRET, Answer, Stack

FEISHU = "用户在“飞书”维护值班表"
MEMORIES = "/api/v1/user-customer-settings/memories"
ENDPOINTS = [
    ("GET", f"{MEMORIES}/vector"),
    ("GET", f"{MEMORIES}/overview"),
    ("GET", f"{MEMORIES}/topics"),
    ("GET", f"{MEMORIES}/{UNKNOWN_JOB}/related"),
    ("GET", f"{MEMORIES}/{UNKNOWN_JOB}/history"),
    ("PUT", f"{MEMORIES}/{UNKNOWN_JOB}"),
    ("DELETE", f"{MEMORIES}/{UNKNOWN_JOB}"),
    ("POST", f"{MEMORIES}/{UNKNOWN_JOB}/restore"),
    ("DELETE", MEMORIES),
    ("GET", "/api/v1/memory/items"),
    ("DELETE", f"/api/v1/memory/items/{UNKNOWN_JOB}"),
    ("GET", "/api/v1/memory/settings"),
    ("POST", "/api/v1/memory/settings"),
    ("GET", f"/api/v1/memory/jobs/{UNKNOWN_JOB}/explain"),
]


def token_of(user_id: str) -> str:
    settings = Settings(user_jwt_secret=SecretStr(USER_SECRET))
    return signed(Scope("test", user_id), USER_SECRET, settings, seconds=600)


def asked(stack: Stack, method: str, path: str, token: str | None, body: object = None) -> Answer:
    data = None if body is None else json.dumps(body).encode()
    return stack._ask(urllib.request.Request(stack.url + path, data=data, method=method), token)


def mine(stack: Stack, user_id: str, method: str, path: str, body: object = None) -> Answer:
    return asked(stack, method, path, token_of(user_id), body)


def added(stack: Stack, user_id: str, text: str = FEISHU) -> str:
    body = {"tenant_id": "test", "user_id": user_id, "action": "add", "text": text}
    return str(stack.post("/v1/memories/manage", body).body["memory_id"])


def test_a_user_sees_corrects_and_forgets(stack: Stack, user_id: str) -> None:
    memory_id = added(stack, user_id)
    for path in (f"{MEMORIES}/vector", "/api/v1/memory/items?type=fact&status=active"):
        listed = mine(stack, user_id, "GET", path)
        assert [item["id"] for item in listed.body["items"]] == [memory_id]
        assert not {"relations", "vector"} & set(listed.body["items"][0])
    changed = mine(stack, user_id, "PUT", f"{MEMORIES}/{memory_id}", {"text": "用户在“钉钉”维护值班表"})
    assert (changed.status, changed.body["status"]) == (200, "updated")
    history = mine(stack, user_id, "GET", f"{MEMORIES}/{memory_id}/history").body["history"]
    assert [entry["event"] for entry in history] == ["ADD", "UPDATE"]
    assert mine(stack, user_id, "GET", f"{MEMORIES}/topics").body["topics"][0]["name"] == "钉钉"
    overview = mine(stack, user_id, "GET", f"{MEMORIES}/overview?time_zone=Asia/Shanghai&days=2").body
    assert overview["by_status"] == {"active": 1}
    other = added(stack, user_id, "用户喜欢绿茶")
    near = mine(stack, user_id, "GET", f"{MEMORIES}/{memory_id}/related").body["items"]
    assert [item["id"] for item in near] == [other]
    gone = mine(stack, user_id, "DELETE", f"{MEMORIES}/{memory_id}")
    assert (gone.body["status"], set(gone.body["erasure"]["after"].values())) == ("deleted", {0})
    everything = mine(stack, user_id, "DELETE", MEMORIES)
    assert (everything.body["status"], everything.body["deleted_count"]) == ("deleted", 1)


def test_deleting_an_item_archives_it_unless_for_good_is_said(stack: Stack, user_id: str) -> None:
    memory_id = added(stack, user_id)
    assert mine(stack, user_id, "DELETE", f"/api/v1/memory/items/{memory_id}").body["status"] == "archived"
    assert mine(stack, user_id, "GET", "/api/v1/memory/items").body["items"] == []
    assert mine(stack, user_id, "POST", f"{MEMORIES}/{memory_id}/restore").body["status"] == "restored"
    gone = mine(stack, user_id, "DELETE", f"/api/v1/memory/items/{memory_id}?mode=forget")
    assert gone.body["status"] == "deleted"


def test_switches_are_set_one_by_one_and_hold_at_once(stack: Stack, model: ScriptedModel, user_id: str) -> None:
    assert mine(stack, user_id, "GET", "/api/v1/memory/settings").body == {
        "memory_enabled": True,
        "memory_save_enabled": True,
        "memory_reference_enabled": True,
        "implicit_memory_enabled": True,
        "sensitive_memory_enabled": False,
    }
    changed = mine(stack, user_id, "POST", "/api/v1/memory/settings", {"memory_save_enabled": False})
    assert (changed.body["memory_save_enabled"], changed.body["memory_enabled"]) == (False, True)
    model.when(f"[{user_id}]", reply_facts([FEISHU]))
    seen = stack.finished(stack.ingest(user_id, f"我以后都在飞书维护值班表 [{user_id}]", "好的"))
    assert (seen["outcome"], seen["reason"]) == ("memory_off", "memory_save_enabled")
    assert [request for request in model.requests if user_id in str(request.body)] == []


def test_a_user_is_told_why_with_the_words_of_what_became_a_memory(
    stack: Stack, model: ScriptedModel, user_id: str
) -> None:
    model.when(f"[{user_id}]", reply_facts(["用户以后都用中文写周报", "用户住在火星基地"]))
    job_id = stack.ingest(user_id, f"我以后都用中文写周报 [{user_id}]", "好的")
    assert stack.finished(job_id)["outcome"] == "published"
    path = f"/api/v1/memory/jobs/{job_id}/explain"
    facts = mine(stack, user_id, "GET", path).body["facts"]
    assert [(fact["kept"], fact["text"]) for fact in facts] == [(True, "用户以后都用中文写周报"), (False, None)]
    memory_id = facts[0]["fact_id"]
    shown = mine(stack, user_id, "GET", f"{MEMORIES}/{memory_id}/history").body
    assert shown["evidence"] == facts[0]["evidence"]
    assert shown["evidence"]["role"] == "user"
    assert mine(stack, f"{user_id}-other", "GET", path).status == 404
    assert "周报" not in str(stack.get(f"/v1/jobs/{job_id}/explain").body)


@pytest.mark.parametrize(("method", "path"), ENDPOINTS)
def test_only_a_users_own_token_opens_a_users_endpoint(stack: Stack, method: str, path: str) -> None:
    for token in (None, "wrong", token_of("x")[:-4] + "AAAA"):
        answer = asked(stack, method, path, token)
        assert (answer.status, answer.body["code"]) == (401, "unauthorized")
    for token in (TOKEN, OPERATOR_TOKEN):
        answer = asked(stack, method, path, token)
        assert (answer.status, answer.body["code"]) == (403, "forbidden")


# Kind: MemTensor/MemOS#2202.
@pytest.mark.parametrize(
    "path",
    [
        *(f"/v1/memories/{verb}" for verb in ("search", "ingest", "manage", "list-user", "history", "delete-user")),
        "/v1/jobs/retry",
    ],
)
def test_a_users_token_opens_nothing_of_the_services(stack: Stack, user_id: str, path: str) -> None:
    body = {"tenant_id": "test", "user_id": user_id}
    answer = asked(stack, "POST", path, token_of(user_id), body)
    assert (answer.status, answer.body["code"]) == (403, "forbidden")


@pytest.mark.parametrize(("method", "path"), ENDPOINTS)
def test_a_user_cannot_name_another(stack: Stack, user_id: str, method: str, path: str) -> None:
    theirs = added(stack, f"{user_id}-other")
    path = path.replace(UNKNOWN_JOB, theirs)
    body: dict[str, Any] = {"user_id": f"{user_id}-other", "tenant_id": "test"}
    answer = mine(stack, user_id, method, path, body if method in ("PUT", "POST") else None)
    assert FEISHU not in str(answer.body)
    assert answer.status in (200, 404, 422)
    named = mine(stack, user_id, method, f"{path}?user_id={user_id}-other&tenant_id=test")
    assert FEISHU not in str(named.body)
    left = stack.post("/v1/memories/list-user", {"tenant_id": "test", "user_id": f"{user_id}-other"}).body["items"]
    assert [item["id"] for item in left] == [theirs]


def test_somebody_elses_memory_looks_like_none(stack: Stack, user_id: str) -> None:
    theirs, unknown = added(stack, f"{user_id}-other"), str(uuid.uuid4())
    for method, path in ENDPOINTS:
        if UNKNOWN_JOB not in path:
            continue
        body = {"text": "用户喜欢红茶"} if method == "PUT" else None
        answers = [mine(stack, user_id, method, path.replace(UNKNOWN_JOB, key), body) for key in (theirs, unknown)]
        for answer in answers:
            answer.body.pop("memory_id", None)
            answer.body.pop("request_id")
        assert answers[0].status == 404, path
        assert answers[0].body == answers[1].body
        assert mine(stack, user_id, method, path.replace(UNKNOWN_JOB, "7"), body).status == 404


@pytest.mark.parametrize(
    ("body", "field"),
    [({"memory_enabled": "yes"}, "memory_enabled"), ({"memory_enabled": 1}, "memory_enabled"), ({"all": True}, "all")],
)
def test_a_switch_is_on_or_off(stack: Stack, user_id: str, body: dict[str, Any], field: str) -> None:
    answer = mine(stack, user_id, "POST", "/api/v1/memory/settings", body)
    assert (answer.status, answer.body["errors"][0]["field"]) == (422, field)
