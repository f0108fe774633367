"""Find credentials that only the words around them give away: "log in with …", "… 当密码", "your sign-in code …".

A row of the table names the words, and which grades of value make a secret beside them: anywhere in the sentence, or
only where the sentence hands the value over (an "is", a colon, a quote, "… is the password").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from admission.secret_forms import is_seed_phrase, is_spare_code
from admission.secret_values import Grade, grades_of

_NEAR, _FAR = 110, 260
_WORD_CHARS = 40
# A sentence ends here; a question mark does not end it, as the answer often follows: "My password? It's …".
_STOP = re.compile(r"[。；;]|(?<!\d)!(?=\s)|\.(?=\s)|\n(?!\S{3,200}(?:\n|\Z))")
_PAIR = re.compile(r"[A-Za-z_][\w.@-]{1,30}[:/](?=[^\s/:])")
_TOKEN = re.compile(r"\d{3}[ -]\d{3}(?![\d-])|[!-~]{4,200}")
_OPENING = r"[\s\"'`「『《(（\[【<*]{0,4}"
_HANDS_OVER = re.compile(
    r"(?:\b(?:is|it'?s|its|was|are|to|as|now|being|remains?)|[:：=]|->|→|=>|设的|告诉你吧?|记一下|发给?你|[是为為成叫即])(?:了|就|仍然|[那这這][个個]"
    r"| still| just)?" + _OPENING + r"\Z",
    re.IGNORECASE,
)
_LEADS_UP = re.compile(
    r"(?:[,，?？—–/-]|\b(?:with|uses?|using|used|try|typ(?:e|ed)|enter(?:ed)?|dial|press|punch(?: in)?|put|reads?"
    r"|shows?|got)|[用输按填写试示说])(?:了|入|个|過|过|这个|那个)?" + _OPENING + r"\Z|[\"'`「『(（\[【\n]\Z",
    re.IGNORECASE,
)
_HANDED_BACK = re.compile(
    r"[\s\"'`」』)）\]】,，.]{0,4}(?:[-–—<←]{1,3}\s{0,2})?"
    r"(?:is\b|was\b|as\b|that'?s|that is|for\b|it'?s|[是就当當作做登]|这个|這個|这是|這是"
    r"|a (?:strong|good|weak|safe|bad)|unlocks|works|opens|belongs)",
    re.IGNORECASE,
)
# What stands before a number, a hash or an id that is no secret.
_OTHER_VALUE = re.compile(
    r"(?:!(?:vault|ref|secret|env)\s.{0,24}|\b(?:commit|revert|revision|sha-?\d{0,3}|md5|hash|digest|checksum|etag|trace|request|uuid|guid|id|version|branch|tag"
    r"|ticket|port|model|image|column|table|file|page|error|status|order|extension|zip|postal|area|room|flight|address|promo"
    r"|coupon|discount|country|exit|return|http)\b|public\ key|公钥|编号|单号|订单|版本|提交|校验值|校验和|指纹|分支"
    r"|工单|请求id|端口|主键|模型|镜像|文件|错误码"
    r"|状态码|哈希|第|约|至少|超过|最多|例如)[\s:：#是为=的了]{0,3}(?:\w{1,10}[\s:：#]{1,2})?\Z",
    re.IGNORECASE,
)
# Names, fingerprints and public keys that say of themselves what they are.
_PUBLIC = re.compile(r"\barn:|\bsha\d{1,3}[:-]|\AAAAA[BCE][23]Nz", re.IGNORECASE)
_DIGEST_OF = re.compile(
    r"\b(?:md5|sha-?\d{1,3}|checksum|digest|etag|commit|blob)\b|校验[值和]|哈希|指纹|摘要", re.IGNORECASE
)
_HEX = re.compile(r"[0-9a-fA-F]{7,128}")
_COUNTED = re.compile(
    r"\s{0,2}(?:[位秒分时天年月日号个元次字条人万块版端]|毫秒|小时|星期|周|块钱|ms\b|digits?|chars?|seconds?|minutes?|hours?|days?|times?"
    r"|requests?|tokens?|users?|lines?|rows?|%|[.,:/-]\d)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class SecretWord:
    """A name for the verdict, words of one kind of credential, and the values they make secret."""

    name: str
    hints: str
    words: re.Pattern[str]
    anywhere: frozenset[Grade]
    handed: frozenset[Grade]


def _words(body: str) -> re.Pattern[str]:
    return re.compile(body, re.IGNORECASE | re.VERBOSE)


def _grades(*grades: Grade) -> frozenset[Grade]:
    return frozenset(grades)


_ENTRY = r"""pass(?:phrase|code)|pas+w+(?:or|ro|r|o)?d|(?<![a-z])(?<!boarding\ )(?:pwd?|psw|p/w|pass)(?![a-z])
    |secret\ (?:word|phrase)|shared\ secret|redis\ auth|master(?=\ [=:])|[密迷][码碼]|口令|暗号|パスワード
    |(?<![a-z])mi\ ?ma\ (?:shi|is|:)|(?<![a-z])mm(?=[是：:])"""
_LOGIN = r"""(?<![a-z])(?:log(?:s|ged|ging)?[ -]?in(?:to)?|sign[ -]?in|creds?|credentials|unlock(?:s|ed)?
    |user(?:name)?|locked\ out|bastion)(?![a-z])
    |登[录錄陆入]?(?![记山])|账号|账户|账密|帐号|賬號|解锁|才能进|后台|堡垒机"""
_KEY = r"""(?:api|access|account|auth|app|client|secret|private|signing|pre-?shared|wpa2?|encryption|deploy
    |licen[cs]e|subscription)[ _-]?(?:key|secret|token)
    |(?<![a-z])(?:secret|token|api-?key|app_?secret|credential|secret_?access_?key
    |access_?key_?secret)s?(?![a-z_])|(?<![a-z])[sa]k(?![a-z])
    |令牌|私钥|私鑰|密钥|秘钥|密匙|金钥|金鑰|密鑰|凭证|凭据|授权码|激活码
    |(?<!主键\ )(?<!primary\ )
    (?<!partition\ )(?<!routing\ )(?<!foreign\ )(?<!cache\ )(?<!sort\ )(?<!键词\ )(?<![a-z_-])key(?![a-z_-])"""
_CODE = r"""(?:verif(?:y|ication)|log-?in|sign-?in|security|confirmation|one[ -]time|2fa|mfa|two-factor
    |auth(?:entication)?)[ ](?:pass)?code
    |(?<![a-z])(?:2fa\ (?:is|says|shows|gives)
    |otp|authenticator|(?:your|my|the)\ (?!\w{0,9}\ ?(?:zip|area|postal|error|country|promo|coupon
    |discount|exit|status|source|flight|dress|qr|bar)\b)(?:[a-z]{2,14}\ ){0,2}code|sms\ code|totp)(?![a-z])
    |验证码|驗證碼|校验码|校驗碼|动态(?:码|口令|密码)|登录码|短信码|验证器|一次性(?:密码|码)"""
_PIN = r"""(?<![a-z])pin(?:[ ]?(?:code|number))?(?![a-z])|(?:alarm|door|gate|garage|entry|keypad|lock|building
    |safe|access|unlock|locker|bike|shed|mailbox|gym|elevator)[ ]code
    |alarm\ is|passcode|the\ safe|lockbox|keypad|combo|报警器|撤防码|行李箱|保险[箱柜]|门禁|门锁|密码锁|锁屏
    |(?:支付|取款|开机|银行卡
    |手机)密码|提取码|大门"""
_WIFI = r"wi-?fi|wpa2?|pre-?shared\ key|network\ key|wlan|hotspot|ssid|无线|热点|home\ network|connect\ to"
_OPEN = r"""(?:archive|zip|pdf)\ (?:needs|wants|takes)|open(?:s|ed)?(?:\ it)?\ with|(?:un)?lock(?:s|ed)|protected|加密
    |加了密|打开|remember|save|记一下|记住
    |(?:unzip|extract|decrypt|encrypt)(?:s|ed)?|解压|prompt(?:s|ed)?|get(?:s|ting)?(?:\ (?:you|me|us))?\ in(?:to)?"""
_VALUE_OF = r"""(?<![a-z])(?:with|uses?|typ(?:e|ed|ing)|enter(?:ed)?|try|it's|it\ is|expired
    |(?:changed|set|reset)\ (?:it|that|this)\ to)(?![a-z])
    |[输试](?:入|一下|下)?|就是|还是|改成|换成|重置[成为]|设[成为]"""
_SPARE = r"""(?:recovery|backup|restore|rescue|emergency|scratch)[ -](?:key|code)s?|恢复(?:码|密钥|代码|金钥)
    |恢復碼|备用(?:码|验证码|代码)
    |备份(?:码|代码)|救援码|bitlocker|app\ password|应用(?:专用)?密码|authenticator|验证器|totp"""
_SEED = r"""(?<![a-z])seed[:：]|(?:seed|recovery|secret|backup|mnemonic)[ ](?:phrase|words)|mnemonic|助记词|助記詞
    |wallet|钱包
    |metamask|ledger|(?:12|24|twelve)\ words|(?:12|24|十二)个?(?:单词|词)"""

WORDS: tuple[SecretWord, ...] = (
    SecretWord(
        "told_password",
        "pas|pw|psw|p/w|secret word|secret phrase|shared secret|redis auth|master|ma shi|ma is|ma :"
        "|码|碼|口令|暗号|パスワード|mm",
        _words(_ENTRY),
        _grades(Grade.RANDOM),
        _grades(Grade.RANDOM, Grade.MADE),
    ),
    SecretWord(
        "told_login",
        "log|sign|cred|unlock|user|locked out|bastion|后台|堡垒机|登|账|帐号|賬號|解锁|才能进",
        _words(_LOGIN),
        _grades(),
        _grades(Grade.RANDOM, Grade.MADE),
    ),
    SecretWord(
        "told_key",
        "key|secret|token|credential|sk|ak|令牌|私钥|私鑰|密钥|秘钥|密匙|金钥|金鑰|密鑰|凭证|凭据|授权码|激活码",
        _words(_KEY),
        _grades(Grade.LONG),
        _grades(Grade.LONG, Grade.STRONG),
    ),
    SecretWord(
        "told_code",
        "code|otp|2fa|authenticator|码|碼|口令|密码|验证器",
        _words(_CODE),
        _grades(Grade.SIX_DIGITS),
        _grades(Grade.SIX_DIGITS, Grade.DIGITS),
    ),
    SecretWord(
        "told_pin",
        "pin|code|alarm|safe|lockbox|keypad|combo|报警|撤防|行李|门|保险|锁|密码|提取码",
        _words(_PIN),
        _grades(),
        _grades(Grade.SIX_DIGITS, Grade.DIGITS),
    ),
    SecretWord(
        "told_open",
        "archive|zip|pdf|open|lock|protected|remember|save|unzip|extract|crypt|prompt|get|加密|加了密|打开|解压|记一下|记住",
        _words(_OPEN),
        _grades(),
        _grades(Grade.RANDOM),
    ),
    SecretWord(
        "told_value",
        "with|use|typ|enter|try|it's|it is|expired|changed|set|输|试|是|成",
        _words(_VALUE_OF),
        _grades(),
        _grades(Grade.STRONG),
    ),
    SecretWord(
        "told_wifi",
        "wi|wpa|shared key|network key|wlan|hotspot|ssid|无线|热点|network|connect",
        _words(_WIFI),
        _grades(),
        _grades(Grade.RANDOM, Grade.MADE, Grade.LONG_DIGITS),
    ),
)
_SPARE_CODE = _words(_SPARE)
_SEED_PHRASE = _words(_SEED)
_HINTS = {row: re.compile("|".join(map(re.escape, row.hints.split("|")))) for row in WORDS}
_SPARE_HINT = re.compile(
    "recovery|backup|restore|rescue|emergency|scratch|恢复|恢復|备用|备份|救援|bitlocker|app password|应用"
    "|auth|验证器|totp"
)
_SEED_HINT = re.compile("seed[:：]|phrase|words|mnemonic|助记词|助記詞|wallet|钱包|metamask|ledger|词")
# Without one of these nothing in the text can be a value.
_WORTH = re.compile(
    r"\d{4}|\d{3}[ -]\d{3}|[A-Za-z!@#$%^&*~+=?_.-]\d|\d[A-Za-z!@#$%^&*~+=?_-]|[A-Za-z][!@#$%^&*~+=?]{1,4}[A-Za-z]"
    r"|[a-z]([-_.])[a-z]{3,12}\1[a-z]|[a-z][A-Z][A-Za-z]{0,20}[a-z][A-Z]|[a-z]_[A-Za-z]{5}|[a-z]-(?:[A-Z]{2}|[a-z]{5}(?![a-z]))"
)
_GROUPS = re.compile(
    r"(?<![A-Za-z0-9])(?:[A-Za-z0-9]{3,10}(?:-[A-Za-z0-9]{3,10}){1,11}|[A-Za-z0-9]{4}(?: [A-Za-z0-9]{4}){1,11}"
    r"|[0-9]{3,10}(?: [0-9]{3,10}){1,5})(?![A-Za-z0-9])"
)
_WORD_RUN = re.compile(r"(?:\d{0,2}[.)、:]?\s?[a-z]{3,8}[\s,，、;\"]{1,3}){11,30}\d{0,2}[.)、:]?\s?[a-z]{3,8}")


def find_told_secret(text: str) -> str | None:
    """The name of the first row whose words stand by a value that they make a secret."""
    lower = _lower(text)
    if _WORTH.search(text):
        told = next((row.name for row in WORDS if _is_told(row, text, lower)), None)
        if told is not None:
            return told
    if _beside(_SPARE_CODE, _SPARE_HINT, text, lower, _GROUPS, is_spare_code):
        return "told_recovery_code"
    return "told_seed_phrase" if _beside(_SEED_PHRASE, _SEED_HINT, text, lower, _WORD_RUN, is_seed_phrase) else None


def _lower(text: str) -> str:
    """Lower case without any change of length."""
    lower = text.lower()
    return (
        lower if len(lower) == len(text) else "".join(low if len(low := char.lower()) == 1 else char for char in text)
    )


def _near_hints(hint: re.Pattern[str], lower: str) -> Iterator[tuple[int, int]]:
    """The stretches of the text in which one of the words can stand."""
    start, end = -1, -1
    for match in hint.finditer(lower):
        if match.start() - _WORD_CHARS > end:
            if end >= 0:
                yield start, end
            start = max(0, match.start() - _WORD_CHARS)
        end = match.end() + _WORD_CHARS
    if end >= 0:
        yield start, end


def _words_in(words: re.Pattern[str], hint: re.Pattern[str], text: str, lower: str) -> Iterator[re.Match[str]]:
    for start, end in _near_hints(hint, lower):
        yield from words.finditer(text, start, end)


def _is_told(row: SecretWord, text: str, lower: str) -> bool:
    return any(
        _gives(row, *piece)
        for match in _words_in(row.words, _HINTS[row], text, lower)
        for piece in _values(match, text)
    )


def _gives(row: SecretWord, left: str, value: str, right: str) -> bool:
    grades = grades_of(value)
    if (
        not grades & row.handed
        or (Grade.STRONG not in grades and _is_other(left, value))
        or (value[-1:].isdigit() and _COUNTED.match(right))
    ):
        return False
    if grades & row.anywhere:
        return True
    head, tail = left[-40:], right[:80]
    if _HANDS_OVER.search(head) or _stands_next(row.words, head):
        return True
    if _HANDED_BACK.match(tail) and row.words.search(tail):
        return True
    return _LEADS_UP.search(head) is not None and Grade.PLAIN not in grades


def _is_other(left: str, value: str) -> bool:
    """Whether the words before the value say that it is something else."""
    return bool(_OTHER_VALUE.search(left[-32:]) or (_HEX.fullmatch(value) and _DIGEST_OF.search(left)))


def _stands_next(words: re.Pattern[str], head: str) -> bool:
    """Whether one of the words ends right before the value."""
    return any(not head[match.end() :].strip(" \t\n:：\"'`（(") for match in words.finditer(head))


def _values(match: re.Match[str], text: str) -> Iterator[tuple[str, str, str]]:
    """What stands in a sentence with one of the words: the text before, the value, the text after."""
    start, end = _sentence(text, match.start(), match.end())
    for token in _TOKEN.finditer(text, start, end):
        value = token.group()
        if not _WORTH.search(value) or _PUBLIC.search(value):
            continue
        if token.start() >= match.end() or token.end() <= match.start():
            yield text[start : token.start()], value, text[token.end() : end]
        pair = _PAIR.match(value)
        if pair:
            yield text[start : token.start()] + pair.group(), value[pair.end() :], text[token.end() : end]


def _sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the sentence of a word begins and ends; a line with nothing but one value belongs to its neighbours."""
    first, last = max(0, start - _NEAR), min(len(text), end + _NEAR)
    for stop in _STOP.finditer(text, first, start):
        first = stop.end()
    stop_after = _STOP.search(text, end, last)
    return first, (stop_after.start() if stop_after else last)


def _beside(
    words: re.Pattern[str],
    hint: re.Pattern[str],
    text: str,
    lower: str,
    shape: re.Pattern[str],
    check: Callable[[str], bool],
) -> bool:
    """Whether a value of this shape stands near one of the words, in the same sentence or not."""
    return any(
        check(value.group())
        for match in _words_in(words, hint, text, lower)
        for value in shape.finditer(text, max(0, match.start() - _FAR), match.end() + _FAR)
    )
