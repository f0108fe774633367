"""Credentials are found whatever they look like; talk about credentials is not taken for one."""

from __future__ import annotations

import random
import string

import pytest

from admission.secrets import RULES, find_secret

HEX, ALNUM, UPPER = "0123456789abcdef", string.ascii_letters + string.digits, string.ascii_uppercase + string.digits


def made(alphabet: str, length: int) -> str:
    """A fixed pseudo-random value, put together here so that no file holds one."""
    return "".join(random.Random(f"{alphabet}{length}").choices(alphabet, k=length))


PW = "Qm" + made(ALNUM, 7) + "@" + made(string.digits, 3)
PLAIN = "vfmkxt" + "4399"
LONG_HEX, UUID = made(HEX, 40), "-".join(made(HEX, n) for n in (8, 4, 4, 4, 12))

SHAPED = [
    ("aws_key_id", "AK" + "IA" + made(UPPER, 16)),
    ("sk_key", "s" + "k-" + made(HEX, 32)),
    ("sk_key", "s" + "k-proj-" + made(ALNUM, 74)),
    ("sk_key", "s" + "k-ant-api03-" + made(ALNUM, 93)),
    ("github_token", "gh" + "p_" + made(ALNUM, 36)),
    ("github_token", "github" + "_pat_" + made(ALNUM, 22) + "_" + made(ALNUM, 59)),
    ("gitlab_token", "gl" + "pat-" + made(ALNUM, 20)),
    ("slack_token", "xo" + "xb-" + made(string.digits, 12) + "-" + made(ALNUM, 24)),
    ("stripe_key", "sk" + "_live_" + made(ALNUM, 24)),
    ("google_key", "AI" + "za" + made(ALNUM, 35)),
    ("telegram_bot", "1234567890:" + "AA" + made(ALNUM, 33)),
    ("npm_token", "np" + "m_" + made(ALNUM, 36)),
    ("pypi_token", "py" + "pi-AgEI" + made(ALNUM, 70)),
    ("huggingface_token", "h" + "f_" + made(ALNUM, 34)),
    ("sendgrid_key", "S" + "G." + made(ALNUM, 22) + "." + made(ALNUM, 43)),
    ("twilio_key", "S" + "K" + made(HEX, 32)),
    ("azure_key", made(ALNUM, 86) + "=="),
    ("aliyun_key_id", "LT" + "AI5t" + made(ALNUM, 18)),
    ("tencent_key_id", "AK" + "ID" + made(ALNUM, 32)),
    ("volcengine_key_id", "AK" + "LT" + made(ALNUM, 32)),
    ("zhipu_key", made(HEX, 32) + "." + made(ALNUM, 16)),
    ("vendor_token", "gs" + "k_" + made(ALNUM, 52)),
    ("vault_token", "hv" + "s." + made(ALNUM, 24)),
    ("age_key", "AGE-SECRET" + "-KEY-1" + made(UPPER, 58)),
    ("putty_key", "PuTTY-User" + "-Key-File-2: ssh-rsa"),
    ("jwt", "ey" + "J" + made(ALNUM, 24) + "." + made(ALNUM, 40) + "." + made(ALNUM, 43)),
    ("private_key_block", "-" * 5 + "BEGIN RSA PRIV" + "ATE KEY" + "-" * 5 + "\nMII"),
    ("private_key_block", "-" * 5 + "BEGIN PGP PRIV" + "ATE KEY BLOCK" + "-" * 5),
    ("slack_webhook", "https://hooks." + "slack.com/services/T" + made(UPPER, 8) + "/B" + made(UPPER, 8)),
    ("discord_webhook", "https://discord.com/api/web" + "hooks/123456789/" + made(ALNUM, 60)),
    ("dingtalk_webhook", "https://oapi.dingtalk.com/robot/send?access" + "_token=" + made(HEX, 64)),
    ("feishu_webhook", "https://open.feishu.cn/open-apis/bot/v2/" + "hook/" + UUID),
    ("wecom_webhook", "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?" + "key=" + UUID),
    ("generic_webhook", "https://ci.example.com/web" + "hook/" + LONG_HEX),
    ("url_login", f"postgres://svc:{PW}@db.example.com:5432/shop"),
    ("url_login", f"redis://:{PW}@cache.example.com:6379/0"),
    ("url_token", f"https://{LONG_HEX}@errors.example.com/12"),
]

WORDED = [
    ("password_zh", f"数据库密码是 {PW}，以后都用它"),
    ("password_zh", f"把 root 的密码改成了{PW}"),
    ("password_zh", f"口令（{PLAIN}）"),
    ("password_zh", f"管理员密码统一用 {PW}"),
    ("password_zh", "密码：123456"),
    ("password_next", f"账号 admin 密码 {PW}"),
    ("token_zh", f"访问令牌为 {LONG_HEX}，有效期一年"),
    ("token_next", f"以后用令牌 {UUID} 拉代码"),
    ("password_en", f"my password is {PLAIN}."),
    ("password_en", f"the password for prod was changed to {PW}"),
    ("token_en", f"set the token to {LONG_HEX}"),
    ("use_password", f"log in with password {PW}"),
    ("password_assignment", f"password={PW}"),
    ("password_assignment", "PASSWORD = hunter" + "2"),
    ("password_assignment", f'{{"db_password": "{PW}"}}'),
    ("token_assignment", f'api_key = "{LONG_HEX}"'),
    ("token_assignment", f"AccountKey={LONG_HEX}"),
    ("ak_sk_assignment", f"AK: {LONG_HEX}"),
    ("password_flag", f"mysql -u root -p{PW} shop"),
    ("login_flag", f"curl -u admin:{PW} http://x"),
    ("long_flag", f"--db-password {PW}"),
    ("bearer", f"send Bearer {LONG_HEX}"),
    ("authorization", f"Authorization: Basic {made(ALNUM, 24)}"),
    ("auth_header", f"x-auth: {LONG_HEX}"),
    ("cookie", f"Cookie: theme=dark; sid={LONG_HEX}"),
    ("session_id", f"PHPSESSID={LONG_HEX}"),
    ("one_time_code", "验证码 483920"),
    ("one_time_code", "your verification code is 483920"),
    ("pin", "my PIN is 4821"),
    ("pin", "门禁密码 9527"),
]


@pytest.mark.parametrize(("rule", "secret"), SHAPED)
def test_a_token_with_a_telling_shape_is_found(rule: str, secret: str) -> None:
    assert find_secret(f"请记住 {secret}，团队共用") == rule


@pytest.mark.parametrize(("rule", "text"), WORDED)
def test_a_secret_is_found_by_the_words_around_it(rule: str, text: str) -> None:
    found = find_secret(text)
    # Several wordy rules may see the same value; the one that is meant must be among them.
    assert found is not None
    pattern = next(row for row in RULES if row.name == rule)
    assert any(pattern.check(match["v"]) for match in pattern.pattern.finditer(text))


@pytest.mark.parametrize(
    "text",
    [
        "password=required",
        "use <your-key> here",
        "sk-xxxx",
        "s" + "k-" + "x" * 40,
        "密码：******",
        "token=${TOKEN}",
        "api_key: <YOUR_API_KEY>",
        "api_key = os.environ['API_KEY']",
        "password = request.form['password']",
        "the password field must be 12 characters",
        "my password is strong",
        "password is case-sensitive",
        "password_min_length=12",
        "密码长度至少 8 位",
        "密码为 8-16 位",
        "密码策略是 AES-256 加密",
        "密码每 90 天更换一次",
        "忘记密码",
        "密码放在 1Password 里",
        "secret sauce: patience",
        "Secret Santa is organised by me.",
        "token 过期时间是 2 小时",
        "token 上限是 800000",
        "max_tokens=16384",
        "token is base64-encoded",
        "验证码有效期 300 秒",
        "验证码 3000 毫秒后失效",
        "PIN 码是 6 位数字",
        "the pin is on the board",
        f"线上基线固定在提交 {LONG_HEX}",
        f"租户编号 {UUID} 对应华东区",
        "http://user:password@host",
    ],
)
def test_talk_about_secrets_is_no_secret(text: str) -> None:
    assert find_secret(text) is None


def test_an_invisible_or_full_width_disguise_does_not_hide_a_secret() -> None:
    token = "gh" + "p_" + made(ALNUM, 36)
    assert find_secret(token[:9] + "\u200b" + token[9:]) == "github_token"
    assert find_secret("".join(chr(ord(char) + 0xFEE0) for char in token)) == "github_token"


def test_rule_names_are_unique() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)
