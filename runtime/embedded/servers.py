"""Just the two embedded servers, for tests and tools that bring their own processes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from runtime.children import Child, spawn
from runtime.embedded import EmbeddedServerError
from runtime.embedded.postgres import database_url, postgres_spec
from runtime.embedded.valkey import broker_url, valkey_spec
from runtime.home import Home

_START_SECONDS = 60.0
_POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Servers:
    """Two running servers; the URLs hold passwords."""

    database_url: str = field(repr=False)
    broker_url: str = field(repr=False)


@contextmanager
def embedded_servers(path: Path) -> Iterator[Servers]:
    """PostgreSQL and Valkey on free ports of 127.0.0.1 until the block ends. Call this from the main thread.

    Raises:
        EmbeddedServerError: when one does not come up; the message ends with its log.
        HomeInUse: when a stack runs in this home.
    """
    home = Home.open(path)
    with home.lock(), ExitStack() as stack:
        ports = home.claim_ports({"postgres": 0, "valkey": 0})
        children = []
        for spec in (valkey_spec(home, ports["valkey"]), postgres_spec(home, ports["postgres"])):
            child = spawn(spec, home)
            stack.callback(child.stop)
            children.append(child)
        _wait(children, home)
        yield Servers(database_url(home, ports["postgres"]), broker_url(home, ports["valkey"]))


def _wait(children: Sequence[Child], home: Home) -> None:
    deadline = time.monotonic() + _START_SECONDS
    for child in children:
        while not child.spec.health():
            if child.exit_code() is not None or time.monotonic() > deadline:
                raise EmbeddedServerError(f"{child.spec.name} did not come up.\n{home.log_tail(child.spec.name)}")
            time.sleep(_POLL_SECONDS)
