"""Which runs have managed memories themselves, so that their candidate stays out (Poco note, section 4.1)."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Connection, exists
from sqlalchemy.dialects.postgresql import insert

from storage.tables import JobRow, RunRow


def mark_managed(connection: Connection, scope: str, run_id: str) -> None:
    """Note that a run has an explicit writer. The caller holds the scope's lock."""
    connection.execute(insert(RunRow).values(scope=scope, run_id=run_id).on_conflict_do_nothing())


def managed_run() -> ColumnElement[bool]:
    """Whether the run of the outer query's job has an explicit writer, as an SQL condition."""
    return exists().where(RunRow.scope == JobRow.scope, RunRow.run_id == JobRow.run_id)
