"""Cut absolute paths and URLs out of a sentence so that the rest still reads.

Relative paths, fractions, dates, units and "and/or" are ordinary words and stay.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from admission.draft import Draft, Line
from admission.settle import settle

_HAN = "\u3400-\u4dbf\u4e00-\u9fff"
# A Chinese path segment is only taken where its end is certain: an extension, another separator, or a short run.
_HAN_SEGMENT = rf"[{_HAN}][{_HAN}\w-]{{0,40}}(?:\.[A-Za-z0-9]{{1,8}}|(?=[/\\]))|[{_HAN}]{{1,6}}(?![{_HAN}A-Za-z0-9])"
_URL_CHARS = r"[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%|{}]"
_SEGMENT = r"[A-Za-z0-9_.@+~%$*{}-]"
_TLD = (
    "com|org|net|io|cn|dev|app|ai|co|edu|gov|info|me|cc|top|xyz|tech|cloud|us|uk|de|jp|hk|tw|ru|fr|eu|in|sh|ly|gg|tv|so"
    "|at|ch|it|es|nl|be|pl|se|no|fi|dk|pt|ca|au|nz|br|kr|sg|ie|cz|gr|ua|tr|il|za|mx|ar|id|vn|th|my|biz|pro|site|store"
    "|online|blog|page|wiki|link|zone|team|chat|live|news|work|space"
)
_HOST = r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,62})\.){1,8}"
_IPV4 = r"\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}"

_URL = re.compile(
    rf"""(?:
        (?<![A-Za-z0-9+.-])jdbc:[a-z0-9]{{2,20}}:(?:[a-z]{{2,10}}:)?(?=[@/\w])
      | (?:(?<![A-Za-z0-9+.-])(?:jdbc:)?[A-Za-z][A-Za-z0-9+.-]{{1,30}}|https?|ftp|file)://
      | (?<![A-Za-z0-9_.@/-])www\.(?=[A-Za-z0-9-]{{1,63}}\.)
      | (?<![A-Za-z0-9_.@/-])(?:data:[a-z]{{2,20}}/[a-z0-9.+-]{{1,40}}(?:;[a-z0-9=-]{{1,40}})?,|magnet:\?|mailto:)
      | (?<![A-Za-z0-9_.@:/-])//(?={_HOST}(?:{_TLD})\b)
      | (?<![A-Za-z0-9_.@/-]){_HOST}(?:{_TLD})(?::\d{{2,5}})?(?=/[A-Za-z0-9])
      | (?<![A-Za-z0-9_.@/-])(?:localhost|{_IPV4}):\d{{2,5}}(?=/[A-Za-z0-9])
      | (?<![A-Za-z0-9_.@/-]){_IPV4}(?=/[A-Za-z_])
      | (?<![A-Za-z0-9_.@/-])[a-z]{{2,16}}@(?={_HOST}[a-z]{{2,10}}:[A-Za-z0-9_~-])
    )(?:{_URL_CHARS}|(?<=/)(?:{_HAN_SEGMENT}))+""",
    re.IGNORECASE | re.VERBOSE,
)
_UNIX = re.compile(
    rf"(?<![A-Za-z0-9_.~%&?#@*+$<)\]}}/\\-])(?:~(?:[a-z_][a-z0-9_-]{{0,15}})?|\$\{{?[A-Z_]{{2,30}}\}}?)?"
    rf"(?:/+(?:{_SEGMENT}{{1,255}}|{_HAN_SEGMENT}))+/?(?::\d{{1,7}})?"
)
_SPACED = re.compile(
    r"(?<!:)/(?:Volumes|Users|Applications|Library)(?:/[\w.-]{1,60}(?: [A-Z][\w.-]{0,60}){0,3}){1,12}/?"
    r"(?<=[A-Za-z0-9_/])(?:\.[A-Za-z0-9]{1,8})?"
)
_WINDOWS = re.compile(
    rf"(?<![A-Za-z0-9])(?:[A-Za-z]:|%[A-Za-z_()0-9]{{2,30}}%|(?<![\\/:])\\\\(?:\?\\[A-Za-z]:|[A-Za-z0-9_.$-]{{1,64}}))"
    rf"(?:[\\/]+(?:[A-Za-z0-9_.-]{{1,60}}(?: [A-Za-z0-9_.()-]{{1,60}}){{1,4}}(?=\\)"
    rf"|[A-Za-z0-9_.@+~$()&%{{}}-]{{1,255}}|{_HAN_SEGMENT}))+[\\/]*"
)
_DRIVE = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]:\\+(?![\w\\])")
_ROOT = re.compile(
    r"(?:etc|tmp|usr|var|home|root|opt|srv|mnt|media|data|dev|proc|sys|s?bin|lib(?:64)?|boot|run|apps?|go|volumes|users|nix"
    r"|applications|library|private|workspaces?|projects?|code|repo|www|builds|rustc|snap|storage|sdcard|system|config)\Z",
    re.IGNORECASE,
)
_FILE_NAME = re.compile(r"[\w@+~-]{1,80}\.[A-Za-z][A-Za-z0-9]{0,7}\Z")
_SENTENCE_END = ".,;:!?'*"

# Without one of these a line holds neither a path nor a URL, which spares most lines the patterns above.
_SIGN = re.compile(r"[/\\@]|www\.|data:|magnet:|mailto:", re.IGNORECASE)
_MARK = "\x00"
_OPENERS, _CLOSERS = "(（[【<《\"'`{", ")）]】>》\"'`}"
_LINK = re.compile(rf"!?\[([^\[\]\n{_MARK}]{{0,200}})\]\([ \t]{{0,4}}{_MARK}[ \t]{{0,4}}(?:\"[^\"\n]{{0,80}}\")?\)")
_WRAPPED = re.compile(
    "|".join(
        f"{re.escape(a)}[ \t]{{0,4}}{_MARK}[ \t]{{0,4}}{re.escape(b)}" for a, b in zip(_OPENERS, _CLOSERS, strict=True)
    )
)
_SPACED_MARK = re.compile(rf"[ \t]{{0,8}}(?:{_MARK}[ \t]{{0,8}}){{1,8}}")
_STICKS_LEFT = frozenset("，。；：！？、）】》”,.;:!?)]\n")


def cut_locators(text: str) -> tuple[str, Counter[str]]:
    """The text without absolute paths and URLs, and how many of each (`url`, `path`) were cut."""
    draft = settle(Draft.of(text), cut_locators_once)
    return draft.text, draft.dropped


def cut_locators_once(draft: Draft) -> None:
    """One pass of `cut_locators`. No pattern reaches beyond its line."""
    for place, line in enumerate(draft.lines):
        if _SIGN.search(line.text):
            cut: Counter[str] = Counter()
            marked = _mark(_without_mark(line.text), cut)
            if cut:
                draft.lines[place] = Line(line.number, _heal(marked))
            for rule in cut.elements():
                draft.cut(rule, line)


def has_url(text: str) -> bool:
    """Whether a URL of any shape stands in the text."""
    return _URL.search(text) is not None


def has_path(text: str) -> bool:
    """Whether an absolute path stands in the text; the path part of a URL does not count."""
    cut: Counter[str] = Counter()
    _mark(_without_mark(text), cut)
    return cut["path"] > 0


def _without_mark(text: str) -> str:
    return text.replace(_MARK, "")


def _mark(text: str, cut: Counter[str]) -> str:
    """Put a mark where each locator stood."""
    text = _URL.sub(_replacer("url", cut, _url_end), text)
    for pattern, end in ((_SPACED, _path_end), (_WINDOWS, _path_end), (_DRIVE, _path_end), (_UNIX, _unix_end)):
        text = pattern.sub(_replacer("path", cut, end), text)
    return text


def _replacer(rule: str, cut: Counter[str], end: Callable[[re.Match[str]], int]) -> Callable[[re.Match[str]], str]:
    """Replace the first `end(found)` characters by a mark; 0 leaves the find alone."""

    def replace(match: re.Match[str]) -> str:
        found = match.group()
        size = end(match)
        if not size:
            return found
        cut[rule] += 1
        return _MARK + found[size:]

    return replace


def _url_end(match: re.Match[str]) -> int:
    """Without the punctuation of the sentence around it, and without a bracket that was opened outside."""
    found = match.group()
    size = len(found)
    surplus = {")": found.count(")") - found.count("("), "]": found.count("]") - found.count("[")}
    surplus["}"] = found.count("}") - found.count("{")
    while size > 1:
        last = found[size - 1]
        if surplus.get(last, 0) > 0:
            surplus[last] -= 1
        elif last not in _SENTENCE_END:
            break
        size -= 1
    return size


def _path_end(match: re.Match[str]) -> int:
    return max(len(match.group().rstrip(_SENTENCE_END)), 1)


def _unix_end(match: re.Match[str]) -> int:
    """0 for what is no path: words with slashes between them, and one word behind a slash, such as `/help`."""
    found = match.group()
    parts = [part for part in found.rstrip(_SENTENCE_END).split("/") if part]
    if found[0] != "/" or (parts and _ROOT.match(parts[0])):
        return _path_end(match)
    if not parts or not parts[0].isascii():
        return 0
    is_file = _FILE_NAME.match(parts[-1]) is not None
    # A Chinese word right before the slash may be the first of a list, as in "苹果/Mac/Linux".
    follows_word = match.start() > 0 and match.string[match.start() - 1].isalnum()
    return _path_end(match) if is_file or len(parts) >= (3 if follows_word else 2) else 0


def _heal(text: str) -> str:
    """Close the gaps that the marks stand for."""
    text = _LINK.sub(r"\1", text)
    for _ in range(2):
        text = _WRAPPED.sub(_MARK, text)
    return _SPACED_MARK.sub(_gap, text).replace(_MARK, "")


def _gap(match: re.Match[str]) -> str:
    before = match.string[match.start() - 1] if match.start() else "\n"
    after = match.string[match.end()] if match.end() < len(match.string) else "\n"
    if before == "\n" or after in _STICKS_LEFT:
        return ""
    spaced = match.group().strip(_MARK) != "" or (before.isascii() and after.isascii())
    return " " if spaced and not (before.isspace() or after.isspace()) else ""
