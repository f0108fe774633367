"""A trigger in the scratch database that writes down every change of a job, and everything else the invariants read.

The witness is outside the product: whatever the ledger's code believes, this is what was committed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import psycopg
from psycopg.rows import class_row

from chaos.candidates import Marker, marker_of_key
from chaos.model import Call

_Row = TypeVar("_Row")
INSTALL = """
CREATE TABLE chaos_moments (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at timestamptz NOT NULL DEFAULT clock_timestamp(),
    job_id uuid NOT NULL, step int NOT NULL, status text NOT NULL, reason text, fence bigint NOT NULL, owner text,
    retry_count int NOT NULL, lost_count int NOT NULL, last_error text, attempts jsonb NOT NULL
);
CREATE FUNCTION chaos_note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO chaos_moments
        (job_id, step, status, reason, fence, owner, retry_count, lost_count, last_error, attempts)
    VALUES (NEW.id, NEW.step, NEW.status, NEW.reason, NEW.fence, NEW.lease_owner, NEW.retry_count, NEW.lost_count,
            NEW.last_error, NEW.attempts);
    RETURN NULL;
END $$;
CREATE TRIGGER chaos_note AFTER INSERT OR UPDATE ON memory_jobs FOR EACH ROW EXECUTE FUNCTION chaos_note();
"""
DROP_UNIQUE_INDEX = "DROP INDEX one_memory_per_text"
# A worker that is ended needs three seconds for it, and its successor about ten to start.
AFTERMATH_SECONDS = 15.0
OPEN_JOBS = "SELECT count(*) FROM memory_jobs WHERE status NOT IN ('success', 'dead')"


@dataclass(frozen=True, slots=True)
class Fault:
    """What was done to the stack, from when to when (epoch seconds)."""

    name: str
    began: float
    ended: float


@dataclass(frozen=True, slots=True)
class Frozen:
    """A worker child that was stopped past its lease: its job, with which fence, and the fence when it woke."""

    key: str
    fence: int
    fence_at_waking: int


@dataclass(frozen=True, slots=True)
class JobSeen:
    """A row of the ledger at the end."""

    id: str
    seq: int
    scope: str
    key: str
    step: int
    status: str
    outcome: str | None
    reason: str | None
    owner: str | None
    lost_count: int
    created: float
    finished: float | None

    @property
    def marker(self) -> Marker:
        """What the job's candidate was made for."""
        return marker_of_key(self.key)


@dataclass(frozen=True, slots=True)
class Moment:
    """A job after one committed change."""

    id: int
    at: float
    job_id: str
    step: int
    status: str
    reason: str | None
    fence: int
    owner: str | None
    retry_count: int
    lost_count: int
    last_error: str | None
    attempts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class MemorySeen:
    """A memory, without its vector."""

    id: str
    scope: str
    job_id: str | None
    text: str = field(repr=False)
    confidence: float | None


@dataclass(frozen=True, slots=True)
class EntitySeen:
    """An entity and the memories it says mention it."""

    id: str
    scope: str
    name: str
    memory_ids: list[str]


@dataclass(frozen=True, slots=True)
class Effect:
    """A line of history or audit; the history knows no job."""

    id: str
    memory_id: str
    job_id: str | None
    what: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything a run left behind. `accepted` maps each key to the job ids the API answered with."""

    accepted: Mapping[str, Sequence[str]]
    calls: Sequence[Call]
    faults: Sequence[Fault]
    frozen: Sequence[Frozen]
    jobs: Sequence[JobSeen]
    moments: Mapping[str, Sequence[Moment]]
    memories: Sequence[MemorySeen]
    entities: Sequence[EntitySeen]
    history: Sequence[Effect]
    audit: Sequence[Effect]
    staged: Sequence[str]
    outbox: Sequence[str]


def read_evidence(
    database_url: str,
    *,
    accepted: Mapping[str, Sequence[str]],
    calls: Sequence[Call],
    faults: Sequence[Fault],
    frozen: Sequence[Frozen],
) -> Evidence:
    """What the database holds now, together with what the run saw itself; `staged` and `outbox` are job ids."""
    with psycopg.connect(database_url) as connection:
        moments: dict[str, list[Moment]] = {}
        for moment in _rows(connection, Moment, _MOMENTS):
            moments.setdefault(moment.job_id, []).append(moment)
        return Evidence(
            accepted=accepted,
            calls=calls,
            faults=faults,
            frozen=frozen,
            jobs=_rows(connection, JobSeen, _JOBS),
            moments=moments,
            memories=_rows(connection, MemorySeen, _MEMORIES),
            entities=_rows(connection, EntitySeen, _ENTITIES),
            history=_rows(connection, Effect, _HISTORY),
            audit=_rows(connection, Effect, _AUDIT),
            staged=[row[0] for row in connection.execute("SELECT job_id::text FROM memory_staged")],
            outbox=[row[0] for row in connection.execute("SELECT job_id::text FROM memory_outbox")],
        )


_JOBS = """
SELECT id::text, seq, scope, idempotency_key AS key, step, status, outcome, reason, lease_owner AS owner, lost_count,
       extract(epoch FROM created_at)::float8 AS created, extract(epoch FROM finished_at)::float8 AS finished
FROM memory_jobs ORDER BY seq
"""
_MOMENTS = """
SELECT id, extract(epoch FROM at)::float8 AS at, job_id::text, step, status, reason, fence, owner, retry_count,
       lost_count, last_error, attempts
FROM chaos_moments ORDER BY id
"""
_MEMORIES = """
SELECT id::text, payload ->> 'user_id' AS scope, payload ->> 'job_id' AS job_id, payload ->> 'data' AS text,
       (payload ->> 'confidence')::float8 AS confidence
FROM poco_memories ORDER BY id
"""
_ENTITIES = """
SELECT id::text, payload ->> 'user_id' AS scope, lower(payload ->> 'data') AS name,
       ARRAY(SELECT jsonb_array_elements_text(payload -> 'linked_memory_ids')) AS memory_ids
FROM poco_memories_entities ORDER BY id
"""
_HISTORY = "SELECT id::text, memory_id, NULL AS job_id, event AS what FROM memory_history ORDER BY created_at"
_AUDIT = """
SELECT id::text, memory_id::text, job_id::text, operation AS what FROM memory_audit_logs AS audit ORDER BY audit.id
"""


def _rows(connection: psycopg.Connection[Any], shape: type[_Row], statement: Any) -> list[_Row]:
    with connection.cursor(row_factory=class_row(shape)) as cursor:
        return cursor.execute(statement).fetchall()
