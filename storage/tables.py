"""The tables, as SQLAlchemy models. `poco_memories` and its entity table are mem0's own, column for column.

Vectors have no length here: the migration gives them the length of the embedding model in use.
"""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

from pgvector.sqlalchemy import Vector
from sqlalchemy import (
    BigInteger,
    Boolean,
    DateTime,
    ForeignKey,
    Identity,
    Index,
    Integer,
    MetaData,
    SmallInteger,
    Text,
    Uuid,
    func,
    literal_column,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from domain.jobs import OPEN_STATUSES

MEMORIES = "poco_memories"
ENTITIES = "poco_memories_entities"
OPEN = "status IN ('pending', 'processing', 'failed')"

JsonObject = dict[str, Any]


class Base(DeclarativeBase):
    """All tables of the service."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_name)s",
            "uq": "uq_%(table_name)s_%(column_0_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
            "pk": "%(table_name)s_pkey",
        }
    )


def _created() -> Mapped[datetime]:
    return mapped_column(DateTime(timezone=True), nullable=False, server_default=func.now())


class MemoryRow(Base):
    """One memory: mem0's id, vector and payload. The payload is the only truth about it."""

    __tablename__ = MEMORIES

    id: Mapped[uuid.UUID] = mapped_column(Uuid, primary_key=True)
    vector: Mapped[Any] = mapped_column(Vector(), nullable=True)
    payload: Mapped[JsonObject] = mapped_column(JSONB, nullable=True)


class EntityRow(Base):
    """mem0's derived entity index: a name and the ids of the memories that mention it."""

    __tablename__ = ENTITIES

    id: Mapped[uuid.UUID] = mapped_column(Uuid, primary_key=True)
    vector: Mapped[Any] = mapped_column(Vector(), nullable=True)
    payload: Mapped[JsonObject] = mapped_column(JSONB, nullable=True)


Index(
    "poco_memories_hnsw_idx",
    MemoryRow.vector,
    postgresql_using="hnsw",
    postgresql_ops={"vector": "vector_cosine_ops"},
)
Index("ix_poco_memories_user_id", MemoryRow.payload["user_id"].astext)
Index("ix_poco_memories_created_at", MemoryRow.payload["user_id"].astext, MemoryRow.payload["created_at"].astext)
# Rows that an older mem0 left behind may repeat a hash; only rows of our own schema version may not. What is expired
# may be learned again, and what is archived may be added again on purpose.
Index(
    "one_memory_per_text",
    MemoryRow.payload["user_id"].astext,
    MemoryRow.payload["hash"].astext,
    unique=True,
    postgresql_where=text(
        "(payload ->> 'memory_schema_version') IS NOT NULL AND (payload ->> 'status') IS DISTINCT FROM 'expired' "
        "AND (payload ->> 'status') IS DISTINCT FROM 'archived'"
    ),
)
Index(
    "ix_poco_memories_expiration",
    MemoryRow.payload["expiration_date"].astext,
    postgresql_where=text("(payload ->> 'expiration_date') IS NOT NULL AND (payload ->> 'status') = 'active'"),
)
Index(
    "poco_memories_text_lemmatized_idx",
    func.to_tsvector(text("'simple'::regconfig"), MemoryRow.payload["text_lemmatized"].astext),
    postgresql_using="gin",
)
Index("ix_poco_memories_entities_user_id", EntityRow.payload["user_id"].astext)


class JobRow(Base):
    """The ledger: one row for each accepted candidate. `seq` is the order of acceptance within a scope."""

    __tablename__ = "memory_jobs"

    id: Mapped[uuid.UUID] = mapped_column(Uuid, primary_key=True)
    seq: Mapped[int] = mapped_column(BigInteger, Identity(always=True), unique=True)
    scope: Mapped[str] = mapped_column(Text)
    tenant_id: Mapped[str] = mapped_column(Text)
    user_id: Mapped[str] = mapped_column(Text)
    agent_id: Mapped[str | None] = mapped_column(Text)
    run_id: Mapped[str | None] = mapped_column(Text)
    conversation_id: Mapped[str | None] = mapped_column(Text)
    source_message_id: Mapped[str | None] = mapped_column(Text)
    kind: Mapped[str] = mapped_column(Text)
    form: Mapped[str] = mapped_column(Text)
    run_kind: Mapped[str] = mapped_column(Text, server_default=text("'interactive'"))
    idempotency_key: Mapped[str | None] = mapped_column(Text)
    trace_id: Mapped[str] = mapped_column(Text)
    payload: Mapped[JsonObject | None] = mapped_column(JSONB(none_as_null=True))
    messages: Mapped[list[JsonObject] | None] = mapped_column(JSONB(none_as_null=True))
    step: Mapped[int] = mapped_column(SmallInteger, server_default=text("1"))
    status: Mapped[str] = mapped_column(Text, server_default=text("'pending'"))
    outcome: Mapped[str | None] = mapped_column(Text)
    reason: Mapped[str | None] = mapped_column(Text)
    rule: Mapped[str | None] = mapped_column(Text)
    counts: Mapped[JsonObject] = mapped_column(JSONB, server_default=text("'{}'::jsonb"))
    trace: Mapped[list[JsonObject]] = mapped_column(JSONB, server_default=text("'[]'::jsonb"))
    attempts: Mapped[JsonObject] = mapped_column(JSONB, server_default=text("'{}'::jsonb"))
    retry_count: Mapped[int] = mapped_column(Integer, server_default=text("0"))
    lost_count: Mapped[int] = mapped_column(Integer, server_default=text("0"))
    next_retry_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    last_error: Mapped[str | None] = mapped_column(Text)
    fence: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    lease_owner: Mapped[str | None] = mapped_column(Text)
    lease_until: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    dispatched_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    dispatch_count: Mapped[int] = mapped_column(Integer, server_default=text("0"))
    created_at: Mapped[datetime] = _created()
    updated_at: Mapped[datetime] = _created()
    started_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    finished_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))

    __table_args__ = (
        Index("one_active_job_per_scope", "scope", unique=True, postgresql_where=text("status = 'processing'")),
        Index("ix_memory_jobs_open", "scope", "seq", postgresql_where=text(OPEN)),
        Index("ix_memory_jobs_idempotency", "scope", "idempotency_key", unique=True),
        Index("ix_memory_jobs_status", "status", "finished_at"),
        Index(
            "ix_memory_jobs_content",
            "scope",
            postgresql_where=text("payload IS NOT NULL OR messages IS NOT NULL"),
        ),
    )


class OutboxRow(Base):
    """What has still to be sent to the broker. A row that is not `ready` waits for an older job of its scope."""

    __tablename__ = "memory_outbox"

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    job_id: Mapped[uuid.UUID] = mapped_column(Uuid, ForeignKey("memory_jobs.id", ondelete="CASCADE"), index=True)
    ready: Mapped[bool] = mapped_column(Boolean)
    created_at: Mapped[datetime] = _created()

    __table_args__ = (Index("ix_memory_outbox_ready", "id", postgresql_where=text("ready")),)


class StagedRow(Base):
    """A fact of a job that has not passed all gates yet."""

    __tablename__ = "memory_staged"

    id: Mapped[uuid.UUID] = mapped_column(Uuid, primary_key=True)
    job_id: Mapped[uuid.UUID] = mapped_column(Uuid, ForeignKey("memory_jobs.id", ondelete="CASCADE"), index=True)
    position: Mapped[int] = mapped_column(Integer)
    vector: Mapped[Any] = mapped_column(Vector())
    payload: Mapped[JsonObject] = mapped_column(JSONB)
    entities: Mapped[list[JsonObject]] = mapped_column(JSONB, server_default=text("'[]'::jsonb"))
    created_at: Mapped[datetime] = _created()


class HistoryRow(Base):
    """What happened to a memory, in the columns of mem0's history."""

    __tablename__ = "memory_history"

    id: Mapped[uuid.UUID] = mapped_column(Uuid, primary_key=True)
    memory_id: Mapped[str] = mapped_column(Text, index=True)
    old_memory: Mapped[str | None] = mapped_column(Text)
    new_memory: Mapped[str | None] = mapped_column(Text)
    event: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    updated_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    is_deleted: Mapped[int] = mapped_column(Integer, server_default=text("0"))
    actor_id: Mapped[str | None] = mapped_column(Text)
    role: Mapped[str | None] = mapped_column(Text)


class AuditRow(Base):
    """Who changed which memory, or did what to which job, when and why."""

    __tablename__ = "memory_audit_logs"

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    memory_id: Mapped[uuid.UUID | None] = mapped_column(Uuid, index=True)
    scope: Mapped[str] = mapped_column(Text, index=True)
    operation: Mapped[str] = mapped_column(Text)
    operator_type: Mapped[str] = mapped_column(Text)
    operator: Mapped[str | None] = mapped_column(Text)
    reason: Mapped[str | None] = mapped_column(Text)
    job_id: Mapped[uuid.UUID | None] = mapped_column(Uuid)
    trace_id: Mapped[str | None] = mapped_column(Text)
    before: Mapped[JsonObject | None] = mapped_column(JSONB(none_as_null=True))
    after: Mapped[JsonObject | None] = mapped_column(JSONB(none_as_null=True))
    created_at: Mapped[datetime] = _created()


class ForgottenRow(Base):
    """A fact that must not come back: keyed HMACs of its text and of the sentence it came from, never the text."""

    __tablename__ = "memory_forgotten"

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    scope: Mapped[str] = mapped_column(Text)
    memory_id: Mapped[uuid.UUID | None] = mapped_column(Uuid)
    text_mac: Mapped[str] = mapped_column(Text)
    evidence_mac: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = _created()

    __table_args__ = (
        Index("ix_memory_forgotten_text", "scope", "text_mac"),
        Index("ix_memory_forgotten_evidence", "scope", "evidence_mac"),
    )


class RunRow(Base):
    """A run that managed memories itself."""

    __tablename__ = "memory_runs"

    scope: Mapped[str] = mapped_column(Text, primary_key=True)
    run_id: Mapped[str] = mapped_column(Text, primary_key=True)
    created_at: Mapped[datetime] = _created()


class UserSettingsRow(Base):
    """A user's switches."""

    __tablename__ = "memory_user_settings"

    scope: Mapped[str] = mapped_column(Text, primary_key=True)
    memory_enabled: Mapped[bool] = mapped_column(Boolean)
    memory_save_enabled: Mapped[bool] = mapped_column(Boolean)
    memory_reference_enabled: Mapped[bool] = mapped_column(Boolean)
    implicit_memory_enabled: Mapped[bool] = mapped_column(Boolean)
    sensitive_memory_enabled: Mapped[bool] = mapped_column(Boolean)
    updated_at: Mapped[datetime] = _created()


class TokenRow(Base):
    """A service token: its public id and the hash of all of it."""

    __tablename__ = "memory_tokens"

    id: Mapped[str] = mapped_column(Text, primary_key=True)
    name: Mapped[str] = mapped_column(Text)
    digest: Mapped[str] = mapped_column(Text)
    scopes: Mapped[list[str]] = mapped_column(JSONB)
    created_at: Mapped[datetime] = _created()
    expires_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    revoked_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))

    __table_args__ = (
        Index("one_live_token_per_name", "name", unique=True, postgresql_where=text("revoked_at IS NULL")),
    )


class SchemaRow(Base):
    """What this database was made for: the embedding model and its vector length; and the key of forgotten texts."""

    __tablename__ = "memory_schema"

    key: Mapped[str] = mapped_column(Text, primary_key=True)
    value: Mapped[str] = mapped_column(Text)


# What follows is written into a statement as it is: as parameters, keys and words would hide the indexes on them from
# a plan that is made once for all values.
def text_at(column: Any, key: str) -> Any:
    """A key of a JSON column as text, as an SQL expression."""
    return column.op("->>", return_type=Text())(word(key))


def word(value: str) -> Any:
    """A constant of ours as an SQL expression."""
    return literal_column(f"'{value}'", Text())


def is_open(job: Any = JobRow) -> Any:
    """Whether a job has not ended, as an SQL condition."""
    return job.status.in_([word(status) for status in OPEN_STATUSES])
