"""Where the sentences and clauses of a message begin and end."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SENTENCE = re.compile(
    r"[^。！？!?；;\n]+?(?:[。！？!?；;]+[\"'”’」』）)]*|\n|\Z|(?<=[A-Za-z0-9\"')])\.(?=\s|\Z)[\"')]*)"
)
_CLAUSE_END = re.compile(
    r"[，,：:、—]+|\b(?:but|however|though|although|whereas|while|because|since|so that|rather than|instead of)\b"
    r"|(?:但是|但|不过|然而|而是|而不是|因为|所以|虽然|尽管)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a message: characters `start` to `end` of it, and the text between them."""

    start: int
    end: int
    text: str


def sentences(text: str) -> list[Span]:
    """The sentences of a text with their end marks, without the white space around them."""
    return [span for found in _SENTENCE.finditer(text) if (span := _stripped(text, found.start(), found.end()))]


def clauses(sentence: str) -> list[str]:
    """A sentence cut at commas, colons and conjunctions; the conjunction stays with the clause it opens."""
    starts = [0, *(found.start() for found in _CLAUSE_END.finditer(sentence))]
    pieces = [sentence[a:b].strip("，,：:、— ") for a, b in zip(starts, [*starts[1:], len(sentence)], strict=True)]
    return [piece for piece in pieces if piece]


def _stripped(text: str, start: int, end: int) -> Span | None:
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip())
    piece = piece.strip()
    return Span(start + left, start + left + len(piece), piece) if piece else None
