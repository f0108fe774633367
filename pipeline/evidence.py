"""From a place in the cleaned conversation back to the place in the one that was handed in."""

from __future__ import annotations

from collections.abc import Sequence

from admission.hygiene import straight_quotes
from domain.candidate import Message
from domain.facts import Evidence

_EDGE = 12


def in_original(evidence: Evidence, cleaned: Sequence[Message], originals: Sequence[Message]) -> Evidence:
    """The same sentence in the messages as they were handed in.

    Cleaning changes quotes and cuts things out; a sentence that lost a part is found by its beginning and its end.
    One that cannot be found again is answered with its whole message.
    """
    sentence = cleaned[evidence.message].content[evidence.start : evidence.end]
    same_role = [place for place, message in enumerate(originals) if message.role.value == evidence.role]
    for look in (_verbatim, _by_edges):
        for place in same_role:
            found = look(sentence, straight_quotes(originals[place].content))
            if found:
                return Evidence(place, *found, evidence.role)
    nearest = min(same_role, key=lambda place: abs(place - evidence.message))
    return Evidence(nearest, 0, len(originals[nearest].content), evidence.role)


def _verbatim(sentence: str, text: str) -> tuple[int, int] | None:
    start = text.find(sentence)
    return (start, start + len(sentence)) if start >= 0 else None


def _by_edges(sentence: str, text: str) -> tuple[int, int] | None:
    size = max(2, min(_EDGE, len(sentence) // 3))
    start = text.find(sentence[:size])
    end = text.find(sentence[-size:], start + size) if start >= 0 else -1
    return (start, end + size) if end >= 0 else None
