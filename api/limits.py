"""How many requests a token may make in a minute, counted in Redis for all API processes together.

Without Redis nobody is refused: requests go on uncounted, and `memory_rate_unchecked_total` says so.
"""

from __future__ import annotations

import hashlib
import math
import time

import structlog
from flask import Flask, Response
from limits import RateLimitItemPerMinute
from limits.errors import StorageError
from limits.storage import RedisStorage
from limits.strategies import FixedWindowRateLimiter

from api.auth import Requester, requester
from api.problems import problem
from runtime.broker import broker_pool
from runtime.metrics import RATE_UNCHECKED, REQUESTS_REFUSED
from runtime.settings import Settings, required_secret

log = structlog.get_logger(__name__)
# Counting must not cost more than what it protects.
_REDIS_SECONDS = 0.2
_REST_SECONDS = 5.0


def limit(app: Flask) -> None:
    """Count the requests of this application; registered after what says whose they are."""
    app.before_request(_Counted(app.extensions["poco"].settings))


class _Counted:
    """Refuses what is over the limit of its token; rests a while when Redis does not answer."""

    def __init__(self, settings: Settings) -> None:
        url = required_secret(settings, "broker_url")
        pool = broker_pool(url, seconds=_REDIS_SECONDS)
        storage = RedisStorage(url, connection_pool=pool, key_prefix="poco-rate", wrap_exceptions=True)
        self._windows = FixedWindowRateLimiter(storage)
        self._per_minute = {
            "user": settings.user_requests_per_minute,
            "service": settings.service_requests_per_minute,
        }
        self._resting_until = 0.0

    def __call__(self) -> Response | None:
        who = requester()
        if who is None or not self._per_minute[who.kind]:
            return None
        if time.monotonic() < self._resting_until:
            RATE_UNCHECKED.inc()
            return None
        try:
            return self._check(who, RateLimitItemPerMinute(self._per_minute[who.kind]))
        except StorageError as exc:
            self._resting_until = time.monotonic() + _REST_SECONDS
            RATE_UNCHECKED.inc()
            log.warning("memory_rate_unchecked", error=type(exc.storage_error).__name__)
            return None

    def _check(self, who: Requester, allowed: RateLimitItemPerMinute) -> Response | None:
        # Redis sees no name of a user.
        key = hashlib.sha256(who.name.encode()).hexdigest()[:32]
        if self._windows.hit(allowed, who.kind, key):
            return None
        REQUESTS_REFUSED.labels(who.kind).inc()
        token = who.name if who.kind == "service" else None
        log.warning("memory_request_refused", kind=who.kind, token=token, reason="too_many_requests")
        seconds = max(1, math.ceil(self._windows.get_window_stats(allowed, who.kind, key).reset_time - time.time()))
        response = problem(
            429, "too_many_requests", f"At most {allowed.amount} requests a minute; try again in {seconds} seconds."
        )
        response.headers["Retry-After"] = str(seconds)
        return response
