"""The engine, made on first use in a process (so after the fork), and transactions that speak our errors."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DBAPIError, InterfaceError, InternalError, InvalidatePoolError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.pool import ConnectionPoolEntry

from domain.errors import Backend, TransientError

# Without iterative scan a filtered HNSW search silently returns too few rows (mem0 study, section 6).
# A stored time that names no zone is UTC, whatever zone the server is in.
SESSION_OPTIONS = "-c timezone=UTC -c hnsw.iterative_scan=strict_order -c hnsw.ef_search=100 -c statement_timeout=15000"
CONNECT_TIMEOUT_SECONDS = 5
FRESH_SECONDS = 1.0
_USED_AT = "used_at"
# A host that vanishes without a word is noticed after half a minute instead of the operating system's two hours.
KEEP_ALIVE = {
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}


def driver_url(url: str) -> str:
    """A postgresql:// URL as SQLAlchemy wants it for psycopg 3."""
    _, _, rest = url.partition("://")
    return f"postgresql+psycopg://{rest}"


class Database:
    """One PostgreSQL database. Safe to use on both sides of a fork: a child makes connections of its own."""

    def __init__(self, url: str, *, pool_size: int = 8) -> None:
        self._url = driver_url(url)
        self._pool_size = pool_size
        self._engine: Engine | None = None
        self._process = os.getpid()
        self._lock = threading.Lock()

    @property
    def engine(self) -> Engine:
        """The engine of this process."""
        with self._lock:
            if self._engine is not None and self._process != os.getpid():
                # The parent goes on using these connections; closing them here would end them for it as well.
                self._engine.dispose(close=False)
                self._engine = None
            if self._engine is None:
                self._process = os.getpid()
                self._engine = create_engine(
                    self._url,
                    pool_size=self._pool_size,
                    max_overflow=0,
                    pool_timeout=CONNECT_TIMEOUT_SECONDS,
                    hide_parameters=True,
                    connect_args={
                        "connect_timeout": CONNECT_TIMEOUT_SECONDS,
                        "options": SESSION_OPTIONS,
                        **KEEP_ALIVE,
                    },
                )
                _ping_what_rested(self._engine)
            return self._engine

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """One transaction: committed at the end of the block, rolled back when it raises.

        Raises:
            TransientError: with Backend.DATABASE_UNAVAILABLE when the server cannot be reached or gives up.
        """
        with self._translated(), self.engine.begin() as connection:
            yield connection

    @contextmanager
    def statement(self) -> Iterator[Connection]:
        """Each statement is a transaction by itself, without the round trips of BEGIN and COMMIT.

        Raises:
            TransientError: as `transaction`.
        """
        with self._translated(), self.engine.connect() as connection:
            yield connection.execution_options(isolation_level="AUTOCOMMIT")

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (OperationalError, InterfaceError, PoolTimeout) as exc:
            raise unavailable(exc) from exc
        except InternalError as exc:
            # A server that was demoted to a read-only standby answers so; its connections are of no more use.
            self.engine.dispose()
            raise unavailable(exc) from exc
        except DBAPIError as exc:
            if exc.connection_invalidated:
                raise unavailable(exc) from exc
            raise

    def ping(self) -> None:
        """Ask the server for an answer; raises TransientError without one."""
        with self.transaction() as connection:
            connection.execute(text("SELECT 1"))

    def dispose(self) -> None:
        """Close every connection of this process."""
        with self._lock:
            if self._engine is not None:
                self._engine.dispose()
                self._engine = None


def _ping_what_rested(engine: Engine) -> None:
    """Ask a connection for an answer before it is used, unless it gave one within the last second."""

    @event.listens_for(engine, "checkin")
    def note(_: object, record: ConnectionPoolEntry) -> None:
        record.info[_USED_AT] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def ping(connection: DBAPIConnection, record: ConnectionPoolEntry, _: object) -> None:
        if time.monotonic() - record.info.get(_USED_AT, time.monotonic()) < FRESH_SECONDS:
            return
        try:
            engine.dialect.do_ping(connection)
        except engine.dialect.loaded_dbapi.Error as exc:
            # The server has been restarted: no older connection is of any use.
            raise InvalidatePoolError from exc


def unavailable(exc: Exception) -> TransientError:
    """What a database failure is called upstairs; the driver's text may hold parameters, so only its class is told."""
    cause = exc.orig if isinstance(exc, DBAPIError) and exc.orig else exc
    return TransientError(Backend.DATABASE_UNAVAILABLE, type(cause).__name__)


_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended(:scope, 0))")


def lock_scope(connection: Connection, scope_key: str) -> None:
    """Serialise everything that orders or publishes within one scope, until the transaction ends."""
    connection.execute(_LOCK, {"scope": scope_key})
