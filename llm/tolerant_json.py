"""Reads what a model meant as JSON: single quotes, Python words, comments, full-width marks, spare commas, a cut end.

It invents nothing, every string it returns stands in the text; and however the text is made, it ends soon.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

MAX_DEPTH = 64
# Characters read for nothing, at brackets that begin no JSON, before the rest is given up. Each bracket costs too.
MAX_IN_VAIN = 2_000_000
_COST_OF_A_START = 1000
_STRICT = json.JSONDecoder(strict=False)
_STARTS = re.compile(r"[{\[｛［]")
_BLANK = re.compile(r"(?:\s+|//[^\n]*|#[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/|\Z))*")
_NUMBER = re.compile(r"-?\d{1,300}(?:\.\d{1,300})?(?:[eE][+-]?\d{1,3})?")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,60}")
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_CLOSING_QUOTE = {'"': '"', "'": "'", "“": "”"}
_OPEN_LIST, _CLOSE_LIST = "[［", "]］"
_OPEN_OBJECT, _CLOSE_OBJECT = "{｛", "}｝"
_COMMA, _COLON = ",，、", ":："
# What follows the quote that ends a string. Any other quote belongs to the sentence, and the model forgot its escape.
_AFTER_KEY = re.compile(r"\s*(?:[:：]|\Z)")
_AFTER_VALUE = re.compile(
    r"""\s*(?:(?://|\#)[^\n]{0,200}\n\s*|/\*[^*]{0,200}\*/\s*)?      # at most one comment
    (?:[\]］}｝]|\Z|[,，、]\s*(?:                                     # the end of the list, or a comma and then
        ["'“{\[｛［\]］}｝/\#\d-]|\Z                                  #   a value, a comment, or the end
        |[A-Za-z_][A-Za-z0-9_]{0,60}\s*[:：]|[A-Za-z_]{1,60}\Z       #   a bare key
        |(?:true|false|null|True|False|None)\b))""",
    re.VERBOSE,
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\", '"': '"', "'": "'"}
_HEX = re.compile(r"[0-9a-fA-F]{4}")
_NOTHING = object()


class NotJsonError(Exception):
    """What begins here is no JSON, however generously read."""


class CutError(Exception):
    """The text ended inside a value; `partial` holds what was whole before the cut."""

    def __init__(self, partial: object = _NOTHING) -> None:
        super().__init__("cut")
        self.partial = partial


def values(text: str) -> Iterator[tuple[object, bool]]:
    """Every list or object in the text, outermost only, with whether it came to its end."""
    position, in_vain = 0, 0
    while in_vain < MAX_IN_VAIN and (found := _STARTS.search(text, position)):
        value, end, is_whole = _read(text, found.start())
        if value is not _NOTHING:
            yield value, is_whole
        position = end if is_whole else found.start() + 1
        in_vain += 0 if is_whole else _COST_OF_A_START + end - found.start()


def _read(text: str, start: int) -> tuple[object, int, bool]:
    """What begins here, how far it was read, and whether it is whole."""
    try:
        return *_STRICT.raw_decode(text, start), True
    except RecursionError:
        reached = len(text)
    except ValueError as exc:
        reached = exc.pos if isinstance(exc, json.JSONDecodeError) else start
    reader = _Reader(text, start)
    try:
        return reader.value(0), reader.position, True
    except CutError as cut:
        return cut.partial, max(reached, reader.position), False
    except NotJsonError:
        return _NOTHING, max(reached, reader.position), False


class _Reader:
    def __init__(self, text: str, position: int) -> None:
        self._text = text
        self.position = position

    def value(self, depth: int) -> object:
        if depth > MAX_DEPTH:
            raise NotJsonError
        char = self._peek()
        if char in _OPEN_OBJECT:
            return self._object(depth)
        if char in _OPEN_LIST:
            return self._list(depth)
        if char in _CLOSING_QUOTE:
            return self._string(_AFTER_VALUE)
        return self._bare()

    def _list(self, depth: int) -> list[object]:
        items: list[object] = []
        self.position += 1
        try:
            while self._peek() not in _CLOSE_LIST:
                items.append(self.value(depth + 1))
                self._separator(_CLOSE_LIST)
        except CutError:
            # The item that was cut is not whole, so it is left out.
            raise CutError(items) from None
        self.position += 1
        return items

    def _object(self, depth: int) -> dict[str, object]:
        pairs: dict[str, object] = {}
        self.position += 1
        try:
            while self._peek() not in _CLOSE_OBJECT:
                key = self._key()
                self._expect(_COLON)
                self._pair(pairs, key, depth)
                self._separator(_CLOSE_OBJECT)
        except CutError:
            raise CutError(pairs) from None
        self.position += 1
        return pairs

    def _pair(self, pairs: dict[str, object], key: str, depth: int) -> None:
        try:
            pairs[key] = self.value(depth + 1)
        except CutError as cut:
            if cut.partial is not _NOTHING:
                pairs[key] = cut.partial
            raise

    def _key(self) -> str:
        if self._peek() in _CLOSING_QUOTE:
            return self._string(_AFTER_KEY)
        word = _WORD.match(self._text, self.position)
        if word is None:
            raise NotJsonError
        self.position = word.end()
        return word[0]

    def _bare(self) -> object:
        number = _NUMBER.match(self._text, self.position)
        if number is not None:
            self.position = number.end()
            return float(number[0]) if set(number[0]) & set(".eE") else int(number[0])
        word = _WORD.match(self._text, self.position)
        if word is None or word[0] not in _WORDS:
            raise NotJsonError
        self.position = word.end()
        return _WORDS[word[0]]

    def _string(self, after: re.Pattern[str]) -> str:
        quote = _CLOSING_QUOTE[self._text[self.position]]
        plain = re.compile(f"[^\\\\{quote}]+")
        self.position += 1
        parts: list[str] = []
        while self.position < len(self._text):
            char = self._text[self.position]
            if char == "\\":
                parts.append(self._escape())
            elif char != quote:
                run = plain.match(self._text, self.position)
                assert run is not None  # noqa: S101 - neither a backslash nor the quote stands here
                parts.append(run[0])
                self.position = run.end()
            elif after.match(self._text, self.position + 1):
                self.position += 1
                return _joined(parts)
            else:
                # A quote inside the sentence that the model did not escape.
                parts.append(char)
                self.position += 1
        raise CutError

    def _escape(self) -> str:
        following = self._text[self.position + 1 : self.position + 2]
        if following == "u" and (code := _HEX.match(self._text, self.position + 2)):
            self.position = code.end()
            return chr(int(code[0], 16))
        self.position += 2
        return _ESCAPES.get(following, "\\" + following)

    def _separator(self, closing: str) -> None:
        char = self._peek()
        if char in _COMMA:
            self.position += 1
        elif char not in closing:
            raise NotJsonError

    def _expect(self, chars: str) -> None:
        if self._peek() not in chars:
            raise NotJsonError
        self.position += 1

    def _peek(self) -> str:
        blank = _BLANK.match(self._text, self.position)
        if blank is not None:
            self.position = blank.end()
        if self.position >= len(self._text):
            raise CutError
        return self._text[self.position]


def _joined(parts: list[str]) -> str:
    """The string, with escaped surrogate pairs made into one character."""
    return "".join(parts).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
