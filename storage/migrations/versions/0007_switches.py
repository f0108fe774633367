"""Users switch their memory on and off, and a candidate says what kind of run it comes from."""

from __future__ import annotations

from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add the table and the column; what is queued already came from conversations."""
    op.execute("""
        CREATE TABLE memory_user_settings (
            scope text NOT NULL CONSTRAINT memory_user_settings_pkey PRIMARY KEY,
            memory_enabled boolean NOT NULL,
            memory_save_enabled boolean NOT NULL,
            memory_reference_enabled boolean NOT NULL,
            implicit_memory_enabled boolean NOT NULL,
            sensitive_memory_enabled boolean NOT NULL,
            updated_at timestamptz DEFAULT now() NOT NULL
        )
    """)
    op.execute("ALTER TABLE memory_jobs ADD COLUMN run_kind text DEFAULT 'interactive' NOT NULL")


def downgrade() -> None:
    """Drop both; every user has the defaults then."""
    op.execute("ALTER TABLE memory_jobs DROP COLUMN run_kind")
    op.execute("DROP TABLE memory_user_settings")
