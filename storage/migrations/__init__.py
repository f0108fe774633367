"""Alembic migrations; run by storage.migrate, never by hand."""
