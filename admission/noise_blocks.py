"""Parts of a text that are noise as a whole: injected summaries and memories, fenced code.

What is never closed runs to the end: text that came after it cannot be told from it.
"""

from __future__ import annotations

import re
from collections import Counter

_TAG = re.compile(
    r"(?:<|\[)(/?)([A-Za-z][A-Za-z_-]{2,40}|[A-Z]{3,20}(?: [A-Z]{3,20}){1,3})(?:\s[^<>\[\]\n]{0,200})?(?:>|\])"
)
_TAG_WORD = re.compile(
    r"summary|reminder|memory|memories|recall|history|recap|context|transcript|compact|injected|background"
    r"|command-(?:name|message|args)|local-command|environment_details"
)
_NAMED_BLOCKS = frozenset(
    ("session_state", "session-state", "conversation", "system", "system_prompt", "thinking", "think")
)
_MENTION = frozenset("`\"'")

_OPEN = re.compile(r"(?P<before>[^`\n]{0,400}?)(?P<fence>`{3,12}|(?<!\S)~{2,12})(?P<info>[^`\n]{0,120})\Z")
_INFO = re.compile(r"\s{0,4}[A-Za-z0-9_+#.-]{0,30}(?:[ :{][^`~]{0,80})?\Z")
_CLOSE = re.compile(r"[\s>]{0,12}(`{3,12}|~{2,12})(?P<after>.*)\Z", re.DOTALL)

_DECOR = r"[\s#*_=<【\[（(—-]{0,10}"
_HEADER_ZH = re.compile(
    rf"{_DECOR}(?:以下(?:内容)?[是为]?|这是)?[^，。；：\n]{{0,6}}?"
    r"(?:(?:会话|对话|聊天|上下文|上文|历史(?:会话|对话|消息)?|前情)(?:的)?(?:压缩|历史)?(?:摘要|总结|小结|概要|回顾|提要|快照)"
    r"|(?:相关|历史|长期|用户|已知)(?:的)?记忆)"
    r"(?P<tail>[\s】\]）)*_=：:—-]{0,10})\Z"
)
_HEADER_EN = re.compile(
    rf"{_DECOR}(?:(?:previous|prior|earlier|last|compacted|condensed|running)\s)?"
    r"(?:(?:session|conversation|chat|context|task)\s(?:summary|recap|snapshot|state|history)"
    r"|(?:here\sis\sa\s|the\s)?summary\sof\s(?:the|our|this|your)?\s?(?:previous|prior|earlier|last|past)?\s?"
    r"(?:session|conversation|chat|context|discussion)(?:\sso\sfar)?"
    r"|(?:previous|prior|earlier)\s(?:session|conversation|context)"
    r"|(?:relevant|recalled|retrieved|user|long-term)\smemor(?:y|ies))"
    r"(?P<tail>[\s\]*_=:)—-]{0,10})\Z",
    re.IGNORECASE,
)
_CONTINUED = re.compile(r"\s{0,8}This session is being continued from a previous conversation", re.IGNORECASE)
_LISTED = re.compile(r"\s{0,8}(?:[-*+•#>]|\d{1,3}[.)、])")


def cut_injected(text: str, dropped: Counter[str]) -> str:
    """Remove tagged blocks such as `<session_summary>...</session_summary>`; a tag named in a sentence stays."""
    kept, at, opened = [], 0, ""
    for match in _TAG.finditer(text):
        name = match.group(2).lower()
        if match.start() < at or not _is_block_name(name):
            continue
        closing = bool(match.group(1))
        if opened and closing and name == opened:
            opened, at = "", match.end()
        elif not opened and not closing and _opens_block(text, match):
            kept.append(text[at : match.start()])
            opened, at = name, match.end()
            dropped["injected_summary"] += 1
        elif not opened and closing and _stands_alone(text, match):
            kept.append(text[at : match.start()])
            at = match.end()
            dropped["injected_summary"] += 1
    if not opened:
        kept.append(text[at:])
    return "".join(kept)


def cut_fences(lines: list[str], dropped: Counter[str]) -> list[str]:
    """Remove fenced code, one fence at a time; inline code in a sentence is no fence."""
    kept: list[str] = []
    fence = ""
    for line in lines:
        if fence:
            close = _CLOSE.match(line)
            if close and close.group(1)[0] == fence[0] and len(close.group(1)) >= len(fence):
                fence = ""
                if close.group("after").strip():
                    kept.append(close.group("after"))
            continue
        opening = _OPEN.match(line) if "```" in line or "~~" in line else None
        if opening and _INFO.match(opening.group("info")):
            fence = opening.group("fence")
            dropped["fenced_code"] += 1
            if opening.group("before").strip():
                kept.append(opening.group("before"))
        else:
            kept.append(line)
    return kept


def cut_summaries(lines: list[str], dropped: Counter[str]) -> list[str]:
    """Remove what follows a header such as "# Session Summary", up to the next blank line or the end."""
    kept: list[str] = []
    skipping = False
    for at, line in enumerate(lines):
        if skipping and not line.strip():
            skipping = _list_goes_on(lines, at)
            continue
        if not skipping and is_summary_header(line):
            skipping = True
            dropped["injected_summary"] += 1
        if not skipping:
            kept.append(line)
    return kept


def is_summary_header(line: str) -> bool:
    """A line that announces a summary: decorated like a heading, or ending in a colon."""
    if len(line) > 120:
        return _CONTINUED.match(line) is not None
    match = _HEADER_ZH.match(line) or _HEADER_EN.match(line)
    if match is None:
        return _CONTINUED.match(line) is not None
    return bool(match.group("tail").strip()) or line.lstrip()[:1] in ("#", "【", "[", "=", "*")


def _list_goes_on(lines: list[str], blank: int) -> bool:
    """Whether the summary's heading was set off from its list by this blank line."""
    after = lines[blank + 1] if blank + 1 < len(lines) else ""
    return is_summary_header(lines[blank - 1]) and _LISTED.match(after) is not None


def _is_block_name(name: str) -> bool:
    return name in _NAMED_BLOCKS or _TAG_WORD.search(name) is not None


def _opens_block(text: str, match: re.Match[str]) -> bool:
    """At the start of a line, or anywhere when it is closed nearby on the same line."""
    if text[match.start() - 1 : match.start()] in _MENTION and match.start():
        return False
    name = match.group(2)
    if text[match.start()] == "[" and not name.isupper():
        return False
    return _at_line_start(text, match.start()) or f"/{name}" in text[match.end() : match.end() + 2000].split("\n", 1)[0]


def _stands_alone(text: str, match: re.Match[str]) -> bool:
    return _at_line_start(text, match.start()) and text[match.end() : match.end() + 1] in ("", "\n")


def _at_line_start(text: str, at: int) -> bool:
    before = text[max(0, at - 40) : at]
    return not before.rsplit("\n", 1)[-1].strip() and (at <= 40 or "\n" in before)
