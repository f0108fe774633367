"""Secrets that people tell each other: "密码改成了…", "my PIN is …", "the code they sent is …"."""

from __future__ import annotations

import re

from admission.secret_forms import (
    is_answer,
    is_bare_phrase,
    is_base32,
    is_card_number,
    is_code_list,
    is_kept_words,
    is_passphrase,
    is_pin,
    is_product_key,
    is_spelled,
    is_told_phrase,
    is_weak_word,
)
from admission.secret_rule import (
    CAPITALS,
    EN_KEY,
    EN_PW,
    FOUR_DIGITS,
    PAIR,
    SIX_DIGITS,
    SecretRule,
    always,
    words,
)
from admission.secret_values import (
    is_login_pair,
    is_odd_password,
    is_shaped,
    is_strong,
    is_token,
    is_told_password,
    is_word_password,
)

VALUE = r"""[\s"'`(（\[【「『“‘《]{0,4}(?P<v>[!-&*-~][!-~]{3,400})"""
ZH_PW = r"(?:密码|密碼|口令|暗号|パスワード|passcode|password|passwd|(?<![a-z])pwd)"
ZH_KEY = r"""(?:令牌|密钥|秘钥|密匙|金钥|凭证|凭据|授权码|激活码|(?<![a-z])token|(?<![a-z])secret|api[ _-]?key|access[ _-]?key
    |(?<![a-z])(?:app|secret)[ _-]?key|(?<![a-z])[as]k(?![a-z]))"""
ZH_TALK = r"""(?!策略|长度|要求|规则|强度|复杂|位数|有效期|过期|算法|管理|找回|重置|输入|错误|框|字段|学|加密|保护|校验|登录页|至少|最[少长短多]
    |必须|不[能要得]|统一[存放由]|一律[存放由])"""
ZH_IS = r"(?:就?是|は|改?为|改成了?|换成了?|改到了?|设[为成]了?|设置[为成]了?|叫|[:：=]|(?=[（(\[【「『“\"'`]))"
EN_IS = r"""(?:\s{1,3}(?:(?:has\ been\ |was\ |is\ )?(?:now\ )?(?:changed|set|reset|updated)(?:\ to)?|will\ be|is\ now|now\ is|is|was|are|=|to|as)
    \s{0,3}[:=]?|'s\b|\s{0,2}[:：=])"""
UNIT = r"(?!\s{0,2}(?:[位秒分时天年月日号个元次字]|毫秒|小时|星期|周|ms|digit|char|second|minute|hour|day|time|%))"
# A number that is counted, bought or only part of a longer one.
SOLD = r"(?!\d|\.\d|\s{0,2}(?:[条元块人次字个份万封户件%]|dollars|(?!this|expires|works|was|is|has)[a-z]{2,12}s\b))"
WORD_RUN = re.compile(r"(?<![a-z])(?:[a-z]{3,8} ){11}[a-z]{3}")
SPELLED = r"""(?:(?:capital|upper\ ?case|lower\ ?case|big|small|letter|number|大写|小写)\s?)?(?:[a-z0-9](?![a-z0-9])
    |(?:exclamation|question)\ mark|dash|underscore|at\ sign|hash|dollar(?:\ sign)?|zero|one|two|three|four|five|six|seven|eight|nine)"""

# ruff: noqa: E501 - a row of the table stays on one line
# fmt: off
SPOKEN: tuple[SecretRule, ...] = (
    SecretRule("combination", "combo|combination|密码锁|保险", words(r"(?:comb(?:o|ination)|密码锁|保险[箱柜])[^\n.。]{0,40}?(?<![\d-])(?P<v>\d{1,2}-\d{1,2}-\d{1,2}(?![\d-])|左\s?\d{1,4}[^\d\n]{0,4}右\s?\d{1,4}|\d{1,2}\s(?:left|right)[^\d\n]{1,8}\d{1,2}\s(?:left|right))"), always),
    SecretRule("code_to_use", "use|enter|验证|登录", words(r"(?:use|enter)\s(?:code\s)?(?P<v>\d{4,8})\s(?:to\s(?:verify|log\s?in|sign\s?(?:in|up)|confirm\s(?:your|you)|authenticate)|as\syour\s(?:verification|log-?in|security|one-time))|(?<!\d)(?P<w>\d{6})\s?(?:用于|完成|进行)(?:登录|身份|注册)?(?:验证|登录)"), is_pin, needs=FOUR_DIGITS),
    SecretRule("product_key", "licen|activation|product key|register|注册码|激活码|序列号|授权", words(r"(?:licen[cs]e|activation|product\ key|\bregister|注册码|激活码|序列号|授权)[^\n]{0,60}?(?<![a-z0-9-])(?P<v>[a-z0-9]{4,6}(?:-[a-z0-9]{4,6}){3,7})(?![a-z0-9-])"), is_product_key),
    SecretRule("password_zh", "密码|密碼|口令|暗号|パスワード|passcode|password|passwd|pwd", words(rf"{ZH_PW}{ZH_TALK}[\s\u4e00-\u9fff]{{0,8}}?(?:{ZH_IS}了?|用){VALUE}{UNIT}"), is_told_password),
    SecretRule("password_next", "密码|密碼|口令", words(rf"(?:密码|密碼|口令)[ \t]{{0,2}}(?!@)(?P<v>[!-&*-~][!-~]{{5,64}}|\d{{4,12}}(?!\d)){UNIT}"), is_told_password),
    SecretRule("token_zh", "令牌|密钥|秘钥|密匙|金钥|凭证|凭据|授权码|激活码|token|secret|key|ak|sk", words(rf"{ZH_KEY}{ZH_TALK}[\s\u4e00-\u9fff]{{0,6}}?{ZH_IS}了?{VALUE}"), is_token),
    SecretRule("token_next", "令牌|密钥|秘钥|密匙|授权码|激活码|token|key|seed", words(r"(?:令牌|密钥|秘钥|密匙|授权码|激活码|(?<![a-z])token|(?:api|secret|access|shared|private)[ _-]?(?:key|seed))[ \t]{1,2}(?P<v>[\w.+/=-]{16,400})"), is_token),
    SecretRule("password_en", "pas|pwd|psw|p/w", words(rf"(?<![a-z0-9_])(?<!tests\ )(?<!test\ ){EN_PW}(?:[ \t](?:for|of|on)[ \t][^\n.,:]{{1,40}}?)?{EN_IS}{VALUE}{UNIT}"), is_told_password),
    SecretRule("token_en", "secret|token|key|credential", words(rf"(?<![a-z0-9_]){EN_KEY}(?:[ \t](?:for|of|on)[ \t][^\n.,:]{{1,40}}?)?{EN_IS}{VALUE}"), is_token),
    SecretRule("use_password", "pas|pwd|psw|p/w", words(rf"(?<![a-z0-9_])(?:use|with|enter|type)[ \t](?:the[ \t])?{EN_PW}[ \t]{VALUE}{UNIT}"), is_told_password),
    SecretRule("password_word_zh", "密码|密碼|口令", words(r"(?:密码|密碼|口令)(?:就?是|改?为|改成了?|换成了?|[:：=])[\s\"'“「]{0,3}(?P<v>[a-z]{5,20})(?=[\s\"'”」]{0,2}(?:[，。,.!！;；\n]|\Z))"), is_word_password),
    SecretRule("payment_card", "card|visa|卡|cvv|cvc", words(r"(?:card|visa|卡号|这张卡|刷卡|信用卡|银行卡|储蓄卡|cvv|cvc)[^\n]{0,40}?(?<![\d-])(?P<v>\d{4}(?:[ -]?\d{4}){2}[ -]?\d{1,7})(?![\d-])"), is_card_number, needs=FOUR_DIGITS),
    SecretRule("card_check_code", "cvv|cvc|安全码", words(r"(?:(?<![a-z])cvv2?|(?<![a-z])cvc2?|安全码)[\s是为:：is]{0,5}(?P<v>\d{3,4})(?!\d)"), always),
    SecretRule("totp_seed", "2fa|mfa|totp|otp|authenticator|setup key|验证器|两步", words(r"(?:2fa|mfa|otp|authenticator|setup\ key|验证器|两步)[^\n]{0,40}?(?<![a-z0-9])(?-i:(?P<v>[A-Z2-7]{4}(?:\ [A-Z2-7]{4}){3,15}|[A-Z2-7]{16,64}))(?![a-z0-9])"), is_product_key, needs=CAPITALS),
    SecretRule("aws_secret", "aws", words(r"aws[^\n]{0,40}?secret[^\n]{0,20}?(?<![a-z0-9/+])(?P<v>[a-z0-9/+]{40})(?![a-z0-9/+=])"), is_shaped),
    SecretRule("letter_code", "code", words(r"(?<![a-z])(?:guard|whatsapp|telegram|signal|log-?in|access|verification|security|confirmation)\ codes?(?:\ is|[:：])?\s{1,2}(?-i:(?P<v>[A-Z0-9]{5,8}|[A-Z0-9]{3}-[A-Z0-9]{3}))(?![\w-])"), is_product_key, needs=CAPITALS),
    SecretRule("dashed_code", "code|验证码", words(r"(?:(?:whatsapp|telegram|signal|verification|security|log-?in|sign-?in|confirmation)\ code|验证码)[\s:：is是]{1,5}(?P<v>\d{3}-\d{3})(?![\d-])"), always),
    SecretRule("mail_code", "授权码|应用密码|应用专用密码|auth_code|authcode", re.compile(r"(?:授权码|应用(?:专用)?密码|auth_?code)[\s是为:：=]{0,4}(?P<v>[a-z]{16}|[A-Z]{16})(?![A-Za-z])"), always),
    SecretRule("share_code", "提取码|提取碼", re.compile(r"提取[码碼][\s是为:：]{0,4}(?P<v>[A-Za-z0-9]{4,8})(?![A-Za-z0-9])"), always),
    SecretRule("plain_passphrase", "pass|pw|密|口令", words(r"(?:(?<![a-z])(?:pw|pwd|pass|passphrase|password)[\]:\s\"'“]{1,3}|(?:密码|口令|密碼)[是为：:\s\"'“]{1,3})(?P<v>[a-z]{3,12}(?:[ -][a-z]{3,12}){3,6}(?:[ -]\d{1,4})?)(?=\s{0,2}(?:[\[\n.,\"']|\Z))"), is_passphrase),
    SecretRule("one_time_code", "验证码|校验码|动态码|短信码|动态口令|verification|one-time|otp|2fa", words(rf"(?:验证码|校验码|动态码|短信码|动态口令|verification\ code|one-time\ (?:code|password)|(?<![a-z])otp(?![a-z])|2fa\ code)[\s\u4e00-\u9fff]{{0,4}}?(?:is|[:：=])?[\s\"'（(]{{0,3}}(?P<v>(?<!\d)\d{{4,8}}(?!\d)){UNIT}"), is_pin, needs=FOUR_DIGITS),
    SecretRule("pin", "pin|密码", words(rf"(?:(?<![a-z])pin(?:[ \t]code|[ \t]number)?(?:[ \t](?:for|of)[ \t][\w \t]{{1,30}}?)?{EN_IS}|(?<![a-z])pin[ \t]?码[\s\u4e00-\u9fff]{{0,4}}?[:：]?|(?:支付|取款|门禁|锁屏|开机|银行卡?|信用卡|社保卡|存折|交易|查询)密码[\s\u4e00-\u9fff]{{0,6}}?[:：]?)[\s\"'（(]{{0,3}}(?P<v>\d{{4,10}}(?!\d)){UNIT}"), is_pin, needs=FOUR_DIGITS),
    SecretRule("told_hash", "hash|哈希|md5|sha|散列|密码", words(r"(?:密码|口令|(?<![a-z])password|passwd|(?<![a-z])pwd)[\s的'’s]{0,3}(?:hash|哈希|md5|sha-?1|sha-?256|散列)值?[^\n\w]{0,4}(?:is|was|值?[是为])?[^\n\w]{0,4}(?P<v>[0-9a-f]{32,128})(?![0-9a-f])|(?:密码|口令|password)[^\n。.]{0,20}\s\*(?P<x>[0-9A-F]{40})(?!\w)|\*(?P<w>[0-9A-F]{40})(?!\w)[^\n]{0,20}密码")),
    SecretRule("message_code", "短信|信息|text|sms|sent me|code|phone|弹|发来|收到|digits|message|显示", words(rf"(?:短信|验证信息|弹出来|弹了个?|发来|发过来|收到了|手机(?:上)?(?:收到|显示))(?!平台|模板|费|量|通道|发送|服务|网关)(?:(?!邮编|单号|余额|快递|订单|账单|编号|金额|流水)[^\n\d。]){{0,12}}?(?<![单号额费元编约共码第]\s)(?<![单号额费元编约共第])(?P<v>(?<!\d)\d{{6}}(?!\d)){SOLD}|(?:got|sent|received|get|came|sms|texted|text\ (?:me|with|just|says?|reads?|came|arrived|message)|text\ they\ sent|buzzed|phone\ shows|code(?:\ just)?\ (?:came|arrived)|(?:the|six|6)[ -]digits?\ (?:are|is|code))(?:\ (?!order|invoice|ticket|number|for|about|with|from|gateway|cost|handle)\w{{1,10}}){{0,4}}[,:;.]?\ (?:it'?s\ )?(?P<w>\d{{6}}(?!\d)){SOLD}|(?<!\d)(?P<x>\d{{6}})(?:\ (?:just|has\ just))?\ (?:came|arrived)\ (?:by|via|in\ by|over)\ (?:sms|text|mail|phone)"), is_pin, needs=SIX_DIGITS),
    SecretRule("shown_code", "六位|手机上|短信|发了|发来|这个码|on the |okta|duo|authy|authenticator|app |2fa|mfa|otp|令牌|验证|支付宝|银行|邮箱|bank|email|mail|code|got the|type|enter|quick|hurry|快|赶紧|失效|过期|expires|填", words(rf"(?:(?<![a-z])(?:okta|duo(?:\ code)?|authy|authenticator|2fa|mfa|otp)(?![a-z])|(?<![a-z])app\ (?:now\ )?(?:shows?|says|displays)|令牌|(?:微信|手机|短信)验证(?!码的|平台|失败)|(?<![一-龥])码(?:来了|是|[:：])|验证(?:短信|邮件)|(?:支付宝|银行|邮箱|微信)[^\n\d。]{{0,6}}(?:发|收到)|verification\ (?:e?-?mail|text|message)|(?:e?mail|text|message|sms)\ from\ (?:the\ |my\ )?bank|code\ (?:is\ )?here|got\ the\ (?:text|code|sms)|六位(?:数字?|验证|动态)?码?(?=[\s是:：])|输入?(?:手机|短信)[上里](?:收到|显示)?的?|给我发(?:了|来)|[用就]这个码)(?!\ (?:is|are|was)\ [a-z])[^\n\d。.$¥￥#]{{0,16}}?(?<![单号额费元编约共第])(?P<v>(?<!\d)\d{{6}}(?!\d)){SOLD}|(?<![\d.:/#-])(?P<w>\d{{6}})(?!\d)(?:[\s,，.]{{1,3}}(?:type|enter|put|key)\ (?:that|it|this)(?![a-z])|[\s,，.!]{{1,3}}(?:quick|hurry(?:\ up)?)(?=\s?[.!,。，！]|\Z)|\ before\ it\ expires|\ on\ the\ (?:2fa|mfa|otp|verification|log-?in)\ (?:page|form|screen|prompt)|[\s，,]{{1,2}}(?:帮我填|快[填输点]|赶紧[填输])|[\s，,]{{1,2}}(?:\d{{1,2}}|[一两二三五十]{{1,2}})分钟后?(?:就)?(?:失效|过期))"), is_pin, needs=SIX_DIGITS),
    SecretRule("steam_guard", "steam guard", words(r"steam\ guard(?:\ code)?[\s:：是]{1,3}(?:is\s)?(?-i:(?P<v>[A-Z0-9]{5}))(?![\w-])"), always),
    SecretRule("code_named_next", "code|log|填|输|验证|type|enter", words(r"(?=\d)(?<![\d.:/-])(?<!\#)(?<!order\ )(?<!ticket\ )(?P<v>\d{4,8})(?![\d:/-]|\.\d|[年月日号元块])[\s.,，。!！\"'」)）]{1,3}(?:(?:please\s|just\s|you\scan\s|now\s)?(?:enter|put|type|use|key)\s(?:that|it|this)(?:\s(?:in|into|as|for|on)\b[^\n.]{0,24})?\b(?:code|log-?in|verif|2fa|otp|form|box)|that'?s\s(?:the|my|your)\s(?:\w{1,12}\s)?code|is\sthe\s(?:\w{1,12}\s)?code|(?:你|快|帮我|请|赶紧)?(?:填|输)[^\n。]{0,6}(?:进去|上|验证码|一下|到)|(?:就是|这是)[^\n。]{0,6}验证码)"), is_pin, needs=FOUR_DIGITS),
    SecretRule("code_in_time", "有效|valid|expire", words(r"(?<![\d.:-])(?P<v>\d{6})(?!\d)[\s,，。.(（]{1,3}(?:[^\n\d]{0,6}(?:\d{1,2}|[一二三五十]{1,2})\s?分钟[内之]?有?效|(?:it\s)?(?:is\s)?(?:valid|good)\sfor\s\w{1,6}\smin|(?:it\s)?expires\sin\s\w{1,6}\s(?:min|sec))"), is_pin, needs=SIX_DIGITS),
    SecretRule("code_list", "backup|recovery|scratch|emergency|rescue|one-time|restore|备用|备份|恢复|救援|应急|紧急|一次性", words(r"(?:(?:backup|recovery|scratch|emergency|rescue|one-time|restore)(?:\s\w{1,10}){0,1}\scodes?|(?:备用|备份|恢复|救援|应急|紧急|一次性)(?:恢复|登录|验证)?(?:码|代码))[^\n\d]{0,50}?[\s:：是有为]{1,4}(?:\d{1,2}[.)、]\s?)?(?P<v>(?-i:(?=[a-z]{0,9}\d)[a-z0-9]{8,10}|\d{6,10}|\d{4}[ ]\d{4}|[a-z0-9]{4,5}-[a-z0-9]{4,5})(?:\s{0,2}(?:[、,，/;；|]|\n(?:\d{1,2}[.)、]|-)?)\s{0,2}(?:\d{4}[ ]\d{4}|[a-z0-9]{4,5}-[a-z0-9]{4,5}|[a-z0-9]{6,10})){0,15})(?![\w-])"), is_code_list),
    SecretRule("sign_in_pair", "sign|log|cred|登|账|帐|用户|account", words(r"(?:sign|log)(?:ged|ging|ned)?[ -]?(?:s\s)?in(?:to\s[^\n.,]{1,40}?)?[:,]?\s(?:with|using|as|by)\s[\w.@-]{2,40}\s?(?:,?\s(?:and|then|with|plus|\+|&)|[,/|])\s[\"'`]?(?P<v>[!-~]{6,64})|(?:creds?|credentials|log-?ins?|account)(?:\s(?:are|is|now|for\s\w{2,20})){0,3}\s?[:=]?\s[\w.@-]{2,40}\s?(?:\sand|,|/|\||\s\+|\swith|\sthen)\s[\"'`]?(?P<w>[!-~]{6,64})|(?:登[录陆入]|账[号户密]|帐[号户密]|用户名?|账户)[\u4e00-\u9fff]{0,6}[\s:：是]{0,3}[A-Za-z][\w.@-]{1,40}\s?(?:[，,、/|]|和|跟|\s)\s?(?P<x>[!-~]{6,64})|用\s?[A-Za-z][\w.@-]{1,40}\s?(?:(?:和|跟|加|/|\+|、)\s?(?P<y>[!-~]{6,64})\s?(?:去|来)?登|登(?:[录陆])?[，,]\s?(?P<z>[!-~]{6,64}))|user(?:name)?\s(?:is|[:=])\s?[\w.@-]{2,40}(?:\sand)?(?:\sit'?s|,)\s(?P<a>[!-~]{6,64})"), is_login_pair),
    SecretRule("handed_instead", "changed|旧|老|新|原来|以前|之前|初始|默认|pw|pass|密码|口令", words(r"(?:旧|老|新|原来的?|以前的?|之前的?|初始|默认)(?:密码|口令)[\s是为:：]{0,4}(?P<w>[!-~]{6,64})|pas+word\schanged[,:]?\s(?:now|to|it's|its)\s(?P<x>[!-~]{6,64})|(?:root|admin|sudo|db|ssh|vpn|wifi)\s(?:pw|pass|password|pwd)\s(?:on|for|of|at)\s[^\n:]{1,40}[:=]\s?(?P<y>[!-~]{6,64})|(?:密码|口令)(?:从|由|还是老的|还是旧的|还是原来的|用老的|用的是)\s?(?P<z>[!-~]{6,64})"), is_odd_password),
    SecretRule("given_instead", "instead|gave|sent|handed|issued|assigned|account|login", words(r"(?:gave|sent|handed|issued|assigned)\s(?:me|us|him|her)\s[\"'`]?(?P<v>[!-~]{6,64})\s(?:instead|as\s(?:the|a|my)|for\snow)|(?:account|login)\s(?:takes|wants|accepts|uses)\s(?P<x>[!-~]{6,64})"), is_login_pair),
    SecretRule("used_instead", "instead", words(r"(?:use|try)\s[\"'`]?(?P<v>[!-~]{6,64})\sinstead"), is_strong),
    SecretRule("password_beside", "密码|口令|password", words(r"(?:密码|口令)\s?(?P<v>[!-~]{6,64})|(?:密码|口令)\s(?P<w>[a-z]{6,16})(?=\s{0,2}(?:[，。,.!！\n]|\Z))"), is_odd_password),
    SecretRule("weak_word", "pas|pw", words(rf"(?<![a-z0-9_]){EN_PW}(?:[ \t](?:for|of|on)[ \t][^\n.,:]{{1,40}}?)?{EN_IS}(?:\s(?:just|still|simply|literally))?[\s\"'`]{{1,3}}(?P<v>[a-z0-9]{{5,12}})(?![\w-])"), is_weak_word),
    SecretRule("quoted_phrase", "phrase|密码|口令|pass|unlock|open|key", words(r"(?:pass(?:phrase|word|code)|密码短语|主?密码|口令|master\ key|unlock(?:s|ed)?|opens|decrypts?)[^\n\"'“‘「]{0,24}[\"'“‘「](?P<v>[a-z]{3,12}(?:[ -][a-z]{3,12}){3,6})[\"'”’」]"), is_told_phrase),
    SecretRule("bare_phrase", "phrase|密码|口令|diceware|master|words", words(r"(?:pass\ ?phrase|密码短语|主密码|口令|diceware(?:\ (?:one|phrase))?|master\ password)(?:\ is|\ was|\s?(?:[:：=是为→]|->))?[\s:：]{0,2}(?P<v>[a-z]{3,12}(?:[ -][a-z]{3,12}){3,6})(?=\s{0,2}(?:[.,。，\n]|\Z))|the\ words\ (?P<w>[a-z]{3,12}(?:\ [a-z]{3,12}){3,6})\ as\ (?:the|my|a)\ pass"), is_bare_phrase),
    SecretRule("device_code", "puk|door|unlock|open|screen|开机|解锁|单元|大门|车库|登机箱|行李|入户|拉杆|旅行箱|箱子|进门|楼门|储物|柜", words(rf"(?<![a-z])puk(?:\scode)?[\s:：is是]{{1,5}}(?P<a>\d{{8}}(?!\d))|door\s(?P<b>\d{{4,6}}\#)|(?:apple\ watch|手表|手机|平板|电脑|ipad)[^\n\d。]{{0,4}}解锁[\s是:：]{{0,3}}(?P<c>\d{{4,6}}(?!\d)){UNIT}|(?:phone|ipad|iphone|tablet|laptop|screen|door|gate|garage|shed|bike|box|safe|suitcase|locker|watch|car)\s(?:un)?(?:locks?|opens?)\s(?:with|by|on|to|using|is)\s(?:code\s|pin\s)?(?P<v>\d{{4,8}}(?!\d)){UNIT}|(?<![a-z])unlock(?:s|ed)?\swith\s(?P<d>\d{{4,8}}(?!\d)){UNIT}|(?:screen|phone|app)\slock\s(?:is|code|pin)[\s:]{{0,2}}(?P<w>\d{{4,8}}(?!\d)){UNIT}|unlock\s(?:pattern|screen)?\s?(?:code|pin)\s(?P<x>\d{{4,8}}(?!\d))|(?:开机|解锁|单元门|大门|入户门?|车库门?|进门|楼门|储物柜|更衣柜|快递柜)(?:密码|码|密)?[\s是:：按输]{{0,3}}(?P<y>\*?\d{{4,8}}\#|(?<=码)\d{{4,8}}(?!\d)|(?<=码[是:： ])\d{{4,8}}(?!\d)|(?<=开机\s)\d{{6}}(?!\d)){UNIT}|(?:行李箱?|登机箱|拉杆箱|旅行箱|箱子|密码锁|柜子?|日记本)的?密码[\s是:：]{{0,3}}(?P<z>\d{{3,4}}(?!\d)){UNIT}"), always),
    SecretRule("security_answer", "密保|安全问题|安全提问|找回|security|secret answer|question|recovery|答案|maiden", words(r"(?:密保|安全问题|安全提问|找回(?:密码|账号)|secur[a-z]{2,4}\s(?:question|answer)|secret\s(?:answer|question)|(?:account\s)?recovery\s(?:question|answer)|reset\squestion)[^\n]{0,60}?(?:答案|answer)s?(?:\s(?:to\s[^\n.]{1,40}?)?(?:is|was)|\s?[是为填:：=]|\sis)[\s:：\"'“「]{0,3}(?P<v>[A-Za-z\u4e00-\u9fff][\w \u4e00-\u9fff'-]{1,30})|(?:security|secret|recovery)\s(?:question\s)?answer\s?(?:is|=|:)\s?(?P<w>[A-Za-z][\w '-]{2,30})|密保答案[\s:：是为]{0,3}(?P<a>[\w\u4e00-\u9fff]{2,12})|(?:the\s)?answer\s(?:to|for)\s(?:my|the|her|his)\s(?:\w{1,12}'?s?\s)?(?:security|secret|recovery)\squestion\s?(?:\sis|\swas|[:=])\s?(?P<x>[A-Za-z][\w '-]{1,30})|(?:密保|安全问题|安全提问)[^\n。]{1,20}?[，,：:\s](?:填的?是?|答案是?)\s{0,2}(?P<b>[A-Za-z\u4e00-\u9fff][\w\u4e00-\u9fff]{1,11})|密保(?:问题)?(?:我|里|就)?(?:[:：]|填的?是?|写的?是?|设的?是?)\s?(?:出生\w{0,4}|母亲\w{0,4}|小学\w{0,4}|宠物\w{0,4})?[\s:：]{0,2}(?P<y>[\u4e00-\u9fffA-Za-z]{2,12})|答案(?:填|写|是)\s?(?P<z>[\w\u4e00-\u9fff]{2,10})\s?(?:就能|可以|能|才能)(?:找回|重置|通过)"), is_answer),
    SecretRule("security_fact", "maiden|security|recovery|first pet|first school|密保|安全问题", words(r"(?:recovery|security|secret\squestion|reset)[^\n]{0,50}?(?:maiden\sname|first\s(?:pet|school|car|teacher|job)|(?:birth|home)\s?(?:city|town|place)|(?:favou?rite|best)\s\w{3,12}|street\s[^\n:]{0,20}up(?:\son)?)\)?(?:\sis|\swas|\s?[:=])\s(?-i:(?P<v>[A-Z][\w'-]{1,20}))|(?:maiden\sname|first\s(?:pet|school|car|teacher))[^\n]{0,24}?(?:recovery|security)[^\n]{0,24}?(?:\sis|\swas|:)\s(?-i:(?P<x>[A-Z][\w'-]{1,20}))|security\squestions?[^\n]{0,30}?(?:born\sin|first\s(?:school|pet|car))\s(?-i:(?P<y>[A-Z][\w'-]{1,20}))|(?:maiden\sname|first\s(?:pet|school|car|teacher)|birth\s?place)\s(?:is|was)\s(?-i:(?P<w>[A-Z][\w'-]{1,20}))[^\n]{0,40}?(?:recovery|security)\s(?:answer|question)"), is_answer),
    SecretRule("login_beside", "/|:|@|\n", re.compile(r"(?<![\w/.:+=-])(?!(?:SHA|sha|MD|md)-?\d{1,3}:)(?:[A-Za-z][a-z0-9_.-]{1,30}(?:@[\w-]{1,40}(?:\.\w{2,10}){1,3})?\s?[/|:]|[\w.+-]{1,40}@[\w-]{1,40}(?:\.\w{2,10}){1,3}|(?:root|admin|administrator|user|test(?:admin|user)?|guest|deploy|ops)\ ?\n)\s?(?P<v>(?=\S{0,40}\d)[!-.0-~][!-.0-9;-~]{7,40})(?!\S)"), is_strong, needs=PAIR),
    SecretRule("known_user_pair", "admin|root|ops|deploy|backup|guest|sa|postgres|test|staging|prod|测试|后台|路由|nas|jenkins|grafana|gitlab|nacos|harbor|vpn|kibana|rabbitmq|minio|nexus|sonar|zabbix|portainer|phpmyadmin|router|sandbox|user|用户|账|帐|控制台|环境|堡垒", words(r"(?<![\w/.~-])(?:root|admin(?:istrator)?|ops|deploy|backup|test(?:user|admin)?|guest|sa|postgres|user(?:\d\d?|(?=\s)))\s?[/|:]\s?(?P<v>[!-.0-~]{6,64})(?![\w/])|(?<![a-z])(?:staging|prod(?:uction)?|sandbox|jenkins|grafana|gitlab|nacos|harbor|nexus|kibana|rabbitmq|minio|sonar(?:qube)?|zabbix|portainer|phpmyadmin|nas|router|vpn|测试环境|预发|生产|后台|路由器|用户|账[号户密]|帐[号户密]|控制台|堡垒机)[\s:：,，的]{0,3}[a-z][\w.@-]{1,40}\s?[/|]\s?(?P<w>[!-.0-~]{6,64})(?![\w/])"), is_login_pair, needs=PAIR),
    SecretRule("place_login", "远程桌面|堡垒机|跳板机|服务器|后台|控制台|rdp|ssh|vpn|nas", words(r"(?:远程桌面|堡垒机|跳板机|服务器|后台|控制台|(?<![a-z])(?:rdp|ssh|vpn|nas)(?![a-z]))[^\n\w]{0,3}(?:登录|账号)?\s?[:：]?\s[a-z][\w.@-]{1,30}\s(?P<v>[!-~]{8,64})(?!\S)"), is_strong),
    SecretRule("spelled_out", "pas|pw|密码|口令", words(rf"(?:{EN_PW}|(?<![a-z])pw|密码|口令)[^\n]{{0,40}}?(?<![a-z0-9])(?P<v>(?:{SPELLED}(?:\s?[-,、，·]\s?|\s)){{5,40}}{SPELLED})(?![a-z0-9])|(?<![a-z0-9])(?P<w>(?:{SPELLED}(?:\s?[-,、，]\s?|\s)){{5,40}}{SPELLED})(?![a-z0-9])[^\n]{{0,30}}?(?:{EN_PW}|密码|口令)"), is_spelled),
    SecretRule("kept_words", "keep|save|write|store|note|remember|back|记|存|抄|备份", words(r"(?:(?:keep|save|write|store|note|remember|back)\s[^\n]{0,30}?|(?:记|保存|存|抄|备份)[^\n]{0,12}?)[:：\s]\s?(?P<v>(?-i:[a-z]{3,8}(?:\ [a-z]{3,8}){11,23}))(?=\s{0,2}(?:[.,。\n]|\Z))"), is_kept_words, needs=WORD_RUN),
    SecretRule("words_alone", " ", re.compile(r"(?m)^(?P<v>[a-z]{3,8}(?: [a-z]{3,8}){11,23})$"), is_kept_words, needs=WORD_RUN),
    SecretRule("scanned_seed", "scan|authy|扫|输入|密钥|验证器|2fa|mfa|otp|totp|secret|种子|key", words(r"(?:scan|authy|扫|手动输入|密钥|验证器|2fa|mfa|otp|种子)[^\n]{0,40}?(?<![A-Za-z0-9])(?-i:(?P<v>[A-Z2-7]{16}|[A-Z2-7]{26}|[A-Z2-7]{32}|[A-Z2-7]{52}|[A-Z2-7]{4}(?:\ [A-Z2-7]{4}){3,12}))(?![A-Za-z0-9=])"), is_base32, needs=CAPITALS),
    SecretRule("card_and_date", "/", re.compile(r"(?=\d)(?<![\d-])(?P<v>\d{4}(?:[ -]?\d{4}){2}[ -]?\d{1,7})(?:\s\d{3})?[\s,，;|]{1,3}(?:exp\S{0,8}\s)?(?:0[1-9]|1[0-2])\s?/\s?(?:20)?[2-4]\d(?!\d)"), is_card_number, needs=FOUR_DIGITS),
    SecretRule("code_on_card", "cvc|cvv| cid|背面|卡背|后三位|三位", words(r"(?:(?<![a-z])(?:cvc|cvv)2?\s(?:on\sthe\sback|code|number)(?:\sis)?|(?:amex|card)\scid|(?:卡)?背面(?:的)?(?:三位|三个数|数字|后三位)(?:数字?)?|(?:三|3)位安全码)[\s是为:：is]{0,4}(?P<v>\d{3,4})(?!\d)"), always),
)
# fmt: on
