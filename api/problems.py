"""Every error in one form, RFC 9457: a stable code and, for wrong fields, each field and the rule it breaks."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import structlog
from flask import Flask, Response, g, jsonify, request
from pydantic import ValidationError
from werkzeug.exceptions import HTTPException

from api.requests import BadBody
from domain.errors import InvalidField, TransientError
from domain.operations import TooManyOpenJobs
from tasks.contracts import FieldProblem, problems

log = structlog.get_logger(__name__)
PROBLEM_JSON = "application/problem+json"
RETRY_AFTER_SECONDS = 5


def register(app: Flask) -> None:
    """Let the application answer every exception with a problem."""
    app.register_error_handler(ValidationError, _on_validation_error)
    app.register_error_handler(InvalidField, _on_invalid_field)
    app.register_error_handler(BadBody, _on_bad_body)
    app.register_error_handler(TooManyOpenJobs, _on_too_many)
    app.register_error_handler(TransientError, _on_backend_error)
    app.register_error_handler(HTTPException, _on_http_error)
    app.register_error_handler(Exception, _on_fault)


def problem(
    status: int,
    code: str,
    detail: str,
    errors: list[FieldProblem] | None = None,
    extra: Mapping[str, object] = MappingProxyType({}),
) -> Response:
    """One problem, ready to be answered; `extra` are more members of it."""
    body: dict[str, object] = {
        **extra,
        "type": "about:blank",
        "title": code,
        "status": status,
        "code": code,
        "detail": detail,
        "request_id": g.request_id,
    }
    if errors is not None:
        body["errors"] = [{"field": e.field, "rule": e.rule, "message": e.message} for e in errors]
    response = jsonify(body)
    response.status_code = status
    response.mimetype = PROBLEM_JSON
    return response


def _on_validation_error(exc: ValidationError) -> Response:
    return _invalid(problems(exc))


def _on_invalid_field(exc: InvalidField) -> Response:
    return _invalid([FieldProblem(exc.field, exc.rule, exc.message)])


def _on_bad_body(exc: BadBody) -> Response:
    return _invalid([FieldProblem("body", exc.rule, exc.message)])


def _invalid(errors: list[FieldProblem]) -> Response:
    detail = "; ".join(f"{error.field}: {error.message}" for error in errors[:5])
    return problem(422, "invalid_request", detail, errors)


def _on_backend_error(exc: TransientError) -> Response:
    log.error("memory_request_failed", backend=exc.backend, error=exc.detail, endpoint=request.endpoint)
    response = problem(
        503,
        str(exc.backend),
        "A backend is not available. Try again shortly, with the same idempotency_key if any.",
    )
    response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return response


def _on_too_many(exc: TooManyOpenJobs) -> Response:
    log.warning("memory_ingest_refused", reason="too_many_open_jobs")
    response = problem(429, "too_many_open_jobs", f"Nothing was written: {exc}.")
    response.headers["Retry-After"] = str(exc.retry_after)
    return response


def _on_http_error(exc: HTTPException) -> Response:
    code = (exc.name or "error").lower().replace(" ", "_")
    response = problem(exc.code or 500, code, exc.description or exc.name)
    if exc.code == 405:
        response.headers["Allow"] = ", ".join(sorted(getattr(exc, "valid_methods", None) or []))
    return response


def _on_fault(exc: Exception) -> Response:
    # Only the class is logged: the text of an unexpected exception may quote the request.
    log.error("memory_request_fault", error=type(exc).__name__, endpoint=request.endpoint)
    return problem(500, "internal_error", "The service made a mistake. It has been logged.")
