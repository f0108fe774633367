"""The maintained rules of betterleaks: token shapes of some 300 vendors, in its own process-wide Go library.

Its rules for generic assignments are left out: they take examples such as `password=required` for secrets, and the
table in `secrets` knows those forms. A Go library that has run before a fork hangs in the child, so that is refused.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import betterleaks

from domain.errors import ConfigurationError

_LEFT_OUT = ("generic-", "curl-auth-")
_loaded_in: list[int] = []
_own_rules: list[str] = []
_TRY_RULES = """
import sys, betterleaks
try:
    betterleaks.scan_string("", config_path=sys.argv[1])
except betterleaks.BetterleaksError as exc:
    sys.exit(str(exc))
"""


def use_rules_of(path: Path | None) -> None:
    """Search for the rules of this file as well, from now on and in this process: a team's own, or a new vendor's.

    The file is TOML as gitleaks and betterleaks read it: `[[rules]]` with `id`, `regex` and `keywords`.

    Raises:
        ConfigurationError: the file cannot be read, is no TOML, or a rule of it has no name or no valid pattern.
    """
    _own_rules.clear()
    if path is not None:
        _check_rules(path)
        _own_rules.append(str(path.absolute()))


def _check_rules(path: Path) -> None:
    try:
        rules = tomllib.loads(path.read_text("utf-8")).get("rules")
    except (OSError, ValueError) as exc:
        raise ConfigurationError(f"POCO_SECRET_RULES: {path}: {exc}") from None
    if not isinstance(rules, list) or not rules:
        raise ConfigurationError(f"POCO_SECRET_RULES: {path}: there is no [[rules]] in it")
    for number, rule in enumerate(rules, 1):
        for key in ("id", "regex"):
            if not isinstance(rule, dict) or not isinstance(rule.get(key), str) or not rule[key].strip():
                raise ConfigurationError(f"POCO_SECRET_RULES: {path}: rule {number} has no {key}")
    # Only the library itself knows its patterns, and this process may be about to fork.
    tried = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", _TRY_RULES, str(path)], capture_output=True, text=True, check=False, timeout=60
    )
    if tried.returncode:
        raise ConfigurationError(f"POCO_SECRET_RULES: {tried.stderr.strip() or 'the file cannot be used'}")


def find_vendor_secret(text: str) -> str | None:
    """The name of the first vendor's rule that matches. Linear in the text.

    Raises:
        RuntimeError: the library was used before this process was forked; load it after the fork only.
    """
    if os.getpid() not in _loaded_in:
        if _loaded_in:
            raise RuntimeError("secrets were searched before the fork of this process; do that in the child only")
        _loaded_in.append(os.getpid())
    # The library takes a C string, which a NUL would end.
    plain = text.replace("\0", " ").encode("utf-8", "replace").decode()
    names = (finding.rule_id for finding in betterleaks.scan_string(plain))
    vendor = next((name for name in names if not name.startswith(_LEFT_OUT)), None)
    return _name(vendor or _own_rule(plain))


def _own_rule(plain: str) -> str | None:
    return next(
        (found[0].rule_id for path in _own_rules if (found := betterleaks.scan_string(plain, config_path=path))), None
    )


def _name(rule: str | None) -> str | None:
    return rule.replace("-", "_") if rule else None
