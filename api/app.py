"""The Flask application: who may come in, how errors look, which endpoints there are."""

from __future__ import annotations

import hmac

import structlog
from flask import Flask, Response, g, jsonify, request
from pydantic import ValidationError
from werkzeug.exceptions import HTTPException

from api.health import health
from api.jobs import jobs
from api.memories import memories
from api.observe import watch
from api.requests import BadBody, wired
from domain.errors import InvalidField, TransientError
from domain.operations import TooManyOpenJobs
from runtime.logs import configure_logging
from runtime.settings import required_secret
from runtime.wiring import Services, process_services
from tasks.contracts import FieldProblem, problems

log = structlog.get_logger(__name__)
PROBLEM_JSON = "application/problem+json"
RETRY_AFTER_SECONDS = 5
_BODY_OVERHEAD = 64 * 1024


def create_app(services: Services | None = None) -> Flask:
    """The application, on the services given or on those of this process's environment.

    Raises:
        ConfigurationError: a setting is missing, or the database does not fit the settings.
    """
    services = services or process_services()
    configure_logging(services.settings)
    required_secret(services.settings, "service_token")
    app = Flask(__name__)
    app.json.sort_keys = False  # type: ignore[attr-defined]
    app.json.ensure_ascii = False  # type: ignore[attr-defined]
    # JSON may escape each character of a message to six bytes.
    app.config["MAX_CONTENT_LENGTH"] = 6 * services.settings.max_candidate_bytes + _BODY_OVERHEAD
    app.extensions["poco"] = services
    for blueprint in (health, jobs, memories):
        app.register_blueprint(blueprint)
    watch(app)
    app.before_request(_authenticate)
    app.register_error_handler(ValidationError, _on_validation_error)
    app.register_error_handler(InvalidField, _on_invalid_field)
    app.register_error_handler(BadBody, _on_bad_body)
    app.register_error_handler(TooManyOpenJobs, _on_too_many)
    app.register_error_handler(TransientError, _on_backend_error)
    app.register_error_handler(HTTPException, _on_http_error)
    app.register_error_handler(Exception, _on_fault)
    _prepare(services)
    return app


def _prepare(services: Services) -> None:
    """Load what the first request would otherwise wait for."""
    try:
        services.check()
    except TransientError as exc:
        # The database may come up after us; readiness says so until then.
        log.warning("memory_api_waiting", backend=exc.backend, error=exc.detail)
    load = getattr(services.embedder, "load", None)
    if load is not None:
        load()


def _authenticate() -> Response | None:
    if request.blueprint == "health":
        return None
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    expected = required_secret(wired().settings, "service_token")
    # Compared as bytes: compare_digest refuses text that is not ASCII.
    if scheme.lower() == "bearer" and hmac.compare_digest(token.strip().encode(), expected.encode()):
        return None
    response = problem(401, "unauthorized", "A valid service token is needed: Authorization: Bearer <token>.")
    response.headers["WWW-Authenticate"] = 'Bearer realm="poco-memory"'
    return response


def problem(status: int, code: str, detail: str, errors: list[FieldProblem] | None = None) -> Response:
    """An error in the form of RFC 9457, with a stable code and, for wrong fields, each field and its rule."""
    body: dict[str, object] = {"type": "about:blank", "title": code, "status": status, "code": code, "detail": detail}
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
    log.error("memory_request_fault", error=type(exc).__name__, endpoint=request.endpoint, trace_id=g.get("trace_id"))
    return problem(500, "internal_error", "The service made a mistake. It has been logged.")
