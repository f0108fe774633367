"""The relay: takes what the outbox holds to the broker, and sends again what got lost. Several may run.

It is the only process that sends; producers write to PostgreSQL and never wait for Redis.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import asdict
from pathlib import Path

import structlog
from kombu.exceptions import OperationalError as BrokerError
from redis import RedisError

from domain.errors import POISON, TransientError
from runtime import metrics
from runtime.checks import check_broker
from runtime.ledger_metrics import LedgerCollector
from runtime.logs import configure_logging
from runtime.metrics_server import serve
from runtime.settings import required_secret
from runtime.wiring import Services, process_services, wait_for_database
from storage.maintenance import Maintained, maintain
from storage.outbox import Listener, send_ready
from storage.reaper import reap
from tasks.ingest import send_chain

log = structlog.get_logger(__name__)
_PAUSE_AFTER_FAILURE = 1.0


def run() -> None:
    """Work until SIGTERM or SIGINT."""
    wired = process_services()
    configure_logging(wired.settings)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    show_metrics(wired)
    if not wait_for_database(wired, stop.wait):
        return
    log.info("memory_relay_started")
    Relay(wired, stop).loop()
    log.info("memory_relay_stopped")


def show_metrics(wired: Services) -> None:
    """Show this process's metrics and the ledger's."""
    settings = wired.settings
    metrics.REGISTRY.register(LedgerCollector(wired.stats, backlog_warning=settings.backlog_warning))
    serve(settings, metrics.REGISTRY)


class Relay:
    """The loop: hear, send, sweep."""

    def __init__(self, wired: Services, stop: threading.Event) -> None:
        self._wired = wired
        self._stop = stop
        self._listener: Listener | None = None
        self._broker_is_checked = False
        self._next_sweep = 0.0
        self._next_maintenance = 0.0
        self._heartbeat = os.environ.get("POCO_HEARTBEAT_FILE")

    def loop(self) -> None:
        """Run rounds until told to stop; a backend that is away is waited for.

        Raises:
            ConfigurationError: the broker may lose messages as it is set up.
        """
        while not self._stop.is_set():
            try:
                self.round()
            except TransientError as exc:
                self._pause("database", exc.detail)
            except (BrokerError, RedisError, OSError) as exc:
                self._pause("broker", type(exc).__name__)
        self._hang_up()

    def round(self) -> None:
        """Send what is ready, sweep when it is time, then wait for a notice."""
        if self._heartbeat:
            Path(self._heartbeat).touch()
        if self._listener is None:
            self._listener = Listener(required_secret(self._wired.settings, "database_url"))
        if not self._broker_is_checked:
            # Only once: a broker that is away at the start is waited for like any other time.
            check_broker(required_secret(self._wired.settings, "broker_url"))
            self._broker_is_checked = True
        while sent := send_ready(self._wired.database, send_chain):
            metrics.RELAY_SENT.inc(sent)
        if time.monotonic() >= self._next_sweep:
            self._sweep()
        self._listener.wait(self._wired.settings.relay_poll_seconds)

    def _sweep(self) -> None:
        found = reap(self._wired.database, self._wired.ledger_times)
        metrics.recovered(lost=found.lost, resent=found.resent, poisoned=found.poisoned)
        if found.poisoned:
            log.error("memory_ingest_failed", reason=POISON, count=found.poisoned)
        if found.lost or found.resent or found.poisoned:
            log.warning("memory_jobs_recovered", lost=found.lost, resent=found.resent, poisoned=found.poisoned)
        if time.monotonic() >= self._next_maintenance:
            self._maintain()
        self._next_sweep = time.monotonic() + self._wired.settings.reaper_seconds

    def _maintain(self) -> None:
        done = maintain(self._wired.database, self._wired.retention)
        if done != Maintained():
            log.info("memory_maintenance_done", **asdict(done))
        # A full batch is followed by the next one at the next sweep: in between, jobs are sent.
        pause = 0.0 if done.has_more else self._wired.settings.maintenance_seconds
        self._next_maintenance = time.monotonic() + pause

    def _pause(self, backend: str, error: str) -> None:
        metrics.RELAY_WAITS.labels(backend).inc()
        log.warning("memory_relay_waiting", backend=backend, error=error)
        self._hang_up()
        self._stop.wait(_PAUSE_AFTER_FAILURE)

    def _hang_up(self) -> None:
        if self._listener is not None:
            self._listener.close()
            self._listener = None
