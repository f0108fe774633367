"""What the adapter and our tables rely on in the installed mem0; a change in mem0 fails here by name."""

from __future__ import annotations

import importlib.metadata
import inspect
import json
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from domain.candidate import Message, Role
from domain.errors import Backend, TransientError
from domain.facts import Fact, StagedFact
from domain.memory import Neighbour
from domain.ports import ExtractionPrompt, Purpose
from domain.scope import Scope
from storage.database import Database
from storage.mem0_adapter import Inference, Mem0Extractor, build_memory, import_mem0
from storage.memories import SqlMemoryIndex
from tests.fakes import DIMS, FakeEmbedder, FakeIndex, fake_vector, unique_scope

TURNS = (Message(Role.USER, "以后技术方案都用简体中文"), Message(Role.ASSISTANT, "好的"))
FACT = Fact("用户偏好简体中文的技术方案", "user", type="preference", confidence=0.9, expires_at="2027-01-31")


class ScriptedAnswers:
    """A model that answers with the facts given, or fails."""

    model = "scripted"

    def __init__(self, *answers: list[Fact] | TransientError) -> None:
        self.answers = list(answers)
        self.prompts: list[ExtractionPrompt] = []

    def answer(self, prompt: ExtractionPrompt) -> str:
        self.prompts.append(prompt)
        return ""

    def parse(self, _: str) -> list[Fact]:
        answer = self.answers.pop(0)
        if isinstance(answer, TransientError):
            raise answer
        return answer


def to_json(facts: list[Fact]) -> str:
    rows = [{"id": str(n), "text": f.text, "attributed_to": f.attributed_to} for n, f in enumerate(facts)]
    return json.dumps({"memory": rows}, ensure_ascii=False)


def extractor(mem0_dir: Path, model: ScriptedAnswers, **ports: Any) -> Mem0Extractor:
    parts = {"embedder": FakeEmbedder(), "index": FakeIndex(), **ports}
    inference = Inference(
        model=model,
        parse=model.parse,
        to_json=to_json,
        rules=lambda: "OUR RULES",
        language_rule=lambda code: f"IN {code}",
        **parts,
    )
    return Mem0Extractor(inference, mem0_dir=mem0_dir, embedding_max_chars=200)


def extract(mem0_dir: Path, model: ScriptedAnswers, language: str | None = None, **ports: Any) -> list[StagedFact]:
    return extractor(mem0_dir, model, **ports).extract(unique_scope(), TURNS, language=language)


def test_the_pinned_version_is_installed() -> None:
    assert importlib.metadata.version("mem0ai") == "2.0.12"


def test_the_internals_we_replace_exist_by_their_names(mem0_dir: Path) -> None:
    main = import_mem0(mem0_dir)
    assert {"extract_entities_batch", "lemmatize_for_bm25"} <= set(vars(main))
    memory = build_memory(mem0_dir, dims=DIMS)
    assert {"llm", "embedding_model", "vector_store", "db", "_entity_store"} <= set(vars(memory))


def test_add_takes_what_we_pass(mem0_dir: Path) -> None:
    parameters = inspect.signature(import_mem0(mem0_dir).Memory.add).parameters
    assert {"messages", "user_id", "infer", "prompt"} <= set(parameters)


def test_an_inference_hands_over_text_vector_and_payload(mem0_dir: Path) -> None:
    (fact,) = extract(mem0_dir, ScriptedAnswers([FACT]))
    assert uuid.UUID(fact.id)
    assert (fact.text, fact.attributed_to) == (FACT.text, "user")
    assert fact.vector == fake_vector(FACT.text)
    assert {"data", "hash", "user_id", "created_at", "updated_at", "text_lemmatized"} <= set(fact.payload)
    assert (fact.payload["type"], fact.payload["confidence"]) == ("preference", 0.9)
    assert fact.payload["expiration_date"] == "2027-01-31"


def test_the_prompt_holds_the_conversation_our_rules_and_no_earlier_conversation(mem0_dir: Path) -> None:
    model = ScriptedAnswers([FACT], [])
    made = extractor(mem0_dir, model)
    scope = unique_scope()
    made.extract(scope, TURNS, language=None)
    made.extract(scope, (Message(Role.USER, "second turn"), Message(Role.ASSISTANT, "ok")), language=None)
    first, second = model.prompts
    assert TURNS[0].content in first.user
    assert "OUR RULES" in first.user
    assert first.conversation == TURNS
    assert TURNS[0].content not in second.user


# Kinds: NousResearch/hermes-agent#106235, mem0ai/mem0#5148.
def test_a_long_conversation_is_looked_up_by_its_end_and_extracted_whole(mem0_dir: Path) -> None:
    embedder, model = FakeEmbedder(), ScriptedAnswers([Fact("长" * 300, "user")])
    story = "我们聊了很多无关的东西。" * 40
    turns = (Message(Role.USER, f"{story}以后都用中文回答。"), Message(Role.ASSISTANT, "好。" * 300))
    extractor(mem0_dir, model, embedder=embedder).extract(unique_scope(), turns, language=None)
    by_purpose = {purpose: [text for text, used in embedder.embedded if used is purpose] for purpose in Purpose}
    (looked_up,) = by_purpose[Purpose.QUERY]
    assert len(looked_up) <= 200
    assert looked_up.startswith("我们聊了很多")
    assert looked_up.endswith("以后都用中文回答。")
    assert [len(text) for text in by_purpose[Purpose.STORE]] == [200]
    assert story in model.prompts[0].user


def test_a_second_run_sends_the_old_rules_and_the_language(mem0_dir: Path) -> None:
    model = ScriptedAnswers([FACT])
    extract(mem0_dir, model, language="zh")
    assert "OUR RULES" in model.prompts[0].user
    assert "IN zh" in model.prompts[0].user


def test_the_model_is_shown_what_is_known_but_no_real_id(mem0_dir: Path) -> None:
    model, scope = ScriptedAnswers([]), unique_scope()
    known = Neighbour(str(uuid.uuid4()), "用户喜欢茶", 0.8, {})
    extractor(mem0_dir, model, index=FakeIndex({scope: [known]})).extract(scope, TURNS, language=None)
    assert "用户喜欢茶" in model.prompts[0].user
    assert known.id not in model.prompts[0].user


def test_nothing_found_is_an_empty_list(mem0_dir: Path) -> None:
    assert extract(mem0_dir, ScriptedAnswers([])) == []


def test_markup_inside_a_fact_survives_mem0s_answer_cleaning(mem0_dir: Path) -> None:
    marked = Fact("User writes <think>aloud</think> and ```code```", "user")
    (fact,) = extract(mem0_dir, ScriptedAnswers([marked]))
    assert fact.text == marked.text


@pytest.mark.parametrize(
    ("ports", "answer", "backend"),
    [
        ({}, TransientError(Backend.LLM_RATE_LIMITED, "429"), Backend.LLM_RATE_LIMITED),
        ({}, TransientError(Backend.LLM_UNPARSEABLE, "no JSON"), Backend.LLM_UNPARSEABLE),
        (
            {"index": FakeIndex(failure=TransientError(Backend.DATABASE_UNAVAILABLE, "down"))},
            [FACT],
            Backend.DATABASE_UNAVAILABLE,
        ),
        (
            {"embedder": FakeEmbedder(failure=TransientError(Backend.EMBEDDING_UNAVAILABLE, "503"))},
            [FACT],
            Backend.EMBEDDING_UNAVAILABLE,
        ),
    ],
)
def test_a_failure_inside_mem0_comes_out_as_itself(
    mem0_dir: Path, ports: dict[str, Any], answer: list[Fact] | TransientError, backend: Backend
) -> None:
    with pytest.raises(TransientError) as caught:
        extract(mem0_dir, ScriptedAnswers(answer), **ports)
    assert caught.value.backend is backend


def test_facts_whose_embedding_fails_are_not_silently_lost(mem0_dir: Path) -> None:
    class FailsOnFacts(FakeEmbedder):
        def embed(self, texts: Sequence[str], purpose: Any) -> list[Any]:
            if FACT.text in texts:
                raise TransientError(Backend.EMBEDDING_UNAVAILABLE, "503")
            return super().embed(texts, purpose)

    with pytest.raises(TransientError):
        extract(mem0_dir, ScriptedAnswers([FACT]), embedder=FailsOnFacts())


def test_a_statement_that_is_spelled_twice_is_one_fact(mem0_dir: Path) -> None:
    twice = [Fact("用户偏好深色主题。", "user"), Fact("　用户偏好深色主题", "user")]
    assert [fact.text for fact in extract(mem0_dir, ScriptedAnswers(twice))] == ["用户偏好深色主题"]


def test_a_failed_embedder_is_not_asked_again_for_each_fact(mem0_dir: Path) -> None:
    class Counting(FakeEmbedder):
        calls = 0

        def embed(self, texts: Sequence[str], purpose: Any) -> list[Any]:
            self.calls += 1
            if purpose is Purpose.STORE:
                raise TransientError(Backend.EMBEDDING_UNAVAILABLE, "no answer")
            return super().embed(texts, purpose)

    embedder = Counting()
    with pytest.raises(TransientError):
        extract(mem0_dir, ScriptedAnswers([Fact(f"用户喜欢第 {n} 种茶", "user") for n in range(9)]), embedder=embedder)
    # One look-up of what is known, and one batch of facts.
    assert embedder.calls == 2


def test_a_surprise_inside_mem0_is_told_without_its_text(mem0_dir: Path) -> None:
    class Surprising(FakeIndex):
        def nearest(self, *_: object, **__: object) -> list[Neighbour]:
            raise RuntimeError("private words")

    with pytest.raises(TransientError) as caught:
        extract(mem0_dir, ScriptedAnswers([FACT]), index=Surprising())
    assert "private" not in str(caught.value)


def test_stock_mem0_gets_what_we_published(stock: Any, published: tuple[Scope, StagedFact]) -> None:
    scope, fact = published
    row = stock.get(fact.id)
    assert (row["id"], row["memory"], row["user_id"], row["attributed_to"]) == (fact.id, fact.text, scope.key, "user")
    assert row["hash"]
    assert row["created_at"]


def test_stock_mem0_lists_what_we_published(stock: Any, published: tuple[Scope, StagedFact]) -> None:
    scope, fact = published
    assert [row["memory"] for row in stock.get_all(filters={"user_id": scope.key})["results"]] == [fact.text]


def test_stock_mem0_finds_what_we_published(stock: Any, published: tuple[Scope, StagedFact]) -> None:
    scope, fact = published
    (hit,) = stock.search(fact.text, filters={"user_id": scope.key}, threshold=0.5)["results"]
    assert hit["id"] == fact.id


def test_stock_mem0_reads_the_history_we_wrote(stock: Any, published: tuple[Scope, StagedFact]) -> None:
    _, fact = published
    (entry,) = stock.history(fact.id)
    assert (entry["memory_id"], entry["event"], entry["old_memory"], entry["new_memory"]) == (
        fact.id,
        "ADD",
        None,
        fact.text,
    )


def test_stock_mem0_finds_our_entity_links(stock: Any, published: tuple[Scope, StagedFact]) -> None:
    scope, fact = published
    known = stock._existing_entities_by_text({"user_id": scope.key})
    assert known["林清"].payload["linked_memory_ids"] == [fact.id]


def test_stock_mem0_updates_and_its_history_lands_in_our_table(
    stock: Any, database: Database, published: tuple[Scope, StagedFact]
) -> None:
    _, fact = published
    stock.update(fact.id, text="用户叫林青")
    assert [entry["event"] for entry in stock.history(fact.id)] == ["ADD", "UPDATE"]
    assert stock.get(fact.id)["memory"] == "用户叫林青"


def test_a_row_that_stock_mem0_wrote_is_found_by_our_search(stock: Any, database: Database) -> None:
    scope = unique_scope()
    stock.add("用户住在杭州", user_id=scope.key, infer=False)
    found = SqlMemoryIndex(database).nearest(scope, fake_vector("用户住在杭州"), 5)
    assert [memory.text for memory in found] == ["用户住在杭州"]
    assert found[0].similarity == pytest.approx(1.0, abs=1e-5)
