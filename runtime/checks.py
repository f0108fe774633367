"""Whether a process does its work, asked from the outside. Every check answers within about two seconds."""

from __future__ import annotations

import http.client
import time
from pathlib import Path

from domain.errors import ConfigurationError

_TIMEOUT_SECONDS = 2
HEARTBEAT_SECONDS = 15.0


def postgres_answers(url: str) -> bool:
    """A connection with the password, and a query."""
    import psycopg

    try:
        with psycopg.connect(url, connect_timeout=_TIMEOUT_SECONDS) as connection:
            return connection.execute("SELECT 1").fetchone() == (1,)
    except psycopg.Error:
        return False


def valkey_answers(url: str) -> bool:
    """A PING with the password; a server that still loads its data does not answer it."""
    import redis

    from runtime.broker import broker_client

    client = broker_client(url, seconds=_TIMEOUT_SECONDS)
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False
    finally:
        client.close()


def check_broker(url: str) -> None:
    """Refuse a broker that may throw messages away when its memory is full.

    Raises:
        ConfigurationError: with what to change.
        redis.RedisError: the broker does not answer.
    """
    from runtime.broker import broker_client

    client = broker_client(url, seconds=_TIMEOUT_SECONDS)
    try:
        memory = client.info("memory")
    finally:
        client.close()
    policy = str(memory.get("maxmemory_policy", "noeviction"))
    if policy != "noeviction":
        raise ConfigurationError(
            f"POCO_BROKER_URL: this server drops messages when its memory is full (maxmemory-policy {policy}). "
            "Set it to noeviction: CONFIG SET maxmemory-policy noeviction, and in the server's configuration."
        )


def http_answers(host: str, port: int, path: str) -> bool:
    """A GET is answered with 200."""
    connection = http.client.HTTPConnection(host, port, timeout=_TIMEOUT_SECONDS)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def beats(heartbeat: Path) -> bool:
    """The process has touched its heartbeat file in the last 15 seconds."""
    try:
        return time.time() - heartbeat.stat().st_mtime < HEARTBEAT_SECONDS
    except FileNotFoundError:
        return False
