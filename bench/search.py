"""Search beside stock mem0 on the same rows: one user, many memories, an embedder that costs nothing."""

from __future__ import annotations

import uuid
from typing import Any

import numpy as np
from sqlalchemy import insert

from bench.service import Place
from bench.stock import close, stock_memory
from bench.timing import medians
from domain.scope import Scope
from domain.text import content_hash
from storage.database import Database
from storage.memories import SqlMemoryIndex
from storage.tables import MemoryRow

ROUNDS = 30
DIMS = 384
SCOPE = Scope("bench", "user")


def bench_search(place: Place) -> str:
    """One line: both medians and how many times faster ours is."""
    database_url, memories = place.new_database(), place.memories or 2000
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
    close(stock)
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
    memory = stock_memory(database_url)
    memory.embedding_model = _Embeds(vectors)
    return memory


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
