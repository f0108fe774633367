"""Cuts text into the terms of the keyword index; a query and a stored fact must be cut by the same rules.

Mixed text is split by script first: Han goes to the Chinese segmenter, Latin to the English lemmatiser. What the
dictionary does not know is indexed by its 2-grams as well, so that a new name is found however it was cut.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache

from domain.text import storable
from nlp import models
from nlp.language import identify

_MAX_CHARS = 20_000
HAN_RUN = r"[\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f]+"
_KATAKANA_RUN = r"[\u30a1-\u30ff]+"
_HANGUL_RUN = r"[\uac00-\ud7a3]+"
_RUNS = re.compile(f"(?P<han>{HAN_RUN})|(?P<hangul>{_HANGUL_RUN})|(?P<kana>[\u3041-\u30ff]+)")
_JAPANESE_RUNS = re.compile(
    f"(?P<word>{_KATAKANA_RUN})|(?P<kanji>{HAN_RUN})|(?P<hangul>{_HANGUL_RUN})|(?P<hiragana>[\u3041-\u309f]+)"
)
_TOKEN = re.compile(r"[^\W_][\w]*(?:[.'’-]\w+)*[+#]*|_\w+|[^\w\s]")
_IDENTIFIER = re.compile(r"[+#]$|_|\d[\w-]*[.-]|[A-Za-z]\d|\d[A-Za-z]|\w\.\w")
_SUFFIXES = frozenset(("t", "s", "m", "re", "ve", "ll", "d"))


def terms(text: str) -> str:
    """Space-separated lower-case terms, each once, in reading order; "" when nothing is worth indexing.

    Identifiers such as C++, v18.6 or foo_bar stay whole. Beyond 20 000 characters the text is not read.
    """
    text = unicodedata.normalize("NFKC", storable(text))[:_MAX_CHARS]
    return " ".join(dict.fromkeys(term for term in _terms(text) if " " not in term))


def _terms(text: str) -> Iterator[str]:
    language = identify(text)
    runs = _JAPANESE_RUNS if language == "ja" else _RUNS
    end = 0
    for run in runs.finditer(text):
        yield from alphabet_words(text[end : run.start()], language)
        yield from _run_terms(str(run.lastgroup), run[0])
        end = run.end()
    yield from alphabet_words(text[end:], language)


def _run_terms(kind: str, run: str) -> Iterable[str]:
    match kind:
        case "han":
            return _chinese_terms(run)
        case "word":
            return (run,)
        # In Japanese these are particles and endings.
        case "hiragana":
            return ()
        case _:
            return _uncut_terms(run)


def _chinese_terms(run: str) -> Iterator[str]:
    segmenter, stop = models.jieba(), models.stop_words("zh")
    loose = ""
    for word in segmenter.cut(run):
        if len(word) == 1 and word not in stop:
            loose += word
            continue
        yield from _loose_terms(loose)
        loose = ""
        if word not in stop:
            yield from (part for part in segmenter.cut_for_search(word) if part not in stop)
            yield from () if segmenter.has_word(word) else _loose_terms(word)
    yield from _loose_terms(loose)


def _loose_terms(run: str) -> Iterable[str]:
    """Terms of a run outside the dictionary: 养鹅 has to be found by 鹅, and a longer new name by any two of it."""
    return (*(run if len(run) <= 2 else ""), *_uncut_terms(run))


def _uncut_terms(run: str) -> Iterator[str]:
    """Terms of a run that no dictionary cuts: the whole when short, and its 2-grams."""
    if 0 < len(run) <= 4:
        yield run
    yield from _bigrams(run)


def _bigrams(run: str) -> Iterator[str]:
    return (run[start : start + 2] for start in range(len(run) - 1))


def alphabet_words(stretch: str, language: str | None) -> Iterator[str]:
    """Lower-case lemmas and identifiers of a stretch without Han, without stop words."""
    tokens = list(_tokens(stretch))
    if not any(_has_letter_or_digit(token) for token in tokens):
        return
    foreign = language not in (None, "en", "zh", "ja", "ko")
    stop = models.stop_words(language if foreign else "en")
    for token, lemma in zip(tokens, tokens if foreign else _lemmas(tuple(tokens)), strict=True):
        yield from _forms(token.lower(), lemma.lower(), stop)


def _forms(token: str, lemma: str, stop: frozenset[str]) -> Iterator[str]:
    if token in stop or lemma in stop or not _has_letter_or_digit(token):
        return
    if _IDENTIFIER.search(token):
        yield token
        yield from (part for part in re.split(r"[._-]", token) if len(part) > 2 and part.isalpha() and part not in stop)
        return
    # What the lemmatiser does to a word it does not know hangs on the sentence: redis becomes redi as a noun.
    yield lemma if models.is_common_word(lemma) else token
    # Whether "running" is a noun or a verb hangs on the sentence around it, which a query does not have.
    if lemma != token and token.endswith("ing"):
        yield token


def _tokens(stretch: str) -> Iterator[str]:
    for found in _TOKEN.finditer(stretch):
        token = found[0]
        if _IDENTIFIER.search(token) and "'" not in token and "’" not in token:
            yield token
        else:
            yield from _plain_words(token)


def _plain_words(token: str) -> Iterable[str]:
    base, _, suffix = token.replace("’", "'").partition("'")
    if suffix.lower() == "s":
        return base.split("-")
    if suffix.lower() in _SUFFIXES:
        return ()
    return [part for part in re.split(r"['-]", base + "-" + suffix if suffix else base) if part]


# A fact's words are looked at when it is grounded and when it is indexed.
@lru_cache(maxsize=256)
def _lemmas(tokens: tuple[str, ...]) -> tuple[str, ...]:
    if not any(token.isalpha() for token in tokens):
        return tokens
    return tuple(token.lemma_ or token.text for token in models.analyse(tokens, models.LEMMAS))


def _has_letter_or_digit(token: str) -> bool:
    return any(character.isalnum() for character in token)
