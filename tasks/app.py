"""The Celery application, what each worker process prepares, and its logging."""

from __future__ import annotations

import gc
import os
import time
from pathlib import Path

import structlog
from celery import Celery
from celery.signals import heartbeat_sent, setup_logging, task_postrun, worker_init, worker_ready
from structlog.contextvars import clear_contextvars

from domain.errors import ConfigurationError
from runtime.logs import configure_logging
from runtime.metrics_server import serve_children
from runtime.processes import WRONG_SETTINGS
from runtime.settings import load_settings
from runtime.wiring import process_services, wait_for_database
from tasks import broker

broker.install()
app = Celery("poco_memory", include=["tasks.ingest", "tasks.operate"])
app.config_from_object("celeryconfig")
log = structlog.get_logger(__name__)


def _sleep(seconds: float) -> bool:
    time.sleep(seconds)
    return False


@setup_logging.connect
def _configure_logging(**_: object) -> None:
    configure_logging(load_settings())


@worker_init.connect
def _prepare_parent(**_: object) -> None:
    """Wait for the database, and load what children share before they are forked; no connection survives the fork.

    Raises:
        SystemExit: the database does not fit the settings. Celery would log any other exception and go on.
    """
    from nlp.models import preload
    from storage.mem0_adapter import import_mem0

    wired = process_services()
    try:
        wait_for_database(wired, _sleep)
    except ConfigurationError as exc:
        log.error("memory_worker_not_started", error=str(exc))  # noqa: TRY400 - a sentence for operators
        raise SystemExit(WRONG_SETTINGS) from None
    wired.database.dispose()
    preload()
    import_mem0((wired.settings.home / "mem0").absolute())
    gc.collect()
    gc.freeze()


@worker_ready.connect
def _show_metrics(**_: object) -> None:
    serve_children(load_settings())


@task_postrun.connect
def _forget_job(**_: object) -> None:
    """What is logged between two tasks belongs to no job."""
    clear_contextvars()


@worker_ready.connect
@heartbeat_sent.connect
def _touch_heartbeat(**_: object) -> None:
    """Tell the supervisor that this worker talks to the broker."""
    path = os.environ.get("POCO_HEARTBEAT_FILE")
    if path:
        Path(path).touch()
