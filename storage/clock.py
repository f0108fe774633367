"""Points in time by the database's clock, the only one that all hosts share."""

from __future__ import annotations

from typing import Any

from sqlalchemy import func, literal


def from_now(seconds: float) -> Any:
    """The moment that many seconds after this transaction began, as an SQL expression; before it when negative."""
    return func.now() + interval(literal(seconds))


def interval(seconds: Any) -> Any:
    """A span of seconds, from an SQL expression."""
    return func.make_interval(0, 0, 0, 0, 0, 0, seconds)
