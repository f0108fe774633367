"""Liveness and readiness; the only endpoints without a token, and they say nothing about memories."""

from __future__ import annotations

from collections.abc import Callable

import redis
from flask import Blueprint, Response, jsonify

from api.auth import needs
from api.endpoints import answers
from api.requests import wired
from api.shapes import Alive, Readiness
from domain.errors import TransientError
from runtime.broker import broker_client
from runtime.settings import required_secret
from runtime.wiring import Services

health = Blueprint("health", __name__, url_prefix="/health")
_TIMEOUT_SECONDS = 2.0


@health.get("/live")
@needs()
@answers(Alive)
def live() -> Response:
    """The process answers."""
    return jsonify({"status": "ok"})


@health.get("/ready")
@needs()
@answers(Readiness, 200, 503)
def ready() -> tuple[Response, int]:
    """Database, broker and embedder answer; 503 names those that do not."""
    services = wired()
    checks: dict[str, Callable[[Services], str | None]] = {
        "database": _database,
        "broker": _broker,
        "embedder": _embedder,
    }
    parts = {name: check(services) for name, check in checks.items()}
    is_ready = not any(parts.values())
    body = {
        "status": "ready" if is_ready else "not_ready",
        "checks": {name: fault or "ok" for name, fault in parts.items()},
        "backlog": _backlog(services),
        "model": services.settings.llm_model,
        "embedding_model": services.settings.embedding_model,
    }
    return jsonify(body), 200 if is_ready else 503


def _backlog(services: Services) -> str:
    """Whether candidates are taken faster than they are worked on; `unknown` while the database is away."""
    try:
        return "high" if services.stats.open_jobs() >= services.settings.backlog_warning else "ok"
    except TransientError:
        return "unknown"


def _database(services: Services) -> str | None:
    try:
        services.database.ping()
    except TransientError as exc:
        return exc.detail
    return None


def _broker(services: Services) -> str | None:
    url = required_secret(services.settings, "broker_url")
    client = broker_client(url, seconds=_TIMEOUT_SECONDS)
    try:
        client.ping()
    except redis.RedisError as exc:
        return type(exc).__name__
    finally:
        client.close()
    return None


def _embedder(services: Services) -> str | None:
    try:
        services.embedder.ping()
    except TransientError as exc:
        return exc.detail
    return None
