"""The form of a rule for secrets, and the words that several tables share."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from admission.secret_values import is_shaped


@dataclass(frozen=True, slots=True)
class SecretRule:
    """A name for the verdict, a pattern, and a check of the value that the pattern found.

    `hints` are joined by "|"; without one of them in the lower-case text there is nothing to look for, nor without
    what the value `needs`. That spares most texts most patterns.
    """

    name: str
    hints: str
    pattern: re.Pattern[str]
    check: Callable[[str], bool] = is_shaped
    needs: re.Pattern[str] | None = None


def rule_holds(rule: SecretRule, text: str) -> bool:
    """Whether one rule finds a value in the text and takes it for a secret."""
    return any(rule.check(value) for match in rule.pattern.finditer(text) if (value := _value(match)))


def _value(match: re.Match[str]) -> str:
    """The named group that took part, or the whole match of a pattern without groups."""
    return next((value for value in match.groupdict().values() if value), "" if match.groupdict() else match.group())


def always(_: str) -> bool:
    """For a pattern that leaves nothing to ask."""
    return True


def shape(body: str) -> re.Pattern[str]:
    """A token with a fixed prefix that stands alone."""
    return re.compile(rf"(?<![A-Za-z0-9])(?:{body})(?![A-Za-z0-9])")


def words(body: str) -> re.Pattern[str]:
    """A pattern in which blanks do not count, nor do capitals."""
    return re.compile(body, re.IGNORECASE | re.VERBOSE)


FOUR_DIGITS = re.compile(r"\d{4}")
SIX_DIGITS = re.compile(r"\d{6}")
LONG_RUN = re.compile(r"[A-Za-z0-9_-]{16}")
CAPITALS = re.compile(r"[A-Z0-9]{4}")
PAIR = re.compile(r"[/|:@\n]\s?(?=[!-~]{6})")

EN_PW = r"""(?:(?:db|my|user|admin|root|ftp|smtp|mail|require)pass
    |pass(?:phrase|code)|pas+w+(?:or|ro|r|o)?d|(?<![a-z])(?:pwd|psw|p/w|pass(?![a-z])))"""
EN_KEY = r"""(?:secret|token|api[ _-]?key|access[ _-]?key|account[ _-]?key|auth[ _-]?key|app[ _-]?key|private[ _-]?key
    |signing[ _-]?key|encryption[ _-]?key|client[ _-]?key|deploy[ _-]?key|credential|licen[cs]e[ _-]?key
    |session[ _-]?key|(?:pre-?)?shared[ _-]?key|private[ _-]?seed)"""
