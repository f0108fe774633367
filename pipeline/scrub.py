"""Go through what is stored already and take out what today's secret rules refuse.

Rows may be older than a rule, or come from another writer of mem0's table. Searches withhold them at once; a scrub
reports and removes them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from admission.secrets import find_secret, find_secret_in
from domain.ports import MemoryStore


@dataclass(frozen=True, slots=True)
class Finding:
    """A memory that holds a credential: its id and the name of the rule, never its text."""

    memory_id: str
    rule: str


def scrub(store: MemoryStore, *, delete: bool, report: Callable[[Finding], None]) -> tuple[int, int]:
    """Check every stored text, also what history and audit still hold; with `delete` remove what breaks a rule.

    Returns:
        How many texts were checked, and how many memories hold a credential. Each is reported once.
    """
    checked, found = 0, set[str]()
    for memory_id, text, metadata in store.texts():
        checked += 1
        rule = find_secret(text) or find_secret_in(metadata)
        if rule is not None and memory_id not in found:
            found.add(memory_id)
            if delete:
                store.remove(memory_id, reason="credential")
            report(Finding(memory_id, rule))
    return checked, len(found)
