"""`poco-memory dry-run`: try the gates on rows of your own, without servers and without writing anything."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, BinaryIO, Literal

import typer

from cli.output import FAILED, WRONG_USAGE, complain

if TYPE_CHECKING:
    from cli.dry_run_rows import Judge
    from runtime.settings import Settings

_STANDARD = "-"
_LONG_FILE_BYTES = 100_000

In = Annotated[str, typer.Option("--in", help="JSON lines to read; - for standard input.")]
Out = Annotated[str, typer.Option("--out", help="JSON lines to write; - for standard output.")]

app = typer.Typer(help="Try a gate on JSON lines: no servers, nothing is stored.", no_args_is_help=True)


def register(parent: typer.Typer) -> None:
    """Add the verb."""
    parent.add_typer(app, name="dry-run")


@app.command()
def admission(source: In = _STANDARD, target: Out = _STANDARD) -> None:
    """Judge candidates. A row has id, kind and messages; the answer id, verdict, reason and messages.

    Example: poco-memory dry-run admission --in candidates.jsonl --out verdicts.jsonl
    """
    from cli.dry_run_rows import judge_admission

    _settings()
    _run(judge_admission, source, target)


@app.command()
def extraction(source: In = _STANDARD, target: Out = _STANDARD) -> None:
    """Read model answers. A row has id and raw; the answer id, outcome (facts, empty, unparseable) and facts.

    Example: poco-memory dry-run extraction --in answers.jsonl --out facts.jsonl
    """
    from cli.dry_run_rows import judge_extraction

    _run(judge_extraction, source, target)


@app.command()
def postcheck(source: In = _STANDARD, target: Out = _STANDARD) -> None:
    """Check finished facts. A row has id, messages and fact (text, attributed_to); the answer id and label.

    Beside the label, grounded and evidence say where in the messages the fact comes from, or the rule by which it does
    not.

    Example: poco-memory dry-run postcheck --in facts.jsonl --out labels.jsonl
    """
    from cli.dry_run_rows import judge_postcheck

    _run(partial(judge_postcheck, max_chars=_settings().fact_max_chars), source, target)


def _settings() -> Settings:
    """The settings, and with them the rules for secrets that they add."""
    from admission.secret_vendors import use_rules_of
    from runtime.settings import load_settings

    settings = load_settings()
    use_rules_of(settings.secret_rules)
    return settings


def _run(judge: Judge, source: str, target: str) -> None:
    """Judge every line; a bad one is reported with its number and the run goes on."""
    bad = 0
    with _reader(source) as lines, _writer(target) as writer:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            answer = _judged(judge, line, number)
            bad += answer is None
            if answer is not None:
                writer.write(json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
        writer.flush()
    if bad:
        complain(f"{bad} {'line was' if bad == 1 else 'lines were'} not judged.")
        raise typer.Exit(FAILED)


def _judged(judge: Judge, line: bytes, number: int) -> dict[str, Any] | None:
    from pydantic import ValidationError

    from tasks.contracts import problems

    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        complain(f"Line {number}: must be one JSON object in UTF-8.")
        return None
    if not isinstance(row, dict):
        complain(f"Line {number}: must be a JSON object.")
        return None
    try:
        return judge(row)
    except ValidationError as exc:
        faults = "; ".join(f"{problem.field}: {problem.message}" for problem in problems(exc))
        complain(f"Line {number}: {faults}.")
        return None


def _reader(name: str) -> AbstractContextManager[Iterable[bytes]]:
    """The lines of a file or of standard input; a long file shows how far it is when a person watches."""
    if name == _STANDARD:
        return nullcontext(sys.stdin.buffer)
    file = _opened(name, "rb")
    if os.fstat(file.fileno()).st_size < _LONG_FILE_BYTES or not sys.stderr.isatty():
        return file
    from rich.console import Console
    from rich.progress import wrap_file

    size = os.fstat(file.fileno()).st_size
    return wrap_file(file, size, description=name, console=Console(stderr=True))


def _writer(name: str) -> AbstractContextManager[IO[bytes]]:
    return nullcontext(sys.stdout.buffer) if name == _STANDARD else _opened(name, "wb")


def _opened(name: str, mode: Literal["rb", "wb"]) -> BinaryIO:
    try:
        return Path(name).open(mode)
    except OSError as exc:
        complain(f"{name}: {exc.strerror}.")
        raise typer.Exit(WRONG_USAGE) from None
