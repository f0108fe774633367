"""How the commands speak: sentences for people on a terminal, JSON for programs, faults on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping

import typer

DONE = 0
FAILED = 1
WRONG_USAGE = 2


def say(text: str) -> None:
    """A sentence on standard output."""
    typer.echo(text)


def say_json(document: Mapping[str, object]) -> None:
    """One JSON document on standard output."""
    typer.echo(json.dumps(document, ensure_ascii=False, indent=2))


def complain(text: str) -> None:
    """A fault on standard error, each line a sentence."""
    for line in text.splitlines():
        typer.echo(line, err=True)


def is_terminal() -> bool:
    """Whether a person watches standard output."""
    return sys.stdout.isatty()
