"""A message while it is cleaned: its lines with the numbers they came with, and what was cut from where.

The numbers let an explanation point at a place without showing any text.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from domain.candidate import Cut


@dataclass(frozen=True, slots=True)
class Line:
    """What is left of a line, and its number in the message as it was handed in, from 0."""

    number: int
    text: str = field(repr=False)


@dataclass(slots=True)
class Draft:
    """The lines that are left, and every cut so far."""

    lines: list[Line] = field(repr=False)
    message: int = 0
    cuts: list[Cut] = field(default_factory=list)

    @classmethod
    def of(cls, text: str, message: int = 0) -> Draft:
        """A draft of a whole message; `message` is its place in the candidate, from 0."""
        return cls([Line(number, line) for number, line in enumerate(text.split("\n"))], message)

    @property
    def text(self) -> str:
        """What is left, as one text."""
        return "\n".join(line.text for line in self.lines)

    @property
    def dropped(self) -> Counter[str]:
        """The number of cuts by rule name."""
        return Counter(cut.rule for cut in self.cuts)

    def cut(self, rule: str, first: Line, last: Line | None = None) -> None:
        """Note a cut from one line to another."""
        self.cuts.append(Cut(self.message, rule, first.number, (last or first).number))

    def keep(self, rules: Iterable[str]) -> None:
        """Drop each line that has a rule's name against it; an empty name keeps the line."""
        kept = []
        for line, rule in zip(self.lines, rules, strict=True):
            if rule:
                self.cut(rule, line)
            else:
                kept.append(line)
        self.lines = kept

    def remove(self, spans: list[tuple[int, int]], rule: str) -> None:
        """Cut spans of characters out of the text; what stands around a span of several lines becomes one line."""
        text, starts = self.text, self._starts()
        borders = [0, *(place for span in spans for place in span), len(text)]
        pieces = [(borders[place], borders[place + 1]) for place in range(0, len(borders), 2)]
        for start, end in spans:
            self.cut(rule, self.lines[_line_at(starts, start)], self.lines[_line_at(starts, max(start, end - 1))])
        self.lines = list(self._joined(text, pieces, starts))

    def _joined(self, text: str, pieces: list[tuple[int, int]], starts: list[int]) -> Iterable[Line]:
        number, held = self.lines[0].number, ""
        for start, end in pieces:
            at = _line_at(starts, start)
            for place, part in enumerate(text[start:end].split("\n")):
                if place:
                    yield Line(number, held)
                    held = ""
                if not held:
                    number = self.lines[min(at + place, len(self.lines) - 1)].number
                held += part
        yield Line(number, held)

    def _starts(self) -> list[int]:
        starts = [0]
        for line in self.lines:
            starts.append(starts[-1] + len(line.text) + 1)
        return starts[:-1]


def _line_at(starts: list[int], place: int) -> int:
    return max(0, bisect_right(starts, place) - 1)


def merged(cuts: Iterable[Cut]) -> tuple[Cut, ...]:
    """The cuts in the order of their lines, neighbours of one rule as one, so that a long log is one entry."""
    joined: list[Cut] = []
    for cut in sorted(cuts, key=lambda cut: (cut.message, cut.first, cut.last, cut.rule)):
        last = joined[-1] if joined else None
        if last and (last.message, last.rule) == (cut.message, cut.rule) and cut.first <= last.last + 1:
            joined[-1] = replace(last, last=max(last.last, cut.last))
        else:
            joined.append(cut)
    return tuple(joined)
