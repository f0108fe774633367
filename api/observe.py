"""Names every request and times it.

A request has an id, its caller's (`X-Request-Id`) or a new one, and a trace id, that of a W3C `traceparent` or a new
one. Both are answered and stand in each log line of the request. An endpoint is timed by its name and the class of its
status; an unknown path has no name.
"""

from __future__ import annotations

import re
import uuid
from time import perf_counter

from flask import Flask, Response, g, request
from structlog.contextvars import bind_contextvars, clear_contextvars

from runtime.metrics import HTTP_SECONDS, OTHER

REQUEST_ID = "X-Request-Id"
TRACE_ID = "X-Trace-Id"
# What may stand in a header and a log line as it is.
_PLAIN = re.compile(r"[A-Za-z0-9._:/+=@-]{1,128}")
_TRACE_PARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}.*")


def watch(app: Flask) -> None:
    """Name and time the requests of this application; registered before anything may refuse one."""
    app.before_request(_begin)
    app.after_request(_observe)


def follow(trace_id: str) -> None:
    """This request belongs to a trace that was known before."""
    g.trace_id = trace_id
    bind_contextvars(trace_id=trace_id)


def _begin() -> None:
    g.began = perf_counter()
    asked = request.headers.get(REQUEST_ID, "")
    g.request_id = asked if _PLAIN.fullmatch(asked) else uuid.uuid4().hex
    clear_contextvars()
    bind_contextvars(request_id=g.request_id)
    follow(_incoming_trace_id() or uuid.uuid4().hex)


def _incoming_trace_id() -> str | None:
    match = _TRACE_PARENT.fullmatch(request.headers.get("traceparent", ""))
    return match[1] if match and match[1].strip("0") else None


def _observe(response: Response) -> Response:
    status = f"{response.status_code // 100}xx"
    HTTP_SECONDS.labels(request.endpoint or OTHER, status).observe(perf_counter() - g.began)
    response.headers[REQUEST_ID] = g.request_id
    if _PLAIN.fullmatch(g.trace_id):
        # A producer's own id may be any text.
        response.headers[TRACE_ID] = g.trace_id
    return response
