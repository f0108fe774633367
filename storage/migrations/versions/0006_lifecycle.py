"""What was forgotten stays forgotten, and a run that managed memories itself is not summed up by its candidate."""

from __future__ import annotations

import secrets

from alembic import op
from sqlalchemy import text

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add the tables, and the key with which forgotten texts are marked."""
    op.execute("""
        CREATE TABLE memory_forgotten (
            id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT memory_forgotten_pkey PRIMARY KEY,
            scope text NOT NULL,
            memory_id uuid,
            text_mac text NOT NULL,
            evidence_mac text,
            created_at timestamptz DEFAULT now() NOT NULL
        )
    """)
    op.execute("CREATE INDEX ix_memory_forgotten_text ON memory_forgotten (scope, text_mac)")
    op.execute("CREATE INDEX ix_memory_forgotten_evidence ON memory_forgotten (scope, evidence_mac)")
    op.execute("""
        CREATE TABLE memory_runs (
            scope text NOT NULL,
            run_id text NOT NULL,
            created_at timestamptz DEFAULT now() NOT NULL,
            CONSTRAINT memory_runs_pkey PRIMARY KEY (scope, run_id)
        )
    """)
    key = text("INSERT INTO memory_schema (key, value) VALUES ('forgotten_key', :key)")
    op.get_bind().execute(key, {"key": secrets.token_hex(32)})


def downgrade() -> None:
    """Drop the tables; what was forgotten can be learned again."""
    op.execute("DELETE FROM memory_schema WHERE key = 'forgotten_key'")
    op.execute("DROP TABLE memory_runs")
    op.execute("DROP TABLE memory_forgotten")
