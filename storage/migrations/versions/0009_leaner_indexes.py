"""Indexes that cost every write and answer no question: the entities' vectors, and the time of a running job's change.

Nothing looks an entity up by its vector; mem0 finds those of one user by `user_id`. Without an index on `updated_at` a
step's claim and end leave the ledger's indexes alone.
"""

from __future__ import annotations

from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Drop the one, and order ended jobs by when they ended; what jobs hold is found by their scope."""
    op.execute("DROP INDEX IF EXISTS poco_memories_entities_hnsw_idx")
    op.execute("DROP INDEX ix_memory_jobs_status")
    op.execute("CREATE INDEX ix_memory_jobs_status ON memory_jobs (status, finished_at)")
    op.execute(
        "CREATE INDEX ix_memory_jobs_content ON memory_jobs (scope) WHERE payload IS NOT NULL OR messages IS NOT NULL"
    )


def downgrade() -> None:
    """Put them back."""
    op.execute("DROP INDEX ix_memory_jobs_content")
    op.execute("DROP INDEX ix_memory_jobs_status")
    op.execute("CREATE INDEX ix_memory_jobs_status ON memory_jobs (status, updated_at)")
    op.execute(
        "CREATE INDEX IF NOT EXISTS poco_memories_entities_hnsw_idx ON poco_memories_entities "
        "USING hnsw (vector vector_cosine_ops)"
    )
