"""Secrets that a machine is given: assignments, headers, cookies, options of commands, and lines of configuration."""

from __future__ import annotations

import re

from admission.secret_forms import is_basic_login, is_encoded, is_session
from admission.secret_rule import EN_KEY, EN_PW, SecretRule, words
from admission.secret_values import (
    is_key_text,
    is_login,
    is_login_pair,
    is_odd_password,
    is_option,
    is_password,
    is_token,
    is_told_password,
)

QUOTED = r"""["']?\]?[ \t]{0,4}(?:=>|:=|==|=|:|：)[ \t]{0,4}["'`]{0,3}(?P<v>[^\s"'`,;&，。；]{4,400})"""
# A name that goes on like this holds a setting of the secret, not the secret.
SETTING = r"""(?![\w-]{0,24}(?:len|min|max|expir|ttl|age|limit|count|size|policy|hash|type|field|file|path|ur[il]|_name|-name
    |_id\b|-id\b|version|days|timeout|budget|iz|usage|price|rotat|reset|hint|strength|cost))"""

# ruff: noqa: E501 - a row of the table stays on one line
# fmt: off
ASSIGNED: tuple[SecretRule, ...] = (
    SecretRule("bearer", "bearer", words(r"(?<![a-z0-9_])bearer[ \t]{1,4}(?P<v>[\w.~+/-]{8,4000}={0,2})"), is_token),
    SecretRule("authorization", "authorization", words(r"authorization[\"']?[ \t]{0,4}[:=：][ \t]{0,4}[\"']?(?:[a-z-]{1,20}[ \t]{1,4})?(?P<v>[^\s\"',;]{8,400})"), is_token),
    SecretRule("auth_pair", "auth", re.compile(r"\bauth ?= ?\( ?[\"'][^\"'\n]{1,60}[\"'], ?[\"'](?P<v>[^\"'\n]{4,128})"), is_password),
    SecretRule("auth_header", "x-", words(r"\bx-[a-z-]{0,30}(?:key|token|secret|auth)[\"']?[ \t]{0,4}:[ \t]{0,4}[\"']?(?P<v>[^\s\"',;]{6,400})"), is_token),
    SecretRule("cookie", "cookie", words(r"(?<![a-z0-9_])cookies?[\"']?\s{0,4}[:=：]\s{0,4}[\"']?(?:[\w.-]{1,60}=[^\s;\"']{0,200};\s{0,4}){0,8}[\w.-]{1,60}=(?P<v>[^\s;\"']{8,400})"), is_token),
    SecretRule("cookie_told", "cookie", words(r"(?<![a-z0-9_])cookies?(?![a-z])[\"']?[\s\u4e00-\u9fff]{0,6}(?:is|[:=：{]|是|为)?[\s\"'{]{0,6}[\w.-]{2,60}[\"']?[=:]\s?[\"']?(?P<v>[^\s;\"',]{16,400})"), is_token),
    SecretRule("session_id", "sess|sid|csrf|jct|li_at|__secure|logged_in", words(r"(?<![a-z0-9_-])(?:[\w-]{0,12}sess(?:ion|data)?(?:_?id)?|sid|csrf_?token|bili_jct|li_at|__Secure-[\w-]{1,30}|wordpress_logged_in_\w{1,40})[ \t]{0,2}[=:][ \t]{0,2}(?P<v>[\w.%+/*-]{16,400})"), is_token),
    SecretRule("password_assignment", "pas|pwd|psw|p/w", words(rf"(?<!tests\ )(?<!test\ ){EN_PW}{SETTING}[\w-]{{0,24}}{QUOTED}"), is_told_password),
    SecretRule("token_assignment", "secret|token|key|credential", words(rf"{EN_KEY}{SETTING}[\w-]{{0,24}}{QUOTED}"), is_key_text),
    SecretRule("xml_element", "<", words(r"<(?:\w{0,20}(?:password|passwd|secret|token|api-?key))>(?P<v>[^<\s]{6,200})</"), is_password),
    SecretRule("xml_attribute", "value=", words(rf"(?:{EN_PW}|{EN_KEY})[\w.-]{{0,24}}[\"']\s{{1,4}}value=[\"'](?P<v>[^\"'\s]{{4,200}})"), is_password),
    SecretRule("psk", "psk", words(r"(?<![a-z])psk[\"']?\s?[=:]\s?[\"']?(?P<v>[^\s\"';]{8,64})"), is_password),
    SecretRule("wifi_code", "wifi:", words(r"wifi:[^\n]{0,120}?[;:]p:(?P<v>[^;\n]{4,64});")),
    SecretRule("proxy_link", "ss://|ssr://|vmess://|trojan://|vless://|hysteria", words(r"(?<![a-z0-9])(?:ssr?|vmess)://(?P<v>[a-z0-9+/=_-]{16,2000})|(?<![a-z0-9])(?:trojan|vless|hysteria2?)://(?P<w>[^\s@/]{6,128})@")),
    SecretRule("manifest_value", "value:", words(r"name:\s?[\"']?[\w.-]{0,40}(?:secret|token|passwd|password|api_?key|access_?key)[\w.-]{0,12}[\"']?\s{1,40}value:\s?[\"']?(?P<v>[^\s\"']{6,400})"), is_password),
    SecretRule("archive_flag", "-p", re.compile(r"\b(?:7z[ar]?|zip|unzip|rar|unrar)\b[^\n]{0,160}?[ \t]-[pP][ \t]?(?P<v>[^\s-]\S{3,128})"), is_password),
    SecretRule("mail_login", "@", words(r"[\w.+-]{1,60}@(?:[\w-]{1,60}\.){1,5}[a-z]{2,10}\s?(?:[:|/：]|-{2,4})\s?(?P<v>[!-~]{8,64})(?!\S)"), is_token),
    SecretRule("config_login", "machine|requirepass", words(r"\bmachine\s[^\n]{1,120}?\spassword\s{1,4}(?P<v>\S{4,128})|\brequirepass\s{1,4}(?P<w>\S{4,128})"), is_password),
    SecretRule("pgpass_line", ":*:|:5432:|:6432:|:3306:", re.compile(r"(?<![\w.*:-])[\w.*-]{1,80}:(?:\d{4,5}|\*):[\w.*-]{1,40}:[\w.*-]{1,40}:(?P<v>[^\s:]{4,128})"), is_login),
    SecretRule("env_password", "_pass|_pw|pass=", re.compile(r"(?<![\w.$/{-])(?:(?:[A-Z][A-Z0-9]{0,30}_){1,5}(?:PASSWORD|PASSWD|PASS|PWD?)[\"']?\s?[=:]|(?:PASSWORD|PASSWD|PASS)=)\s?[\"']?(?P<v>(?=[^\s\"']{0,60}[A-Za-z])[^\s\"'`,;&|，。；)$<{/~.][^\s\"'`,;&|，。；)]{5,200})"), is_login),
    SecretRule("login_pair", "root|admin|sa |sa/|postgres", words(r"(?<![\w/.~-])(?:root|admin(?:istrator)?|sa|postgres)\s?/\s?(?P<v>[!-~]{5,64})"), is_login_pair),
    SecretRule("ak_sk_assignment", "ak|sk", words(r"(?<![a-z0-9])(?:ak|sk)[ \t]{0,3}[:=：是为][ \t\"']{0,3}(?P<v>[a-z0-9+/=_-]{16,128})"), is_token),
    SecretRule("password_flag", "mysql|mariadb|sshpass|mongo|redis-cli", re.compile(r"\b(?:mysql\w{0,6}|mariadb|sshpass|mongo\w{0,8}|redis-cli)\b[^\n]{0,160}?[ \t]-[pa](?![ \t]\d{2,5}(?!\S))[ \t]?[\"']?(?P<v>[^\s\"'-]\S{3,128})"), is_told_password),
    SecretRule("login_flag", "docker |podman |helm |az |oc |curl |wget |http |sqlcmd |psexec|smbclient |ldap|openssl ", re.compile(r"\b(?:docker|podman|helm|az|oc|curl|wget|http|sqlcmd|psexec|smbclient|ldap\w{3,8}|openssl)\b[^\n]{0,160}?[ \t](?:-(?:p|P|w|k|pass)[ \t](?:pass:)?(?!\d{2,5}[:\s])|(?:-u|--user)[ \t][\w.@-]{1,60}:)(?P<v>[^\s:/]{4,128})"), is_told_password),
    SecretRule("sql_login", "identified by|with password|set password", words(r"(?:identified\ by|with\ password)\s{1,4}'(?P<v>[^'\n]{4,128})'|\bset\ password\s(?:for\s\S{1,80}\s)?=\s?'(?P<w>[^'\n]{4,128})'"), is_login),
    SecretRule("piped_password", "sudo|net us|vault login|passwd|send \"", words(r"echo\s[\"']?(?P<v>[^\s\"'|]{4,64})[\"']?\s?\|\s?sudo|echo\s[\"']?[\w.-]{1,40}:(?P<y>[^\s\"'|]{4,64})[\"']?\s?\|\s?(?:sudo\s)?chpasswd|\bnet\ use\s[^\n]{1,120}?/user:\S{1,60}\s(?P<z>[^\s/\\]{4,64})|\bnet\ use\s[^\n]{1,120}?\s(?P<w>[^\s/\\]{4,64})\s/user:|\bnet\ user\s[\w.-]{1,40}\s(?P<a>[^\s/*]{4,64})|\bhtpasswd\s[^\n]{1,80}?\s-?[\w.-]{1,40}\s(?P<b>[^\s-]\S{3,64})(?=\s|\Z)|\bsend\s\"(?P<c>[^\"\\\n]{4,64})\\{1,2}[rn]\"|\bvault\ login\s(?P<x>[^\s`-]\S{5,120})"), is_password),
    SecretRule("long_flag", "--", words(r"--(?:[a-z]{1,12}-){0,2}(?:password|passwd|pass|token|secret|api-key)[ =][\"']?(?P<v>[^\s\"']{4,200})"), is_password),
    SecretRule("name_assignment", "pass|pw", re.compile(r"(?<![\w.$/-])(?!(?:OLD)?PWD=/|(?:en)?compass|bypass|trespass|surpass|overpass|underpass)(?:[A-Za-z][A-Za-z0-9]{0,30}[_.-]){0,4}(?:[A-Z]{0,12}PASS(?:WORD|WD|PHRASE)?|[A-Z]{0,12}PWD?|[a-z]{0,12}pass(?=\s?[=:])|[a-z]{0,12}Pass(?:word|wd)|[a-z]{0,12}P[Ww]d?|pass(?:word|wd))(?:_(?!FILE|MIN|MAX|LEN|RESET|POLICY|HINT|TTL|EXP|AGE)[A-Z]{1,12})?(?:\s?=\s?|\s?:\s|\s)[\"']?(?P<v>[^\s\"'`,;&|，。；)]{6,200})"), is_odd_password),
    SecretRule("web_login", "curl |wget |http |https |ab |hey ", re.compile(r"\b(?:curl|https?|wget|ab|hey)\b[^\n]{0,160}?[ \t](?:-u|--user|-a|-U|--proxy-user)[ =]?[\"']?[\w.@\\-]{1,60}:(?P<v>[^\s:\"'$]{4,128})|\bwget\b[^\n]{0,80}?--(?:http-|ftp-|proxy-)?password[ =][\"']?(?P<w>[^\s\"'$]{4,128})"), is_login),
    SecretRule("database_login", "redis-cli|mysql|mariadb|sqlplus|impdp|expdp|sqlldr|pgpassword|mysql_pwd|rediscli_auth", re.compile(r"\bredis-cli\b[^\n]{0,120}?[ \t](?:-a|--pass)[ \t][\"']?(?P<y>[^\s\"'$]{4,128})|\b(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n]{0,120}?[ \t]-p[\"']?(?P<c>[^\s\"'$-][^\s\"'$]{3,128})|\b(?:sqlplus|impdp|expdp|sqlldr)\s[\w.-]{1,40}/(?P<f>[^\s@\"'$]{4,64})@|\b(?:PGPASSWORD|MYSQL_PWD|REDISCLI_AUTH)=[\"']?(?P<h>[^\s\"'$]{4,128})"), is_login),
    SecretRule("shell_login", "sshpass|chpasswd|passwd|ldap|freerdp|storepass|keypass|rabbitmqctl|cypher-shell|influx", re.compile(r"\bsshpass[ \t]{1,3}-p[ \t]?[\"']?(?P<x>[^\s\"'$]{4,128})|\bSSHPASS=[\"']?(?P<h>[^\s\"'$]{4,128})|\bchpasswd\b[^\n]{0,10}<<<?\s?[\"']?[\w.-]{1,40}:(?P<d>[^\s\"'$]{4,128})|echo\s[\"']?(?P<e>[^\s\"'$|]{4,64})[\"']?\s?\|\s?(?:sudo\s)?passwd\s|\bldap\w{3,8}\b[^\n]{0,120}?[ \t]-w[ \t][\"']?(?P<g>[^\s\"'$]{4,128})|freerdp\b[^\n]{0,120}?[ \t]/p:[\"']?(?P<i>[^\s\"'$]{4,128})|-(?:store|key)pass[ :][\"']?(?P<j>[^\s\"'$]{4,128})|\brabbitmqctl\s(?:add_user|change_password)\s[\w.-]{1,40}\s(?P<k>[^\s\"'$]{4,128})|\b(?:cypher-shell|influx)\b[^\n]{0,120}?[ \t]-p(?:assword)?[ \t](?P<l>[^\s\"'$]{4,128})"), is_login),
    SecretRule("service_login", "docker|podman|helm|oras|skopeo|lftp|smbclient|rpcclient|smbmap|net rpc", re.compile(r"\b(?:docker|podman|helm|oras|skopeo)\b[^\n]{0,40}?\blogin\b[^\n]{0,80}?[ \t](?:-p|--password)[ =][\"']?(?P<z>[^\s\"'$-][^\s\"'$]{3,128})|\blftp\b[^\n]{0,40}?-u[ \t][\w.@-]{1,40},(?P<a>[^\s\"'$]{4,128})|\b(?:smbclient|rpcclient|smbmap|net rpc)\b[^\n]{0,80}?-U[ \t][\"']?[\w.\\-]{1,40}%(?P<b>[^\s\"'$]{4,128})"), is_login),
    SecretRule("password_option", "--pass|-pass", re.compile(r"(?<!\w)--?(?:[a-z]{1,12}-){0,2}pass(?:word|wd|phrase)?[ =][\"']?(?P<v>[^\s\"'`,;)$<]{6,128})"), is_option),
    SecretRule("oracle_login", "@//", re.compile(r"(?<![\w/])[\w-]{1,30}/(?P<v>[^\s/@:]{4,64})@//")),
    SecretRule("kept_login", "login ", re.compile(r"(?<![a-z])login\s{1,4}[\w.@-]{1,60}\s{1,4}(?:account\s\S{1,40}\s{1,4})?password\s{1,4}(?P<v>\S{4,128})"), is_odd_password),
    SecretRule("sealed_value", "kind: secret|kind: \"secret|\"kind\":\"secret|\"kind\": \"secret|kind:secret", words(r"\"?kind\"?:\s?\"?secret\b(?:(?!\b(?:string)?data\b)[^~]){0,400}+(?:string)?data\"?:\s{0,4}\{?[^~]{0,200}?(?:pass|pwd|pw|secret|token|key|cred|cert|dsn|url|auth)[\w.-]{0,30}\"?:\s{1,4}[\"']?(?-i:(?P<v>[A-Za-z0-9+/]{8,4000}={0,2}))"), is_encoded),
    SecretRule("vendor_header", "-key|apikey|api_key|-token|appkey|app-key|appcode", words(r"(?<![a-z0-9-])(?:(?:dd|xi|x|api|app|ocp|private|job|deploy|circle|cf)-(?:[a-z]{1,14}-){0,3})?(?:api-?key|app-?key|application-key|subscription-key|private-token|access-token|auth-token|appcode)[\"']?\s?[:：=\s]\s?[\"']?(?P<v>[\w.+/=-]{16,400})"), is_token),
    SecretRule("basic_login", "basic ", re.compile(r"(?<![A-Za-z])[Bb]asic\s(?P<v>[A-Za-z0-9+/]{8,400}={0,2})(?![A-Za-z0-9])"), is_basic_login),
    SecretRule("session_told", "session|sessid|cookie|z_c0|sid", words(r"(?<![a-z])(?:session(?:[ _]?id)?|cookie|sid)(?:[ ](?:id|cookie|token|value))?(?:\s(?:is|was)|[:：=是为]|\s[是为])[\s\"'`]{0,3}(?P<v>[\w%.+/|:-]{20,400})|(?<![a-z])(?:session[ _](?:id|cookie)|sessionid|sid)\s(?P<x>[0-9a-f]{32,64}|[A-Za-z0-9]{32,64})(?![\w-])|(?:sessionid|z_c0|sessid)=[\"']?(?P<w>[\w%.+/|:-]{20,400})"), is_session),
    SecretRule("ldap_bind", "cn=", re.compile(r"\bcn=[\w.-]{1,40}(?:,(?:dc|ou|o)=[\w.-]{1,40}){1,6}[\s/:]{1,3}(?P<v>[!-~]{6,64})"), is_odd_password),
)
# fmt: on
