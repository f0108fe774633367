"""Alembic's entry: runs on the connection that storage.migrate hands over."""

from __future__ import annotations

from alembic import context
from sqlalchemy import Connection

from storage.tables import Base

connection: Connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=Base.metadata)
with context.begin_transaction():
    context.run_migrations()
