"""Plain characters only: one kind of quote and line end, nothing invisible, nothing that cannot be stored.

Full-width forms stay as they are: in Chinese prose they are the normal punctuation.
"""

from __future__ import annotations

import re
import unicodedata

_DOUBLE_QUOTES = "\u201c\u201d\u201e\u201f\u300c\u300d\u300e\u300f\u301d\u301e\u301f"
_SINGLE_QUOTES = "\u2018\u2019\u201a\u201b"
_STRAIGHT = str.maketrans(dict.fromkeys(_DOUBLE_QUOTES, '"') | dict.fromkeys(_SINGLE_QUOTES, "'"))
_USUAL = re.compile("[，。：；！？（）、…～　]")
_LINES = str.maketrans(dict.fromkeys("\u2028\u2029\x0b\x0c", "\n"))
_LINE_END = re.compile("\r\n?|\x85")
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff"
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f]"
)
_EMOJI = "\u2190-\u2bff\ufe0f\U0001f000-\U0001faff"
_STRAY_JOINER = re.compile(f"(?<![{_EMOJI}])\u200d|\u200d(?![{_EMOJI}])")


def clean_text(text: str) -> str:
    """Straight quotes, `\\n` line ends, NFC; controls, lone surrogates, bidi and zero-width marks are gone."""
    return as_seen(straight_quotes(_LINE_END.sub("\n", text)).translate(_LINES))


def as_seen(text: str) -> str:
    """The text as its reader sees it: NFC, and nothing invisible; quotes and line ends as they were typed."""
    return unicodedata.normalize("NFC", without_invisible(text))


def straight_quotes(text: str) -> str:
    """Curly and corner quotes as straight ones, character by character, so that every place stays the same."""
    return text.translate(_STRAIGHT)


def without_invisible(text: str) -> str:
    """The text without characters that nobody sees; a joiner inside an emoji stays."""
    return _STRAY_JOINER.sub("", _INVISIBLE.sub("", text))


def folded(text: str) -> str:
    """A copy for matching only: invisible characters gone, full-width letters and digits as ASCII."""
    return unicodedata.normalize("NFKC", without_invisible(text).replace("\u200d", ""))


def is_disguised(text: str) -> bool:
    """Whether `folded` shows more than the usual punctuation of Chinese in another form."""
    if text.isascii():
        return False
    plain = _USUAL.sub("", text)
    return folded(plain) != plain
