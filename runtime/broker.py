"""Connections of our own to the broker, beside Celery's: short limits and no second try."""

from __future__ import annotations

from redis import ConnectionPool, Redis
from redis.backoff import NoBackoff
from redis.retry import Retry


def broker_pool(url: str, *, seconds: float) -> ConnectionPool:
    """Connections that wait for an answer so long and no longer."""
    return ConnectionPool.from_url(
        url, socket_timeout=seconds, socket_connect_timeout=seconds, retry=Retry(NoBackoff(), 0)
    )


def broker_client(url: str, *, seconds: float) -> Redis:
    """A client that is to be closed."""
    return Redis.from_pool(broker_pool(url, seconds=seconds))
