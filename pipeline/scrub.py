"""Go through what is stored already and take out what today's secret rules refuse.

Rows may be older than a rule, or come from another writer of mem0's table. Searches withhold them at once; a scrub
reports and removes them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from admission.secrets import find_secret
from domain.ports import MemoryStore

PAGE = 500


@dataclass(frozen=True, slots=True)
class Finding:
    """A memory that holds a credential: its id and the name of the rule, never its text."""

    memory_id: str
    rule: str


def scrub(store: MemoryStore, *, delete: bool, report: Callable[[Finding], None]) -> tuple[int, int]:
    """Check every stored text, also old ones in the history; with `delete` remove each memory that breaks a rule.

    Returns:
        How many memories were checked, and how many hold a credential. Each is reported once.
    """
    checked, found, after = 0, 0, None
    while page := store.texts(after, PAGE):
        for memory_id, texts in page:
            rule = next((rule for text in texts if (rule := find_secret(text))), None)
            if rule is not None:
                found += 1
                if delete:
                    store.remove(memory_id, reason="credential")
                report(Finding(memory_id, rule))
        checked += len(page)
        after = page[-1][0]
    return checked, found
