"""How long admission takes for a candidate, beside detect-secrets and betterleaks alone, and a plain
pass of one regular expression over each line. And how the time and the memory grow with the text."""

from __future__ import annotations

import re
import statistics
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
from detect_secrets.core.scan import scan_line
from detect_secrets.settings import transient_settings

from admission.gate import admit
from admission.secret_vendors import find_vendor_secret
from bench.timing import medians
from domain.candidate import Candidate, Message, Role
from domain.scope import Scope

_SCOPE = Scope("bench", "user")
_TALK = (
    "我做方案的时候更看重可维护性，性能排在第二位。\n以后周报都用表格，每周五下午四点前发给团队。\n",
    "I usually prefer short answers with code, and please keep the British spelling in the docs.\n"
    "We decided to release on Tuesdays, after the smoke tests have passed on staging.\n",
)
_OUTPUT = (
    "2024-11-03 10:02:11.120 [main] ERROR c.e.Order - order failed, no stock\n"
    '  File "/srv/app/orders.py", line 31, in submit\n'
    "$ kubectl -n shop get pods\nshop-api-0   1/1   Running   0   3d\n"
    "配置在 /etc/shop/app.yml 里，文档见 https://docs.example.com/a?b=1 。\n"
)
_MIXED = "".join(_TALK) + _OUTPUT
_PLAIN = re.compile(r"\s*(?:at |File |\$ |\d{4}-\d\d-\d\d|Traceback)|https?://\S+|/[\w/.-]+")
# Plugins that guess by randomness flag every version and date; its own documentation suggests to leave them out.
_ENTROPY = ("Base64HighEntropyString", "HexHighEntropyString")


def bench_admission() -> str:
    """A table of medians for two kinds of candidate, and the growth from 10 KB to 1 MB."""
    lines = ["admission: medians of 200 candidates of about 3 KB"]
    for name, block in (("an ordinary conversation", "".join(_TALK)), ("half of it machine output", _MIXED)):
        lines += _compared(name, _candidate(3, block))
    return "\n".join([*lines, "  growth, half of it machine output:", *map(_growth, (10, 100, 1000))])


def _compared(name: str, candidate: Candidate) -> list[str]:
    texts = [message.content for message in candidate.messages]
    size = sum(len(text.encode()) for text in texts) / 1024
    with _detect_secrets() as scan:
        calls = [
            lambda _: admit(candidate),
            lambda _: scan(texts),
            lambda _: [find_vendor_secret(text) for text in texts],
            lambda _: _plain(texts),
        ]
        ours, peer, vendors, plain = medians(calls, rounds=200)
    return [
        f"  {name}",
        f"    ours, all rules         {ours / size:6.3f} ms/KB",
        f"    detect-secrets alone    {peer / size:6.3f} ms/KB   (ours takes {ours / peer:.2f} of it)",
        f"    betterleaks alone       {vendors / size:6.3f} ms/KB   (ours has it in it)",
        f"    one plain regex a line  {plain / size:6.3f} ms/KB   (ours takes {ours / plain:.0f} times it)",
    ]


def _growth(kilobytes: int) -> str:
    candidate = _candidate(kilobytes, _MIXED)
    size = sum(len(message.content.encode()) for message in candidate.messages) / 1024
    taken = []
    for _ in range(3):
        before = time.perf_counter()
        admit(candidate)
        taken.append((time.perf_counter() - before) * 1000)
    tracemalloc.start()
    admit(candidate)
    peak = tracemalloc.get_traced_memory()[1] / 1024
    tracemalloc.stop()
    best = statistics.median(taken)
    return f"    {size:7.0f} KB {best:9.1f} ms   {best / size:6.3f} ms/KB   {peak / size:5.1f} KB of memory a KB"


def _candidate(kilobytes: int, block: str) -> Candidate:
    user = block * max(1, kilobytes * 1024 // (2 * len(block.encode())))
    return Candidate(_SCOPE, (Message(Role.USER, user), Message(Role.ASSISTANT, user)))


def _plain(texts: list[str]) -> int:
    return sum(_PLAIN.search(line) is not None for text in texts for line in text.split("\n"))


@contextmanager
def _detect_secrets() -> Iterator[Callable[[list[str]], int]]:
    """detect-secrets with its settings held open; it forgets them otherwise."""
    known: dict[str, Any] = get_mapping_from_secret_type_to_class()
    names = [plugin.__name__ for plugin in known.values()]
    plugins = [{"name": name} for name in names if name not in _ENTROPY]
    with transient_settings({"plugins_used": plugins}):
        yield lambda texts: sum(1 for text in texts for line in text.split("\n") for _ in scan_line(line))
