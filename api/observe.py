"""Times every request, by its endpoint's name and the class of its status; an unknown path has no name."""

from __future__ import annotations

from time import perf_counter

from flask import Flask, Response, g, request

from runtime.metrics import HTTP_SECONDS, OTHER


def watch(app: Flask) -> None:
    """Time the requests of this application; registered before anything may refuse one."""
    app.before_request(_begin)
    app.after_request(_observe)


def _begin() -> None:
    g.began = perf_counter()


def _observe(response: Response) -> Response:
    status = f"{response.status_code // 100}xx"
    HTTP_SECONDS.labels(request.endpoint or OTHER, status).observe(perf_counter() - g.began)
    return response
