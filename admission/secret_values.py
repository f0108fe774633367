"""Tell a secret's value from talk about secrets, where only the words around it give it away.

Values come from untrusted text: each check looks at a bounded piece and keeps none of it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from enum import Enum
from itertools import pairwise

MAX_VALUE_CHARS = 400
_PLACEHOLDER = re.compile(
    r"[<{\[(]|\$[A-Z_{(]|%\w{1,30}%\Z|%[sdr(]|&\w{1,10};|\w{1,20}=[\"']"
    r"|[x*#•.\-_=]{3,}|.{0,40}(?:\*{3}|x{4}|\.{3}|\$\{|\{\{|<[a-z _-]{1,40}>)"
    r"|(?:your|my|example|sample|dummy|fake|changeme|placeholder|redacted|masked|hidden|todo|none|null|undefined"
    r"|true|false|string|optional|required|test)(?![a-z0-9@!$%])"
    r"|your[_-]|.{0,60}(?:_here\b|-here\b|example)"
    r"|[a-z_][\w.]{0,80}(?:\(|\[)|(?:os|process|settings|config|env|self|this|vault|secrets|request|req)\.",
    re.IGNORECASE,
)
_NUMBERED = re.compile(
    r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:[T_ ][\d:.,+Z-]{0,24}|.{0,12})|\d{1,2}:\d{2}.{0,6}"
    r"|v?\d{1,4}(?:\.\d{1,4}){1,4}|\d{1,4}[-~]\d{1,4}"
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
_SIGN = re.compile(r"[!@#$%^&*~+=?]")
_ID = re.compile(r"[0-9a-fA-F-]{20,64}")
_HEX = re.compile(r"[0-9a-f-]{8,}|[0-9A-F-]{8,}")
_DIGIT_GROUPS = re.compile(r"(?:[A-Z]-)?(?:\d{4,20}|\d{3}[ -]\d{3})")
_PASSPHRASE = re.compile(r"[a-z]{3,12}(?:([-_.])[a-z]{3,12})(?:\1[a-z]{3,12}){2,6}|(?:[a-z]{4,12}[-_.]){3,6}\d{2,4}")
_ADDRESS = re.compile(
    r"[a-z][a-z0-9_.+-]{0,60}@[a-z][a-z0-9-]{0,60}\Z|[\w.+-]{1,60}@(?:[\w-]{1,60}\.)+[\w-]+\Z|(?:[\w-]{1,60}\.){1,6}[a-z]{2,8}(?:[:/].*)?\Z"
    r"|[~./\\]|.*,.*,.*,|(?:[a-z_]\w{0,40}\.){1,6}[A-Z][A-Za-z]{3,60}\Z|.*://|[A-Za-z]:\\|0x[0-9A-Fa-f]{1,18}\Z|[\w.]{1,40}=|(?:[\w.-]{1,40}/){1,9}[\w.-]{0,40}\Z|.*[(){}\[\]<>|\\;\"`']"
)
# What a field of that name is made of, or what stands in for a password; not one itself.
_NO_PASSWORD = frozenset(
    re.findall(
        r"\w+",
        "password passwd varchar nvarchar text bytes salted hashed plain plaintext passkey sso ldap oauth otp totp"
        " kerberos keychain bitwarden lastpass keepass vault scrypt fido webauthn saml cas keycloak",
    )
)
_NUMBERED_NAME = re.compile(
    r"(?:id|no|uid|rev|pr|issue|bug|task|room|win|rtx|gtx|rx|es|php|http|iso|rfc|gb|jira|ticket|order|v|q)[-_#]?\d",
    re.IGNORECASE,
)
# The name of an entry in a cache, `58653404:profile`.
_ENTRY = re.compile(r"\d{1,20}(?::[a-z_]{2,20}){1,4}\Z")
_CODED_NAME = re.compile(r"(?=\w*[A-Z])(?=\w*\d)\w{5,20}\.[a-z]{3,12}\Z")
# A short form in capitals, or a word with a vowel in it.
_CAMEL_WORD = re.compile(r"[A-Z]{3,}(?![a-z])|(?=[A-Z]?[a-z]{0,3}[aeiouyAEIOUY])[A-Z]?[a-z]{2,}(?<=[A-Za-z]{3})")
_CASE_PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_OPTION_WORDS = re.compile(
    r"stdin|file|prompt|policy|length|option|flag|value|required|based|only|protected", re.IGNORECASE
)
_HARD_TO_SAY = re.compile(
    r"q(?!u|l|tt|\Z)|[bcdfghjklmnpqrstvwxz]{5}|[jv][bcdfgjkmnpqtvwxz]|z[bcdfgjkmnpqtvwx]|x[bdfgjkmnqvwxz]"
    r"|[cfghklmpqrtvwxz]j|(?:[bcdfghjklmnpqrstvwxz]{4}.*){2}"
)
# Two consonants that words and common names of software begin or end with; no word has others there.
_BEGINS_WELL = re.compile(
    r".?[aeiouy]|[bcfgkpsv]l|[bcdfgkpstw]r|[cgkprstwzs]h|[gkps]n|[st]w|s[ckmpqtv]|dw|ph|ps|qu|ts|tz|mc|ng|ss|ff|gm|gp|js|mk|ml"
    r"|mq|my|db|dn|fs|nv|pd|pg|py|ql|rs|tm|tk|vm|vp|xm|kw|http"
)
_ENDS_WELL = re.compile(
    r".*(?:[aeiouy]|[aeiouy].|w.|[bcdfgkmnprtvwhl][s]|ss|ll|ff|tt|nn|mm|dd|gg|rr|zz|c[kht]|[stpghr]h|[fpxshd]t|s[kpm]"
    r"|h[mt]|l[dfkmnptbc]|m[bnp]|n[cdgktxz]|r[bcdfgklmnptvx]|tz|pg|tl|gn|ql|db|xp)"
)
_SOFTWARE = frozenset(["ffmpeg", "https", "kwargs", "librabbitmq", "mlflow", "networkx", "objc", "pgbouncer", "pyodbc"])
# Two letters that are one sound.
_ONE_SOUND = re.compile(r"[cstpgw]h|ck|ng")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_VOWEL = re.compile(r"[aeiouyAEIOUY]")
_SHORT_FORMS = frozenset(
    [
        "api",
        "app",
        "db",
        "dns",
        "html",
        "http",
        "id",
        "io",
        "ip",
        "js",
        "json",
        "jwt",
        "os",
        "pdf",
        "sdk",
        "sql",
        "ssh",
        "ssl",
        "tls",
        "ui",
        "url",
        "xml",
    ]
)
_JOINED = re.compile(r"[A-Za-z]{3,20}[._@-]\d{3,8}|(?:[A-Za-z]{3,12}[._-]){2,4}\d{2,8}")
_YEARED = re.compile(r"[A-Za-z]{3,12}[._@]?(?:19|20)\d\d")
_ENDS_IN_SIGN = re.compile(r"[A-Za-z].*\d{3}!\Z")
_BRACKETS = "([（【「『\"'`"
_EDGES = "\"'`“”‘’.,;:!?)]}>，。；：！？）"


def is_told_password(value: str) -> bool:
    """What stands right beside the word "password": `is_password`, or a word joined to a number, `mimi.1314`."""
    return is_password(value) or (_JOINED.fullmatch(_trimmed(value)) is not None and not _NAMES.match(_trimmed(value)))


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
        return _is_passphrase(value) or _is_dotted_password(value)
    if len(value) < 5:
        return False
    return _classes(value) >= 2 or _is_jumbled(value)


def is_login_pair(value: str) -> bool:
    """What stands beside a user's name: neither a product with its number nor a word, nor an id that says so."""
    grades = grades_of(value)
    if _NUMBERED_NAME.match(value) or is_placeholder(value) or Grade.PLAIN in grades or _ID.fullmatch(value):
        return False
    return bool(grades & {Grade.RANDOM, Grade.MADE}) or any(map(is_scrambled, _SEPARATOR.split(_trimmed(value))))


def is_strong(value: str) -> bool:
    """A password that needs no words beside it, only a place where one may stand."""
    return Grade.STRONG in grades_of(value)


def is_odd_password(value: str) -> bool:
    """What is handed over as a password without more words: `is_told_password`, or a word joined to letters."""
    value = _trimmed(value)
    if is_placeholder(value) or _ADDRESS.match(value):
        return False
    return is_told_password(value) or any(map(is_scrambled, _SEPARATOR.split(value)))


def is_option(value: str) -> bool:
    """What an option such as `--password` takes: a word joined to another will do, a plain word will not."""
    joined = re.fullmatch(r"[A-Za-z]{3,20}[-_.][A-Za-z0-9]{4,20}", value) is not None
    return is_odd_password(value) or (joined and is_login(value) and not _OPTION_WORDS.search(value))


def is_scrambled(word: str) -> bool:
    """Letters that make no word and no camelCase name: `qnchejjm`, `AMCKCHpLld`, `VDJFB`."""
    if not (word.isalpha() and word.isascii() and 5 <= len(word) <= 24):
        return False
    if word[1:].islower():
        return _is_hard_to_say(word.lower())
    if word.isupper():
        return len(_VOWEL.findall(word)) * 4 <= len(word) and word.lower() not in _SHORT_FORMS
    pieces = _CASE_PIECE.findall(word)
    if sum(len(piece) == 1 or not _VOWEL.search(piece) for piece in pieces) < 2:
        return False
    return _is_jumbled(word) or _odd(pieces) or (len(word) <= 16 and len(pieces) >= 3 and len(pieces) * 4 >= len(word))


def _is_hard_to_say(word: str) -> bool:
    if word in _SOFTWARE:
        return False
    if not _BEGINS_WELL.match(word) or not _ENDS_WELL.fullmatch(word):
        return True
    return _HARD_TO_SAY.search(_ONE_SOUND.sub("t", word)) is not None


def is_shaped(value: str) -> bool:
    """The value of a rule whose prefix already says what it is: only obvious placeholders are let off."""
    value = _trimmed(value)
    return len(set(value)) >= 6 and not is_placeholder(value)


def is_word_password(value: str) -> bool:
    """A bare word handed over as a password in Chinese text, where it is no English adjective."""
    return not is_placeholder(value) and not _NAMES.match(value) and value.lower() not in _NO_PASSWORD


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


class Grade(Enum):
    """What a value looks like by itself. One value may have several grades."""

    STRONG = "strong"  # a RANDOM one that is hard to take for a product, a digest or a log field
    RANDOM = "random"  # as a password manager makes it, or a word with digits and a sign
    MADE = "made"  # letters and digits, or a passphrase
    PLAIN = "plain"  # like a product and its version: a weak MADE
    LONG = "long"  # a machine-made key
    DIGITS = "digits"  # 4 to 8
    SIX_DIGITS = "six digits"
    LONG_DIGITS = "long digits"  # 8 to 20


def grades_of(value: str) -> frozenset[Grade]:
    """The grades of a value that stands in a sentence; none for words, numbers with units, addresses and paths."""
    if _DIGIT_GROUPS.fullmatch(value.strip(_EDGES + _BRACKETS + "#*")):
        return _grades_of_digits(re.sub(r"\D", "", value))
    signed = _ENDS_IN_SIGN.match(value.rstrip(_EDGES.replace("!", ""))) is not None
    value = _trimmed(value.lstrip(_BRACKETS)).rstrip(_BRACKETS)
    if (
        len(value) < 6
        or is_placeholder(value)
        or _is_named(value)
        or _ENTRY.match(value)
        or (_ADDRESS.match(value) and not signed and not _CODED_NAME.match(value))
    ):
        return frozenset({Grade.MADE}) if _is_passphrase(value) else frozenset()
    grades = set()
    if not re.search(r"[A-Za-z]", value):
        return frozenset()
    if _UUID.fullmatch(value):
        return frozenset({Grade.LONG})
    if len(value) >= 20 and is_token(value) and entropy(value) >= 2.8:
        grades.add(Grade.LONG)
    if re.search(r"\d", value):
        grades.add(Grade.MADE)
        if not _HEX.fullmatch(value) and (
            signed or _SIGN.search(value) or (_classes(value) >= 3 and _changes(value) >= 4)
        ):
            grades |= {Grade.RANDOM, Grade.STRONG} if _is_strong(value) else {Grade.RANDOM}
        elif len(re.findall(r"\d", value)) < 3 and not _SEPARATOR.search(value):
            grades.add(Grade.PLAIN)
    elif (_SIGN.search(value[1:-1]) and len(value) >= 8) or any(map(_is_no_word, _SEPARATOR.split(value))):
        grades |= {Grade.MADE, Grade.RANDOM, Grade.STRONG} if _is_mixed_with_signs(value) else {Grade.MADE}
    return frozenset(grades)


def _is_no_word(piece: str) -> bool:
    return _is_jumbled(piece) or (piece.islower() and is_scrambled(piece))


def _is_strong(value: str) -> bool:
    """Nothing but a password looks like this: a sign or several changes of case among pieces that are no words."""
    if not 8 <= len(value) <= 40 or re.search(r"[:/,]|\A[a-z][a-z_-]*\d{0,2}@v?[\d.]+\Z", value):
        return False
    mixed = re.search(r"[a-z]", value) and re.search(r"[A-Z]", value) and "-" not in value
    return bool(_SIGN.search(value[1:]) or mixed) and not _is_readable(value)


def _is_readable(value: str) -> bool:
    """A product, a formula or an amount: `iPhone15ProMax`, `Vue3+Vite5`, `US$129900`."""
    letters = sum(char.isalpha() for char in value)
    in_words = sum(len(word) for word in _CAMEL_WORD.findall(value))
    return in_words * 2 >= letters or letters * 2 <= sum(char.isdigit() for char in value)


def _is_mixed_with_signs(value: str) -> bool:
    """Letters of both cases around a sign that no formula has: `sqnR^edzOr`."""
    return re.search(r"\w[!@#$%^&*?]\w", value) is not None and _changes(value) >= 4 and not _is_readable(value)


def _is_named(value: str) -> bool:
    """Talk, or a name in snake_case."""
    return _is_talk(value) or (_YEARED.fullmatch(value) is None and _is_talk(value.replace("_", "-")))


def _grades_of_digits(digits: str) -> frozenset[Grade]:
    if len(set(digits)) == 1 and len(digits) > 6:
        return frozenset()
    grades = {Grade.DIGITS} if 4 <= len(digits) <= 8 else set()
    if len(digits) == 6:
        grades.add(Grade.SIX_DIGITS)
    if 8 <= len(digits) <= 20:
        grades.add(Grade.LONG_DIGITS)
    return frozenset(grades)


def _is_dotted_password(value: str) -> bool:
    """Short pieces of letters and digits that only look like a version: `Xk9-canary-77`."""
    mixed = re.search(r"[A-Z][a-z]?\d|\d[A-Z]", value) is not None
    return mixed and len(value) >= 10 and sum(char.isdigit() for char in value) >= 3 and not _NAMES.match(value)


def _is_passphrase(value: str) -> bool:
    """Four or more words joined by one sign, or three and a number."""
    return len(value) >= 16 and _PASSPHRASE.fullmatch(value) is not None


def _changes(value: str) -> int:
    """How often the kind of character changes from one to the next."""
    kinds = [(char.islower(), char.isupper(), char.isdigit()) for char in value]
    return sum(a != b for a, b in pairwise(kinds))


def is_key_text(value: str) -> bool:
    """A token, or a passphrase where a machine would put one."""
    return is_token(value) or _is_passphrase(_trimmed(value))


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
    if _YEARED.fullmatch(value):
        return False
    parts = [part for part in _SEPARATOR.split(value) if part]
    if len(parts) <= 1:
        return value.isalpha() and not _is_jumbled(value)
    return all(_is_word(part) for part in parts)


def _is_word(part: str) -> bool:
    if part.isalpha():
        return not _is_no_word(part)
    return (part.isdigit() and len(part) <= 4) or len(part) <= 3 or _NAMES.match(part) is not None


def _is_jumbled(word: str) -> bool:
    """Letters whose case changes too often for a word or a camelCase name."""
    if not (word.isalpha() and word.isascii() and len(word) >= 5) or word.islower() or word[1:].islower():
        return False
    pieces = _CASE_PIECE.findall(word)
    changes = sum(a.islower() != b.islower() for a, b in pairwise(word))
    if len(word) >= 8:
        return max(changes, len(pieces)) * 3 >= len(word)
    return not word.isupper() and any(len(piece) == 1 or not _VOWEL.search(piece) for piece in pieces) and _odd(pieces)


def _odd(pieces: list[str]) -> bool:
    """Pieces of a short mixed word that no name is made of: `k-RGMA`, `WVY-Xo`, `u-Zhjm`."""
    return len(pieces) >= 2 and all(len(piece) <= 4 and piece.lower() not in _SHORT_FORMS for piece in pieces)
