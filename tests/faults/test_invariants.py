"""Each invariant can fail: a database that keeps them all is broken by hand, one promise at a time."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import psycopg
import pytest
from sqlalchemy import text

from chaos.candidates import PROJECTS, Kind, Marker, marker_of_key
from chaos.invariants import judge
from chaos.model import Call
from chaos.witness import DROP_UNIQUE_INDEX, INSTALL, Evidence, Fault, Frozen, read_evidence
from domain.candidate import Candidate
from domain.facts import Entity, EntityType, StagedFact
from domain.jobs import Advance, Claimed, Finish, Job, Outcome, Publish, Step
from domain.retry import RetryPolicy
from domain.scope import Scope
from runtime.embedded.servers import Servers
from storage.database import Database
from storage.ledger import LedgerTimes, SqlJobLedger
from storage.migrate import upgrade
from storage.reaper import MAX_LOST, reap
from tests.conftest import new_database
from tests.fakes import DIMS, candidate
from tests.ledgers import DOWN, TURNS, age

FIRST, SECOND = "good-0-u0", "slow-1-u0"
REJECTED, EMPTY, FAILING, POISON = "rejected-2-u1", "empty-3-u2", "failing-4-u3", "poison-5-u4"
KEYS = (FIRST, SECOND, REJECTED, EMPTY, FAILING, POISON)
PID = 4711
TIMES = LedgerTimes(lease=2, handoff=3)
Change = Callable[[Evidence], Evidence]


@dataclass
class Scratch:
    """A database with the witness in it, and a ledger."""

    url: str
    database: Database
    ledger: SqlJobLedger

    def submit(self, marker: Marker) -> str:
        tenant, _, user = marker.scope.partition(":")
        made = candidate(*TURNS, scope=Scope(tenant, user))
        return self.ledger.submit(Candidate(made.scope, made.messages, idempotency_key=marker.key)).job_id

    def let_pass(self, job_id: str, seconds: float) -> None:
        """Make the job and what was seen of it that much older."""
        age(self.database, job_id, seconds)
        with self.database.transaction() as connection:
            # Ageing the job was no change of its state.
            connection.execute(text("DELETE FROM chaos_moments WHERE id = (SELECT max(id) FROM chaos_moments)"))
            connection.execute(
                text("UPDATE chaos_moments SET at = at - make_interval(secs => :s) WHERE job_id = :j"),
                {"s": seconds, "j": job_id},
            )


def fact(marker: Marker) -> StagedFact:
    vector = (1.0,) + (0.0,) * (DIMS - 1)
    entity = Entity(PROJECTS[marker.user], EntityType.QUOTED, vector)
    return StagedFact(str(uuid.uuid4()), marker.fact, vector, "user", {"confidence": 0.001}, entities=(entity,))


def claim(ledger: SqlJobLedger, job_id: str, step: Step) -> Job:
    claim = ledger.claim(job_id, step, f"message:0@host:{PID}")
    assert isinstance(claim, Claimed), claim
    return claim.job


def publish(scratch: Scratch, job_id: str, marker: Marker) -> None:
    for step in list(Step)[:-1]:
        job = claim(scratch.ledger, job_id, step)
        staged = (fact(marker),) if step is Step.EXTRACT else None
        scratch.ledger.complete(job, Advance(staged=staged, messages=job.candidate.messages))
    job = claim(scratch.ledger, job_id, Step.CLEANUP)
    scratch.ledger.complete(job, Publish(job.staged))


def admit(scratch: Scratch, job_id: str) -> None:
    job = claim(scratch.ledger, job_id, Step.ADMIT)
    scratch.ledger.complete(job, Advance(messages=job.candidate.messages))


def play(scratch: Scratch, key: str) -> str:
    """What the service does with a candidate of this key; gives its job's id."""
    marker, ledger = marker_of_key(key), scratch.ledger
    job_id = scratch.submit(marker)
    if marker.kind in (Kind.GOOD, Kind.SLOW):
        publish(scratch, job_id, marker)
    elif marker.kind is Kind.REJECTED:
        ledger.complete(claim(ledger, job_id, Step.ADMIT), Finish(Outcome.REJECTED, reason="credential"))
    else:
        admit(scratch, job_id)
    if marker.kind is Kind.EMPTY:
        ledger.complete(claim(ledger, job_id, Step.EXTRACT), Finish(Outcome.NO_EFFECT))
    if marker.kind is Kind.FAILING:
        while (delay := ledger.fail(claim(ledger, job_id, Step.EXTRACT), DOWN)) is not None:
            scratch.let_pass(job_id, delay)
    if marker.kind is Kind.POISON:
        for _ in range(MAX_LOST + 1):
            claim(ledger, job_id, Step.EXTRACT)
            scratch.let_pass(job_id, TIMES.lease + 1)
            reap(scratch.database, TIMES)
    return job_id


def calls_of(evidence: Evidence) -> list[Call]:
    """A call of the model for each claim of the extraction, at the same moment."""
    found = []
    for job in evidence.jobs:
        asked = 0
        for moment in evidence.moments[job.id]:
            if moment.attempts.get("extract", 0) > asked:
                asked += 1
                found.append(Call(job.key, asked, moment.at, PID))
    return found


def look(url: str, accepted: dict[str, list[str]]) -> Evidence:
    faults = [Fault("redis flushed", 0, 1)]
    frozen = [Frozen(SECOND, 1, 2)]
    seen = read_evidence(url, accepted=accepted, calls=[], faults=faults, frozen=frozen)
    return replace(seen, calls=calls_of(seen))


@pytest.fixture(scope="module")
def kept(servers: Servers) -> tuple[str, dict[str, list[str]]]:
    """The name of a database in which every promise is kept, and what the API answered; nobody is connected to it."""
    name = f"kept_{uuid.uuid4().hex[:8]}"
    url = new_database(servers, name)
    upgrade(url, embedding_model="fake", dims=DIMS)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(INSTALL)
        connection.execute(DROP_UNIQUE_INDEX)
    database = Database(url)
    scratch = Scratch(url, database, SqlJobLedger(database, policy=RetryPolicy(), times=TIMES))
    accepted = {key: [play(scratch, key)] for key in KEYS}
    with database.transaction() as connection:
        # No relay runs here.
        connection.execute(text("DELETE FROM memory_outbox"))
    database.dispose()
    return name, accepted


@pytest.fixture
def copy(servers: Servers, kept: tuple[str, dict[str, list[str]]]) -> Iterator[str]:
    """The URL of a copy of that database."""
    name = f"copy_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(servers.database_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {kept[0]}".encode())
        yield f"{servers.database_url.rsplit('/', 1)[0]}/{name}"
        connection.execute(f"DROP DATABASE {name}".encode())


def test_all_invariants_hold_while_nothing_is_broken(copy: str, kept: tuple[str, dict[str, list[str]]]) -> None:
    verdicts = judge(look(copy, kept[1]))
    assert [(verdict.name, verdict.broken) for verdict in verdicts if not verdict.holds] == []
    assert all(verdict.checked for verdict in verdicts)


def of(key: str) -> str:
    return f"(SELECT id FROM memory_jobs WHERE idempotency_key = '{key}')"


def memory_of(key: str) -> str:
    return f"(SELECT id FROM poco_memories WHERE payload ->> 'job_id' = {of(key)}::text)"


def job_set(key: str, change: str) -> str:
    return f"UPDATE memory_jobs SET {change} WHERE idempotency_key = '{key}'"


def moment(key: str, change: str, last: str) -> str:
    return f"UPDATE chaos_moments SET {change} WHERE job_id = {of(key)} AND {last}"


STAGED = "INSERT INTO memory_staged (id, job_id, position, vector, payload) SELECT gen_random_uuid(), {}, 0, vector, "
COPIED = "INSERT INTO {0} (id, vector, payload) SELECT gen_random_uuid(), vector, {1} FROM {0} LIMIT 1"
CREATED = (
    "INSERT INTO memory_audit_logs (memory_id, scope, operation, operator_type, job_id) "
    "VALUES ({}, 's', 'create', 's', {})"
)
BY_HAND: list[tuple[int, str, str]] = [
    (1, "a job is open", job_set(FIRST, "status = 'failed'")),
    (1, "a job is gone", f"DELETE FROM memory_jobs WHERE id = {of(FIRST)}"),
    (1, "another outcome", job_set(FIRST, "outcome = 'no_effect'")),
    (2, "a memory twice", COPIED.format("poco_memories", "payload")),
    (2, "a memory of the same job", COPIED.format("poco_memories", 'payload || \'{"data": "other"}\'')),
    (2, "no memory", f"DELETE FROM poco_memories WHERE id = {memory_of(FIRST)}"),
    (2, "an entity twice", COPIED.format("poco_memories_entities", "payload")),
    (
        2,
        "a link twice",
        "UPDATE poco_memories_entities SET payload = jsonb_set(payload, '{linked_memory_ids}', "
        "(payload -> 'linked_memory_ids') || (payload -> 'linked_memory_ids'))",
    ),
    (
        2,
        "history twice",
        "INSERT INTO memory_history (id, memory_id, event) "
        "SELECT gen_random_uuid(), memory_id, event FROM memory_history",
    ),
    (2, "no history", "DELETE FROM memory_history"),
    (2, "audit twice", CREATED.format(memory_of(FIRST), of(FIRST))),
    (
        3,
        "rejected left a memory",
        COPIED.format("poco_memories", f"payload || jsonb_build_object('job_id', {of(REJECTED)})"),
    ),
    (3, "empty left a line", CREATED.format("gen_random_uuid()", of(EMPTY))),
    (3, "rejected is tried again", job_set(REJECTED, "retry_count = 1, last_error = 'internal: x'")),
    (4, "a fifth attempt", job_set(FAILING, "retry_count = 5")),
    (4, "three attempts", f"DELETE FROM chaos_moments WHERE job_id = {of(FAILING)} AND retry_count >= 4"),
    (4, "an early attempt", moment(FAILING, "at = at + interval '0.5 s'", "retry_count = 2 AND status = 'failed'")),
    (4, "a late attempt", moment(FAILING, "at = at - interval '3 s'", "retry_count = 1 AND status = 'failed'")),
    (5, "poison lives", job_set(POISON, "status = 'success', outcome = 'no_effect'")),
    (5, "poison for another reason", job_set(POISON, "reason = 'internal'")),
    (5, "poison left a line", CREATED.format("gen_random_uuid()", of(POISON))),
    (
        6,
        "effects change places",
        f"UPDATE memory_audit_logs SET memory_id = CASE memory_id WHEN {memory_of(FIRST)} THEN {memory_of(SECOND)} "
        f"ELSE {memory_of(FIRST)} END",
    ),
    (6, "the later ends first", moment(FIRST, "id = DEFAULT", "status = 'success'")),
    (
        7,
        "an older result",
        f"UPDATE poco_memories SET payload = payload || '{{\"confidence\": 0.002}}' WHERE id = {memory_of(SECOND)}",
    ),
    (7, "changed after the end", job_set(FIRST, "retry_count = 1")),
    (7, "completed without a lease", moment(FIRST, "owner = NULL", "owner IS NOT NULL")),
    (7, "completed with another fence", moment(FIRST, "fence = fence + 10", "owner IS NULL")),
    (8, "a good one is dead", job_set(FIRST, "status = 'dead', outcome = 'dead', reason = 'internal'")),
    (8, "dead for another reason", job_set(FAILING, "reason = 'database_unavailable'")),
    (9, "a staged row", STAGED.format(of(FIRST)) + "payload FROM poco_memories LIMIT 1"),
    (9, "an orphan entity", f"DELETE FROM poco_memories WHERE id = {memory_of(FIRST)}"),
    (
        9,
        "an entity that nothing mentions",
        "UPDATE poco_memories_entities SET payload = payload || '{\"linked_memory_ids\": []}'",
    ),
    (9, "an open lease", job_set(FIRST, "lease_owner = 'somebody'")),
    (9, "an outbox row", f"INSERT INTO memory_outbox (job_id, ready) VALUES ({of(FIRST)}, false)"),
    (10, "back to the start", job_set(FIRST, "step = 1")),
    (10, "a finished step is claimed", job_set(FIRST, "attempts = attempts || '{\"extract\": 2}'")),
]


@pytest.mark.parametrize(
    ("number", "what", "by_hand"), BY_HAND, ids=[f"{number} {what}" for number, what, _ in BY_HAND]
)
def test_a_broken_promise_in_the_database_is_seen(
    copy: str, kept: tuple[str, dict[str, list[str]]], number: int, what: str, by_hand: str
) -> None:
    with psycopg.connect(copy, autocommit=True) as connection:
        assert connection.execute(by_hand.encode()).rowcount > 0
    assert not judge(look(copy, kept[1]))[number - 1].holds


def without_last_call(key: str) -> Change:
    def change(seen: Evidence) -> Evidence:
        last = max(call.number for call in seen.calls if call.key == key)
        return replace(seen, calls=[call for call in seen.calls if (call.key, call.number) != (key, last)])

    return change


def with_call(key: str, number: int, after: float = 0.1) -> Change:
    def change(seen: Evidence) -> Evidence:
        at = max((call.at for call in seen.calls if call.key == key), default=0.0)
        return replace(seen, calls=[*seen.calls, Call(key, number, at + after, PID)])

    return change


def accepted_twice(seen: Evidence) -> Evidence:
    return replace(seen, accepted={**seen.accepted, FIRST: [*seen.accepted[FIRST], *seen.accepted[SECOND]]})


def accepted_backwards(seen: Evidence) -> Evidence:
    return replace(seen, accepted=dict(reversed(list(seen.accepted.items()))))


SEEN: list[tuple[int, str, Change]] = [
    (1, "an accepted job that never was", lambda seen: replace(seen, accepted={FIRST: [str(uuid.uuid4())]})),
    (2, "two jobs of one key", accepted_twice),
    (3, "a rejected one reached the model", with_call(REJECTED, 1)),
    (4, "the model was asked three times", without_last_call(FAILING)),
    (4, "the model was asked five times", with_call(FAILING, 5)),
    (6, "queued in another order", accepted_backwards),
    (7, "a later call was not used", with_call(FIRST, 2)),
    (10, "the model was asked without a claim", with_call(EMPTY, 2)),
]


@pytest.mark.parametrize(("number", "what", "change"), SEEN, ids=[f"{number} {what}" for number, what, _ in SEEN])
def test_a_broken_promise_that_the_run_saw_itself_is_seen(
    copy: str, kept: tuple[str, dict[str, list[str]]], number: int, what: str, change: Change
) -> None:
    assert not judge(change(look(copy, kept[1])))[number - 1].holds
