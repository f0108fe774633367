"""The only place that imports mem0: its `add(infer=True)` builds the prompt and infers, we keep what it captured.

mem0 is built after the fork (it is not fork-safe), with telemetry off and its own stores replaced, so an
inference reads live memories and writes nothing (mem0 study, sections 0, 4 and 11).
"""

from __future__ import annotations

import copy
import importlib
import logging
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from domain.candidate import JsonValue, Message
from domain.errors import Backend, TransientError
from domain.facts import Fact, StagedFact
from domain.ports import AnswerParser, Embedder, ExtractionModel, MemoryIndex
from domain.scope import Scope
from storage.mem0_stores import CanonicalModel, CapturingVectorStore, RememberingEmbedder, SilentHistory

# Optional fields of a fact that mem0 does not carry; they go into the payload under these names.
_EXTRA_FIELDS = {"type": "type", "confidence": "confidence", "importance": "importance", "sensitivity": "sensitivity"}
_import_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Inference:
    """The parts of an inference that this service brings: model, parser, rules, embeddings, live memories."""

    model: ExtractionModel
    parse: AnswerParser
    to_json: Callable[[list[Fact]], str]
    rules: Callable[[], str]
    language_rule: Callable[[str], str]
    embedder: Embedder
    index: MemoryIndex


class Mem0Extractor:
    """domain.ports.Extractor by mem0 2.0.12."""

    def __init__(self, inference: Inference, *, mem0_dir: Path, embedding_max_chars: int) -> None:
        self._inference = inference
        self._max_chars = embedding_max_chars
        self._mem0_dir = mem0_dir
        self._template: Any = None

    def extract(self, scope: Scope, messages: Sequence[Message], *, language: str | None) -> list[StagedFact]:
        """Infer facts from a conversation; nothing is written anywhere.

        Args:
            scope: whose live memories the model is shown as known.
            messages: the cleaned conversation.
            language: ISO 639-1 code that the facts must be in, for the second run after a drift; None otherwise.

        Returns:
            Facts with id, vector and mem0's payload; empty when the model found nothing.

        Raises:
            TransientError: model, embedding or database failed, or the answer cannot be read.
        """
        memory, model, embedder, store = self._memory_for(scope, messages)
        prompt = self._instructions(language)
        turns = [{"role": message.role.value, "content": message.content} for message in messages]
        try:
            result = memory.add(turns, user_id=scope.key, infer=True, prompt=prompt)
        except Exception as exc:
            raise _first_failure(model, embedder, store) or _unexpected(exc) from exc
        failure = _first_failure(model, embedder, store)
        if failure is not None:
            raise failure
        if {row["id"] for row in result["results"]} != {row[0] for row in store.captured}:
            raise TransientError(Backend.INTERNAL, "mem0 reported other facts than it stored")
        return [_staged(row, model.facts) for row in store.captured]

    def _memory_for(
        self, scope: Scope, messages: Sequence[Message]
    ) -> tuple[Any, CanonicalModel, RememberingEmbedder, CapturingVectorStore]:
        if self._template is None:
            self._template = build_memory(self._mem0_dir, dims=self._inference.embedder.dims)
        parts = self._inference
        memory = copy.copy(self._template)
        model = CanonicalModel(parts.model, parts.parse, parts.to_json, tuple(messages))
        embedder = RememberingEmbedder(parts.embedder, self._max_chars, tuple(messages))
        store = CapturingVectorStore(parts.index, scope)
        memory.llm, memory.embedding_model, memory.vector_store = model, embedder, store
        memory.db = SilentHistory()
        return memory, model, embedder, store

    def _instructions(self, language: str | None) -> str:
        # mem0's `prompt` replaces its custom instructions, so a second run must send the old rules again.
        rules = self._inference.rules()
        return f"{rules}\n\n{self._inference.language_rule(language)}" if language else rules


def import_mem0(mem0_dir: Path) -> Any:
    """Import mem0 with telemetry off and its directory inside ours; safe to call before a fork."""
    with _import_lock:
        mem0_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.environ["MEM0_TELEMETRY"] = "False"
        os.environ["MEM0_DIR"] = str(mem0_dir)
        import mem0.memory.main as main

        # What `build_memory` would import after the fork, in each child anew; importing connects to nothing.
        for part in ("llms.openai", "embeddings.openai", "vector_stores.pgvector"):
            importlib.import_module(f"mem0.{part}")

        # mem0 knows no Chinese, and its English model's name is hard-wired to a download. The relink step
        # recognises entities and segments text for all languages, so mem0's own passes are left out.
        main.extract_entities_batch = _no_entities
        main.lemmatize_for_bm25 = str
        logging.getLogger("mem0").setLevel(logging.CRITICAL)
        return main


def build_memory(mem0_dir: Path, *, dims: int) -> Any:
    """A mem0 Memory that is connected to nothing yet."""
    from psycopg_pool import ConnectionPool

    main = import_mem0(mem0_dir)
    unused_pool = ConnectionPool("", open=False, min_size=1)
    config = {
        "vector_store": {
            "provider": "pgvector",
            "config": {"connection_pool": unused_pool, "collection_name": "unused", "embedding_model_dims": dims},
        },
        "llm": {"provider": "openai", "config": {"api_key": "unused"}},
        "embedder": {"provider": "openai", "config": {"api_key": "unused"}},
        "history_db_path": ":memory:",
    }
    memory = main.Memory.from_config(config)
    memory.db.close()
    return memory


def _no_entities(texts: Sequence[str]) -> list[list[tuple[str, str]]]:
    return [[] for _ in texts]


def _first_failure(
    model: CanonicalModel, embedder: RememberingEmbedder, store: CapturingVectorStore
) -> TransientError | None:
    return model.failure or embedder.failure or store.failure


def _unexpected(exc: Exception) -> TransientError:
    # The text of a foreign exception may quote the conversation.
    return TransientError(Backend.INTERNAL, f"mem0 raised {type(exc).__name__}")


def _staged(row: tuple[str, Any, dict[str, JsonValue]], facts: dict[str, Fact]) -> StagedFact:
    memory_id, vector, payload = row
    text = str(payload["data"])
    role = payload.get("attributed_to")
    staged = StagedFact(memory_id, text, vector, str(role) if role else None, payload)
    fact = facts.get(text)
    return replace(staged, payload={**payload, **_extras(fact)}) if fact else staged


def _extras(fact: Fact) -> dict[str, JsonValue]:
    extras: dict[str, JsonValue] = {
        name: value for field, name in _EXTRA_FIELDS.items() if (value := getattr(fact, field)) is not None
    }
    if fact.expires_at:
        extras["expiration_date"] = fact.expires_at[:10]
    return extras
