"""Secrets that their own shape gives away: prefixes of vendors, key blocks, hashes, webhooks, and logins inside URLs."""

from __future__ import annotations

import re

from admission.secret_rule import LONG_RUN, SecretRule, always, shape, words
from admission.secret_values import is_login, is_token

HOST = r"(?:[\w-]{1,63}\.){1,6}"

# ruff: noqa: E501 - a row of the table stays on one line
# fmt: off
SHAPES: tuple[SecretRule, ...] = (
    SecretRule("private_key_block", "private key", re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?!\s{0,4}(?:\.{3}|…|<|\[|\*{3}|[xX]{3}))"), always),
    SecretRule("putty_key", "putty-user", re.compile(r"PuTTY-User-Key-File-\d"), always),
    SecretRule("age_key", "age-secret-key", shape(r"AGE-SECRET-KEY-1[0-9A-Z]{50,64}")),
    SecretRule("aws_key_id", "akia|asia|abia|acca", shape(r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}")),
    SecretRule("sk_key", "sk-", shape(r"sk-(?=[A-Za-z0-9_-]{0,180}\d)[A-Za-z0-9_-]{20,200}|sk-[a-z]{40,64}")),
    SecretRule("github_token", "ghp_|gho_|ghu_|ghs_|ghr_|github_pat_", shape(r"gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{40,255}")),
    SecretRule("gitlab_token", "glpat-|gldt-|glrt-|glptt-|glsoat-|glcbt-|glft-|glagent-", shape(r"gl(?:pat|dt|rt|ptt|soat|cbt|ft|agent)-[A-Za-z0-9_-]{20,64}")),
    SecretRule("slack_token", "xox|xapp-", shape(r"xox[abeoprs]-[A-Za-z0-9-]{10,250}|xapp-\d-[A-Za-z0-9-]{20,250}")),
    SecretRule("stripe_key", "k_live_|k_test_|whsec_", shape(r"(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9]{16,250}")),
    SecretRule("google_key", "aiza|gocspx-|ya29.", shape(r"AIza[A-Za-z0-9_-]{35}|GOCSPX-[A-Za-z0-9_-]{20,40}|ya29\.[A-Za-z0-9_-]{20,400}")),
    SecretRule("discord_bot", "discord|bot|token", shape(r"[MNO][\w-]{23,30}\.[\w-]{6}\.[\w-]{27,44}")),
    SecretRule("telegram_bot", ":a", shape(r"(?:bot)?\d{8,10}:A[A-Za-z0-9_-]{33,36}")),
    SecretRule("npm_token", "npm_", shape(r"npm_[A-Za-z0-9]{30,64}")),
    SecretRule("pypi_token", "pypi-", shape(r"pypi-[A-Za-z0-9_-]{40,250}")),
    SecretRule("huggingface_token", "hf_|api_org_", shape(r"(?:hf|api_org)_[A-Za-z0-9]{30,64}")),
    SecretRule("sendgrid_key", "sg.", shape(r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{30,64}")),
    SecretRule("twilio_key", "sk", shape(r"SK[0-9a-f]{32}")),
    SecretRule("azure_key", "==", re.compile(r"(?<![A-Za-z0-9+/])(?<!sha512-)[A-Za-z0-9+/]{86}==(?![A-Za-z0-9=])")),
    SecretRule("aliyun_key_id", "ltai", shape(r"LTAI[A-Za-z0-9]{12,30}")),
    SecretRule("tencent_key_id", "akid", shape(r"AKID[A-Za-z0-9]{28,40}")),
    SecretRule("volcengine_key_id", "aklt", shape(r"AKLT[A-Za-z0-9]{20,60}")),
    SecretRule("zhipu_key", ".", shape(r"[0-9a-f]{32}\.[A-Za-z0-9]{16}"), needs=LONG_RUN),
    SecretRule("vendor_token", "ark-|sct|gsk|xai|pplx|r8|sntry|dop_v1|shpat|shpss|shpca|lin_api|ntn|dckr_pat|tvly|figd|nrak|tskey|bce-v3", shape(r"ark-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:-[0-9a-f]{5})?|SCT\d{3,8}T[A-Za-z0-9]{16,40}|bce-v3/ALTAK-\w{16,40}/[0-9a-f]{32,64}|NRAK-[A-Z0-9]{24,30}|tskey-[a-z]{2,10}-[A-Za-z0-9]{8,30}-[A-Za-z0-9]{16,60}|(?:figd|gsk|xai|pplx|r8|sntry[su]|dop_v1|shp(?:at|ss|ca)|lin_api|ntn|dckr_pat|tvly)[_-][A-Za-z0-9_-]{24,128}")),
    SecretRule("mailgun_key", "key-", shape(r"key-[0-9a-f]{32}")),
    SecretRule("dingtalk_sign", "sec", shape(r"SEC[0-9a-f]{64}")),
    SecretRule("wallet_key", "wif|btc|bitcoin|比特币|私钥|private", shape(r"[5KL][1-9A-HJ-NP-Za-km-z]{50,51}")),
    SecretRule("bare_private_key", "private key|私钥|private_key", re.compile(r"(?<![A-Za-z0-9+/])MII[A-Za-z0-9+/]{60,4000}")),
    SecretRule("vault_token", "hvs.|hvb.|atatt3x|dapi", shape(r"hv[sb]\.[A-Za-z0-9_-]{20,200}|ATATT3x[A-Za-z0-9_=-]{40,250}|dapi[0-9a-f]{32}")),
    SecretRule("jwt", "eyj", shape(r"eyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,4000}(?:\.[A-Za-z0-9_-]{0,2000})?")),
    SecretRule("url_login", "://", re.compile(r"://[^\s/@:\"'<>，。]{0,64}:(?P<v>[^\s/\"'，。]{2,128})@(?=[\w\[])"), is_login),
    SecretRule("url_token", "://", re.compile(r"://(?P<v>[A-Za-z0-9_-]{20,128})(?::[^\s/@]{0,64})?@"), is_token),
    SecretRule("dsn_login", "@tcp(|thin:", re.compile(r"(?<![\w.])[\w.-]{1,40}:(?P<v>[^\s:@]{4,80})@tcp\(|thin:[\w.-]{1,40}/(?P<w>[^\s/@]{4,80})@"), is_login),
    SecretRule("slack_webhook", "hooks.slack.com", re.compile(r"hooks\.slack\.com/(?:services|workflows)/(?P<v>T[A-Za-z0-9_/]{10,160})")),
    SecretRule("discord_webhook", "/api/webhooks", re.compile(r"discord(?:app)?\.com/api/webhooks/\d{5,25}/(?P<v>[\w-]{20,120})")),
    SecretRule("dingtalk_webhook", "oapi.dingtalk", re.compile(r"oapi\.dingtalk\.com/robot/send\?access_token=(?P<v>[\w-]{10,128})")),
    SecretRule("feishu_webhook", "open.feishu|open.larksuite", re.compile(r"open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v?\d?/?hook/(?P<v>[\w-]{10,64})")),
    SecretRule("wecom_webhook", "qyapi.weixin", re.compile(r"qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=(?P<v>[\w-]{10,64})")),
    SecretRule("url_parameter", "?|&", re.compile(r"[?&](?:\w{0,20}(?:token|sig|signature|secret|key)|X-[A-Za-z]{2,5}-Signature|code|auth|sign)=(?P<v>[\w%.+/-]{20,600})"), is_token, needs=LONG_RUN),
    SecretRule("generic_webhook", "hook", words(rf"{HOST}[a-z]{{2,10}}/[\w/.-]{{0,80}}(?:web)?hook[\w/.-]{{0,40}}/(?P<v>[\w-]{{24,160}})"), is_token),
    SecretRule("openssh_key_body", "b3blbnnzac1rzxktdje", re.compile(r"b3BlbnNzaC1rZXktdjE[A-Za-z0-9+/]{20,4000}")),
    SecretRule("nostr_key", "nsec1", shape(r"nsec1[a-z0-9]{40,64}")),
    SecretRule("password_hash", "$|{ssha", re.compile(r"\$[PHS]\$[./\w]{30,60}|\$(?:[156]|apr1)\$(?:rounds=\d{1,9}\$)?[./\w]{1,16}\$[./\w]{20,88}|\$(?:y|gy|7)\$[./\w$]{1,60}\$[./\w]{30,64}|\$2[abxy]?\$\d\d\$[./\w]{50,56}|\$argon2(?:id?|d)\$[\w=,$+/]{40,300}|pbkdf2[_:-]sha\d{1,3}[$:]\d{1,8}[$:][^\s$]{6,64}\$[\w+/=]{20,100}|\{SSHA\d{0,3}\}[\w+/=]{24,140}|SCRAM-SHA-\d{1,3}\$\d{1,6}:[\w+/=$:]{40,300}|\$pbkdf2[\w-]{0,10}\$\d{1,8}\$[\w./]{6,64}\$[\w./]{20,100}|\$scrypt\$[\w=,$+/]{40,300}"), always),
    SecretRule("stored_hash", ":::|ntlm|nt hash|md5", words(r"(?<!\w)(?P<x>md5[0-9a-f]{32})(?!\w)|:[0-9a-f]{32}:(?P<v>[0-9a-f]{32}):::|(?:ntlm|nt)\ hash(?:es)?[\s:：=是is]{0,5}(?P<w>[0-9a-f]{32})(?![0-9a-f])")),
    SecretRule("short_prefix", "_|-|dp.|pat|nral|attct|atctt", shape(r"(?:[spr]k|ak|tk|pat|key|api|apikey|tok|token|secret|access|auth|ghs|dt0c01|jina|ph[cxs]|fw|pcsk|e2b|sbp|sb_secret|vcp|vck|rnd|glc|glsa|nfp|tgp_v1|up|uptime|exa|fal|rpa|rdme|pul|shippo_live|sq0csp|xkeysib|xsmtpsib|heroku|lsv2_[ps][tk]|cfut|cfat|bws|wg|oat|oat01|ory_at|rtk|rpk|sgp|svcs?|ops|usk|usr_key|r8e|vs_key|tvly|vlt|kp)_(?:[0-9a-f]{32,80}(?:_[0-9a-f]{6,20})?|(?=[A-Za-z_-]{0,60}\d)(?=[a-z0-9_-]{0,60}[A-Z])[A-Za-z0-9_-]{22,200})|re_(?=\w{0,30}\d)[A-Za-z0-9]{8}_[A-Za-z0-9]{20,28}|(?:fc|csk|key|api)-(?:[0-9a-f]{32,80}|[a-z0-9]{48})|app-(?=[A-Za-z]{0,20}\d)(?=[a-z0-9]{0,22}[A-Z])[A-Za-z0-9]{24}|dataset-(?=[A-Za-z]{0,20}\d)[A-Za-z0-9]{24}|fastgpt-[A-Za-z0-9]{40,64}|pat[A-Za-z0-9]{12,20}\.[0-9a-f]{64}|CFPAT-[A-Za-z0-9_-]{40,50}|[a-z]{2,8}_(?:live|test|prod)_[A-Za-z0-9]{24,64}|dp\.(?:st|ct)\.[a-z][\w-]{0,30}\.[A-Za-z0-9]{40,44}|ATCTT3x[A-Za-z0-9_=-]{40,250}|[0-9a-f]{40}NRAL"), needs=LONG_RUN),
    SecretRule("long_prefix", "_", shape(r"(?!(?:ch|cus|req|msg|run|thread|asst|job|order|evt|pi|file|call|toolu|sub|img|in|acct|user|usr|wamid|trace|commit|build|sha|prod|txn|price|sess|cs|seti|pm|src|resp|batch|task|hash|md|pk|id|uid|uuid|ref|doc|img|page|node|span|event|blob|v|layer|cache|css|js|module|chunk|bundle|asset|index|style)_)[a-z][a-z0-9]{1,7}_(?:[0-9a-f]{40,80}|(?=[A-Za-z]{0,30}\d)(?=[a-z0-9]{0,30}[A-Z])[A-Za-z0-9]{36,120})"), needs=LONG_RUN),
    SecretRule("hook_path", "hook|/key/|day.app|pushplus|ftqq", re.compile(r"maker\.ifttt\.com/[\w/{}-]{1,80}/key/(?P<v>[\w-]{15,64})|hooks\.zapier\.com/hooks/catch/(?P<w>\d{4,12}/\w{5,20})|api\.day\.app/(?P<x>[A-Za-z0-9]{20,24})|/hooks/(?P<b>[a-z0-9]{26})(?![\w-])|hook\.\w{2,8}\.make\.com/(?P<y>[a-z0-9]{20,40})|/webhook(?:-test)?/(?P<z>[0-9a-f]{8}-[0-9a-f-]{27})")),
    SecretRule("signed_url", "signature=|sig=|appid=|ak=|key=", re.compile(r"[?&;](?:[Ss]ignature|sig|[Xx]-\w{2,8}-[Ss]ignature|q-signature)=(?P<v>[\w%.+/~-]{24,700})|[?&](?:appid|ak|key|subscription-key)=(?P<w>[0-9a-f]{32,64}|[A-Za-z0-9]{32})(?![\w-])")),
    SecretRule("link_secret", "reset|verify|magic|invite|confirm|activat|private-|infura|alchemy", re.compile(r"/(?:reset(?:-?password)?|verify(?:-?email)?|magic(?:-?link)?|invite|confirm|activate)/(?P<v>(?=[A-Za-z_-]{0,60}\d)[A-Za-z0-9_-]{24,400})(?![\w-])|/private-(?P<w>[0-9a-f]{32})/|\binfura\.io/v3/(?P<x>[0-9a-f]{32})|\balchemy\.com/v2/(?P<y>[\w-]{28,40})"), is_token),
    SecretRule("key_material", "prv|kty", re.compile(r"(?<![A-Za-z0-9])(?P<w>[xyz]prv[1-9A-HJ-NP-Za-km-z]{95,112})|\"kty\"[^}\n]{0,400}?\"[dk]\"\s?:\s?\"(?P<v>[\w-]{22,400})\"")),
    SecretRule("otpauth", "otpauth://", re.compile(r"otpauth://[ht]otp/[^\s\"']{0,200}[?&]secret=(?P<v>[A-Z2-7a-z]{16,128})")),
)
# fmt: on
