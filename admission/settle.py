"""Repeat a cleaning pass until it changes nothing, so that cleaning cleaned text is always a no-op."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TypeAlias

Pass: TypeAlias = Callable[[str], tuple[str, Counter[str]]]

MAX_ROUNDS = 12


def settle(text: str, clean: Pass) -> tuple[str, Counter[str]]:
    """The text on which `clean` has nothing left to do, and what was dropped on the way, by rule name.

    Text that is still changing after `MAX_ROUNDS` was built to hide something, so nothing of it is kept. The bound also
    keeps the time linear.
    """
    dropped: Counter[str] = Counter()
    for _ in range(MAX_ROUNDS):
        cleaned, cut = clean(text)
        dropped.update(cut)
        if cleaned == text:
            return text, dropped
        text = cleaned
    dropped["unsettled"] += 1
    return "", dropped
