"""PostgreSQL and Valkey from Python wheels, run by us; and `EmbeddedServerError`, which says why one cannot run."""

from __future__ import annotations

from domain.errors import PocoError


class EmbeddedServerError(PocoError):
    """An embedded server cannot be set up here; the message says what to do."""
