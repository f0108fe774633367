"""Operators act on jobs: the audit says who, also where no memory is meant; how often a job was sent is counted."""

from __future__ import annotations

from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the columns; what was audited before has no name to it."""
    op.execute("ALTER TABLE memory_jobs ADD COLUMN dispatch_count integer DEFAULT 0 NOT NULL")
    op.execute("ALTER TABLE memory_audit_logs ADD COLUMN operator text")
    op.execute("ALTER TABLE memory_audit_logs ALTER COLUMN memory_id DROP NOT NULL")


def downgrade() -> None:
    """Drop the columns, and the audit of what was done to jobs."""
    op.execute("DELETE FROM memory_audit_logs WHERE memory_id IS NULL")
    op.execute("ALTER TABLE memory_audit_logs ALTER COLUMN memory_id SET NOT NULL")
    op.execute("ALTER TABLE memory_audit_logs DROP COLUMN operator")
    op.execute("ALTER TABLE memory_jobs DROP COLUMN dispatch_count")
