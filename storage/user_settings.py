"""A user's switches; a user without a row has the defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from sqlalchemy import Connection, bindparam, func, select
from sqlalchemy.dialects.postgresql import insert

from domain.scope import Scope
from domain.switches import UserSettings
from storage.database import Database, lock_scope
from storage.tables import JobRow, UserSettingsRow

_NAMES = tuple(part.name for part in fields(UserSettings))
_SETTINGS = select(*(getattr(UserSettingsRow, name) for name in _NAMES)).where(
    UserSettingsRow.scope == bindparam("scope")
)


class SqlUserSettings:
    """domain.ports.UserSettingsStore on PostgreSQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, scope: Scope) -> UserSettings:
        """The user's switches."""
        with self._database.statement() as connection:
            return load_settings(connection, scope.key)

    def change(self, scope: Scope, changes: Mapping[str, bool]) -> UserSettings:
        """Set some switches and give all of them."""
        with self._database.transaction() as connection:
            # Publishing holds the same lock: what is off when this returns is off for everything after it.
            lock_scope(connection, scope.key)
            values = {**asdict(load_settings(connection, scope.key)), **changes}
            row = insert(UserSettingsRow).values(scope=scope.key, **values)
            update = {**values, "updated_at": func.now()}
            connection.execute(row.on_conflict_do_update(index_elements=[UserSettingsRow.scope], set_=update))
        return UserSettings(**values)


def load_settings(connection: Connection, scope: str) -> UserSettings:
    """The switches of a scope."""
    row = connection.execute(_SETTINGS, {"scope": scope}).one_or_none()
    return UserSettings(**row._mapping) if row else UserSettings()


def settings_of_job() -> Any:
    """The switches of the outer query's job as one object, NULL for the defaults, as an SQL expression."""
    pairs = [part for name in _NAMES for part in (name, getattr(UserSettingsRow, name))]
    mine = select(func.jsonb_build_object(*pairs)).where(UserSettingsRow.scope == JobRow.scope)
    return mine.scalar_subquery()
