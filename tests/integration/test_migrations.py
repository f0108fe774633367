from __future__ import annotations

import threading
import uuid

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import text

from domain.errors import ConfigurationError, TransientError
from runtime.embedded.servers import Servers
from storage.database import Database
from storage.migrate import check_schema, upgrade
from storage.tables import Base
from tests.conftest import new_database


@pytest.fixture
def empty_url(servers: Servers) -> str:
    return new_database(servers, f"migrate_{uuid.uuid4().hex[:8]}")


def test_the_newest_migration_equals_the_models(database: Database) -> None:
    with database.transaction() as connection:
        options = {"compare_type": True, "compare_server_default": True}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, Base.metadata) == []


def test_the_comparison_notices_a_column_that_is_not_in_the_models(empty_url: str) -> None:
    upgrade(empty_url, embedding_model="fake", dims=8)
    database = Database(empty_url)
    with database.transaction() as connection:
        connection.execute(text("ALTER TABLE memory_jobs ADD COLUMN stray integer"))
    with database.transaction() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Base.metadata)
    database.dispose()


@pytest.mark.parametrize(
    "index",
    [
        "poco_memories_hnsw_idx",
        "poco_memories_text_lemmatized_idx",
        "ix_poco_memories_user_id",
        "ix_poco_memories_created_at",
        "one_memory_per_text",
        "ix_poco_memories_entities_user_id",
        "one_active_job_per_scope",
    ],
)
def test_the_indexes_that_search_and_order_rest_on_exist(database: Database, index: str) -> None:
    with database.transaction() as connection:
        assert connection.execute(text("SELECT to_regclass(:name)"), {"name": index}).scalar_one() is not None


def test_migrating_twice_changes_nothing(empty_url: str) -> None:
    upgrade(empty_url, embedding_model="fake", dims=8)
    upgrade(empty_url, embedding_model="fake", dims=8)
    database = Database(empty_url)
    check_schema(database, embedding_model="fake", dims=8)
    database.dispose()


def test_several_processes_may_migrate_at_once(empty_url: str) -> None:
    failures: list[Exception] = []

    def migrate() -> None:
        try:
            upgrade(empty_url, embedding_model="fake", dims=8)
        except Exception as exc:  # noqa: BLE001
            failures.append(exc)

    threads = [threading.Thread(target=migrate) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_a_database_of_another_vector_length_is_refused(empty_url: str) -> None:
    upgrade(empty_url, embedding_model="fake", dims=8)
    with pytest.raises(ConfigurationError, match="vectors of 8 dimensions, but the settings ask for 16"):
        upgrade(empty_url, embedding_model="fake", dims=16)


@pytest.mark.parametrize("table", ["poco_memories", "poco_memories_entities", "memory_staged"])
def test_one_table_of_another_vector_length_is_enough(empty_url: str, table: str) -> None:
    upgrade(empty_url, embedding_model="fake", dims=8)
    database = Database(empty_url)
    with database.transaction() as connection:
        connection.execute(text(f"ALTER TABLE {table} ALTER COLUMN vector TYPE vector(16)"))
    with pytest.raises(ConfigurationError, match=rf"vectors of 16 dimensions, but the settings ask for 8 \({table}\)"):
        check_schema(database, embedding_model="fake", dims=8)
    database.dispose()


def test_a_database_of_another_embedding_model_is_refused(empty_url: str) -> None:
    upgrade(empty_url, embedding_model="fake", dims=8)
    database = Database(empty_url)
    with pytest.raises(ConfigurationError, match="made with the embedding model fake"):
        check_schema(database, embedding_model="other", dims=8)
    database.dispose()


def test_a_database_without_our_schema_says_what_to_run(empty_url: str) -> None:
    database = Database(empty_url)
    with pytest.raises(ConfigurationError, match="poco-memory migrate"):
        check_schema(database, embedding_model="fake", dims=8)
    database.dispose()


def test_tables_that_mem0_made_before_us_keep_their_rows(empty_url: str) -> None:
    database = Database(empty_url)
    with database.transaction() as connection:
        connection.execute(text("CREATE EXTENSION vector"))
        connection.execute(text("CREATE TABLE poco_memories (id uuid PRIMARY KEY, vector vector(3), payload jsonb)"))
        connection.execute(
            text(
                "INSERT INTO poco_memories "
                "SELECT gen_random_uuid(), '[1,0,0]', CAST(:p AS jsonb) FROM generate_series(1, 2)"
            ),
            {"p": '{"data": "same old text", "hash": "h", "user_id": "t:u"}'},
        )
    upgrade(empty_url, embedding_model="fake", dims=3)
    with database.transaction() as connection:
        assert connection.execute(text("SELECT count(*) FROM poco_memories")).scalar_one() == 2
        assert connection.execute(text("SELECT to_regclass('poco_memories_hnsw_idx')")).scalar_one()
    database.dispose()


def test_a_server_that_is_away_is_a_transient_error() -> None:
    with pytest.raises(TransientError):
        upgrade("postgresql://nobody@127.0.0.1:1/none", embedding_model="fake", dims=8)
