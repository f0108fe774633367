"""What a person sees while the stack starts: a live table on a terminal, one line for each step elsewhere."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING

from cli.output import is_terminal, say
from runtime.state import Phase, StackState

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table

_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class StartDisplay(AbstractContextManager["StartDisplay"]):
    """Shows each state it is given. Draws only when asked: a drawing thread would be copied into forked children."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._told: set[str] = set()
        self._live: Live | None = None

    def __enter__(self) -> StartDisplay:
        """Begin to draw, on a terminal."""
        if is_terminal():
            from rich.live import Live

            self._live = Live(auto_refresh=False)
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop drawing."""
        self.close()

    def close(self) -> None:
        """Leave the last picture on the screen; later states are told as lines."""
        if self._live:
            self._live.stop()
            self._live = None

    def show(self, state: StackState) -> None:
        """Draw the state, or tell what became ready since the last one."""
        if self._live:
            self._live.update(self._table(state), refresh=True)
        else:
            self._tell(state)

    def _tell(self, state: StackState) -> None:
        for record in state.processes:
            if record.phase in (Phase.READY, Phase.FINISHED) and record.name not in self._told:
                if state.phase in (Phase.STARTING, Phase.READY):
                    say(f"{record.name} is ready ({self._seconds:.1f} s).")
                self._told.add(record.name)

    def _table(self, state: StackState) -> Table:
        from rich.table import Table

        table = Table.grid(padding=(0, 2))
        spinner = _FRAMES[int(self._seconds * 10) % len(_FRAMES)]
        marks = {Phase.READY: "[green]✓[/]", Phase.FINISHED: "[green]✓[/]", Phase.WAITING: "[dim]·[/]"}
        for record in state.processes:
            again = f"started {record.restarts + 1} times" if record.restarts else ""
            table.add_row(
                marks.get(record.phase, f"[cyan]{spinner}[/]"), record.name, record.phase, record.address or "", again
            )
        table.add_row("", f"[dim]{self._seconds:.1f} s[/]")
        return table

    @property
    def _seconds(self) -> float:
        return time.monotonic() - self._begun
