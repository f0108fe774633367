"""Accepting candidates beside a bare durable INSERT: what the ledger's lock, job and outbox row cost."""

from __future__ import annotations

import uuid

from sqlalchemy import text

from bench.service import Place
from bench.timing import medians
from domain.candidate import Candidate, Message, Role
from domain.retry import RetryPolicy
from domain.scope import Scope
from pipeline.submit import SizeLimits, submit
from storage.database import Database
from storage.ledger import LedgerTimes, SqlJobLedger

ROUNDS = 200
TURNS = (Message(Role.USER, "I always prefer short answers."), Message(Role.ASSISTANT, "Noted."))


def bench_accept(place: Place) -> str:
    """One line: both medians and how much longer ours takes."""
    database = Database(place.new_database())
    ledger = SqlJobLedger(database, policy=RetryPolicy(), times=LedgerTimes())
    with database.transaction() as connection:
        connection.execute(text("CREATE TABLE IF NOT EXISTS bench_rows (id uuid PRIMARY KEY, words text)"))

    def bare(_: int) -> None:
        with database.transaction() as connection:
            connection.execute(text("INSERT INTO bench_rows VALUES (:id, :words)"), {"id": uuid.uuid4(), "words": "x"})

    def accept(_: int) -> None:
        scope = Scope("bench", uuid.uuid4().hex)
        submit(Candidate(scope, TURNS), ledger=ledger, limits=SizeLimits())

    ours, theirs = medians([accept, bare], ROUNDS)
    database.dispose()
    ratio = ours / theirs
    return f"accept, one at a time: accepted in {ours:.1f} ms, bare INSERT {theirs:.1f} ms, {ratio:.1f} times as long"
