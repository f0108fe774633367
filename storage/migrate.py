"""Bring a database to the current schema, and refuse one that was made for another embedding model.

Vectors of two models, or of two lengths, cannot be compared: opening such a database would silently find nothing.
"""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, inspect, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import OperationalError

from domain.errors import ConfigurationError
from storage.database import Database, driver_url, unavailable
from storage.tables import ENTITIES, MEMORIES, SchemaRow, StagedRow

_MIGRATION_LOCK = 0x706F636F


def upgrade(database_url: str, *, embedding_model: str, dims: int) -> None:
    """Run all migrations; several processes may do so at once, one works and the others wait.

    Raises:
        ConfigurationError: when the database belongs to another embedding model or vector length.
        TransientError: when the server cannot be reached.
    """
    engine = create_engine(driver_url(database_url), connect_args={"connect_timeout": 5}, hide_parameters=True)
    try:
        with engine.begin() as connection:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})
            _check_existing(connection, embedding_model, dims)
            command.upgrade(alembic_config(connection, dims), "head")
            for key, value in (("embedding_model", embedding_model), ("embedding_dims", str(dims))):
                connection.execute(insert(SchemaRow).values(key=key, value=value).on_conflict_do_nothing())
    except OperationalError as exc:
        raise unavailable(exc) from exc
    finally:
        engine.dispose()


def check_schema(database: Database, *, embedding_model: str, dims: int) -> None:
    """Refuse to work on a database that is not migrated, or was made for another embedding model.

    Raises:
        ConfigurationError: with a sentence that says what to do.
    """
    with database.transaction() as connection:
        _check_existing(connection, embedding_model, dims)
        current = MigrationContext.configure(connection).get_current_revision()
        head = ScriptDirectory.from_config(alembic_config(connection, dims)).get_current_head()
        if current != head:
            raise ConfigurationError(
                f"The database schema is at revision {current or 'none'}, this version needs {head}. "
                "Run `poco-memory migrate` first."
            )


def alembic_config(connection: Connection, dims: int) -> Config:
    """Alembic's configuration for one connection and vector length."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    config.attributes["dims"] = dims
    return config


def _check_existing(connection: Connection, embedding_model: str, dims: int) -> None:
    tables = inspect(connection).get_table_names()
    for table in sorted({MEMORIES, ENTITIES, StagedRow.__tablename__}.intersection(tables)):
        stored = connection.execute(
            text("SELECT atttypmod FROM pg_attribute WHERE attrelid = CAST(:t AS regclass) AND attname = 'vector'"),
            {"t": table},
        ).scalar_one()
        if stored != dims:
            raise ConfigurationError(
                f"This database holds vectors of {stored} dimensions, but the settings ask for {dims} ({table}). "
                "Set POCO_EMBEDDING_MODEL and POCO_EMBEDDING_DIMS as they were, or use an empty database."
            )
    if SchemaRow.__tablename__ in tables:
        known = {row.key: row.value for row in connection.execute(select(SchemaRow.key, SchemaRow.value))}
        model = known.get("embedding_model", embedding_model)
        if model != embedding_model:
            raise ConfigurationError(
                f"This database was made with the embedding model {model}, but POCO_EMBEDDING_MODEL is "
                f"{embedding_model}. Vectors of two models cannot be compared: set it back, or use an empty database."
            )
