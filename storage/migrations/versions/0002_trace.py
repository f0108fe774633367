"""Each job keeps why its messages and facts were kept or dropped: places and rule names, no text."""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the column; jobs that ended before have no decisions to show."""
    op.execute("ALTER TABLE memory_jobs ADD COLUMN trace jsonb DEFAULT '[]'::jsonb NOT NULL")


def downgrade() -> None:
    """Drop the column."""
    op.execute("ALTER TABLE memory_jobs DROP COLUMN trace")
