"""The tables of the first release. mem0's two tables are taken over as they are where they already exist."""

from __future__ import annotations

from alembic import context, op

revision = "0001"
down_revision = None

_JOBS = """
CREATE TABLE memory_jobs (
    id uuid NOT NULL CONSTRAINT memory_jobs_pkey PRIMARY KEY,
    seq bigint GENERATED ALWAYS AS IDENTITY NOT NULL CONSTRAINT uq_memory_jobs_seq UNIQUE,
    scope text NOT NULL,
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    agent_id text,
    run_id text,
    conversation_id text,
    source_message_id text,
    kind text NOT NULL,
    form text NOT NULL,
    idempotency_key text,
    trace_id text NOT NULL,
    payload jsonb,
    messages jsonb,
    step smallint DEFAULT 1 NOT NULL,
    status text DEFAULT 'pending' NOT NULL
        CONSTRAINT ck_memory_jobs_status CHECK (status IN ('pending', 'processing', 'failed', 'success', 'dead')),
    outcome text,
    reason text,
    rule text,
    counts jsonb DEFAULT '{}'::jsonb NOT NULL,
    attempts jsonb DEFAULT '{}'::jsonb NOT NULL,
    retry_count integer DEFAULT 0 NOT NULL,
    lost_count integer DEFAULT 0 NOT NULL,
    next_retry_at timestamptz,
    last_error text,
    fence bigint DEFAULT 0 NOT NULL,
    lease_owner text,
    lease_until timestamptz,
    dispatched_at timestamptz,
    created_at timestamptz DEFAULT now() NOT NULL,
    updated_at timestamptz DEFAULT now() NOT NULL,
    started_at timestamptz,
    finished_at timestamptz
)
"""

_STATEMENTS = (
    "CREATE EXTENSION IF NOT EXISTS vector",
    "CREATE TABLE IF NOT EXISTS poco_memories (id uuid PRIMARY KEY, vector vector({dims}), payload jsonb)",
    "CREATE TABLE IF NOT EXISTS poco_memories_entities (id uuid PRIMARY KEY, vector vector({dims}), payload jsonb)",
    "CREATE INDEX IF NOT EXISTS poco_memories_hnsw_idx ON poco_memories USING hnsw (vector vector_cosine_ops)",
    "CREATE INDEX IF NOT EXISTS poco_memories_entities_hnsw_idx ON poco_memories_entities "
    "USING hnsw (vector vector_cosine_ops)",
    "CREATE INDEX IF NOT EXISTS poco_memories_text_lemmatized_idx ON poco_memories "
    "USING gin (to_tsvector('simple'::regconfig, payload ->> 'text_lemmatized'))",
    "CREATE INDEX IF NOT EXISTS ix_poco_memories_user_id ON poco_memories ((payload ->> 'user_id'))",
    "CREATE INDEX IF NOT EXISTS ix_poco_memories_created_at ON poco_memories "
    "((payload ->> 'user_id'), (payload ->> 'created_at'))",
    "CREATE UNIQUE INDEX IF NOT EXISTS one_memory_per_text ON poco_memories "
    "((payload ->> 'user_id'), (payload ->> 'hash')) WHERE (payload ->> 'memory_schema_version') IS NOT NULL",
    "CREATE INDEX IF NOT EXISTS ix_poco_memories_entities_user_id ON poco_memories_entities ((payload ->> 'user_id'))",
    _JOBS,
    "CREATE UNIQUE INDEX one_active_job_per_scope ON memory_jobs (scope) WHERE status = 'processing'",
    "CREATE INDEX ix_memory_jobs_open ON memory_jobs (scope, seq) WHERE status IN ('pending', 'processing', 'failed')",
    "CREATE UNIQUE INDEX ix_memory_jobs_idempotency ON memory_jobs (scope, idempotency_key)",
    "CREATE INDEX ix_memory_jobs_status ON memory_jobs (status, updated_at)",
    "CREATE TABLE memory_outbox ("
    "id bigint GENERATED ALWAYS AS IDENTITY NOT NULL CONSTRAINT memory_outbox_pkey PRIMARY KEY, "
    "job_id uuid NOT NULL "
    "CONSTRAINT fk_memory_outbox_job_id_memory_jobs REFERENCES memory_jobs (id) ON DELETE CASCADE, "
    "ready boolean NOT NULL, created_at timestamptz DEFAULT now() NOT NULL)",
    "CREATE INDEX ix_memory_outbox_job_id ON memory_outbox (job_id)",
    "CREATE INDEX ix_memory_outbox_ready ON memory_outbox (id) WHERE ready",
    "CREATE TABLE memory_staged ("
    "id uuid NOT NULL CONSTRAINT memory_staged_pkey PRIMARY KEY, "
    "job_id uuid NOT NULL "
    "CONSTRAINT fk_memory_staged_job_id_memory_jobs REFERENCES memory_jobs (id) ON DELETE CASCADE, "
    "position integer NOT NULL, vector vector({dims}) NOT NULL, payload jsonb NOT NULL, "
    "entities jsonb DEFAULT '[]'::jsonb NOT NULL, created_at timestamptz DEFAULT now() NOT NULL)",
    "CREATE INDEX ix_memory_staged_job_id ON memory_staged (job_id)",
    "CREATE TABLE memory_history ("
    "id uuid NOT NULL CONSTRAINT memory_history_pkey PRIMARY KEY, memory_id text NOT NULL, old_memory text, "
    "new_memory text, event text NOT NULL, created_at timestamptz, updated_at timestamptz, "
    "is_deleted integer DEFAULT 0 NOT NULL, actor_id text, role text)",
    "CREATE INDEX ix_memory_history_memory_id ON memory_history (memory_id)",
    "CREATE TABLE memory_audit_logs ("
    "id bigint GENERATED ALWAYS AS IDENTITY NOT NULL CONSTRAINT memory_audit_logs_pkey PRIMARY KEY, "
    "memory_id uuid NOT NULL, scope text NOT NULL, operation text NOT NULL, operator_type text NOT NULL, reason text, "
    "job_id uuid, trace_id text, before jsonb, after jsonb, created_at timestamptz DEFAULT now() NOT NULL)",
    "CREATE INDEX ix_memory_audit_logs_memory_id ON memory_audit_logs (memory_id)",
    "CREATE INDEX ix_memory_audit_logs_scope ON memory_audit_logs (scope)",
    "CREATE TABLE memory_schema (key text NOT NULL CONSTRAINT memory_schema_pkey PRIMARY KEY, value text NOT NULL)",
)


def upgrade() -> None:
    """Create everything; indexes that mem0 does not add to an existing table are added here."""
    dims = int(context.config.attributes["dims"])
    for statement in _STATEMENTS:
        op.execute(statement.replace("{dims}", str(dims)))
