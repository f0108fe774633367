"""Every character that is said comes back as it was, on the way through the pipeline and by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.scripted_model import ScriptedModel, reply_text
from tests.stack import Stack


def told(stack: Stack, path: str, user_id: str, **fields: Any) -> dict[str, Any]:
    answer = stack.post(f"/v1/memories/{path}", {"tenant_id": "test", "user_id": user_id, **fields})
    assert answer.status == 200, answer
    return answer.body


# Kind: agent0ai/agent-zero#1773.
@pytest.mark.parametrize(
    ("written", "kept"),
    [
        (r"用户喜欢 \ud83c\udf78 马天尼", "用户喜欢 🍸 马天尼"),
        (r"用户喜欢 🍸 马天尼\ud83d", "用户喜欢 🍸 马天尼"),
        (r"\udf78用户喜欢 🍸 马天尼\u0000", "用户喜欢 🍸 马天尼"),
    ],
    ids=["a pair", "half at the end", "half at the start and NUL"],
)
def test_what_a_model_writes_in_halves_is_stored_whole(
    stack: Stack, model: ScriptedModel, user_id: str, written: str, kept: str
) -> None:
    answer = f'{{"memory": [{{"id": "0", "text": "{written}", "attributed_to": "user"}}]}}'
    model.when(f"[{user_id}]", reply_text(answer))
    job = stack.finished(stack.ingest(user_id, f"我最喜欢 🍸 马天尼，以后聚会都点它 [{user_id}]", "好的 🍸"))
    assert job["outcome"] == "published", job
    (item,) = told(stack, "list-user", user_id)["items"]
    assert item["content"] == kept
    assert [hit["content"] for hit in stack.search(user_id, "🍸 马天尼", min_score=0)["items"]] == [kept]
    assert told(stack, "history", user_id, memory_id=item["id"])["history"][0]["new_text"] == kept


@pytest.mark.parametrize(
    "words",
    [
        "用户喜欢 🍸 和 👩‍👩‍👧‍👦 聚会",
        "用户的名字写作 𠮷野家 𝒳",
        "User said “naïve café” — it's O'Brien's",
        "用户写 \\n 和 %s 与 {x} <b>&amp;",
    ],
)
def test_what_is_written_by_hand_comes_back_as_it_was(stack: Stack, user_id: str, words: str) -> None:
    details = {"title": words[:40], "metadata": {"note": words, words[:8]: [words]}}
    memory_id = told(stack, "manage", user_id, action="add", text="用户住在杭州西湖区")["memory_id"]
    # Escaped as JSON may be, pairs of halves included.
    body = {"tenant_id": "test", "user_id": user_id, "memory_id": memory_id, "text": words, **details}
    assert stack.post("/v1/memories/update-item", json.dumps(body, ensure_ascii=True).encode()).status == 200
    (item,) = told(stack, "list-user", user_id, text=words[3:9])["items"]
    assert (item["content"], item["title"], item["metadata"]) == (words, details["title"], details["metadata"])
    assert told(stack, "history", user_id, memory_id=memory_id)["history"][-1]["new_text"] == words
