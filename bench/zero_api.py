"""The API whose embedder answers at once, inside its own process: gunicorn's `bench.zero_api:create_app()`."""

from __future__ import annotations

from flask import Flask

from api import app
from bench.costless import ZeroEmbedder
from runtime.wiring import process_services


def create_app() -> Flask:
    """The service's application with nothing else changed."""
    services = process_services()
    vars(services).update(embedder=ZeroEmbedder())
    return app.create_app(services)
