"""Run the contract tests against another release of mem0 and say, row by row, what differs; nothing has to pass.

    python -m tests.contract.newest [VERSION]      or: make contract-report

The newest release, or the one that is named, is installed beside our other locked dependencies into an environment of
its own in a temporary folder. The tests are told apart by the rows of the table of risks (Poco note, section 12.1). Of
each row the code of mem0 is compared as well: what passes may still have changed where no test looks.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[2]
ROWS = (
    "_remove_memory_from_entity_store",
    "_upsert_entity",
    "db.connection and db._lock",
    "history.memory_id",
    "messages.session_scope",
    "results[].id/memory/event",
    "get().attributed_to",
    "order of delete()",
    "payload, score and entity table",
)
BESIDE = "the adapter as a whole"
_MAIN, _STORE = "memory.main:Memory", "memory.storage:SQLiteManager"
CODE = dict(
    zip(
        ROWS,
        (
            (f"{_MAIN}._remove_memory_from_entity_store",),
            (f"{_MAIN}._upsert_entity", f"{_MAIN}._normalize_entity_text", f"{_MAIN}._existing_entities_by_text"),
            (f"{_STORE}.__init__", f"{_STORE}.close"),
            tuple(f"{_STORE}.{name}" for name in ("_create_history_table", "add_history", "batch_add_history")),
            ("memory.main:_build_session_scope", f"{_STORE}._create_messages_table", f"{_STORE}.save_messages"),
            (f"{_MAIN}.add", f"{_MAIN}._add_to_vector_store"),
            (f"{_MAIN}.get",),
            (f"{_MAIN}.delete", f"{_MAIN}._delete_memory"),
            (
                *(f"vector_stores.pgvector:PGVector.{name}" for name in ("create_col", "insert", "search", "list")),
                *("utils.scoring:score_and_rank", "memory.main:_entity_collection_name", f"{_MAIN}._update_memory"),
            ),
        ),
        strict=True,
    )
)
_ASK = (
    "import json, importlib.metadata as m; from tests.contract.newest import fingerprints; "
    "print(json.dumps([m.version('mem0ai'), fingerprints()]))"
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one test ended: its row, its name, and the first line of what went wrong."""

    row: str
    test: str
    fault: str | None


def outcomes(junit: str) -> Iterator[Outcome]:
    """What a run of pytest says about each test."""
    for case in ElementTree.fromstring(junit).iter("testcase"):
        row = next((found.get("value") for found in case.iter("property") if found.get("name") == "row"), None)
        fault = case.find("failure") if case.find("failure") is not None else case.find("error")
        said = None if fault is None else (fault.get("message") or fault.text or "failed").strip().splitlines()[0]
        yield Outcome(row or BESIDE, case.get("name", ""), said)


def fingerprints() -> dict[str, str]:
    """A digest of the code of each name in CODE, in the mem0 of this process."""
    return {name: hashlib.sha256(_source(name).encode()).hexdigest() for names in CODE.values() for name in names}


def _source(name: str) -> str:
    module, _, path = name.partition(":")
    try:
        return inspect.getsource(attrgetter(path)(importlib.import_module(f"mem0.{module}")))
    except (ImportError, AttributeError):
        return ""


def report(found: list[Outcome], changed: set[str]) -> Iterator[str]:
    """A line for each row, and under it each test that differs and each part of mem0 whose code does."""
    for row in (*ROWS, BESIDE):
        tests = [outcome for outcome in found if outcome.row == row]
        different = [outcome for outcome in tests if outcome.fault is not None]
        code = [name for name in CODE.get(row, ()) if name in changed]
        word = "differs" if different else "not tested" if not tests else "passes" if code else "same"
        yield f"{row:<34} {word}"
        for outcome in different:
            yield f"    {outcome.test}"
            yield f"        {outcome.fault}"
        yield from (f"    other code: {name}" for name in code)


def locked_without_mem0() -> str:
    """The lock file, all but mem0 itself."""
    lines = (ROOT / "requirements.lock").read_text().splitlines(keepends=True)
    kept, is_mem0 = [], False
    for line in lines:
        if not line.startswith(" "):
            is_mem0 = line.startswith("mem0ai==")
        if not is_mem0:
            kept.append(line)
    return "".join(kept)


def install(folder: Path, wanted: str) -> Path:
    """An environment with our locked dependencies and that mem0; the path of its Python."""
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if uv is None:
        sys.exit("uv is needed; it comes with: make setup")
    python, lock = folder / "venv/bin/python", folder / "requirements.lock"
    lock.write_text(locked_without_mem0())
    for arguments in (
        ("venv", "--quiet", "--python", sys.executable, str(folder / "venv")),
        ("pip", "install", "--quiet", "--python", str(python), "--no-deps", "--require-hashes", "-r", str(lock)),
        ("pip", "install", "--quiet", "--python", str(python), wanted),
    ):
        if subprocess.run([uv, *arguments], check=False).returncode:
            sys.exit(f"{wanted} could not be installed; see above.")
    return python


def ask(python: str | Path, folder: Path) -> tuple[str, dict[str, str]]:
    """The release of mem0 that an environment holds, and its fingerprints."""
    quiet = {**os.environ, "MEM0_TELEMETRY": "False", "MEM0_DIR": str(folder)}
    done = subprocess.run([python, "-c", _ASK], cwd=ROOT, env=quiet, check=True, capture_output=True, text=True)
    version, prints = json.loads(done.stdout)
    return version, prints


def run(python: Path, folder: Path) -> list[Outcome]:
    """How the contract tests end in an environment."""
    junit = folder / "junit.xml"
    tests = ["-m", "pytest", "--quiet", "-p", "no:cacheprovider", f"--junitxml={junit}", "tests/contract"]
    done = subprocess.run([str(python), *tests], cwd=ROOT, capture_output=True, text=True, check=False)
    if not junit.is_file():
        sys.exit(f"The tests could not be run.\n{done.stdout}{done.stderr}")
    return list(outcomes(junit.read_text()))


def main(version: str | None = None) -> None:
    """Install, compare and report."""
    with tempfile.TemporaryDirectory(prefix="mem0-contract-") as name:
        folder = Path(name)
        python = install(folder, f"mem0ai=={version}" if version else "mem0ai")
        (ours, before), (theirs, after) = ask(sys.executable, folder), ask(python, folder)
        changed = {part for part, digest in after.items() if digest != before[part]}
        print(f"mem0ai {theirs}, compared with {ours}")
        print("\n".join(report(run(python, folder), changed)))


if __name__ == "__main__":
    main(*sys.argv[1:2])
