"""The numbers a text names, written in digits or in words, so that "八点", "8 点" and "08:00" are one number."""

from __future__ import annotations

import re
import unicodedata

_DIGITS = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "俩": 2}
_UNITS = {"十": 10, "百": 100, "千": 1000, "万": 10_000, "亿": 100_000_000}
_COUNTED = (
    "个位名次遍回点岁年月日号天周星期小时分秒钟元块毛万亿千百斤公克米吨升只条张本套台辆间层楼页行字句段章节篇份项种类人口家"
    "班组步轮期版倍成折杯瓶碗盒包箱袋支枝棵座栋所门部集首课顿"
)
_HAN_NUMBER = re.compile(rf"第?([零〇一二两俩三四五六七八九十百千万亿]{{1,12}})(?=[{_COUNTED}])")
_ARABIC = re.compile(r"(?<![A-Za-z_\d.])(\d[\d,]*(?:\.\d+)?)\s?(k|m|w|[万亿千百])?(?![A-Za-z_])?", re.IGNORECASE)
_SCALES = {"k": 1000, "m": 1_000_000, "w": 10_000, "百": 100, "千": 1000, "万": 10_000, "亿": 100_000_000}
_TO_NINETEEN = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_WORDS: dict[str, float] = {
    **{word: value for value, word in enumerate(_TO_NINETEEN.split())},
    **{word: 10 * value for value, word in enumerate(_TENS.split(), 2)},
    **{"twice": 2, "couple": 2, "pair": 2, "dozen": 12, "half": 0.5, "once": 1},
}
_BELOW_TEN = "|".join(word for word, value in _WORDS.items() if 1 <= value < 10)
_ENGLISH = re.compile(
    rf"\b({'|'.join(_WORDS)})(?:[\s-]({_BELOW_TEN}))?(?:\s(hundred|thousand|million))?\b", re.IGNORECASE
)
_ENGLISH_SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
# Too common as words, articles and list marks to be a claim.
_SAYS_NOTHING = frozenset((0.0, 1.0))


def numbers(text: str) -> frozenset[float]:
    """Every number of the text that makes a claim; 0 and 1 are left out, and scales such as 万 and k are applied."""
    text = unicodedata.normalize("NFKC", text)
    found = {*_arabic(text), *_english(text)}
    found |= {value for match in _HAN_NUMBER.finditer(text) if (value := _han_value(match[1])) is not None}
    return frozenset(found) - _SAYS_NOTHING


def missing_numbers(claimed: str, source: str) -> frozenset[float]:
    """The numbers claimed that the source does not name; an hour may be given on either clock."""
    known = numbers(source)
    clock = {value + 12 for value in known if value <= 12} | {value - 12 for value in known if 12 < value <= 24}
    return numbers(claimed) - known - clock


def _arabic(text: str) -> set[float]:
    found: set[float] = set()
    for match in _ARABIC.finditer(text):
        value = float(match[1].replace(",", "")) if len(match[1]) <= 18 else -1.0
        if value >= 0:
            scale = _SCALES.get((match[2] or "").lower(), 1)
            found.add(value * scale)
    return found


def _english(text: str) -> set[float]:
    found: set[float] = set()
    for match in _ENGLISH.finditer(text):
        value = _WORDS[match[1].lower()] + (_WORDS[match[2].lower()] if match[2] else 0)
        found.add(float(value * _ENGLISH_SCALES.get((match[3] or "").lower(), 1)))
    return found


def _han_value(text: str) -> float | None:
    if not any(char in _UNITS for char in text):
        digits = "".join(str(_DIGITS[char]) for char in text)
        return float(digits)
    total, section, digit = 0, 0, 0
    for char in text:
        if char in _DIGITS:
            digit = _DIGITS[char]
        elif _UNITS[char] >= 10_000:
            total, section, digit = (total + section + digit or 1) * _UNITS[char], 0, 0
        else:
            section, digit = section + (digit or 1) * _UNITS[char], 0
    return float(total + section + digit)
