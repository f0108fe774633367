"""What the lifecycle tests share: managing with real stores and recognisers and an embedder by hash."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import select

from domain.candidate import RunKind
from domain.facts import Evidence, StagedFact
from domain.jobs import Advance, JobView, Publish, Step
from domain.lifecycle import NO_DETAILS, Action, Changed, Details, Mode, Writer
from domain.scope import Scope
from nlp.entities import recognise
from nlp.language import identify
from nlp.segment import terms
from pipeline.manage import ManageTools, Wish, manage
from pipeline.wording import WordingTools
from storage.database import Database
from storage.forget import SqlEraser
from storage.keeper import SqlMemoryKeeper
from storage.ledger import SqlJobLedger
from storage.tables import EntityRow, MemoryRow
from storage.user_settings import SqlUserSettings
from tests.fakes import FakeEmbedder, candidate, staged
from tests.ledgers import claimed, view

ANNA = Writer("user", "anna")


@dataclass
class Life:
    """One scope's memories, managed."""

    database: Database
    scope: Scope
    embedder: FakeEmbedder
    is_writing_on: bool = True
    writer: Writer = ANNA

    def tools(self) -> ManageTools:
        wording = WordingTools(self.embedder, recognise, terms)
        stores = SqlMemoryKeeper(self.database), SqlEraser(self.database)
        return ManageTools(*stores, wording, identify, SqlUserSettings(self.database), 500, 8192, self.is_writing_on)

    def wish(self, action: Action, **fields: Any) -> Changed:
        return manage(Wish(self.scope, action, self.writer, **fields), self.tools())

    def add(self, text: str, details: Details = NO_DETAILS, **fields: Any) -> str:
        changed = self.wish(Action.ADD, text=text, details=details, **fields)
        assert changed.success, changed
        return str(changed.memory_id)

    def forget(self, memory_id: str) -> Changed:
        return self.wish(Action.DELETE, memory_id=memory_id)

    def archive(self, memory_id: str) -> Changed:
        return self.wish(Action.DELETE, memory_id=memory_id, mode=Mode.ARCHIVE)

    def row(self, memory_id: str) -> Any:
        with self.database.transaction() as connection:
            return connection.execute(select(MemoryRow.__table__).where(MemoryRow.id == uuid.UUID(memory_id))).one()

    def links(self) -> dict[str, list[str]]:
        """Memory ids by entity name."""
        of_scope = EntityRow.payload["user_id"].astext == self.scope.key
        with self.database.transaction() as connection:
            payloads = connection.execute(select(EntityRow.payload).where(of_scope)).scalars().all()
        return {payload["data"]: payload["linked_memory_ids"] for payload in payloads}


def said(
    ledger: SqlJobLedger,
    scope: Scope,
    sentence: str,
    fact: str,
    *,
    run_id: str | None = None,
    run_kind: RunKind = RunKind.INTERACTIVE,
    sensitivity: int = 0,
) -> tuple[str, StagedFact]:
    """A job in which the user said a sentence, claimed up to its last step, with one fact that rests on it."""
    made = replace(candidate(("user", sentence), ("assistant", "好的"), scope=scope), run_id=run_id, run_kind=run_kind)
    job_id = ledger.submit(made).job_id
    one = replace(staged(fact), payload={"sensitivity": sensitivity}, evidence=Evidence(0, 0, len(sentence), "user"))
    for step in list(Step)[:-1]:
        job = claimed(ledger, job_id, step)
        ledger.complete(job, Advance(staged=(one,) if step is Step.EXTRACT else None, messages=made.messages))
    return job_id, one


def published(ledger: SqlJobLedger, scope: Scope, sentence: str, fact: str) -> tuple[JobView, StagedFact]:
    """The same job, published if nothing forbids it."""
    job_id, one = said(ledger, scope, sentence, fact)
    job = claimed(ledger, job_id, Step.CLEANUP)
    ledger.complete(job, Publish(job.staged))
    return view(ledger, job_id), one
