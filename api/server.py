"""What gunicorn's main process does besides keeping its workers: it shows their metrics, and quotes no client."""

from __future__ import annotations

import logging

from runtime.logs import configure_logging
from runtime.metrics_server import serve_children
from runtime.settings import load_settings

_QUOTING = ("Invalid request", "Error handling request")


class _WithoutQuotes(logging.Filter):
    """Gunicorn logs what it cannot read or answer, and that may be anybody's words or token; its kind is enough."""

    def filter(self, record: logging.LogRecord) -> bool:
        for words in _QUOTING:
            if str(record.msg).startswith(words):
                fault = record.exc_info[0] if record.exc_info else None
                record.msg = f"{words}: {fault.__name__}" if fault else words
                record.args, record.exc_info = (), None
        return True


def on_starting(_: object) -> None:
    """Called by gunicorn before there is anything else; its workers inherit the logger."""
    logging.getLogger("gunicorn.error").addFilter(_WithoutQuotes())


def when_ready(_: object) -> None:
    """Called by gunicorn once it listens, before any worker is there."""
    settings = load_settings()
    configure_logging(settings)
    serve_children(settings)
