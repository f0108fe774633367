"""The words of a sentence that say something: what has to stand in the conversation before a fact is believed.

Chinese is cut by the segmenter, other alphabets by the same tokens as the keyword index; words that every fact
about a user holds ("prefers", "希望") are no evidence either way.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from domain.facts import EntityType
from domain.text import LATIN_WORD, storable
from nlp import models
from nlp.entities import recognise
from nlp.language import identify
from nlp.segment import HAN_RUN, alphabet_words

_MAX_CHARS = 4000
_HAN = re.compile(HAN_RUN)
_SYLLABLE_RUN = re.compile(r"[\u3041-\u30ff\u3005\u3400-\u4dbf\u4e00-\u9fff]+|[\uac00-\ud7a3]+")
_THE_USER = re.compile(r"ユーザー?|사용자|使用者|用户|用戶")
_NUMBER = re.compile(r"[\d.,:/%-]+\Z")

_REPORTING_ZH = """
    用户 偏好 喜欢 希望 习惯 倾向 倾向于 要求 决定 确认 确定 选择 计划 打算 喜爱 爱好 更 优先 采用 使用 统一 始终
    一律 名字 姓名 名叫 认为 提到 表示 正在 目前 进行 平时 每次 今后 后续 以后 未来 长期 总是 属于 具有 拥有 相关
    情况 方面 内容
"""
_REPORTING_OTHERS = """
    prefer prefers preferred preference preferences like likes liked love loves enjoy enjoys want wants wanted
    need needs decide decided decides choose chose chooses plan plans planned require requires required wish
    wishes name named called always never usually currently favorite favourite keep keeps use uses used using
    rather instead future going forward nutzer nutzerin benutzer utilisateur utilisatrice usuario usuaria
    пользователь пользователя person someone thing things way ask asked asks state stated states mention
    mentioned say says said tell told make makes made have has had get gets got be is are was were do does did
    will would should must can
"""
_REPORTING = frozenset(f"{_REPORTING_ZH} {_REPORTING_OTHERS}".split())


def content_words(text: str) -> list[str]:
    """The words that carry a statement, lower case, each once, in reading order; numbers are left out."""
    text = unicodedata.normalize("NFKC", _THE_USER.sub(" ", storable(text)))[:_MAX_CHARS]
    return list(dict.fromkeys(word for word in _words(text) if word not in _REPORTING and not _NUMBER.match(word)))


def claimed_names(text: str) -> list[str]:
    """The names, quoted words and identifiers of a fact that must have been said.

    In languages whose names the recogniser cannot tell from other words, only the quoted ones and identifiers count.
    """
    knows_names = identify(text) in (None, "en", "zh")
    return [entity.text for entity in recognise(text) if knows_names or entity.type is not EntityType.PROPER]


def translated_words(text: str) -> list[str]:
    """What a translation leaves behind in text of another script: foreign names, and foreign words side by side.

    Technical terms and abbreviations are at home everywhere and do not count.
    """
    words = list(LATIN_WORD.finditer(text))
    found = []
    for place, word in enumerate(words):
        before, after = words[place - 1] if place else None, words[place + 1] if place + 1 < len(words) else None
        is_pair = _are_neighbours(text, before, word) or _are_neighbours(text, word, after)
        if _is_name(word[0]) or (is_pair and _is_plain(word[0])):
            found.append(word[0])
    return found


def _is_name(word: str) -> bool:
    is_capital = word[0].isupper() and word[1:].islower() and len(word) > 2
    return is_capital and not _is_technical(word) and not models.is_common_word(word.lower())


def _is_plain(word: str) -> bool:
    return word[1:].islower() and len(word) > 2 and not _is_technical(word)


def _is_technical(word: str) -> bool:
    return models.dictionary().get(word.lower()) == "tech"


def _are_neighbours(text: str, first: re.Match[str] | None, second: re.Match[str] | None) -> bool:
    return (
        first is not None
        and second is not None
        and text[first.end() : second.start()] == " "
        and _is_plain(first[0])
        and _is_plain(second[0])
    )


def _words(text: str) -> Iterator[str]:
    language = identify(text)
    runs, cut = (_SYLLABLE_RUN, _syllables) if language in ("ja", "ko") else (_HAN, _chinese)
    end = 0
    for run in runs.finditer(text):
        yield from alphabet_words(text[end : run.start()], language)
        yield from cut(run[0])
        end = run.end()
    yield from alphabet_words(text[end:], language)


def _chinese(run: str) -> Iterator[str]:
    stop = models.stop_words("zh")
    return (word for word in models.jieba().cut(run) if word not in stop)


def _syllables(run: str) -> Iterator[str]:
    """Japanese and Korean are compared by pairs of signs; purely grammatical hiragana is left out."""
    if len(run) == 1:
        yield run
    for start in range(len(run) - 1):
        pair = run[start : start + 2]
        if not re.fullmatch(r"[\u3041-\u309f]{2}", pair):
            yield pair
