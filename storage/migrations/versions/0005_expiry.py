"""An expired memory is out of the way: found by its date, and no bar to learning the same again."""

from __future__ import annotations

from alembic import op

revision = "0005"
down_revision = "0004"
_TEXT = "(payload ->> 'memory_schema_version') IS NOT NULL"
_LIVE = "(payload ->> 'status') IS DISTINCT FROM 'expired'"


def upgrade() -> None:
    """Replace the unique index and add one by date."""
    _one_memory_per_text(f"{_TEXT} AND {_LIVE}")
    op.execute(
        "CREATE INDEX ix_poco_memories_expiration ON poco_memories ((payload ->> 'expiration_date')) "
        "WHERE (payload ->> 'expiration_date') IS NOT NULL AND (payload ->> 'status') = 'active'"
    )


def downgrade() -> None:
    """Put the old index back; expired doubles of living memories go."""
    op.execute("DROP INDEX ix_poco_memories_expiration")
    op.execute(
        "DELETE FROM poco_memories gone USING poco_memories kept WHERE gone.payload ->> 'status' = 'expired' "
        "AND kept.id <> gone.id AND kept.payload ->> 'user_id' = gone.payload ->> 'user_id' "
        "AND kept.payload ->> 'hash' = gone.payload ->> 'hash' "
        "AND (kept.payload ->> 'status' <> 'expired' OR kept.id > gone.id)"
    )
    _one_memory_per_text(_TEXT)


def _one_memory_per_text(condition: str) -> None:
    op.execute("DROP INDEX one_memory_per_text")
    op.execute(
        "CREATE UNIQUE INDEX one_memory_per_text ON poco_memories ((payload ->> 'user_id'), (payload ->> 'hash')) "
        f"WHERE {condition}"
    )
