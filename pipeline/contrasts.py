"""Values that exclude each other: a fact that names one where the conversation names another mixed them up."""

from __future__ import annotations

import re

# One set an entry; within it one value a cell, two spaces apart, with its spellings.
_TABLE = (
    """中文|汉语|普通话|mandarin|chinese  英文|英语|english  日文|日语|日本語|japanese  韩文|韩语|한국어|korean
       法文|法语|french|français
       德文|德语|german|deutsch  西班牙语|西语|spanish|español  俄文|俄语|russian|русск\\w+  粤语|cantonese
       葡萄牙语|portuguese
       意大利语|italian""",
    """(?:周|星期|礼拜)一|mondays?  (?:周|星期|礼拜)二|tuesdays?  (?:周|星期|礼拜)三|wednesdays?
       (?:周|星期|礼拜)四|thursdays?
       (?:周|星期|礼拜)五|fridays?  (?:周|星期|礼拜)六|saturdays?  (?:周|星期|礼拜)[日天]|sundays?""",
    "早上|早晨|上午|清晨|mornings?  中午|noon|lunchtime  下午|afternoons?  晚上|傍晚|夜里|evenings?|nights?",
    "每天|每日|daily|every.day  每周|weekly|every.week  每月|monthly|every.month  每年|yearly|annually|every.year",
    "深色|暗色|暗黑|夜间模式|dark  浅色|亮色|明亮模式|light",
    """红色|红的|red  绿色|绿的|green  蓝色|蓝的|blue  黄色|yellow  黑色|黑的|black  白色|白的|white
       紫色|purple  橙色|orange
       灰色|gr[ae]y  粉色|pink  棕色|brown""",
    "一月|january|jan  二月|february|\\bfeb\\b  三月  四月|april  五月  六月|june  七月|july  八月|august  "
    "九月|september  十月|october  十一月|november  十二月|december",
    "春天|春季|spring  夏天|夏季|summer  秋天|秋季|autumn  冬天|冬季|winter",
    "简体|simplified  繁体|繁體|traditional",
    "左侧|左边|left  右侧|右边|right",
    "甜的|甜口|sweet  咸的|咸口|salty  辣的|辣口|spicy",
    "热的|hot  冰的|冷的|iced|cold",
    "制表符|tabs  空格|spaces",
    "公制|metric  英制|imperial",
    "靠窗|window.seat  靠过道|aisle",
)


def _whole_words(cell: str) -> re.Pattern[str]:
    """The cell's spellings; English ones as whole words, also right beside Chinese."""
    spellings = (
        rf"(?<![a-z]){each}(?![a-z])" if each[0].isascii() and each[0].isalpha() else each for each in cell.split("|")
    )
    return re.compile("|".join(spellings), re.IGNORECASE)


_SETS = tuple(tuple(map(_whole_words, re.split(r"\s{2,}", row.strip()))) for row in _TABLE)


def swapped(fact: str, source: str) -> bool:
    """Whether the fact names a value whose set the source knows by other values only."""
    for values in _SETS:
        named = {place for place, value in enumerate(values) if value.search(fact)}
        said = {place for place, value in enumerate(values) if value.search(source)}
        if said and named - said:
            return True
    return False
