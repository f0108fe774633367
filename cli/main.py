"""The `poco-memory` command. Exit codes: 0 done, 1 failed, 2 wrong usage or wrong settings."""

from __future__ import annotations

import sys

import typer

from cli import chaos, demo, dry_run, forgotten, history, jobs, maintain, processes, scrub, stack, tokens
from cli.output import FAILED, WRONG_USAGE, complain
from domain.errors import ConfigurationError, PocoError

app = typer.Typer(
    name="poco-memory",
    help="Long-term memory for AI agents. Begin with: poco-memory up --detach",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    # Rich help takes longer to import than everything else together.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for group in (stack, demo, dry_run, jobs, tokens, scrub, forgotten, history, maintain, chaos, processes):
    group.register(app)


def main() -> None:
    """Run one command; an expected fault becomes a sentence and an exit code, never a traceback."""
    try:
        app()
    except ConfigurationError as exc:
        complain(str(exc))
        sys.exit(WRONG_USAGE)
    except PocoError as exc:
        complain(str(exc))
        sys.exit(FAILED)


if __name__ == "__main__":
    main()
