"""Parts of a text that are noise as a whole: injected summaries and memories, fenced code.

What is never closed runs to the end: text that came after it cannot be told from it.
"""

from __future__ import annotations

import re

from admission.draft import Draft, Line

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

_OPEN = re.compile(r"(?P<before>[^`\n]{0,400}?)(?P<fence>`{3,12}|(?<!\S)(?<!\s{4})~{2,12})(?P<info>[^`\n]{0,120})\Z")
_INFO = re.compile(r"\s{0,4}[A-Za-z0-9_+#.-]{0,30}(?:[ :{][^`~]{0,80})?\Z")
_CLOSE = re.compile(r"[\s>]{0,12}(`{3,12}|~{2,12})(?P<after>.*)\Z", re.DOTALL)

_DECOR = r"[\s#*_=<【\[（(—-]{0,10}"
_HEADER_ZH = re.compile(
    rf"{_DECOR}(?:以下(?:内容)?[是为]?|这是)?[^，。；：\n]{{0,6}}?"
    r"(?:(?:会话|对话|聊天|上下文|上文|历史(?:会话|对话|消息)?|前情)(?:的)?(?:压缩|历史)?(?:摘要|总结|小结|概要|回顾|提要|快照)"
    r"|(?:相关|历史|长期|用户|已知)(?:的)?记忆)"
    r"(?:\s?[(（][^()（）\n]{0,40}[)）])?(?P<tail>[\s】\]）)*_=：:—-]{0,10})\Z"
)
_HEADER_EN = re.compile(
    rf"{_DECOR}(?:(?:previous|prior|earlier|last|compacted|condensed|running)\s)?"
    r"(?:(?:session|conversation|chat|context|task)\s(?:summary|recap|snapshot|state|history)"
    r"|(?:here\sis\sa\s|the\s)?summary\sof\s(?:the|our|this|your)?\s?(?:previous|prior|earlier|last|past)?\s?"
    r"(?:session|conversation|chat|context|discussion)(?:\sso\sfar)?"
    r"|(?:previous|prior|earlier)\s(?:session|conversation|context)"
    r"|(?:relevant|recalled|retrieved|user|long-term)\smemor(?:y|ies))"
    r"(?:\s?[(（][^()（）\n]{0,40}[)）])?(?P<tail>[\s\]*_=:)—-]{0,10})\Z",
    re.IGNORECASE,
)
_CONTINUED = re.compile(r"\s{0,8}This session is being continued from a previous conversation", re.IGNORECASE)
_LISTED = re.compile(r"\s{0,8}(?:[-*+•#>]|\d{1,3}[.)、])")


def cut_injected(draft: Draft) -> None:
    """Remove tagged blocks such as `<session_summary>...</session_summary>`; a tag named in a sentence stays."""
    text = draft.text
    spans: list[tuple[int, int]] = []
    since, opened = -1, ""
    closed = {match.group(2).lower(): match.start() for match in _TAG.finditer(text) if match.group(1)}
    for match in _TAG.finditer(text):
        name = match.group(2).lower()
        if not _is_block_name(name):
            continue
        closing = bool(match.group(1))
        if opened and closing and name == opened:
            spans.append((since, match.end()))
            opened = ""
        elif not opened and not closing and _opens_block(text, match, closed):
            since, opened = match.start(), name
        elif not opened and closing and _stands_alone(text, match):
            spans.append((match.start(), match.end()))
    if opened:
        spans.append((since, len(text)))
    if spans:
        draft.remove(spans, "injected_summary")


def cut_fences(draft: Draft) -> None:
    """Remove fenced code, one fence at a time; inline code in a sentence is no fence."""
    kept: list[Line] = []
    fence, since = "", Line(0, "")
    for line in draft.lines:
        if fence:
            close = _CLOSE.match(line.text)
            if close and close.group(1)[0] == fence[0] and len(close.group(1)) >= len(fence):
                fence = ""
                draft.cut("fenced_code", since, line)
                if close.group("after").strip():
                    kept.append(Line(line.number, close.group("after")))
            continue
        opening = _OPEN.match(line.text) if "```" in line.text or "~~" in line.text else None
        if opening and _INFO.match(opening.group("info")):
            fence, since = opening.group("fence"), line
            if opening.group("before").strip():
                kept.append(Line(line.number, opening.group("before")))
        else:
            kept.append(line)
    if fence:
        draft.cut("fenced_code", since, draft.lines[-1])
    draft.lines = kept


def cut_summaries(draft: Draft) -> None:
    """Remove what follows a header such as "# Session Summary", up to the next blank line or the end."""
    kept: list[Line] = []
    since: Line | None = None
    for at, line in enumerate(draft.lines):
        if since and not line.text.strip():
            if not _list_goes_on(draft.lines, at):
                draft.cut("injected_summary", since, line)
                since = None
            continue
        if not since and is_summary_header(line.text):
            since = line
        if not since:
            kept.append(line)
    if since:
        draft.cut("injected_summary", since, draft.lines[-1])
    draft.lines = kept


def is_summary_header(line: str) -> bool:
    """A line that announces a summary: decorated like a heading, or ending in a colon."""
    if len(line) > 120:
        return _CONTINUED.match(line) is not None
    match = _HEADER_ZH.match(line) or _HEADER_EN.match(line)
    if match is None:
        return _CONTINUED.match(line) is not None
    return bool(match.group("tail").strip()) or line.lstrip()[:1] in ("#", "【", "[", "=", "*")


def _list_goes_on(lines: list[Line], blank: int) -> bool:
    """Whether the summary's heading was set off from its list by this blank line."""
    after = lines[blank + 1].text if blank + 1 < len(lines) else ""
    return is_summary_header(lines[blank - 1].text) and _LISTED.match(after) is not None


def _is_block_name(name: str) -> bool:
    return name in _NAMED_BLOCKS or _TAG_WORD.search(name) is not None


def _opens_block(text: str, match: re.Match[str], closed: dict[str, int]) -> bool:
    """At the start of a line, or anywhere when it is closed further on."""
    if text[match.start() - 1 : match.start()] in _MENTION and match.start():
        return False
    name = match.group(2)
    if text[match.start()] == "[" and not name.isupper():
        return False
    return _at_line_start(text, match.start()) or closed.get(name.lower(), -1) > match.start()


def _stands_alone(text: str, match: re.Match[str]) -> bool:
    return _at_line_start(text, match.start()) and text[match.end() : match.end() + 1] in ("", "\n")


def _at_line_start(text: str, at: int) -> bool:
    before = text[max(0, at - 40) : at]
    return not before.rsplit("\n", 1)[-1].strip() and (at <= 40 or "\n" in before)
