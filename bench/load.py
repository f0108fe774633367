"""Handing candidates in and measuring by the database's clock what became of them."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from sqlalchemy import func, insert, select

from bench.costless import zero_vector
from domain.candidate import Candidate, Message, Role
from domain.ports import JobLedger
from domain.retry import RetryPolicy
from domain.scope import Scope
from domain.text import content_hash
from pipeline.submit import SizeLimits, submit
from runtime.settings import Settings, required_secret
from storage.database import Database
from storage.ledger import LedgerTimes, SqlJobLedger
from storage.tables import JobRow, MemoryRow

USERS = 100
_POLL_SECONDS = 0.01
_LONGEST_SECONDS = 300.0


@dataclass(frozen=True)
class Measured:
    """What a load came to: candidates a second from the first accepted to the last searchable, and each one's time."""

    a_second: float
    milliseconds: tuple[float, ...]

    def quantile(self, share: float) -> float:
        """The time from accepted to searchable that this share of the candidates stayed below, in milliseconds."""
        return float(np.quantile(self.milliseconds, share))


@dataclass(frozen=True)
class Driver:
    """A producer that shares the database, as `tasks.enqueue` does."""

    database: Database
    ledger: JobLedger

    def accept(self, scope: Scope, number: int) -> str:
        """Hand in one candidate; gives the job id."""
        return submit(conversation(scope, number), ledger=self.ledger, limits=SizeLimits()).job_id

    def backlog(self, scopes: Sequence[Scope], number: int) -> list[str]:
        """Hand in so many candidates as fast as they are accepted, in turns for each scope."""
        return [self.accept(scopes[place % len(scopes)], place) for place in range(number)]

    def one_each(self, scopes: Sequence[Scope], rounds: int) -> list[str]:
        """Hand in a scope's next candidate when its last one has ended, `rounds` times for each."""
        left = dict.fromkeys(scopes, rounds - 1)
        waiting = {self.accept(scope, 0): scope for scope in scopes}
        accepted = list(waiting)
        while waiting:
            time.sleep(_POLL_SECONDS)
            for job_id in self._ended(waiting):
                scope = waiting.pop(job_id)
                if left[scope]:
                    waiting[self.accept(scope, left[scope])] = scope
                    left[scope] -= 1
                    accepted.append(list(waiting)[-1])
        return accepted

    def measured(self, job_ids: Sequence[str]) -> Measured:
        """Wait until all have ended, and measure them.

        Raises:
            RuntimeError: when a job did not end as `published`.
        """
        deadline = time.monotonic() + _LONGEST_SECONDS
        while len(self._ended(job_ids)) < len(job_ids):
            if time.monotonic() > deadline:
                raise RuntimeError(f"the jobs did not end within {_LONGEST_SECONDS:.0f} seconds")
            time.sleep(0.1)
        with self.database.transaction() as connection:
            rows = connection.execute(
                select(JobRow.created_at, JobRow.finished_at, JobRow.outcome, JobRow.reason).where(
                    JobRow.id.in_(job_ids)
                )
            ).all()
        others = {(row.outcome, row.reason) for row in rows if row.outcome != "published"}
        if others:
            raise RuntimeError(f"not every candidate was published: {others}")
        whole = max(row.finished_at for row in rows) - min(row.created_at for row in rows)
        times = tuple((row.finished_at - row.created_at).total_seconds() * 1000 for row in rows)
        return Measured(len(rows) / whole.total_seconds(), times)

    def _ended(self, job_ids: Iterable[str]) -> list[str]:
        statement = select(JobRow.id).where(JobRow.id.in_(list(job_ids)), JobRow.finished_at.is_not(None))
        with self.database.transaction() as connection:
            return [str(job_id) for (job_id,) in connection.execute(statement)]


@contextmanager
def driver_of(settings: Settings) -> Iterator[Driver]:
    """A producer for the service with these settings."""
    database = Database(required_secret(settings, "database_url"))
    yield Driver(database, SqlJobLedger(database, policy=RetryPolicy(), times=LedgerTimes()))
    database.dispose()


def scopes(number: int) -> list[Scope]:
    """New scopes, without a memory."""
    return [Scope("bench", uuid.uuid4().hex) for _ in range(number)]


def conversation(scope: Scope, number: int) -> Candidate:
    """Two turns with two facts, in English or Chinese; no two have the same facts."""
    mark = uuid.uuid4().hex[:6]
    ticket = int(mark, 16)
    said = (
        f'I prefer short status reports for "Project {mark}"\nI prefer to talk about ticket {ticket} on Fridays'
        if number % 2
        else f"我负责的项目叫“{mark}计划”\n我希望第{ticket}号周报用表格来写"
    )
    return Candidate(scope, (Message(Role.USER, said), Message(Role.ASSISTANT, "Noted. 好的。")))


def fill(database: Database, memories: int) -> list[Scope]:
    """Store so many memories, spread over a hundred users; gives the users' scopes."""
    users = [Scope("bench", f"stored-{number}") for number in range(USERS)]
    with database.transaction() as connection:
        for start in range(0, memories, 1000):
            numbers = range(start, min(start + 1000, memories))
            connection.execute(insert(MemoryRow), [_row(users[number % USERS], number) for number in numbers])
    with database.transaction() as connection:
        connection.execute(select(func.count()).select_from(MemoryRow))
    return users


def _row(scope: Scope, number: int) -> Mapping[str, object]:
    words = f"User prefers the memory with the number {number}"
    payload = {
        "data": words,
        "hash": content_hash(words),
        "user_id": scope.key,
        "text_lemmatized": words.lower(),
        "memory_schema_version": 2,
    }
    return {"id": uuid.uuid4(), "vector": zero_vector(words), "payload": payload}
