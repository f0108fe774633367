"""Facts about text that need no model: scripts, what PostgreSQL can store, hashes."""

from __future__ import annotations

import hashlib
import re
import unicodedata

HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f]")
LATIN_WORD = re.compile(r"[A-Za-z\u00c0-\u024f]+(?:['\u2019-][A-Za-z\u00c0-\u024f]+)*")
SENTENCE_END = re.compile(r"[。！？!?；;\n]|\.(?=\s)")
_FULL_STOP = re.compile(r"[。．]\Z|(?<=[a-z0-9\"')]{2})(?<!etc)(?<!Inc)(?<!Ltd)\.\Z")
_BETWEEN = re.compile(r"[\W_]+")
_NOT_STORABLE = re.compile("[\x00\ud800-\udfff]")


def han_count(text: str) -> int:
    """Number of Chinese characters."""
    return len(HAN.findall(text))


def latin_word_count(text: str) -> int:
    """Number of words written in Latin letters."""
    return len(LATIN_WORD.findall(text))


def storable(text: str) -> str:
    """The text without NUL and lone surrogates, which neither UTF-8 nor jsonb can hold."""
    return _NOT_STORABLE.sub("", text)


def canonical(text: str) -> str:
    """One spelling for one statement: single spaces, no final full stop; abbreviations keep theirs."""
    return _FULL_STOP.sub("", " ".join(text.split()))


def loose(text: str) -> str:
    """Letters and digits only, in one width and case: what two spellings of one statement have in common."""
    return _BETWEEN.sub("", unicodedata.normalize("NFKC", text)).casefold()


def ending(text: str, limit: int) -> str:
    """The end of a text in at most `limit` characters, from the beginning of a sentence where there is one."""
    if len(text) <= limit:
        return text
    tail = text[-limit:]
    border = SENTENCE_END.search(tail)
    return tail[border.end() :].lstrip() or tail if border else tail


def content_hash(text: str) -> str:
    """The MD5 that mem0 keeps in a payload's `hash`; an identity of the text, not a protection."""
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
