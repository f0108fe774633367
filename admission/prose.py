"""Tell a line that a person wrote from a line that a machine printed, where no sharper rule decides."""

from __future__ import annotations

import re

from domain.text import han_count

_SENTENCE_END = re.compile(r"[A-Za-z0-9\"')][.!?][\"')]?\s*\Z")
_CODE_SIGNS = re.compile(r"[{}();=<>|\\]|::|->")
_FUNCTION_WORD = re.compile(
    r"(?:the|an?|is|are|was|be|we|i|you|our|my|your|they|it|to|for|on|in|of|and|or|not|never|always|please|must|should|will"
    r"|with|all|any|keep|use|no|do|don't|i'm|we're|every|each|only|when)\Z",
    re.IGNORECASE,
)
_TWO_SIGNS = re.compile(r"[^\W_][\W_]*[^\W_]")
_LONGEST = 2000


def is_prose(line: str) -> bool:
    """Chinese of some length, or an English sentence; numbers and names between the words do not matter."""
    line = line[:_LONGEST]
    if han_count(line) >= 4:
        return True
    words = line.split()
    plain = [word for word in (word.strip("\"'.,;:!?()-*") for word in words) if word.replace("'", "").isalpha()]
    if len(plain) < 3 or len(plain) * 4 < len(words) * 3 or not line.lstrip(" -*+>\"'#").strip()[:1].isalpha():
        return False
    if _SENTENCE_END.search(line) and (len(words) >= 5 or "," in line):
        return True
    return len(plain) >= 4 and not _CODE_SIGNS.search(line) and any(_FUNCTION_WORD.match(word) for word in plain)


def has_words(text: str) -> bool:
    """Whether anything can be read: one Chinese character, or two letters or digits."""
    return han_count(text) >= 1 or _TWO_SIGNS.search(text) is not None
