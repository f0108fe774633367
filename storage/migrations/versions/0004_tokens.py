"""Service tokens, named, hashed, and each for what it is needed for."""

from __future__ import annotations

from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the table; a name is free again once its token is revoked."""
    op.execute("""
        CREATE TABLE memory_tokens (
            id text NOT NULL CONSTRAINT memory_tokens_pkey PRIMARY KEY,
            name text NOT NULL,
            digest text NOT NULL,
            scopes jsonb NOT NULL,
            created_at timestamptz DEFAULT now() NOT NULL,
            expires_at timestamptz,
            revoked_at timestamptz
        )
    """)
    op.execute("CREATE UNIQUE INDEX one_live_token_per_name ON memory_tokens (name) WHERE revoked_at IS NULL")


def downgrade() -> None:
    """Drop the table; only the tokens of the environment work then."""
    op.execute("DROP TABLE memory_tokens")
