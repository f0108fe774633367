"""Clients for any OpenAI-compatible endpoint, with our time limits and no retries of their own: the ledger retries.

An error names its kind and status, never the response's body, which may quote the conversation or the key.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from domain.errors import Backend, TransientError
from domain.facts import Vector
from domain.ports import ExtractionPrompt, Purpose
from domain.text import storable
from llm.cache import VectorCache, cache_key

if TYPE_CHECKING:
    from openai import Omit, OpenAI
    from openai.types import CreateEmbeddingResponse
    from openai.types.chat import ChatCompletion

BATCH = 128
# The client insists on a key; endpoints such as vLLM and Ollama ignore it.
_NO_KEY = "none"


@dataclass(frozen=True)
class OpenAIChatModel:
    """domain.ports.ExtractionModel on POST /chat/completions; `timeout` in seconds, `max_tokens` bounds the answer."""

    base_url: str
    api_key: str | None = field(repr=False)
    model: str
    timeout: float
    max_tokens: int
    temperature: float

    @cached_property
    def _client(self) -> OpenAI:
        return _connect(self.base_url, self.api_key, self.timeout)

    def answer(self, prompt: ExtractionPrompt) -> str:
        """The model's text.

        Raises:
            TransientError: LLM_RATE_LIMITED, LLM_TIMEOUT, LLM_UNAVAILABLE, or LLM_UNPARSEABLE when it said nothing.
        """
        try:
            completion = self._client.chat.completions.create(
                model=self.model,
                messages=[{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}],
                response_format={"type": "json_object"},
                temperature=self.temperature,
                max_tokens=self.max_tokens,
            )
        except Exception as exc:  # noqa: BLE001 - whatever the client raises may quote the prompt
            raise _chat_failure(exc) from None
        return _said(completion)


@dataclass(frozen=True)
class OpenAIEmbedder:
    """domain.ports.Embedder on POST /embeddings; `timeout` is in seconds. Equal texts are answered from a cache."""

    base_url: str
    api_key: str | None = field(repr=False)
    model: str
    dims: int
    timeout: float
    _cache: VectorCache = field(default_factory=VectorCache, repr=False)
    _has_fixed_length: threading.Event = field(default_factory=threading.Event, repr=False)

    @cached_property
    def _client(self) -> OpenAI:
        return _connect(self.base_url, self.api_key, self.timeout)

    def embed(self, texts: Sequence[str], purpose: Purpose) -> list[Vector]:
        """One vector of `dims` floats for each text, in order.

        Raises:
            TransientError: with Backend.EMBEDDING_UNAVAILABLE: no answer, or not the vectors asked for.
        """
        keys = [cache_key(storable(text), purpose) for text in texts]
        known = {key: vector for key in keys if (vector := self._cache.get(key)) is not None}
        missing = {key: storable(text) for key, text in zip(keys, texts, strict=True) if key not in known}
        for key, vector in zip(missing, self._ask(list(missing.values())), strict=True):
            self._cache.put(key, vector)
            known[key] = vector
        return [known[key] for key in keys]

    def ping(self) -> None:
        """Ask the endpoint for one vector; raises as `embed` does."""
        self._ask_batch(["ping"])

    def _ask(self, texts: list[str]) -> list[Vector]:
        vectors: list[Vector] = []
        for start in range(0, len(texts), BATCH):
            vectors += self._ask_batch(texts[start : start + BATCH])
        return vectors

    def _ask_batch(self, texts: list[str]) -> list[Vector]:
        try:
            rows = sorted(self._answer(texts).data, key=lambda row: row.index or 0)
            vectors = [tuple(float(number) for number in row.embedding) for row in rows]
        except Exception as exc:  # noqa: BLE001 - as above
            raise TransientError(Backend.EMBEDDING_UNAVAILABLE, _kind(exc)) from None
        if len(vectors) != len(texts):
            raise _bad_vectors(f"{len(vectors)} vectors for {len(texts)} texts")
        for vector in vectors:
            self._check(vector)
        return vectors

    def _answer(self, texts: list[str]) -> CreateEmbeddingResponse:
        """Asks for `dims`, or, where the endpoint refuses to choose a length, for what the model has; checked later.

        vLLM refuses for most models, even when the length is the model's own, and so do the older ones of OpenAI.
        """
        import openai

        if not self._has_fixed_length.is_set():
            try:
                return self._create(texts, self.dims)
            except (openai.BadRequestError, openai.UnprocessableEntityError):
                answer = self._create(texts, openai.omit)
                self._has_fixed_length.set()
                return answer
        return self._create(texts, openai.omit)

    def _create(self, texts: list[str], dimensions: int | Omit) -> CreateEmbeddingResponse:
        return self._client.embeddings.create(
            model=self.model, input=texts, dimensions=dimensions, encoding_format="float"
        )

    def _check(self, vector: Vector) -> None:
        if len(vector) != self.dims:
            raise _bad_vectors(f"{len(vector)} dimensions instead of {self.dims}")
        if not all(math.isfinite(number) for number in vector):
            raise _bad_vectors("a number that is not finite")
        if not any(vector):
            # It has no direction, so it would be as near to one memory as to any other.
            raise _bad_vectors("nothing but zeros")


def _connect(base_url: str, api_key: str | None, timeout: float) -> OpenAI:
    # Imported on first use: it takes a second, and its connections must be made after the fork.
    from openai import OpenAI

    return OpenAI(base_url=base_url, api_key=api_key or _NO_KEY, timeout=timeout, max_retries=0)


def _said(completion: ChatCompletion) -> str:
    try:
        choice = completion.choices[0]
        text, reason = choice.message.content, choice.finish_reason
    except (AttributeError, IndexError, TypeError):
        # Some proxies report their errors, or a page for people, with status 200.
        raise TransientError(Backend.LLM_UNAVAILABLE, "the endpoint gave no chat completion") from None
    if not isinstance(text, str) or not text.strip() or reason == "content_filter":
        raise TransientError(Backend.LLM_UNPARSEABLE, "the model gave no text")
    return text


def _chat_failure(exc: Exception) -> TransientError:
    import openai

    if isinstance(exc, openai.APITimeoutError):
        return TransientError(Backend.LLM_TIMEOUT, "no answer within the time limit")
    if isinstance(exc, openai.RateLimitError):
        return TransientError(Backend.LLM_RATE_LIMITED, "HTTP 429")
    return TransientError(Backend.LLM_UNAVAILABLE, _kind(exc))


def _kind(exc: Exception) -> str:
    status = getattr(exc, "status_code", None)
    return f"HTTP {status}" if status else type(exc).__name__


def _bad_vectors(what: str) -> TransientError:
    return TransientError(Backend.EMBEDDING_UNAVAILABLE, f"the endpoint gave {what}")
