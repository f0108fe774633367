"""What must never reach a log: planted in what is said, asked, answered and kept secret, and looked for at the end.

Beside the planted word these are users' tokens, named service tokens, and the secrets that embedded stacks have made.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

PLANTED = "wolpertinger"
_FAMILY = (PLANTED, r"eyJ[\w-]{8,}\.[\w-]{8,}", r"poco_[0-9a-f]{16}_[\w-]{8,}")
# Logs, also rotated ones; the text of /metrics and the files its figures are kept in; everything Redis was ever told.
_READ = re.compile(r"\.log(\.\d+)?$|\.metrics$|_\d+\.db$|\.aof$|\.rdb$")
_DATABASE = "postgres"
_SHOWN = 200


def leaks(folder: Path) -> list[str]:
    """Where in the logs below a folder something planted or secret stands: file, place, and what is around it."""
    files = list(_files(folder))
    secrets = [re.escape(value) for path in files if path.name == "secrets.json" for value in _values(path)]
    wanted = re.compile("|".join((*_FAMILY, *secrets)).encode(), re.IGNORECASE)
    return [f"{path}:{where}" for path in files if _READ.search(path.name) for where in _found(path, wanted)]


def _files(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        # The truth about memories is in there, and is meant to be.
        folders[:] = [name for name in folders if name != _DATABASE]
        yield from (Path(parent, name) for name in names)


def _values(secrets: Path) -> list[str]:
    """The secrets in a file, also in one that a test has damaged."""
    return re.findall(r':\s*"([^"]{8,})"', secrets.read_text())


def _found(path: Path, wanted: re.Pattern[bytes]) -> Iterator[str]:
    text = path.read_bytes()
    for match in wanted.finditer(text):
        around = text[max(0, match.start() - _SHOWN) : match.end() + _SHOWN]
        yield f"{match.start()}: {around.decode(errors='replace')}"
