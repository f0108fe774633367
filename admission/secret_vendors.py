"""The maintained rules of betterleaks: token shapes of some 300 vendors, in its own process-wide Go library.

Its rules for generic assignments are left out: they take examples such as `password=required` for secrets, and the
table in `secrets` knows those forms. A Go library that has run before a fork hangs in the child, so that is refused.
"""

from __future__ import annotations

import os

import betterleaks

_LEFT_OUT = ("generic-", "curl-auth-")
_loaded_in: list[int] = []


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
    return next((name.replace("-", "_") for name in names if not name.startswith(_LEFT_OUT)), None)
