from __future__ import annotations

from collections.abc import Iterator

import pytest

from domain.candidate import Message, Role
from domain.errors import Backend, TransientError
from domain.ports import ExtractionPrompt, Purpose
from llm.openai_client import BATCH, OpenAIChatModel, OpenAIEmbedder
from llm.rules import extraction_rules, language_rule
from tests.scripted_model import Reply, ScriptedModel, reply_facts, reply_raw, reply_slow, reply_status, reply_text
from tests.stack import free_port

PROMPT = ExtractionPrompt("the system part", "the user part", (Message(Role.USER, "private words"),))
KEY = "key-for-tests"


@pytest.fixture
def server() -> Iterator[ScriptedModel]:
    with ScriptedModel(dims=8) as running:
        yield running


def chat(url: str, *, timeout: float = 5) -> OpenAIChatModel:
    return OpenAIChatModel(base_url=url, api_key=KEY, model="m", timeout=timeout, max_tokens=321, temperature=0.1)


def embedder(url: str, *, dims: int = 8, timeout: float = 5) -> OpenAIEmbedder:
    return OpenAIEmbedder(base_url=url, api_key=None, model="e", dims=dims, timeout=timeout)


def test_the_model_is_asked_once_with_our_settings(server: ScriptedModel) -> None:
    server.script(reply_text("the answer"))
    assert chat(server.url).answer(PROMPT) == "the answer"
    (request,) = server.requests
    assert request.authorization == f"Bearer {KEY}"
    assert request.body["messages"] == [
        {"role": "system", "content": "the system part"},
        {"role": "user", "content": "the user part"},
    ]
    assert request.body["response_format"] == {"type": "json_object"}
    assert (request.body["max_tokens"], request.body["temperature"]) == (321, 0.1)


@pytest.mark.parametrize(
    ("reply", "backend", "detail"),
    [
        (reply_status(429), Backend.LLM_RATE_LIMITED, "HTTP 429"),
        (reply_status(500), Backend.LLM_UNAVAILABLE, "HTTP 500"),
        (reply_status(503), Backend.LLM_UNAVAILABLE, "HTTP 503"),
        (reply_status(401), Backend.LLM_UNAVAILABLE, "HTTP 401"),
        (reply_status(404), Backend.LLM_UNAVAILABLE, "HTTP 404"),
        (reply_text(""), Backend.LLM_UNPARSEABLE, "gave no text"),
        (reply_text(None), Backend.LLM_UNPARSEABLE, "gave no text"),
        (reply_text(" \n"), Backend.LLM_UNPARSEABLE, "gave no text"),
        (reply_raw("<html>a page</html>"), Backend.LLM_UNAVAILABLE, ""),
        (reply_raw("null"), Backend.LLM_UNAVAILABLE, "no chat completion"),
        (reply_raw('{"error": {"message": "private"}}'), Backend.LLM_UNAVAILABLE, "no chat completion"),
        (reply_raw('{"choices": []}'), Backend.LLM_UNAVAILABLE, "no chat completion"),
        (reply_raw('{"choices": [{"message": null}]}'), Backend.LLM_UNAVAILABLE, "no chat completion"),
        (reply_raw('{"choices": [{"message": {"content": ["x"]}}]}'), Backend.LLM_UNPARSEABLE, "gave no text"),
        (reply_text("x", finish_reason="content_filter"), Backend.LLM_UNPARSEABLE, "gave no text"),
        (reply_slow(1.0, reply_facts([])), Backend.LLM_TIMEOUT, "time limit"),
    ],
)
def test_a_failing_model_is_named_and_not_asked_again(
    server: ScriptedModel, reply: Reply, backend: Backend, detail: str
) -> None:
    server.script(reply)
    with pytest.raises(TransientError) as caught:
        chat(server.url, timeout=0.4).answer(PROMPT)
    assert (caught.value.backend, detail in caught.value.detail) == (backend, True)
    assert len(server.requests) == 1


def test_a_model_that_nobody_serves_is_unavailable() -> None:
    with pytest.raises(TransientError) as caught:
        chat(f"http://127.0.0.1:{free_port()}/v1").answer(PROMPT)
    assert caught.value.backend is Backend.LLM_UNAVAILABLE


def test_an_answer_that_was_cut_is_handed_on_for_its_whole_items(server: ScriptedModel) -> None:
    server.script(reply_text('{"memory": ["a b", "c', finish_reason="length"))
    assert chat(server.url).answer(PROMPT).startswith('{"memory"')


def test_texts_are_embedded_in_order_and_once(server: ScriptedModel) -> None:
    made = embedder(server.url)
    first = made.embed(["tea", "coffee", "tea"], Purpose.STORE)
    assert first[0] == first[2] != first[1]
    assert made.embed(["coffee"], Purpose.STORE) == [first[1]]
    (request,) = server.embedding_requests
    assert request.body["input"] == ["tea", "coffee"]
    assert request.body["dimensions"] == 8


def test_many_texts_go_in_batches(server: ScriptedModel) -> None:
    texts = [f"text {number}" for number in range(BATCH + 1)]
    assert len(embedder(server.url).embed(texts, Purpose.STORE)) == BATCH + 1
    assert [len(request.body["input"]) for request in server.embedding_requests] == [BATCH, 1]


def test_no_texts_need_no_request(server: ScriptedModel) -> None:
    assert embedder(server.url).embed([], Purpose.STORE) == []
    assert server.embedding_requests == []


@pytest.mark.parametrize("status", [401, 429, 500])
def test_a_failing_embedder_is_unavailable_and_nothing_is_cached(server: ScriptedModel, status: int) -> None:
    made = embedder(server.url)
    server.embeddings_fail = status
    with pytest.raises(TransientError) as caught:
        made.embed(["tea"], Purpose.STORE)
    assert (caught.value.backend, caught.value.detail) == (Backend.EMBEDDING_UNAVAILABLE, f"HTTP {status}")
    server.embeddings_fail = None
    assert len(made.embed(["tea"], Purpose.STORE)) == 1


def test_an_endpoint_that_refuses_to_choose_a_length_is_asked_without_from_then_on(server: ScriptedModel) -> None:
    server.refuses_dimensions = True
    made = embedder(server.url)
    assert len(made.embed(["tea"], Purpose.STORE)[0]) == 8
    made.embed(["coffee"], Purpose.STORE)
    assert ["dimensions" in request.body for request in server.embedding_requests] == [True, False, False]


def test_the_length_is_checked_where_the_endpoint_refuses_to_choose_it(server: ScriptedModel) -> None:
    server.refuses_dimensions = True
    with pytest.raises(TransientError, match="8 dimensions instead of 16"):
        embedder(server.url, dims=16).embed(["tea"], Purpose.STORE)


def test_a_bad_request_is_not_taken_for_a_refusal_of_the_length(server: ScriptedModel) -> None:
    made = embedder(server.url)
    server.embeddings_fail = 400
    with pytest.raises(TransientError, match="HTTP 400"):
        made.embed(["tea"], Purpose.STORE)
    server.embeddings_fail = None
    made.embed(["tea"], Purpose.STORE)
    assert "dimensions" in server.embedding_requests[-1].body


def test_vectors_are_ordered_by_their_index(server: ScriptedModel) -> None:
    expected = embedder(server.url).embed(["tea", "coffee"], Purpose.STORE)
    server.shuffles_embeddings = True
    assert embedder(server.url).embed(["tea", "coffee"], Purpose.STORE) == expected


def test_an_embedder_that_nobody_serves_is_unavailable() -> None:
    with pytest.raises(TransientError) as caught:
        embedder(f"http://127.0.0.1:{free_port()}/v1").embed(["tea"], Purpose.STORE)
    assert caught.value.backend is Backend.EMBEDDING_UNAVAILABLE


@pytest.mark.parametrize(("value", "why"), [(float("nan"), "not finite"), (0.0, "nothing but zeros")])
def test_a_vector_without_a_direction_is_refused(server: ScriptedModel, value: float, why: str) -> None:
    server.embedded_value = value
    with pytest.raises(TransientError, match=why):
        embedder(server.url).embed(["tea"], Purpose.STORE)


def test_vectors_of_another_length_are_refused(server: ScriptedModel) -> None:
    server.embedded_dims = 16
    with pytest.raises(TransientError, match="16 dimensions instead of 8"):
        embedder(server.url).embed(["tea"], Purpose.STORE)


def test_neither_key_nor_prompt_is_shown(server: ScriptedModel) -> None:
    server.script(reply_status(500))
    made = chat(server.url)
    with pytest.raises(TransientError) as caught:
        made.answer(PROMPT)
    assert KEY not in repr(made) + repr(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_the_rules_say_what_the_notes_ask_for() -> None:
    rules = extraction_rules()
    for part in ("以后所有报告统一使用 HTML", "这次生成 HTML 报告", "Never translate", "attributed_to", "suggestion"):
        assert part in rules


@pytest.mark.parametrize(("language", "name"), [("zh", "Chinese"), ("en", "English"), ("th", "'th'")])
def test_the_second_run_names_its_language(language: str, name: str) -> None:
    assert name in language_rule(language)
