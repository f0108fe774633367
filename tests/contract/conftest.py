"""Stock mem0 on our database, with its models scripted; and a memory that our own publishing wrote."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from domain.facts import Entity, EntityType, StagedFact
from domain.jobs import Advance, Claimed, Publish, Step
from domain.retry import RetryPolicy
from domain.scope import Scope
from storage.database import Database
from storage.history import SqlHistory
from storage.ledger import LedgerTimes, SqlJobLedger
from storage.mem0_adapter import import_mem0
from storage.tables import MEMORIES
from tests.fakes import DIMS, candidate, fake_vector, unique_scope


@pytest.fixture(scope="session")
def mem0_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mem0")


@pytest.fixture
def published(database: Database) -> tuple[Scope, StagedFact]:
    """A memory written by our own publishing."""
    scope = unique_scope()
    name = Entity("林清", EntityType.PROPER, fake_vector("林清"))
    fact = StagedFact(str(uuid.uuid4()), "用户叫林清", fake_vector("用户叫林清"), "user", {}, "用户 叫 林清", (name,))
    ledger = SqlJobLedger(database, policy=RetryPolicy(), times=LedgerTimes())
    job_id = ledger.submit(candidate(("user", "我叫林清"), ("assistant", "好"), scope=scope)).job_id
    for step in Step:
        claim = ledger.claim(job_id, step, "test")
        assert isinstance(claim, Claimed)
        last = step is Step.CLEANUP
        ledger.complete(claim.job, Publish((fact,)) if last else Advance())
    return scope, fact


@pytest.fixture
def stock(database_url: str, database: Database, mem0_dir: Path) -> Iterator[Any]:
    """Stock mem0 on our database; its language and embedding models are scripted, its history is our table."""
    main = import_mem0(mem0_dir)
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
    memory.db.close()
    memory.db = SqlHistory(database)
    memory.embedding_model, memory.llm = StockEmbedder(), StockModel()
    yield memory
    memory.entity_store.connection_pool.close()
    memory.vector_store.connection_pool.close()


class StockEmbedder:
    """Embeds as the tests do."""

    def embed(self, words: str, memory_action: str | None = None) -> list[float]:
        return list(fake_vector(words))

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> list[list[float]]:
        return [list(fake_vector(words)) for words in texts]


@dataclass
class StockModel:
    """Answers with these facts, in the JSON that mem0 asks for."""

    facts: list[dict[str, str]] = field(default_factory=list)

    def generate_response(self, messages: object, response_format: object = None) -> str:
        return json.dumps({"memory": self.facts}, ensure_ascii=False)
