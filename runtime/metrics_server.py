"""Shows the metrics of a process over HTTP, on an address of their own: they need no token, the API does."""

from __future__ import annotations

import structlog
from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.multiprocess import MultiProcessCollector

from runtime.settings import Settings

log = structlog.get_logger(__name__)


def serve(settings: Settings, registry: CollectorRegistry) -> None:
    """Answer scrapes in a thread from now on, unless POCO_METRICS_PORT is 0."""
    if not settings.metrics_port:
        return
    try:
        start_http_server(settings.metrics_port, addr=settings.metrics_host, registry=registry)
    except OSError:
        # The command line has refused a port that is taken; whoever took it since then stops no memory from working.
        log.exception("memory_metrics_not_served", port=settings.metrics_port)
    else:
        log.info("memory_metrics_served", host=settings.metrics_host, port=settings.metrics_port)


def serve_children(settings: Settings) -> None:
    """The same for a server whose children count; see runtime.metrics_store."""
    if settings.metrics_port:
        registry = CollectorRegistry()
        MultiProcessCollector(registry)
        serve(settings, registry)
