"""Credentials are found whatever they look like; talk about credentials is not taken for one."""

from __future__ import annotations

import re
import string
import subprocess
import sys
from pathlib import Path

import pytest

from admission.secret_rule import rule_holds
from admission.secret_services import find_bare_key
from admission.secret_vendors import use_rules_of
from admission.secret_words import WORDS, find_told_secret
from admission.secrets import RULES, find_secret
from domain.errors import ConfigurationError
from tests.made_up import ALNUM, HEX, LONG_HEX, PLAIN, PW, UPPER, UUID, made

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

PHRASE, B64 = "velvet-saddle-pickle-lantern", made(ALNUM, 40)
SEED = "ribbon faculty budget pyramid tattoo evoke hollow arctic quantum leopard parrot umbrella"
BASE58 = made("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", 51)

SHAPED += [
    ("vendor_token", "bce-v3/" + "ALTAK-" + made(ALNUM, 22) + "/" + LONG_HEX),
    ("vendor_token", "NRAK" + "-" + made(UPPER, 27)),
    ("vendor_token", "tskey" + "-auth-" + made(ALNUM, 17) + "-" + made(ALNUM, 32)),
    ("dingtalk_sign", "SE" + "C" + made(HEX, 64)),
    ("mailgun_key", "key" + "-" + made(HEX, 32)),
    ("dsn_login", f"ops:{PLAIN}@tcp(mq.example.com:3306)/orders"),
    ("dsn_login", f"jdbc:oracle:thin:ops/{PW}@//db.example.com:1521/ORCL"),
    ("url_parameter", f"https://app.example.com/magic?code={B64}"),
    # Only the base library knows this one.
    ("doppler_api_token", "dp" + ".pt." + made(ALNUM, 43)),
    ("sk_key", "s" + "k-" + made(string.ascii_lowercase, 48)),
]

WORDED = [
    ("discord_bot", "discord bot: MT" + made(ALNUM, 25) + "." + made(ALNUM, 6) + "." + made(ALNUM, 38)),
    ("wallet_key", f"BTC WIF: L{BASE58}"),
    ("bare_private_key", f"支付宝应用私钥:MII{made(ALNUM, 80)}"),
    ("auth_pair", f"requests.get(url, auth=('ops', '{PW}'))"),
    ("cookie_told", f"我的 cookie 是 SESSDATA={LONG_HEX}，帮我写爬虫"),
    ("xml_element", f"<password>{PW}</password>"),
    ("xml_attribute", f'<add key="ApiSecret" value="{B64}" />'),
    ("psk", f'network={{ ssid="Home" psk="{PLAIN}" }}'),
    ("wifi_code", "WIFI:T:WPA;S:Home;P:sunnyside;;"),
    ("proxy_link", "ss" + "://" + made(ALNUM, 48)),
    ("proxy_link", f"trojan://{PLAIN}@198.51.100.7:443"),
    ("manifest_value", f"- name: MINIO_SECRET_KEY\n  value: '{made(ALNUM, 32)}'"),
    ("archive_flag", f"7z x backup.7z -p{PLAIN}"),
    ("combination", "the combo of the lockbox is 57-87-88"),
    ("combination", "保险箱 88-12-45"),
    ("combination", "保险柜密码：左6629 右 8114"),
    ("session_id", "B站 SESSDATA=" + made(HEX, 8) + "%2C1791855181%2C" + made(HEX, 8)),
    ("plain_passphrase", 'the passphrase "harbour biscuit copper quartz 15" unlocks it'),
    ("code_to_use", "Use 472103 to verify your account"),
    ("code_to_use", "472103 用于登录验证"),
    ("mail_login", f"mia@example.com : {PLAIN} try this"),
    ("product_key", "license: YPCH-GMDB-32HW-771A"),
    ("password_word_zh", "密码是 iloveyou，别忘了"),
    ("payment_card", "my card is 4539 1488 0343 6467, exp 09/28"),
    ("card_check_code", "安全码是 331"),
    ("totp_seed", "2FA setup key JBSW Y3DP EHPK 3PXP"),
    ("aws_secret", "aws secret " + made(ALNUM, 39) + "/"),
    ("letter_code", "Steam Guard code: 7QK4M"),
    ("config_login", f"machine files.example.com login ops password {PLAIN}"),
    ("config_login", f"requirepass {PLAIN}"),
    ("pgpass_line", f"db.example.com:5432:orders:erp:{PW}"),
    ("login_pair", "GitLab root/mei" + "mei.2004"),
    ("sql_login", f"CREATE USER 'crm' IDENTIFIED BY '{PLAIN}';"),
    ("piped_password", f"echo '{PLAIN}' | sudo -S reboot"),
    ("piped_password", f"I ran `vault login {PLAIN}` and it hung"),
    ("piped_password", f"echo 'ops:{PLAIN}' | chpasswd"),
    ("piped_password", f"net use Z: {chr(92) * 2}nas{chr(92)}share /user:ops {PLAIN}"),
    ("mail_code", "auth_code=vbvm" + "hpslseiumazl"),
    ("login_flag", f"sqlcmd -S db -U sa -P {PLAIN}"),
    ("mail_code", "QQ邮箱授权码 czhm" + "eopcexpayjue"),
    ("share_code", "网盘提取码: yp" + "7j"),
    ("plain_passphrase", "pw marble harbor cookie lemon"),
    ("token_assignment", f"JWT_SECRET={PHRASE}"),
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

CRYPT = made(ALNUM + "./", 43)
SCRAMBLED, WEAK, CODE = "qXvRmWtK" + "bZ", "coffee" + "_kRGMA", "818649"

SHAPED += [
    ("openssh_key_body", "b3BlbnNzaC1rZXktdjE" + "AAAAA" + made(ALNUM, 60)),
    ("nostr_key", "nsec1" + made(string.ascii_lowercase + string.digits, 58)),
    ("password_hash", "$" + "6$" + made(ALNUM, 16) + "$" + CRYPT * 2),
    ("password_hash", "$" + "y$j9T$" + made(ALNUM, 22) + "$" + CRYPT),
    ("password_hash", "$" + "2b$12$" + made(ALNUM, 53)),
    ("password_hash", "$" + "argon2id$v=19$m=65536,t=3,p=4$" + made(ALNUM, 22) + "$" + made(ALNUM, 43)),
    ("password_hash", "$" + "P$B" + made(ALNUM, 31)),
    ("password_hash", "{SS" + "HA}" + made(ALNUM, 32)),
    ("stored_hash", "postgres: md5" + made(HEX, 32)),
    ("stored_hash", "NTLM hash " + made(HEX, 32)),
    ("short_prefix", "sk" + "_" + made(HEX, 48)),
    ("short_prefix", "cal" + "_live_" + made(HEX, 32)),
    ("long_prefix", "abcd" + "_" + made(ALNUM, 40)),
    ("hook_path", "https://hooks.zapier.com/hooks/" + "catch/1234567/a1b2c3d/"),
    ("hook_path", "https://chat.example.com/hooks/" + made(string.ascii_lowercase, 26)),
    ("link_secret", "https://app.example.com/reset-password/" + made(ALNUM, 40)),
    ("link_secret", "https://mainnet.infura.io/v3/" + made(HEX, 32)),
    ("key_material", "xp" + "rv9s21ZrQH143K" + made(BASE58, 97)),
    ("key_material", '{"kty": "oct", "k": "' + made(ALNUM, 43) + '"}'),
    ("otpauth", "otpauth://totp/GitHub:me?" + "secret=" + made("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)),
]

WORDED += [
    ("signed_url", "https://a.blob.core.windows.net/c/f?sv=2022-11-02&sp=r&" + "sig=" + made(ALNUM, 43) + "%3D"),
    ("env_password", "DB_PASSWORD=" + WEAK),
    ("env_password", "DB_PASSWORD: silver-jjamg"),
    ("env_password", "PASS=" + SCRAMBLED),
    ("name_assignment", "redis.password=" + WEAK),
    ("web_login", f"curl -u admin:{WEAK} https://ci.example.com"),
    ("web_login", f"wget --http-password={WEAK} https://ci.example.com"),
    ("database_login", f"mysql -u root -p{WEAK} shop"),
    ("database_login", f"redis-cli -h cache -a {WEAK} ping"),
    ("shell_login", f"sshpass -p {WEAK} ssh root@db"),
    ("shell_login", f"rabbitmqctl add_user shop {WEAK}"),
    ("service_login", f"docker login -u ops -p {WEAK} registry.example.com"),
    ("service_login", f"smbclient //nas/share -U ops%{WEAK}"),
    ("sql_login", f"SET PASSWORD FOR 'crm'@'%' = '{WEAK}'"),
    ("piped_password", f'expect "password:"; send "{WEAK}{chr(92)}r"'),
    ("password_option", f"svn co https://svn.example.com --username ops --password {WEAK}"),
    ("oracle_login", f"app/{WEAK}@//db:1521/ORCL"),
    ("kept_login", f"login ops{chr(10)}password {SCRAMBLED}"),
    ("sealed_value", "kind: Secret\ndata:\n  password: " + made(ALNUM, 20)),
    ("vendor_header", "DD-API-KEY: " + made(HEX, 32)),
    ("basic_login", "Basic " + "b3BzOlhrOS1jYW5hcnktNzc="),
    ("session_told", "session id is " + made(HEX, 40)),
    ("session_told", "用这个 sid " + made(HEX, 32)),
    ("ldap_bind", f"cn=admin,dc=example {SCRAMBLED}"),
    ("told_hash", "密码的 sha256 是 " + made(HEX, 64)),
    ("message_code", "短信来了，" + CODE),
    ("message_code", f"got a text: {CODE}. Enter that as the code"),
    ("shown_code", f"Okta says {CODE}"),
    ("shown_code", f"It says {CODE}, type that"),
    ("shown_code", f"登录的时候输 {CODE}，一分钟后失效"),
    ("steam_guard", "Steam Guard: KXMQM"),
    ("dashed_code", "WhatsApp code: 495-863"),
    ("code_named_next", f"{CODE}. Enter that as the code"),
    ("code_in_time", f"{CODE}，五分钟内有效"),
    ("code_list", "备用码：28706091、57314482、90352217"),
    ("code_list", "backup codes:\n1. 28706091\n2. 57314482"),
    ("sign_in_pair", f"Sign in with deploy and {PW}"),
    ("sign_in_pair", "new credentials are deploy and hammer-hwkbm!"),
    ("sign_in_pair", "Sign in with mchen and jasmine-riknf"),
    ("sign_in_pair", "Sign in with mchen and winter-bgbia"),
    ("handed_instead", "旧密码 " + SCRAMBLED),
    ("given_instead", f"they gave me {PW} instead"),
    ("used_instead", f"use {PW} instead"),
    ("password_beside", "密码 " + SCRAMBLED),
    ("weak_word", "the password is just sunshine"),
    ("quoted_phrase", 'the vault opens with "harbour biscuit copper quartz"'),
    ("bare_phrase", "密码短语：harbour biscuit copper quartz"),
    ("bare_phrase", "use the words harbour biscuit copper quartz as the password"),
    ("device_code", "phone unlocks with 312019"),
    ("device_code", "入户门 219392#"),
    ("device_code", "拉杆箱密码 847"),
    ("pin", "银行密码就是生日 847638"),
    ("security_answer", "密保答案：旺财"),
    ("security_answer", "the answer to my security question: Marigold"),
    ("security_fact", "security question (mother's maiden name) = Novak"),
    ("login_beside", f"jsmith / {PW}"),
    ("known_user_pair", "Jenkins: deploy / lemon-s88er"),
    ("place_login", f"远程桌面 deploy {PW}"),
    ("spelled_out", "the password is h, k, 7, q, 2, m, capital Z"),
    ("kept_words", f"keep this for me: {SEED}"),
    ("words_alone", SEED),
    ("scanned_seed", "扫不了码就手动输入 JBSWY3DPEHPK3PXP"),
    ("card_and_date", "4539 1488 0343 6467 09/28"),
    ("code_on_card", "背面三位 331"),
]

BARE = [
    f"Datadog 接入了，{made(HEX, 32)}",
    f"Azure OpenAI: {made(HEX, 32)}, endpoint eastus2",
    f"for Cloudflare use {B64}",
    f"火山引擎接入用 {UUID}",
    f"put {made(HEX, 48)} in the env file",
    f"Mailgun is {made(HEX, 32)}-{made(HEX, 8)}-{made(HEX, 8)}",
]


@pytest.mark.parametrize("text", BARE)
def test_a_bare_key_is_found_by_the_name_of_its_service(text: str) -> None:
    assert find_bare_key(text) == "bare_key"
    assert find_secret(text) is not None


TOLD = [
    ("told_password", f"I changed my password from the old one to `{PW}` this morning"),
    ("told_password", f"{PW} is the password for the billing portal"),
    ("told_password", f"我所有网站都用{PLAIN}当密码，是不是不太安全"),
    ("told_password", f"My Grafana password? It's {PLAIN}. Please save it."),
    ("told_password", f"Is {PHRASE} a strong password? I use it everywhere."),
    ("told_password", f"VPN 的 shared secret 用 {PW}"),
    ("told_password", "changed my password from whatever it was to c@ctus" + "678!"),
    ("told_login", f"just log in as backup with {PLAIN}, it should work"),
    ("told_login", f"login for Steam:\nwangwei\n{PW}"),
    ("told_login", f"creds are jlee:{PW}"),
    ("told_login", f"李姐说要用{PLAIN}才能进去"),
    ("told_key", f"Use {LONG_HEX} as the api key when you call it"),
    ("told_key", f"刚申请的 key 来了 {LONG_HEX} 你试试能不能通"),
    ("told_key", f"{B64} 是七牛控制台刚生成的 SecretKey"),
    ("told_key", f"m0-{B64} 这是我的 key"),
    ("told_code", "988987 is your Google verification code"),
    ("told_code", "they sent me a six digit sign-in code\n568708"),
    ("told_code", "谷歌验证器现在显示647 460,快输"),
    ("told_code", "<#> 0267 is your Uber code. Never share this code."),
    ("told_pin", "421986 is the PIN to unlock my phone"),
    ("told_pin", "for the safe you dial 084282 and turn left"),
    ("told_pin", "the lockbox by the gate opens to 5580"),
    ("told_password", "my password for Netflix is cactus-pixel-meadow-54"),
    ("told_wifi", f"server vpn.example.com, user sara, pre-shared key {PLAIN}, then it connects"),
    ("told_pin", "door code is 8516#"),
    ("told_pin", "Face ID 坏了，passcode 593143，先这样"),
    ("told_open", f"PDF 加密了,用 {PW} 打开"),
    ("told_open", f"I encrypted the volume with {PW}"),
    ("told_value", f"for the report, enter {PW} and wait"),
    ("told_value", "just type sqnR^edzOr="),
    ("told_password", "路由器管理密码也一样，MA6524.biscuit"),
    ("told_password", "mima shi lele520"),
    ("told_code", "2fa says 960309, hurry up"),
    ("told_key", "VPN: user jsmith, secret " + PW),
    ("told_pin", "行李箱密码锁设的 9198"),
    ("told_open", "backup / F1Ob5PL005_aa3 should get you into db01"),
    ("told_password", "my pasword is " + PW),
    ("told_password", "密码我发过你，就是那个sunset-walnut-panda-27"),
    ("told_wifi", "民宿的 WiFi 叫 sunshine，连的时候输 14410357"),
    ("told_wifi", f"connect to GuestNet with {PLAIN}"),
    ("told_recovery_code", "if I lose my phone, use 2326-7557-0898 as the backup code"),
    ("told_recovery_code", "恢复码：bfba yndu ynq9 1zn7，手机丢了就靠它"),
    ("told_recovery_code", "Gmail app password: fivv ivkt ouih hpjq"),
    ("told_seed_phrase", f"幫我記助記詞「{SEED}」，順序不能亂"),
    ("told_seed_phrase", f"I restored the wallet with {SEED} and the balance shows zero"),
]


@pytest.mark.parametrize(("rule", "text"), TOLD)
def test_a_value_is_found_by_the_sentence_that_hands_it_over(rule: str, text: str) -> None:
    assert find_told_secret(text) == rule
    assert find_secret(text) is not None


def test_every_rule_has_a_row_here() -> None:
    assert {row.name for row in RULES} <= {rule for rule, _ in [*SHAPED, *WORDED]}
    assert {row.name for row in WORDS} <= {rule for rule, _ in TOLD}


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("NousResearch/hermes-agent#67691", "测试站的密码是 Xk9-canary-77；一切照旧"),
        ("NousResearch/hermes-agent#67691", "Password for staging: Zq4canary88"),
        ("NousResearch/hermes-agent#79097", f"m0-{B64} 这是我的 key"),
    ],
)
def test_secrets_that_others_missed(source: str, text: str) -> None:
    assert find_secret(text) is not None


def test_the_base_library_is_not_used_in_a_child_of_a_process_that_used_it() -> None:
    script = (
        "import os, sys\n"
        "from admission.secrets import find_secret\n"
        "find_secret('hello')\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    try:\n"
        "        find_secret('hello')\n"
        "    except RuntimeError:\n"
        "        os._exit(7)\n"
        "    os._exit(0)\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    assert subprocess.run([sys.executable, "-c", script], timeout=60, check=False).returncode == 7


def test_rules_of_ones_own_are_looked_for_as_well(tmp_path: Path) -> None:
    own = tmp_path / "rules.toml"
    own.write_text("[[rules]]\nid = 'acme-badge'\nregex = '''badge-[a-z]{12}'''\nkeywords = ['badge-']\n")
    text = "这是我的 badge-" + "abcdefghijkl"
    try:
        assert find_secret(text) is None
        use_rules_of(own)
        assert find_secret(text) == "acme_badge"
    finally:
        use_rules_of(None)
    assert find_secret(text) is None


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (None, "No such file"),
        ("not toml [", "Expected"),
        ("title = 'x'", "no [[rules]]"),
        ("[[rules]]\nregex = 'x'", "rule 1 has no id"),
        ("[[rules]]\nid = 'x'", "rule 1 has no regex"),
        ("[[rules]]\nid = 'x'\nregex = '('", "x: invalid regex"),
        ("[[rules]]\nid = 'x'\nregex = '(?<=a)b'", "x: invalid regex"),
    ],
)
def test_a_bad_file_of_rules_stops_the_start(tmp_path: Path, content: str | None, rule: str) -> None:
    own = tmp_path / "rules.toml"
    if content is not None:
        own.write_text(content)
    with pytest.raises(ConfigurationError, match=re.escape(rule)) as raised:
        use_rules_of(own)
    assert "POCO_SECRET_RULES" in str(raised.value)


@pytest.mark.parametrize(("rule", "secret"), SHAPED)
def test_a_token_with_a_telling_shape_is_found(rule: str, secret: str) -> None:
    assert find_secret(f"以后部署 {secret}，团队共用") == rule


@pytest.mark.parametrize(("rule", "text"), WORDED)
def test_a_secret_is_found_by_the_words_around_it(rule: str, text: str) -> None:
    found = find_secret(text)
    # Several wordy rules may see the same value; the one that is meant must be among them.
    assert found is not None
    pattern = next(row for row in RULES if row.name == rule)
    assert rule_holds(pattern, text)


def test_an_invisible_or_full_width_disguise_does_not_hide_a_secret() -> None:
    token = "gh" + "p_" + made(ALNUM, 36)
    assert find_secret(token[:9] + "\u200b" + token[9:]) == "github_token"
    assert find_secret("".join(chr(ord(char) + 0xFEE0) for char in token)) == "github_token"


def test_rule_names_are_unique() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)
