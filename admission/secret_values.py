"""Tell a secret's value from talk about secrets, where only the words around it give it away.

Values come from untrusted text: each check looks at a bounded piece and keeps none of it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from itertools import pairwise

MAX_VALUE_CHARS = 400
_PLACEHOLDER = re.compile(
    r"[<{\[$%&(]|[x*#•.\-_=]{3,}|.{0,40}(?:\*{3}|x{4}|\.{3}|\$\{|\{\{|<[a-z _-]{1,40}>)"
    r"|(?:your|my|example|sample|dummy|fake|changeme|placeholder|redacted|masked|hidden|todo|none|null|undefined"
    r"|true|false|string|optional|required|test)(?![a-z0-9@!$%])"
    r"|your[_-]|.{0,60}(?:_here\b|-here\b|example)"
    r"|[a-z_][\w.]{0,80}(?:\(|\[)|(?:os|process|settings|config|env|self|this|vault|secrets|request|req)\.",
    re.IGNORECASE,
)
_NUMBERED = re.compile(
    r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}.{0,12}|\d{1,2}:\d{2}.{0,6}|v?\d{1,4}(?:\.\d{1,4}){1,4}|\d{1,4}[-~]\d{1,4}"
    r"|\d{1,7}(?:ms|s|sec|secs|m|min|mins|h|hr|hrs|hours?|d|days?|w|weeks?|months?|k|kb|mb|gb|%|bits?|bytes?|chars?|tokens?|x))\Z",
    re.IGNORECASE,
)
_NAMES = re.compile(
    r"(?:sha-?\d{1,3}|md5|aes-?\d{0,3}|rsa-?\d{0,4}|[hrep]s\d{3}|ed25519|argon2(?:id?)?|bcrypt|pbkdf2|base\d{2}|utf-?\d{1,2}"
    r"|oauth-?\d?(?:\.0)?|s/mime|x\.?509|k8s|s3|ec2|i18n|1password|lastpass|auth0|web3|ipv[46]|http/?\d?|totp|u2f|fido2?|2fa"
    r"|(?:gpt|claude|qwen|llama|glm|cl\d{1,3}k|o200k)[\w.-]{0,20})\Z",
    re.IGNORECASE,
)
_SEPARATOR = re.compile(r"[-_./:+]")
_EDGES = "\"'`“”‘’.,;:!?)]}>，。；：！？）"


def is_token(value: str) -> bool:
    """A machine-made value: long enough, digits and letters mixed, no word, number, version or placeholder."""
    value = _trimmed(value)
    if len(value) < 8 or is_placeholder(value) or _is_talk(value):
        return False
    mixed = bool(re.search(r"\d", value)) and bool(re.search(r"[A-Za-z]", value))
    return mixed or (len(value) >= 20 and entropy(value) >= 3.5 and _classes(value) >= 2)


def is_password(value: str) -> bool:
    """What a person would type: as `is_token` but from six characters on, and digits alone from four on."""
    value = _trimmed(value)
    if is_placeholder(value):
        return False
    if value.isdigit():
        return 4 <= len(value) <= 20
    if _is_talk(value):
        return len(value) >= 20 and len(_SEPARATOR.split(value)) >= 4 and value.islower()
    if len(value) < 5:
        return False
    return _classes(value) >= 2 or _is_jumbled(value)


def is_shaped(value: str) -> bool:
    """The value of a rule whose prefix already says what it is: only obvious placeholders are let off."""
    value = _trimmed(value)
    return len(set(value)) >= 6 and not is_placeholder(value)


def is_login(value: str) -> bool:
    """The password inside a URL: anything that is not a placeholder or the very word."""
    return not is_placeholder(value) and value.lower() not in {
        "password",
        "passwd",
        "pass",
        "pwd",
        "pw",
        "secret",
        "token",
    }


def is_pin(value: str) -> bool:
    """A short number that is not one digit over and over in a sample, such as 0000."""
    return value.isdigit() and 4 <= len(value) <= 10 and set(value) != {"0"}


def is_placeholder(value: str) -> bool:
    """`<your-key>`, `sk-xxxx`, `***`, `${TOKEN}`, `os.environ[...]`, `required` and the like."""
    return _PLACEHOLDER.match(value) is not None or len(set(value)) <= 2


def entropy(value: str) -> float:
    """Shannon entropy in bits per character."""
    total = len(value)
    return -sum(n / total * math.log2(n / total) for n in Counter(value).values()) if total else 0.0


def _trimmed(value: str) -> str:
    return value[:MAX_VALUE_CHARS].strip(_EDGES)


def _classes(value: str) -> int:
    """Kinds of characters; a capital first letter is no second kind."""
    rest = value[:1].lower() + value[1:]
    kinds = (str.islower, str.isupper, str.isdigit, lambda char: not char.isalnum())
    return sum(any(kind(char) for char in rest) for kind in kinds)


def _is_talk(value: str) -> bool:
    """Words, numbers with units, versions and names of techniques, also several joined by hyphens or dots."""
    if _NUMBERED.match(value) or _NAMES.match(value):
        return True
    parts = [part for part in _SEPARATOR.split(value) if part]
    if len(parts) <= 1:
        return value.isalpha() and not _is_jumbled(value)
    return all(_is_word(part) for part in parts)


def _is_word(part: str) -> bool:
    if part.isalpha():
        return not _is_jumbled(part)
    return (part.isdigit() and len(part) <= 4) or len(part) <= 3 or _NAMES.match(part) is not None


def _is_jumbled(word: str) -> bool:
    """Letters whose case changes too often for a word or a camelCase name."""
    changes = sum(a.islower() != b.islower() for a, b in pairwise(word))
    return word.isalpha() and word.isascii() and len(word) >= 8 and changes * 3 >= len(word)
