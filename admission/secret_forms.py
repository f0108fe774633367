"""Values that have a form of their own: numbers with a check digit, codes in groups, words in a row, encoded logins."""

from __future__ import annotations

import base64
import binascii
import re

from admission.secret_values import entropy, is_login, is_placeholder, is_scrambled

_GLUE = frozenset(
    re.findall(
        r"\w+",
        "the and are was were with for you your our that this have has had not but they from will would can could"
        " should his her its into than then them there here what when which who how why all any some one use used"
        " using only also very just",
    )
)
_SEPARATORS = re.compile(r"[-_]?\s*[、,，/\n;；|]\s*(?:\d{1,2}[.)、]\s*|-\s*)?|\s{2,}")
_CODED = re.compile(
    r"[0-9a-f]{24,128}|[0-9A-F]{24,128}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[A-Z0-9]{5}(?:-[A-Z0-9]{5}){5}|[A-Z0-9]{30,40}|[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}"
)
_MIXED = re.compile(r"(?=[^A-Z]*[A-Z])(?=[^a-z]*[a-z])(?=(?:\D*\d){2})")
# Names in pieces, paths and the like.
_READABLE = re.compile(r"[A-Za-z]{3,}[_/-][A-Za-z]{4,}[_/-]|/.*/.*/|[a-z]{8}")
_SPELLED = re.compile(r"[A-Za-z0-9]")
_SENTENCE_WORD = re.compile(
    r"\w+(?:ed|ing|ly)|never|always|long|short|easy|hard|kept|down|same|too|must|need|needs|less|more|least|most|words"
    r"|being|been|made|written|known|only|both|still|over|after|before|between|because|better|enough|where|everyone"
)
_ASKED = frozenset(["password", "passphrase", "passcode", "phrase", "secret"])
# Words that head every list of weak passwords; "the password is dragon" says nothing about dragons.
_WEAK_WORDS = frozenset(
    re.findall(
        r"\w+",
        "admin apple asdfgh banana baseball basketball batman biscuit butterfly charlie cheese chocolate computer"
        " cookie dragon flower football freedom ginger hannah hello hockey hunter iloveyou jennifer jessica jordan"
        " letmein lovely master matrix michael michelle monkey mustang orange panda passw0rd pepper pokemon"
        " princess purple qazwsx qwerty qwertyuiop shadow silver snoopy soccer spiderman starwars summer sunflower"
        " sunshine superman tigger trustno welcome whatever winter woaini zxcvbn zxcvbnm",
    )
)


def is_product_key(value: str) -> bool:
    """Groups in capitals with digits among them, `YPCH-GMDB-32HW-771A`."""
    return value.isupper() and any(char.isdigit() for char in value) and not is_placeholder(value)


def is_card_number(value: str) -> bool:
    """Thirteen digits or more whose check digit is right (Luhn)."""
    digits = [int(char) for char in reversed(value) if char.isdigit()]
    doubled = [digit * 2 - 9 * (digit > 4) for digit in digits[1::2]]
    return len(digits) >= 13 and len(set(digits)) > 2 and (sum(digits[::2]) + sum(doubled)) % 10 == 0


def is_pin(value: str) -> bool:
    """A short number that is not one digit over and over in a sample, such as 0000."""
    return value.isdigit() and 4 <= len(value) <= 10 and set(value) != {"0"}


def is_spare_code(value: str) -> bool:
    """Groups of equal length, as recovery codes and app passwords come: `2870 6091`, `dawn 7hv4 md9c`."""
    groups = re.split(r"[ -]", value)
    if len(value) < 8 or len({len(group) for group in groups}) != 1 or _GLUE.intersection(groups):
        return False
    return sum(char.isdigit() for char in value) >= 2 or (len(groups) >= 4 and len(groups[0]) == 4)


def is_seed_phrase(value: str) -> bool:
    """Twelve or more words in a row, and not one of those that hold sentences together."""
    run = 0
    for word in re.findall(r"[a-z]{3,8}", value):
        run = 0 if word in _GLUE else run + 1
        if run >= 12:
            return True
    return False


def is_passphrase(value: str) -> bool:
    """Four or more words that make no sentence."""
    words = [word for word in re.split(r"[ -]", value) if not word.isdigit()]
    return len(words) >= 4 and min(map(len, words)) >= 3 and not _GLUE.intersection(words)


def is_weak_word(value: str) -> bool:
    """One of the words that people take for passwords, or one that no language has."""
    return value.lower() in _WEAK_WORDS or is_scrambled(value)


def is_code_list(value: str) -> bool:
    """Codes of one length side by side, with digits in most of them."""
    codes = [code for code in _SEPARATORS.split(value.strip()) if code]
    with_digits = sum(any(char.isdigit() for char in code) for code in codes)
    return len({len(code) for code in codes}) == 1 and with_digits * 2 > len(codes) and not is_placeholder(value)


def is_told_phrase(value: str) -> bool:
    """Words in quotes that make no sentence and do not speak of passwords."""
    return is_passphrase(value) and not _ASKED.intersection(value.split())


def is_bare_phrase(value: str) -> bool:
    """As `is_told_phrase`, and without the forms that a sentence is made of: no quotes say where the words end."""
    return is_told_phrase(value) and not any(_SENTENCE_WORD.fullmatch(word) for word in re.split(r"[ -]", value))


def is_basic_login(value: str) -> bool:
    """`user:password` in base64, as HTTP's Basic authorization has it."""
    try:
        name, found, word = base64.b64decode(value, validate=True).decode("ascii").partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return False
    return bool(found) and name.isprintable() and word.isprintable() and is_login(word)


def is_encoded(value: str) -> bool:
    """Base64 as a Kubernetes secret holds it; the name of a user is no secret."""
    return len(value) >= 8 and len(set(value)) >= 6 and not is_placeholder(value)


def is_base32(value: str) -> bool:
    """A seed of one-time passwords: capitals, and digits from 2 to 7 among them."""
    plain = value.replace(" ", "")
    return any(char.isdigit() for char in plain) and any(char.isalpha() for char in plain) and entropy(plain) >= 2.5


def is_random_key(value: str) -> bool:
    """Letters and digits as no name has them: hexadecimal, in groups, or digits among letters of both cases."""
    if is_placeholder(value) or not any(char.isdigit() for char in value) or entropy(value) < 2.8:
        return False
    return bool(_CODED.fullmatch(value) or (_MIXED.match(value) and not _READABLE.search(value)))


def is_spelled(value: str) -> bool:
    """Six characters or more said one by one, a digit or a capital among them."""
    said = re.sub(
        r"(?i)\b(?:capital|uppercase|upper ?case|lowercase|lower ?case|big|small|letter|number|digit)\b|大写|小写",
        "",
        value,
    )
    return len(_SPELLED.findall(re.sub(r"[A-Za-z]{2,}", "", said))) >= 6


def is_kept_words(value: str) -> bool:
    """Twelve to twenty-four words as wallets choose them: a number that three divides, hardly a plural, no twice."""
    words = value.split()
    plurals = sum(word.endswith("s") and not word.endswith("ss") for word in words)
    return len(words) % 3 == 0 and len(set(words)) >= len(words) - 1 and plurals <= 2 and not _GLUE.intersection(words)


def is_session(value: str) -> bool:
    """The id of a session: long and without any word in it."""
    return not is_placeholder(value) and len(set(value)) >= 10 and entropy(value) >= 3.2 and "://" not in value


def is_answer(value: str) -> bool:
    """The answer to a security question: a name or a few words, and no talk about answers."""
    return not value.isdigit() and not _TALK_OF_ANSWERS.match(value.strip())


_TALK_OF_ANSWERS = re.compile(
    r"(?:必|不|要|应|可|由|存|加密|错|对|正确|什么|啥|哪|多少|空|忘|需|随机|区分|大小写)|(?:a|an|the|not|never|always|stored|required|case|wrong|hashed|what"
    r"|how|which|why|known|optional|encrypted|asked|too|usually|often|sent|checked|unknown|missing|public|easy|hard)\b",
    re.IGNORECASE,
)
