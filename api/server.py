"""What gunicorn's main process does besides keeping its workers: it shows their metrics."""

from __future__ import annotations

from runtime.logs import configure_logging
from runtime.metrics_server import serve_children
from runtime.settings import load_settings


def when_ready(_: object) -> None:
    """Called by gunicorn once it listens, before any worker is there."""
    settings = load_settings()
    configure_logging(settings)
    serve_children(settings)
