"""Absolute paths and URLs are cut out of a sentence; everything else with a slash stays."""

from __future__ import annotations

import pytest

from admission.locators import cut_locators, has_path, has_url

PATHS = [
    ("脚本在/home/builder/tools/sync.sh（已授权），每天执行", "脚本在（已授权），每天执行"),
    ("Logs live in /var/log/app and stay there.", "Logs live in and stay there."),
    ("配置在 /etc 里", "配置在 里"),
    ("模板文件C:\\Users\\build\\Documents\\模板.docx是唯一版本", "模板文件是唯一版本"),
    ("Use C:/projects/shop/config.json as the source.", "Use as the source."),
    ("My log is C:/Users/Greta/health/log.xlsx, weekly.", "My log is, weekly."),
    ("运行 C:\\Program Files\\Foo Bar\\x.exe 即可", "运行 即可"),
    ("共享盘 \\\\fileserver\\design\\guides 上的规范", "共享盘 上的规范"),
    ("在`/srv/app/releases/current`下部署", "在下部署"),
    ("不放在 ~/.config/poco/keys 里", "不放在 里"),
    ("导出目录统一为/Volumes/Work Disk/exports，长期不变", "导出目录统一为，长期不变"),
    ('放在 "/opt/app/a.yml" 里', "放在 里"),
]
URLS = [
    ("设计稿以 https://design.example.com/f/8812?node=3-17 为准", "设计稿以 为准"),
    ("需求池在https://wiki.example.cn/pages/产品规划，以后都用", "需求池在，以后都用"),
    ("见http://10.0.3.7:8080/docs#/orders。字段保持英文", "见。字段保持英文"),
    ("从 http://[2001:db8::7]:9000/health 检查", "从 检查"),
    ("参考(https://docs.example.com/a_(b)/c)，以它为准", "参考，以它为准"),
    ("Please follow <https://example.com/rfc/14> for all.", "Please follow for all."),
    ("看[文档](https://a.example.com/x)就行", "看文档就行"),
    ("资料：HTTPS://DOCS.EXAMPLE.COM/GUIDE，长期使用", "资料：，长期使用"),
    ("放在 s3://bucket/v4/ ，不要放本地", "放在，不要放本地"),
    ("guide at file:///usr/share/doc/index.html applies", "guide at applies"),
    ("官网是 www.example.com", "官网是"),
    ("代码在github.com/org/repo。", "代码在。"),
    ("clone git@github.com:org/repo.git first", "clone first"),
    ("连 jdbc:mysql://h:3306/db 即可", "连 即可"),
    ("See https://a.example.com/x.", "See."),
]
PLAIN = [
    "We accept and/or clauses in section 1/2.",
    "TCP/IP 和 HTTP/2 的资料，限速 60 km/h",
    "2024/05/01 起执行",
    "源码里 src/app/store.py 是核心模块",
    "输入/输出 统一用 UTF-8",
    "读/写/执行 权限分开，增/删/改/查 都要审计",
    "支持苹果/Mac/Linux 三种",
    "约~3/4 的人同意",
    "服务名 order-api.prod 不要改",
    "用 /help 查看帮助",
    "项目用 Node.js 和 Vue.js，版本 2025.7/beta",
    "大括号 {} 和 a/b 测试，空格  也不动",
    "我的邮箱是 ann@example.com",
]


@pytest.mark.parametrize(("text", "rest"), PATHS)
def test_an_absolute_path_is_cut_and_the_sentence_reads_on(text: str, rest: str) -> None:
    assert cut_locators(text) == (rest, {"path": 1})
    assert has_path(text)
    assert not has_url(text)


@pytest.mark.parametrize(("text", "rest"), URLS)
def test_a_url_is_cut_and_the_sentence_reads_on(text: str, rest: str) -> None:
    assert cut_locators(text) == (rest, {"url": 1})
    assert has_url(text)
    assert not has_path(text)


@pytest.mark.parametrize("text", PLAIN)
def test_a_slash_alone_is_no_locator(text: str) -> None:
    assert cut_locators(text) == (text, {})
    assert not has_path(text)
    assert not has_url(text)
