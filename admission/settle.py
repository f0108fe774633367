"""Repeat a cleaning pass until it changes nothing, so that cleaning cleaned text is always a no-op."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from admission.draft import Draft

Pass: TypeAlias = Callable[[Draft], None]

MAX_ROUNDS = 12


def settle(draft: Draft, clean: Pass) -> Draft:
    """The draft on which `clean` has nothing left to do.

    Text that is still changing after `MAX_ROUNDS` was built to hide something, so nothing of it is kept. The bound also
    keeps the time linear.
    """
    for _ in range(MAX_ROUNDS):
        before = draft.text
        clean(draft)
        if draft.text == before:
            return draft
    if draft.lines:
        draft.cut("unsettled", draft.lines[0], draft.lines[-1])
    draft.lines = []
    return draft
