"""What is archived is out of the way of what is added on purpose."""

from __future__ import annotations

from alembic import op

revision = "0008"
down_revision = "0007"
_TEXT = "(payload ->> 'memory_schema_version') IS NOT NULL AND (payload ->> 'status') IS DISTINCT FROM 'expired'"
_IN_SIGHT = "(payload ->> 'status') IS DISTINCT FROM 'archived'"


def upgrade() -> None:
    """Let an archived memory share its text with one that is in sight."""
    _one_memory_per_text(f"{_TEXT} AND {_IN_SIGHT}")


def downgrade() -> None:
    """Put the old index back; archived doubles of other memories go."""
    op.execute(
        "DELETE FROM poco_memories gone USING poco_memories kept WHERE gone.payload ->> 'status' = 'archived' "
        "AND kept.id <> gone.id AND kept.payload ->> 'user_id' = gone.payload ->> 'user_id' "
        "AND kept.payload ->> 'hash' = gone.payload ->> 'hash' "
        "AND (kept.payload ->> 'status' NOT IN ('archived', 'expired') "
        "OR (kept.payload ->> 'status' = 'archived' AND kept.id > gone.id))"
    )
    _one_memory_per_text(_TEXT)


def _one_memory_per_text(condition: str) -> None:
    op.execute("DROP INDEX one_memory_per_text")
    op.execute(
        "CREATE UNIQUE INDEX one_memory_per_text ON poco_memories ((payload ->> 'user_id'), (payload ->> 'hash')) "
        f"WHERE {condition}"
    )
