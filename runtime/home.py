"""The folder of an embedded stack: its secrets, ports, logs and data, readable by its owner only."""

from __future__ import annotations

import fcntl
import hmac
import json
import os
import random
import secrets
import socket
import stat
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path

from domain.errors import ConfigurationError, PocoError

# Others may pass through such a home, but neither list nor read it; see runtime.embedded.launch.
PASSABLE = 0o711
# How the name of a process's metrics port ends.
METRICS = "_metrics"
_START_MARK = "==== started "
MAX_LOG_BYTES = 10 * 1024 * 1024
# Below the range the kernel takes outgoing connections' ports from, so that a kept port stays free.
_PORTS = range(20_000, 32_768)
_ADDED_LATER = frozenset({"operator_token", "user_jwt_secret"})
_OURS = frozenset({"secrets.json", "ports.json", "state.json", "supervisor.lock", "logs", "run"})


class HomeInUse(PocoError):
    """Another supervisor holds this home."""


@dataclass(frozen=True, slots=True)
class Secrets:
    """The generated credentials of one stack; URL-safe text."""

    postgres_password: str = field(repr=False)
    valkey_password: str = field(repr=False)
    flower_password: str = field(repr=False)
    service_token: str = field(repr=False)
    operator_token: str = field(repr=False)
    user_jwt_secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Home:
    """An opened home; every path below is absolute."""

    path: Path

    @classmethod
    def open(cls, path: Path) -> Home:
        """Make or take over the folder, and close it to other users.

        Raises:
            ConfigurationError: when it cannot be written, or is a folder of something else.
        """
        home = cls(path.expanduser().absolute())
        try:
            home._prepare()
        except OSError as exc:
            raise ConfigurationError(f"POCO_HOME: {home.path} cannot be used ({exc.strerror}).") from exc
        return home

    @property
    def logs(self) -> Path:
        """One log file for each process."""
        return self.path / "logs"

    @property
    def run(self) -> Path:
        """Files that mean something only while the stack runs."""
        return self.path / "run"

    @property
    def state_file(self) -> Path:
        """What runs now; see runtime.state."""
        return self.path / "state.json"

    @property
    def postgres(self) -> Path:
        """Everything PostgreSQL owns."""
        return self.path / "postgres"

    @property
    def valkey(self) -> Path:
        """Valkey's data."""
        return self.path / "valkey"

    def heartbeat(self, name: str) -> Path:
        """The file a process touches to show that it works."""
        return self.run / f"{name}.alive"

    def log_file(self, name: str) -> Path:
        """The log of one process."""
        return self.logs / f"{name}.log"

    def known_secrets(self) -> Secrets | None:
        """The secrets, or None before the first start.

        Raises:
            ConfigurationError: when the file is damaged; a new one could not open the existing databases.
        """
        stored = _read_json(self.path / "secrets.json")
        if stored is None:
            return None
        try:
            for name in _ADDED_LATER - stored.keys():
                # A home from before there was one: every process must come to the same value on its own.
                stored[name] = _derived(str(stored["postgres_password"]), name)
            return Secrets(**{part.name: str(stored[part.name]) for part in fields(Secrets)})
        except KeyError as exc:
            raise ConfigurationError(f"{self.path / 'secrets.json'} lacks {exc}. Restore it from a backup.") from None

    def secrets(self) -> Secrets:
        """The secrets, made at the first call and kept."""
        known = self.known_secrets()
        if known is None:
            known = Secrets(*(secrets.token_urlsafe(24) for _ in fields(Secrets)))
            write_private(self.path / "secrets.json", json.dumps(asdict(known), indent=2))
        return known

    def known_ports(self) -> dict[str, int]:
        """The ports of the last start by process name."""
        return {name: int(str(port)) for name, port in (_read_json(self.path / "ports.json") or {}).items()}

    def claim_ports(self, wanted: Mapping[str, int]) -> dict[str, int]:
        """A port for each name, kept for the next start: the wanted one, for 0 the last one while free, else a new one.

        Raises:
            ConfigurationError: when a wanted port is taken by somebody else.
        """
        known = self.known_ports()
        claimed: dict[str, int] = {}
        for name, port in wanted.items():
            if port and not is_free(port):
                variable = "METRICS" if name.endswith(METRICS) else name.upper()
                raise ConfigurationError(f"POCO_{variable}_PORT: port {port} is in use by another program.")
            claimed[name] = port or _kept_or_new(known.get(name, 0), set(claimed.values()))
        write_private(self.path / "ports.json", json.dumps(known | claimed, indent=2))
        return claimed

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Be the one supervisor of this home until the block ends; the kernel lets go when the process dies.

        Raises:
            HomeInUse: when another process is.
        """
        descriptor = os.open(self.path / "supervisor.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise HomeInUse(f"{self.path} is in use by a running stack.") from None
            yield
        finally:
            os.close(descriptor)

    def is_locked(self) -> bool:
        """Whether a supervisor runs."""
        try:
            with self.lock():
                return False
        except HomeInUse:
            return True

    def open_log(self, name: str) -> int:
        """A descriptor that appends to a process's log; a large one is put aside first."""
        path = self.log_file(name)
        if path.exists() and path.stat().st_size > MAX_LOG_BYTES:
            path.replace(path.with_suffix(".log.1"))
        log = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        os.write(log, f"{_START_MARK}{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}\n".encode())
        return log

    def log_tail(self, name: str, lines: int = 15) -> str:
        """The last lines a process has logged since its last start."""
        path = self.log_file(name)
        if not path.exists():
            return ""
        with path.open("rb") as log:
            log.seek(max(0, path.stat().st_size - 16_384))
            latest = log.read().decode(errors="replace").rpartition(_START_MARK)[2]
        return "\n".join(latest.splitlines()[-lines:])

    def _prepare(self) -> None:
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        present = {entry.name for entry in self.path.iterdir()}
        if present and not present & _OURS:
            raise ConfigurationError(f"POCO_HOME: {self.path} holds other files. Name an empty or a new folder.")
        self.path.chmod(PASSABLE if stat.S_IMODE(self.path.stat().st_mode) == PASSABLE else 0o700)
        for folder in (self.run, self.logs):
            folder.mkdir(mode=0o700, exist_ok=True)


def write_private(path: Path, text: str) -> None:
    """Replace a file as a whole, readable by its owner only; a crash leaves the old or the new one."""
    new = path.with_name(f"{path.name}.{os.getpid()}.new")
    descriptor = os.open(new, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def is_free(port: int) -> bool:
    """Whether a server can listen on this port of 127.0.0.1."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_port(taken: Set[int] = frozenset()) -> int:
    """A port of 127.0.0.1 nobody listens on, and not one of those taken."""
    shuffled = random.sample(_PORTS, len(_PORTS))
    return next(port for port in shuffled if port not in taken and is_free(port))


def _derived(secret: str, name: str) -> str:
    return hmac.new(secret.encode(), name.encode(), "sha256").hexdigest()


def _kept_or_new(kept: int, taken: set[int]) -> int:
    if kept and kept not in taken and is_free(kept):
        return kept
    return free_port(taken)


def _read_json(path: Path) -> dict[str, object] | None:
    try:
        stored = json.loads(path.read_text())
    except FileNotFoundError:
        return None
    except ValueError as exc:
        raise ConfigurationError(f"{path} is damaged. Restore it from a backup.") from exc
    if not isinstance(stored, dict):
        raise ConfigurationError(f"{path} is damaged. Restore it from a backup.")
    return stored
