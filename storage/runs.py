"""Which runs have managed memories themselves, so that their candidate stays out (Poco note, section 4.1)."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, exists, select
from sqlalchemy.dialects.postgresql import insert

from storage.tables import RunRow


def mark_managed(connection: Connection, scope: str, run_id: str) -> None:
    """Note that a run has an explicit writer. The caller holds the scope's lock."""
    connection.execute(insert(RunRow).values(scope=scope, run_id=run_id).on_conflict_do_nothing())


def is_managed(connection: Connection, scope: str, run_id: str | None) -> bool:
    """Whether a run has an explicit writer."""
    if run_id is None:
        return False
    found: Any = exists().where(RunRow.scope == scope, RunRow.run_id == run_id)
    return bool(connection.execute(select(found)).scalar_one())
