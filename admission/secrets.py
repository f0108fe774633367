"""Find credentials. One table, one rule a line; a match names the rule and never shows the text.

Rules with a tell-tale prefix only let obvious placeholders off; the wordy ones ask `secret_values` about the value. A
pattern hands its value over as a named group, or as the whole match.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from admission.hygiene import folded, is_disguised
from admission.secret_values import (
    is_card_number,
    is_key_text,
    is_login,
    is_passphrase,
    is_password,
    is_pin,
    is_product_key,
    is_shaped,
    is_token,
    is_told_password,
    is_word_password,
)
from admission.secret_vendors import find_vendor_secret
from admission.secret_words import find_told_secret
from domain.candidate import JsonValue


@dataclass(frozen=True, slots=True)
class SecretRule:
    """A name for the verdict, a pattern, and a check of the value that the pattern found.

    `hints` are joined by "|"; without one of them in the lower-case text there is nothing to look for, which spares
    most texts most patterns.
    """

    name: str
    hints: str
    pattern: re.Pattern[str]
    check: Callable[[str], bool] = is_shaped


def find_secret(text: str) -> str | None:
    """The name of the first rule that matches, in the text as it is or as a reader would see it."""
    found = _search(text)
    if found is None and is_disguised(text):
        found = _search(folded(text))
    return found


def find_secret_in(metadata: Mapping[str, JsonValue]) -> str | None:
    """The name of the first rule that a value of client metadata breaks, by itself or with its name before it."""
    for name, value in _leaves("", metadata):
        found = find_secret(value) or _first_rule(f"{name}={value}")
        if found is not None:
            return found
    return None


def _leaves(name: str, value: JsonValue | Mapping[str, JsonValue]) -> Iterator[tuple[str, str]]:
    """Each text with the name it stands under; names alone are looked at as well."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield name, key
            yield from _leaves(key, inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(name, inner)
    elif isinstance(value, str | int) and not isinstance(value, bool):
        yield name, str(value)


def _search(text: str) -> str | None:
    return _first_rule(text) or find_vendor_secret(text) or find_told_secret(text)


def _first_rule(text: str) -> str | None:
    lower = text.lower()
    hinted = {hint for hint in _HINTS if hint in lower}
    return next((rule.name for rule in RULES if hinted.intersection(_hints(rule)) and rule_holds(rule, text)), None)


def rule_holds(rule: SecretRule, text: str) -> bool:
    """Whether one rule finds a value in the text and takes it for a secret."""
    return any(rule.check(value) for match in rule.pattern.finditer(text) if (value := _value(match)))


def _value(match: re.Match[str]) -> str:
    """The named group that took part, or the whole match of a pattern without groups."""
    return next((value for value in match.groupdict().values() if value), "" if match.groupdict() else match.group())


def _always(_: str) -> bool:
    return True


def _shape(body: str) -> re.Pattern[str]:
    """A token with a fixed prefix that stands alone."""
    return re.compile(rf"(?<![A-Za-z0-9])(?:{body})(?![A-Za-z0-9])")


def _words(body: str) -> re.Pattern[str]:
    return re.compile(body, re.IGNORECASE | re.VERBOSE)


_VALUE = r"""[\s"'`(（\[【「『“‘《]{0,4}(?P<v>[!-&*-~][!-~]{3,400})"""
_QUOTED = r"""["']?[ \t]{0,4}(?:=>|:=|==|=|:|：)[ \t]{0,4}["'`]{0,3}(?P<v>[^\s"'`,;&，。；]{4,400})"""
# A name that goes on like this holds a setting of the secret, not the secret.
_SETTING = r"""(?![\w-]{0,24}(?:len|min|max|expir|ttl|age|limit|count|size|policy|hash|type|field|file|path|ur[il]|_name|-name
    |_id\b|-id\b|version|days|timeout|budget|iz|usage|price|rotat|reset|hint|strength|cost))"""
_EN_PW = r"(?:(?:db|my|user|admin|root|ftp|smtp|mail|require)pass|pass(?:phrase|code)|pas+w+(?:or|ro|r|o)?d|(?<![a-z])(?:pwd|psw|p/w|pass(?![a-z])))"
_EN_KEY = r"""(?:secret|token|api[ _-]?key|access[ _-]?key|account[ _-]?key|auth[ _-]?key|app[ _-]?key|private[ _-]?key
    |signing[ _-]?key|encryption[ _-]?key|client[ _-]?key|deploy[ _-]?key|credential|licen[cs]e[ _-]?key|session[ _-]?key)"""
_ZH_PW = r"(?:密码|密碼|口令|暗号|パスワード|passcode|password|passwd|(?<![a-z])pwd)"
_ZH_KEY = r"""(?:令牌|密钥|秘钥|密匙|金钥|凭证|凭据|授权码|激活码|(?<![a-z])token|(?<![a-z])secret|api[ _-]?key|access[ _-]?key
    |(?<![a-z])(?:app|secret)[ _-]?key|(?<![a-z])[as]k(?![a-z]))"""
_ZH_TALK = r"""(?!策略|长度|要求|规则|强度|复杂|位数|有效期|过期|算法|管理|找回|重置|输入|错误|框|字段|学|加密|保护|校验|登录页|至少|最[少长短多]
    |必须|不[能要得]|统一[存放由]|一律[存放由])"""
_ZH_IS = r"(?:就?是|は|改?为|改成了?|换成了?|改到了?|设[为成]了?|设置[为成]了?|叫|[:：=]|(?=[（(\[【「『“\"'`]))"
_EN_IS = r"""(?:\s{1,3}(?:(?:has\ been\ |was\ |is\ )?(?:now\ )?(?:changed|set|reset|updated)(?:\ to)?|will\ be|is\ now|now\ is|is|was|are|=|to|as)
    \s{0,3}[:=]?|'s\b|\s{0,2}[:：=])"""
_UNIT = r"(?!\s{0,2}(?:[位秒分时天年月日号个元次字]|毫秒|小时|星期|周|ms|digit|char|second|minute|hour|day|time|%))"
_HOST = r"(?:[\w-]{1,63}\.){1,6}"

# ruff: noqa: E501 - a row of the table stays on one line
# fmt: off
RULES: tuple[SecretRule, ...] = (
    SecretRule("private_key_block", "private key", re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?!\s{0,4}(?:\.{3}|…|<|\[|\*{3}|[xX]{3}))"), _always),
    SecretRule("putty_key", "putty-user", re.compile(r"PuTTY-User-Key-File-\d"), _always),
    SecretRule("age_key", "age-secret-key", _shape(r"AGE-SECRET-KEY-1[0-9A-Z]{50,64}")),
    SecretRule("aws_key_id", "akia|asia|abia|acca", _shape(r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}")),
    SecretRule("sk_key", "sk-", _shape(r"sk-(?=[A-Za-z0-9_-]{0,180}\d)[A-Za-z0-9_-]{20,200}|sk-[a-z]{40,64}")),
    SecretRule("github_token", "ghp_|gho_|ghu_|ghs_|ghr_|github_pat_", _shape(r"gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{40,255}")),
    SecretRule("gitlab_token", "glpat-|gldt-|glrt-|glptt-|glsoat-|glcbt-|glft-|glagent-", _shape(r"gl(?:pat|dt|rt|ptt|soat|cbt|ft|agent)-[A-Za-z0-9_-]{20,64}")),
    SecretRule("slack_token", "xox|xapp-", _shape(r"xox[abeoprs]-[A-Za-z0-9-]{10,250}|xapp-\d-[A-Za-z0-9-]{20,250}")),
    SecretRule("stripe_key", "k_live_|k_test_|whsec_", _shape(r"(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9]{16,250}")),
    SecretRule("google_key", "aiza|gocspx-|ya29.", _shape(r"AIza[A-Za-z0-9_-]{35}|GOCSPX-[A-Za-z0-9_-]{20,40}|ya29\.[A-Za-z0-9_-]{20,400}")),
    SecretRule("discord_bot", "discord|bot|token", _shape(r"[MNO][\w-]{23,30}\.[\w-]{6}\.[\w-]{27,44}")),
    SecretRule("telegram_bot", ":a", _shape(r"(?:bot)?\d{8,10}:A[A-Za-z0-9_-]{33,36}")),
    SecretRule("npm_token", "npm_", _shape(r"npm_[A-Za-z0-9]{30,64}")),
    SecretRule("pypi_token", "pypi-", _shape(r"pypi-[A-Za-z0-9_-]{40,250}")),
    SecretRule("huggingface_token", "hf_|api_org_", _shape(r"(?:hf|api_org)_[A-Za-z0-9]{30,64}")),
    SecretRule("sendgrid_key", "sg.", _shape(r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{30,64}")),
    SecretRule("twilio_key", "sk", _shape(r"SK[0-9a-f]{32}")),
    SecretRule("azure_key", "==", re.compile(r"(?<![A-Za-z0-9+/])(?<!sha512-)[A-Za-z0-9+/]{86}==(?![A-Za-z0-9=])")),
    SecretRule("aliyun_key_id", "ltai", _shape(r"LTAI[A-Za-z0-9]{12,30}")),
    SecretRule("tencent_key_id", "akid", _shape(r"AKID[A-Za-z0-9]{28,40}")),
    SecretRule("volcengine_key_id", "aklt", _shape(r"AKLT[A-Za-z0-9]{20,60}")),
    SecretRule("zhipu_key", ".", _shape(r"[0-9a-f]{32}\.[A-Za-z0-9]{16}")),
    SecretRule("vendor_token", "ark-|sct|gsk|xai|pplx|r8|sntry|dop_v1|shpat|shpss|shpca|lin_api|ntn|dckr_pat|tvly|figd|nrak|tskey|bce-v3", _shape(r"ark-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:-[0-9a-f]{5})?|SCT\d{3,8}T[A-Za-z0-9]{16,40}|bce-v3/ALTAK-\w{16,40}/[0-9a-f]{32,64}|NRAK-[A-Z0-9]{24,30}|tskey-[a-z]{2,10}-[A-Za-z0-9]{8,30}-[A-Za-z0-9]{16,60}|(?:figd|gsk|xai|pplx|r8|sntry[su]|dop_v1|shp(?:at|ss|ca)|lin_api|ntn|dckr_pat|tvly)[_-][A-Za-z0-9_-]{24,128}")),
    SecretRule("mailgun_key", "key-", _shape(r"key-[0-9a-f]{32}")),
    SecretRule("dingtalk_sign", "sec", _shape(r"SEC[0-9a-f]{64}")),
    SecretRule("wallet_key", "wif|btc|bitcoin|比特币|私钥|private", _shape(r"[5KL][1-9A-HJ-NP-Za-km-z]{50,51}")),
    SecretRule("bare_private_key", "private key|私钥|private_key", re.compile(r"(?<![A-Za-z0-9+/])MII[A-Za-z0-9+/]{60,4000}")),
    SecretRule("vault_token", "hvs.|hvb.|atatt3x|dapi", _shape(r"hv[sb]\.[A-Za-z0-9_-]{20,200}|ATATT3x[A-Za-z0-9_=-]{40,250}|dapi[0-9a-f]{32}")),
    SecretRule("jwt", "eyj", _shape(r"eyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,4000}(?:\.[A-Za-z0-9_-]{0,2000})?")),
    SecretRule("url_login", "://", re.compile(r"://[^\s/@:\"'<>，。]{0,64}:(?P<v>[^\s/\"'，。]{2,128})@(?=[\w\[])"), is_login),
    SecretRule("url_token", "://", re.compile(r"://(?P<v>[A-Za-z0-9_-]{20,128})(?::[^\s/@]{0,64})?@"), is_token),
    SecretRule("dsn_login", "@tcp(|thin:", re.compile(r"(?<![\w.])[\w.-]{1,40}:(?P<v>[^\s:@]{4,80})@tcp\(|thin:[\w.-]{1,40}/(?P<w>[^\s/@]{4,80})@"), is_login),
    SecretRule("slack_webhook", "hooks.slack.com", re.compile(r"hooks\.slack\.com/(?:services|workflows)/(?P<v>T[A-Za-z0-9_/]{10,160})")),
    SecretRule("discord_webhook", "/api/webhooks", re.compile(r"discord(?:app)?\.com/api/webhooks/\d{5,25}/(?P<v>[\w-]{20,120})")),
    SecretRule("dingtalk_webhook", "oapi.dingtalk", re.compile(r"oapi\.dingtalk\.com/robot/send\?access_token=(?P<v>[\w-]{10,128})")),
    SecretRule("feishu_webhook", "open.feishu|open.larksuite", re.compile(r"open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v?\d?/?hook/(?P<v>[\w-]{10,64})")),
    SecretRule("wecom_webhook", "qyapi.weixin", re.compile(r"qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=(?P<v>[\w-]{10,64})")),
    SecretRule("url_parameter", "?|&", re.compile(r"[?&](?:\w{0,20}(?:token|sig|signature|secret|key)|X-[A-Za-z]{2,5}-Signature|code|auth|sign)=(?P<v>[\w%.+/-]{20,600})"), is_token),
    SecretRule("generic_webhook", "hook", _words(rf"{_HOST}[a-z]{{2,10}}/[\w/.-]{{0,80}}(?:web)?hook[\w/.-]{{0,40}}/(?P<v>[\w-]{{24,160}})"), is_token),
    SecretRule("bearer", "bearer", _words(r"(?<![a-z0-9_])bearer[ \t]{1,4}(?P<v>[\w.~+/-]{8,4000}={0,2})"), is_token),
    SecretRule("authorization", "authorization", _words(r"authorization[\"']?[ \t]{0,4}[:=：][ \t]{0,4}[\"']?(?:[a-z-]{1,20}[ \t]{1,4})?(?P<v>[^\s\"',;]{8,400})"), is_token),
    SecretRule("auth_pair", "auth", re.compile(r"\bauth ?= ?\( ?[\"'][^\"'\n]{1,60}[\"'], ?[\"'](?P<v>[^\"'\n]{4,128})"), is_password),
    SecretRule("auth_header", "x-", _words(r"\bx-[a-z-]{0,30}(?:key|token|secret|auth)[\"']?[ \t]{0,4}:[ \t]{0,4}[\"']?(?P<v>[^\s\"',;]{6,400})"), is_token),
    SecretRule("cookie", "cookie", _words(r"(?<![a-z0-9_])cookies?[\"']?\s{0,4}[:=：]\s{0,4}[\"']?(?:[\w.-]{1,60}=[^\s;\"']{0,200};\s{0,4}){0,8}[\w.-]{1,60}=(?P<v>[^\s;\"']{8,400})"), is_token),
    SecretRule("cookie_told", "cookie", _words(r"(?<![a-z0-9_])cookies?(?![a-z])[\"']?[\s\u4e00-\u9fff]{0,6}(?:is|[:=：{]|是|为)?[\s\"'{]{0,6}[\w.-]{2,60}[\"']?[=:]\s?[\"']?(?P<v>[^\s;\"',]{16,400})"), is_token),
    SecretRule("session_id", "sess|sid|csrf|jct|li_at", _words(r"(?<![a-z0-9_-])(?:[\w-]{0,12}sess(?:ion|data)?(?:_?id)?|sid|csrf_?token|bili_jct|li_at)[ \t]{0,2}[=:][ \t]{0,2}(?P<v>[\w.%+/*-]{16,400})"), is_token),
    SecretRule("password_assignment", "pas|pwd|psw|p/w", _words(rf"{_EN_PW}{_SETTING}[\w-]{{0,24}}{_QUOTED}"), is_told_password),
    SecretRule("token_assignment", "secret|token|key|credential", _words(rf"{_EN_KEY}{_SETTING}[\w-]{{0,24}}{_QUOTED}"), is_key_text),
    SecretRule("xml_element", "<", _words(r"<(?:\w{0,20}(?:password|passwd|secret|token|api-?key))>(?P<v>[^<\s]{6,200})</"), is_password),
    SecretRule("xml_attribute", "value=", _words(rf"(?:{_EN_PW}|{_EN_KEY})[\w.-]{{0,24}}[\"']\s{{1,4}}value=[\"'](?P<v>[^\"'\s]{{4,200}})"), is_password),
    SecretRule("psk", "psk", _words(r"(?<![a-z])psk[\"']?\s?[=:]\s?[\"']?(?P<v>[^\s\"';]{8,64})"), is_password),
    SecretRule("wifi_code", "wifi:", _words(r"wifi:[^\n]{0,120}?[;:]p:(?P<v>[^;\n]{4,64});")),
    SecretRule("proxy_link", "://", _words(r"(?<![a-z0-9])(?:ssr?|vmess)://(?P<v>[a-z0-9+/=_-]{16,2000})|(?<![a-z0-9])(?:trojan|vless|hysteria2?)://(?P<w>[^\s@/]{6,128})@")),
    SecretRule("manifest_value", "value:", _words(r"name:\s?[\"']?[\w.-]{0,40}(?:secret|token|passwd|password|api_?key|access_?key)[\w.-]{0,12}[\"']?\s{1,40}value:\s?[\"']?(?P<v>[^\s\"']{6,400})"), is_password),
    SecretRule("archive_flag", "-p", re.compile(r"\b(?:7z[ar]?|zip|unzip|rar|unrar)\b[^\n]{0,160}?[ \t]-[pP][ \t]?(?P<v>[^\s-]\S{3,128})"), is_password),
    SecretRule("combination", "combo|combination|密码锁|保险", _words(r"(?:comb(?:o|ination)|密码锁|保险[箱柜])[^\n.。]{0,40}?(?<![\d-])(?P<v>\d{1,2}-\d{1,2}-\d{1,2}(?![\d-])|左\s?\d{1,4}[^\d\n]{0,4}右\s?\d{1,4}|\d{1,2}\s(?:left|right)[^\d\n]{1,8}\d{1,2}\s(?:left|right))"), _always),
    SecretRule("code_to_use", "use|enter|验证|登录", _words(r"(?:use|enter)\s(?:code\s)?(?P<v>\d{4,8})\s(?:to\s(?:verify|log\s?in|sign\s?(?:in|up)|confirm\s(?:your|you)|authenticate)|as\syour\s(?:verification|log-?in|security|one-time))|(?<!\d)(?P<w>\d{6})\s?(?:用于|完成|进行)(?:登录|身份|注册)?(?:验证|登录)"), is_pin),
    SecretRule("mail_login", "@", _words(r"[\w.+-]{1,60}@(?:[\w-]{1,60}\.){1,5}[a-z]{2,10}\s?(?:[:|/：]|-{2,4})\s?(?P<v>[!-~]{8,64})(?!\S)"), is_token),
    SecretRule("product_key", "licen|activation|product key|register|注册码|激活码|序列号|授权", _words(r"(?:licen[cs]e|activation|product\ key|\bregister|注册码|激活码|序列号|授权)[^\n]{0,60}?(?<![a-z0-9-])(?P<v>[a-z0-9]{4,6}(?:-[a-z0-9]{4,6}){3,7})(?![a-z0-9-])"), is_product_key),
    SecretRule("config_login", "machine|requirepass|pgpass|:*:|:5432:|:6432:|:3306:", _words(r"\bmachine\s[^\n]{1,120}?\spassword\s{1,4}(?P<v>\S{4,128})|\brequirepass\s{1,4}(?P<w>\S{4,128})|(?<![\w.])[\w.*-]{1,80}:(?:\d{4,5}|\*):[\w.*-]{1,40}:[\w.*-]{1,40}:(?P<x>[^\s:]{4,128})"), is_password),
    SecretRule("login_pair", "root|admin|sa |sa/|postgres", _words(r"(?<![\w/.~-])(?:root|admin(?:istrator)?|sa|postgres)\s?/\s?(?P<v>[!-~]{5,64})"), is_password),
    SecretRule("ak_sk_assignment", "ak|sk", _words(r"(?<![a-z0-9])(?:ak|sk)[ \t]{0,3}[:=：是为][ \t\"']{0,3}(?P<v>[a-z0-9+/=_-]{16,128})"), is_token),
    SecretRule("password_flag", "mysql|mariadb|sshpass|mongo|redis-cli", re.compile(r"\b(?:mysql\w{0,6}|mariadb|sshpass|mongo\w{0,8}|redis-cli)\b[^\n]{0,160}?[ \t]-[pa][ \t]?[\"']?(?P<v>[^\s\"'-]\S{3,128})"), is_told_password),
    SecretRule("login_flag", "docker|podman|helm|az|oc|curl|wget|http|sqlcmd|psexec|smbclient|ldap|openssl", re.compile(r"\b(?:docker|podman|helm|az|oc|curl|wget|http|sqlcmd|psexec|smbclient|ldap\w{3,8}|openssl)\b[^\n]{0,160}?[ \t](?:-(?:p|P|w|k|pass)[ \t](?:pass:)?|(?:-u|--user)[ \t][\w.@-]{1,60}:)(?P<v>[^\s:/]{4,128})"), is_told_password),
    SecretRule("sql_login", "identified by|with password", _words(r"(?:identified\ by|with\ password)\s{1,4}'(?P<v>[^'\n]{4,128})'"), is_password),
    SecretRule("piped_password", "sudo|net us|vault login|passwd", _words(r"echo\s[\"']?(?P<v>[^\s\"'|]{4,64})[\"']?\s?\|\s?sudo|echo\s[\"']?[\w.-]{1,40}:(?P<y>[^\s\"'|]{4,64})[\"']?\s?\|\s?(?:sudo\s)?chpasswd|\bnet\ use\s[^\n]{1,120}?/user:\S{1,60}\s(?P<z>[^\s/\\]{4,64})|\bnet\ use\s[^\n]{1,120}?\s(?P<w>[^\s/\\]{4,64})\s/user:|\bnet\ user\s[\w.-]{1,40}\s(?P<a>[^\s/*]{4,64})|\bhtpasswd\s[^\n]{1,80}?\s-?[\w.-]{1,40}\s(?P<b>[^\s-]\S{3,64})(?=\s|\Z)|\bvault\ login\s(?P<x>[^\s`-]\S{5,120})"), is_password),
    SecretRule("long_flag", "--", _words(r"--(?:[a-z]{1,12}-){0,2}(?:password|passwd|pass|token|secret|api-key)[ =][\"']?(?P<v>[^\s\"']{4,200})"), is_password),
    SecretRule("password_zh", "密码|密碼|口令|暗号|パスワード|passcode|password|passwd|pwd", _words(rf"{_ZH_PW}{_ZH_TALK}[\s\u4e00-\u9fff]{{0,8}}?(?:{_ZH_IS}了?|用){_VALUE}{_UNIT}"), is_told_password),
    SecretRule("password_next", "密码|密碼|口令", _words(rf"(?:密码|密碼|口令)[ \t]{{0,2}}(?!@)(?P<v>[!-&*-~][!-~]{{5,64}}|\d{{4,12}}(?!\d)){_UNIT}"), is_told_password),
    SecretRule("token_zh", "令牌|密钥|秘钥|密匙|金钥|凭证|凭据|授权码|激活码|token|secret|key|ak|sk", _words(rf"{_ZH_KEY}{_ZH_TALK}[\s\u4e00-\u9fff]{{0,6}}?{_ZH_IS}了?{_VALUE}"), is_token),
    SecretRule("token_next", "令牌|密钥|秘钥|密匙|授权码|激活码|token|key", _words(r"(?:令牌|密钥|秘钥|密匙|授权码|激活码|(?<![a-z])token|(?:api|secret|access)[ _-]?key)[ \t]{1,2}(?P<v>[\w.+/=-]{16,400})"), is_token),
    SecretRule("password_en", "pas|pwd|psw|p/w", _words(rf"(?<![a-z0-9_]){_EN_PW}(?:[ \t](?:for|of|on)[ \t][^\n.,:]{{1,40}}?)?{_EN_IS}{_VALUE}{_UNIT}"), is_told_password),
    SecretRule("token_en", "secret|token|key|credential", _words(rf"(?<![a-z0-9_]){_EN_KEY}(?:[ \t](?:for|of|on)[ \t][^\n.,:]{{1,40}}?)?{_EN_IS}{_VALUE}"), is_token),
    SecretRule("use_password", "pas|pwd|psw|p/w", _words(rf"(?<![a-z0-9_])(?:use|with|enter|type)[ \t](?:the[ \t])?{_EN_PW}[ \t]{_VALUE}{_UNIT}"), is_told_password),
    SecretRule("password_word_zh", "密码|密碼|口令", _words(r"(?:密码|密碼|口令)(?:就?是|改?为|改成了?|换成了?|[:：=])[\s\"'“「]{0,3}(?P<v>[a-z]{5,20})(?=[\s\"'”」]{0,2}(?:[，。,.!！;；\n]|\Z))"), is_word_password),
    SecretRule("payment_card", "card|visa|卡|cvv|cvc", _words(r"(?:card|visa|卡号|信用卡|银行卡|储蓄卡|cvv|cvc)[^\n]{0,40}?(?<![\d-])(?P<v>\d{4}(?:[ -]?\d{4}){2}[ -]?\d{1,7})(?![\d-])"), is_card_number),
    SecretRule("card_check_code", "cvv|cvc|安全码", _words(r"(?:(?<![a-z])cvv2?|(?<![a-z])cvc2?|安全码)[\s是为:：is]{0,5}(?P<v>\d{3,4})(?!\d)"), _always),
    SecretRule("totp_seed", "2fa|mfa|totp|otp|authenticator|setup key|验证器|两步", _words(r"(?:2fa|mfa|otp|authenticator|setup\ key|验证器|两步)[^\n]{0,40}?(?<![a-z0-9])(?-i:(?P<v>[A-Z2-7]{4}(?:\ [A-Z2-7]{4}){3,15}|[A-Z2-7]{16,64}))(?![a-z0-9])"), is_product_key),
    SecretRule("aws_secret", "aws", _words(r"aws[^\n]{0,40}?secret[^\n]{0,20}?(?<![a-z0-9/+])(?P<v>[a-z0-9/+]{40})(?![a-z0-9/+=])"), is_shaped),
    SecretRule("letter_code", "code", _words(r"(?:guard|log-?in|access|verification|security|confirmation)\ codes?(?:\ is|[:：])?\s{1,2}(?-i:(?P<v>[A-Z0-9]{5,8}))(?![\w-])"), is_product_key),
    SecretRule("mail_code", "授权码|应用密码|应用专用密码|auth_code|authcode", re.compile(r"(?:授权码|应用(?:专用)?密码|auth_?code)[\s是为:：=]{0,4}(?P<v>[a-z]{16}|[A-Z]{16})(?![A-Za-z])"), _always),
    SecretRule("share_code", "提取码|提取碼", re.compile(r"提取[码碼][\s是为:：]{0,4}(?P<v>[A-Za-z0-9]{4,8})(?![A-Za-z0-9])"), _always),
    SecretRule("plain_passphrase", "pass|pw|密|口令", _words(r"(?:(?<![a-z])(?:pw|pwd|pass|passphrase|password)[\]:\s\"'“]{1,3}|(?:密码|口令|密碼)[是为：:\s\"'“]{1,3})(?P<v>[a-z]{3,12}(?:[ -][a-z]{3,12}){3,6}(?:[ -]\d{1,4})?)(?=\s{0,2}(?:[\[\n.,\"']|\Z))"), is_passphrase),
    SecretRule("one_time_code", "验证码|校验码|动态码|短信码|动态口令|verification|one-time|otp|2fa", _words(rf"(?:验证码|校验码|动态码|短信码|动态口令|verification\ code|one-time\ (?:code|password)|(?<![a-z])otp(?![a-z])|2fa\ code)[\s\u4e00-\u9fff]{{0,4}}?(?:is|[:：=])?[\s\"'（(]{{0,3}}(?P<v>(?<!\d)\d{{4,8}}(?!\d)){_UNIT}"), is_pin),
    SecretRule("pin", "pin|密码", _words(rf"(?:(?<![a-z])pin(?:[ \t]code|[ \t]number)?(?:[ \t](?:for|of)[ \t][\w \t]{{1,30}}?)?{_EN_IS}|(?<![a-z])pin[ \t]?码[\s\u4e00-\u9fff]{{0,4}}?[:：]?|(?:支付|取款|门禁|锁屏|开机|银行卡)密码[\s\u4e00-\u9fff]{{0,4}}?[:：]?)[\s\"'（(]{{0,3}}(?P<v>\d{{4,10}}(?!\d)){_UNIT}"), is_pin),
)
# fmt: on


@cache
def _hints(rule: SecretRule) -> tuple[str, ...]:
    return tuple(rule.hints.split("|"))


_HINTS = frozenset(hint for rule in RULES for hint in _hints(rule))
