"""Drop the lines that machines printed: stack traces, logs, shells, code, dumps, load tests, injected summaries.

A natural sentence that only mentions such things stays whole. No rule here asks what a sentence is worth.
"""

from __future__ import annotations

import re
from collections import Counter

from admission.draft import Draft
from admission.noise_blocks import cut_fences, cut_injected, cut_summaries
from admission.noise_rules import HEAD, RULES, WEAK
from admission.prose import is_prose
from admission.settle import settle
from domain.text import han_count

_FLAG = re.compile(r"\s--?[A-Za-z]|[|&><;]|\s[./~]\S|://|\S=\S|\s\S+/\S")
_SUBCOMMAND = re.compile(
    r"(?:git|npm|pnpm|yarn|pip3?|uv|poetry|docker|docker-compose|podman|kubectl|helm|cargo|go|mvn|make|apt|apt-get|yum|dnf|brew"
    r"|terraform|systemctl|dotnet) (?:install|build|run|test|push|pull|clone|commit|add|checkout|rebase|merge|status"
    r"|log|diff|up|down|exec|logs|get|apply|delete|create|rollout|describe|start|stop|restart|enable|init|plan|ci|publish|compose"
    r"|clean|all|lint|check|deploy|dev|update|upgrade|fetch|stash|images|ps)(?: [\w@:.=-]+){0,3}\s*\Z"
)
_ERROR_LINE = re.compile(r"(?:[A-Z]\w{0,60})?(?:Error|Exception|Exit|Interrupt|Warning|Failure|Fault|Timeout): \S")
_LAST_LINE = re.compile(
    r"(?:\w+\.)*[A-Z]\w*[A-Z]\w*(?:: .*)?\Z|(?:\w+\.)+\w+(?:: .*)?\Z|explicit panic|called `|[\w./]+\(.*\)\Z"
)
_LEVEL_ONLY = re.compile(r"(?:DEBUG|TRACE|ERROR|FATAL|CRITICAL|SEVERE): \S")
_COLUMNS = re.compile(r"\s{0,40}[^\s。，]+(?:\s[^\s。，]+)?(?:\s{2,}[^\s。，]+(?:\s[^\s。，]+)?){3,}\s*\Z")
_LEVELLED = re.compile(r"(?:DEBUG|TRACE|INFO|WARN|WARNING|ERROR|FATAL|CRITICAL|SEVERE):? \S")
_TABLE_HEAD = re.compile(r"\s{0,12}[A-Z%][A-Z0-9%/()_:+-]{0,20}(?:\s{1,40}[A-Z%][A-Z0-9%/()_:+-]{0,20}){2,20}\s*\Z")
_REPORT_HEAD = re.compile(r"\s{0,8}[A-Z][A-Za-z/]{1,20}(?: [a-z/]{1,20}){0,3}:\s*\Z")
_GAP = re.compile(r"\S {2,}\S|\t|\|")
_JSON = re.compile(r"\s{0,8}[{\[].{0,200}?[\"']\w[^\"'\n]{0,60}[\"']\s?:")
# Words and commas only, to a full stop: no machine prints that, and most lines need no other pattern.
_PLAIN_SENTENCE = re.compile(
    r"[A-Z][a-z']{0,20}(?:,? [A-Za-z][a-z'-]{0,20}){4,60}[.!?]|[\u4e00-\u9fff，。、！？；]{8,400}"
)
# No round brackets or slashes beside numbers: people write "Django 5.1 / Postgres 16" and "5 people (Berlin)".
_ODD = re.compile(
    r"\d.*[\[\]{}<>=\\_`]|[\[\]{}<>=\\`].*\d|0x[0-9a-f]|\w\(|::|[a-z]\.[a-z]\w*:\d|[a-z][A-Z]\w|\w_\w|\A\W{4,}\Z"
    r"|[=\-*~]{5,}|`"
)
_DIFF_LINE = re.compile(r"[+\-@\\ \t]|[<>] \S")
_BULLET = re.compile(r"[-+] ?[\u4e00-\u9fff]")


def drop_noise_lines(text: str) -> tuple[str, Counter[str]]:
    """The text without machine output, and how many lines or blocks each rule dropped."""
    draft = settle(Draft.of(text), drop_noise_once)
    return draft.text, draft.dropped


def has_noise(text: str) -> bool:
    """Whether any line of the text is machine output."""
    draft = Draft.of(text)
    drop_noise_once(draft)
    return bool(draft.cuts)


def drop_noise_once(draft: Draft) -> None:
    """One pass of `drop_noise_lines`."""
    cut_injected(draft)
    cut_fences(draft)
    cut_summaries(draft)
    draft.keep(label_lines([line.text for line in draft.lines]))


def label_lines(lines: list[str]) -> list[str]:
    """For each line the name of the rule that drops it, or an empty string."""
    labels: list[str] = []
    above = ""
    for line in lines:
        head = line[:HEAD]
        label = line_rule(line) or (above if above and _goes_on(above, head) else "")
        labels.append(label)
        # A blank line inside a trace does not end it.
        above = label if label or line.strip() or above != "stack_trace" else above
    for at in range(len(lines) - 2, -1, -1):
        if not labels[at] and labels[at + 1] and _leads_to(labels[at + 1], lines[at][:HEAD], lines[at + 1]):
            labels[at] = labels[at + 1]
    return labels


def line_rule(line: str) -> str:
    """The rule that a line breaks by itself, or an empty string."""
    head = line[:HEAD]
    if not head.strip() or _PLAIN_SENTENCE.fullmatch(line):
        return ""
    if _JSON.match(head) and line.rstrip()[-1:] in "}],":
        return "dump"
    if (_TABLE_HEAD.match(head) and "  " in head.strip()) or (_COLUMNS.match(head) and han_count(head) < 4):
        return "table"
    name = next((name for name, shapes in RULES if shapes.match(head)), "")
    if name == "command":
        return name if _is_command(head) else ""
    if not name and (
        (_LEVELLED.match(head) and not is_prose(head)) or (_LEVEL_ONLY.match(head) and not _is_said(head))
    ):
        return "log_line"
    if name == "stack_trace" and _ERROR_LINE.match(head) and _is_said(head.partition(":")[2]):
        return ""
    return "" if name in WEAK and is_prose(head) else name


def _is_said(message: str) -> bool:
    """A whole sentence behind an error name or a level; messages of programs seldom end in a full stop."""
    return is_prose(message) and (han_count(message) >= 4 or message.rstrip()[-1:] in ".!")


def _is_command(head: str) -> bool:
    """A command has a flag, a pipe, a path or a known subcommand; a sentence about one does not."""
    if han_count(head) >= 2 or head.rstrip()[-1:] in ".!?":
        return False
    return _FLAG.search(head) is not None or (_SUBCOMMAND.match(head) is not None and not is_prose(head))


def _goes_on(above: str, head: str) -> bool:
    """Whether a line belongs to the machine output right above it."""
    indented = head[:1] in " \t" and bool(head.strip())
    if above != "table" and _is_odd(head):
        return True
    if above == "stack_trace":
        return indented or _LAST_LINE.match(head) is not None
    if above == "load_test" and head.lstrip()[:1] == "|":
        return True
    if above in ("table", "dump"):
        return _GAP.search(head) is not None and not is_prose(head)
    if above == "diff":
        return _DIFF_LINE.match(head) is not None and _BULLET.match(head) is None
    if above in ("shell", "command"):
        return bool(head.strip()) and not is_prose(head) and han_count(head) < 2 and head.rstrip()[-1:] != "?"
    if above == "code" and head.rstrip()[-1:] == ")":
        return not is_prose(head)
    return indented and not is_prose(head)


def _is_odd(head: str) -> bool:
    """Nobody's note: signs as machines print them, and no prose."""
    return not is_prose(head) and han_count(head) < 2 and _ODD.search(head) is not None


def _leads_to(below: str, head: str, next_line: str) -> bool:
    """Whether a line is the heading of the machine output right below it."""
    if below not in ("table", "code", "command", "dump") and _is_odd(head):
        return True
    if below in ("load_test", "log_line"):
        return _REPORT_HEAD.match(head) is not None and next_line[:1] in " \t"
    if below == "dump":
        return next_line.strip()[:2] in ("--", "+-") and _GAP.search(head) is not None
    if below == "table":
        return _GAP.search(head) is not None and not is_prose(head)
    return below == "stack_trace" and _ERROR_LINE.match(head) is not None and not _is_said(head)
