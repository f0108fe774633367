"""The look at all logs when a run ends (tests/conftest.py) finds what it is for, wherever a process may leave it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.planted import PLANTED, leaks

FILES = [
    "stack/api.log",
    "home/logs/postgres.log",
    "home/logs/worker.log.1",
    "stack/api.metrics",
    "home/run/metrics/api-8000/counter_0.db",
    "home/valkey/appendonlydir/appendonly.aof.1.incr.aof",
    "home/valkey/appendonlydir/appendonly.aof.1.base.rdb",
]
# Put together here, so that no file of the repository holds one.
TEXTS = [PLANTED, PLANTED.upper(), "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0", "poco_" + "0" * 16 + "_" + "A" * 43]


def write(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def hidden(folder: Path) -> Path:
    """A place of its own that is passed over when the whole run is looked at."""
    return folder / "postgres" / "run"


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("text", TEXTS)
def test_what_is_planted_is_found(tmp_path: Path, name: str, text: str) -> None:
    folder = hidden(tmp_path)
    write(folder, name, f"before {text} after")
    (found,) = leaks(folder)
    assert found.startswith(f"{folder / name}:7: ")
    assert text in found


def test_a_secret_that_a_stack_made_for_itself_is_found(tmp_path: Path) -> None:
    folder = hidden(tmp_path)
    write(folder, "home/secrets.json", json.dumps({"valkey_password": "made.by+itself"}))
    write(folder, "other/relay.log", "redis://:made.by+itself@127.0.0.1")
    assert len(leaks(folder)) == 1


def test_the_database_itself_may_hold_content(tmp_path: Path) -> None:
    write(tmp_path, "home/postgres/data/pg_wal/archive.log", PLANTED)
    write(tmp_path, "stack/api.log", "memory_ingest_accepted")
    assert leaks(tmp_path) == []
