"""The Flask application and which endpoints there are."""

from __future__ import annotations

import structlog
from flask import Flask

from api import problems
from api.auth import protect
from api.gateway import gateway
from api.health import health
from api.jobs import jobs
from api.lifecycle import lifecycle
from api.limits import limit
from api.memories import memories
from api.observe import watch
from api.reference import publish
from domain.errors import TransientError
from runtime.logs import configure_logging
from runtime.settings import required_secret
from runtime.wiring import Services, process_services

log = structlog.get_logger(__name__)
_BODY_OVERHEAD = 64 * 1024


def create_app(services: Services | None = None) -> Flask:
    """The application, on the services given or on those of this process's environment.

    Raises:
        ConfigurationError: a setting is missing, or the database does not fit the settings.
    """
    services = services or process_services()
    configure_logging(services.settings)
    required_secret(services.settings, "service_token")
    app = Flask(__name__, static_folder=None)
    # An empty id in a path is no id; a redirect would go where the request's Host header says.
    app.url_map.merge_slashes = False
    app.json.sort_keys = False  # type: ignore[attr-defined]
    app.json.ensure_ascii = False  # type: ignore[attr-defined]
    # JSON may escape each character of a message to six bytes.
    app.config["MAX_CONTENT_LENGTH"] = 6 * services.settings.max_candidate_bytes + _BODY_OVERHEAD
    app.extensions["poco"] = services
    for blueprint in (health, jobs, memories, lifecycle, gateway):
        app.register_blueprint(blueprint)
    publish(app)
    watch(app)
    protect(app)
    limit(app)
    problems.register(app)
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
