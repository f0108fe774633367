"""Machine output goes line by line; sentences that only mention such things stay whole."""

from __future__ import annotations

import pytest

from admission.noise import drop_noise_lines, has_noise

BEFORE, AFTER = "我不吃香菜，请避开。", "以后报告用中文写。"

NOISE = {
    "python": 'Traceback (most recent call last):\n  File "/a/b.py", line 3, in f\n    x = y["库存"]\nKeyError: \'y\'',
    "java": "java.lang.IllegalStateException: closed\n\tat a.b.C.d(C.java:7)\nCaused by: a.b.D: no\n\t... 12 more",
    "js": "TypeError: Cannot read 'x' of undefined\n    at f (/a/b.js:1:2)\n    at async Promise.all (index 0)",
    "go": "panic: runtime error: nil\n\ngoroutine 3 [running]:\nmain.(*S).f(0xc0)\n\t/a/b.go:6 +0x8\nexit status 2",
    "rust": "thread 'main' panicked at a.rs:4:5:\nexplicit panic\nstack backtrace:\n   0: core::panicking::panic",
    "csharp": "System.FormatException: bad\n   at A.B(String s) in C:\\x\\A.cs:line 4",
    "ruby": "app/a.rb:34:in `total': undefined (NoMethodError)\n\tfrom app/b.rb:12:in `each'",
    "php": "PHP Fatal error:  x\nStack trace:\n#0 /a/b.php(33): run()\n#1 {main}\n  thrown in /a on line 2",
    "log4j": "2024-11-03 10:02:11.120 [main] ERROR c.e.Order - 下单失败，库存不足",
    "syslog": "Nov  3 14:02:11 edge01 sshd[2211]: Failed publickey for admin",
    "logfmt": 'time="2024-11-03T14:30:22Z" level=warning msg="stale" index=3',
    "json_log": '{"time":"2024-11-03T06:30:22Z","level":"error","msg":"boom"}',
    "access": '10.8.0.14 - - [03/Nov/2024:13:05:44 +0800] "GET /a HTTP/1.1" 200 5 "-" "curl/8"',
    "npm": "npm ERR! code ERESOLVE",
    "chinese_log": "【错误】2024年11月3日 10:21:33 数据库连接超时",
    "shell": "$ git pull --rebase\nAlready up to date.\nroot@edge01:/srv# make test\nPS C:\\w> dotnet test",
    "repl": ">>> x + 1\n2",
    "bare_command": "sudo apt-get install -y jq\nkubectl -n prod get pods\nnpm run build",
    "fence": "```python\n# 以后所有批次都按 50 条提交\n```",
    "tilde_fence": "~~~\nexport A=1\n~~~",
    "python_code": "import os\ndef add(a, b):\n    return a + b\nprint(x)",
    "java_code": "public class Foo {\n    private int x = 1;\n}",
    "sql": "SELECT id, name\nFROM users\nWHERE id = 3;",
    "diff": "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n-old line\n+new line",
    "hex": "00000000  7f 45 4c 46 02 01 01 00  00 00 00 00 00 00 00 00  |.ELF|",
    "base64": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6",
    "pretty_json": '{\n  "code": 50012,\n  "message": "no",\n  "data": null\n}',
    "table": "  PID TTY          TIME CMD\n 2217 ?        00:01:12 nginx",
    "wrk": "Running 30s test @ http://a\n  4 threads and 128 connections\n    Latency    12.31ms\nRequests/sec:  1039",
    "ab": "This is ApacheBench, Version 2.3\nRequests per second:    810.37 [#/sec] (mean)\n  99%     20",
    "jmeter": "summary +   1204 in 00:00:30 =   40.1/s Avg:   248",
    "k6": "     http_req_duration..............: avg=118.2ms min=21.4ms",
    "locust": "GET      /api/list     1204     3(0.25%) |    248      31    2110 |   40.10",
    "chinese_load_test": "压测结果：线程数=200 样本=18000 P99=640ms",
    "tagged": "<session_summary>\n用户在做报表\n</session_summary>",
    "reminder": "<system-reminder>The user opened a file.</system-reminder>",
    "header": "# Session Summary\n\n- the user changed the page\n",
    "chinese_header": "【会话摘要】\n用户调整了首页布局\n",
}

SENTENCES = [
    "发布失败时先看 KeyError 和 NullPointerException 的堆栈",
    "INFO 级别的日志在生产环境关闭。",
    "WARNING: never deploy on Fridays, please.",
    "We use port 8080 and version 3.2.1.",
    "线上基线固定在提交 bfa4093",
    "2025-03-01 10:30:00 开始新流程",
    "- 代码评审至少两人通过",
    "+ 号开头的电话号码要保留国家码",
    "# 开头的标题在周报里不要超过三级",
    "> 引用客户原话时要加引号",
    "大括号 {} 单独占一行，这是我的习惯。",
    "变量名统一用 `snake_case`，不要用 `camelCase`。",
    "git is our only version control",
    "make tea",
    "from now on imports are sorted alphabetically",
    "Caused by the outage last year, we now keep three replicas.",
    "panic buttons must be red on every screen we design.",
    "Time: we always plan in two-week steps.",
    "select the blue theme from the list",
    "压测目标是每秒一万次请求，P99 不超过二百毫秒。",
    "表格列：名称 | 负责人 | 截止日期，以后都按这个顺序。",
    "TimeoutError: 遇到它统一重试三次，这是约定",
    "以后每次会话结束都给我一份会话总结",
    "代码里用 <context> 标签包裹背景",
    "年龄：30  身高：180  体重：70",
    "My name is Ann; I live in Porto;",
    "$ 符号放在金额前面",
    "let me know (by mail) when it is done.",
]


@pytest.mark.parametrize("kind", sorted(NOISE))
def test_machine_output_goes_and_the_sentences_around_it_stay(kind: str) -> None:
    kept, dropped = drop_noise_lines(f"{BEFORE}\n{NOISE[kind]}\n{AFTER}")
    assert [line for line in kept.split("\n") if line.strip()] == [BEFORE, AFTER]
    assert sum(dropped.values()) > 0


@pytest.mark.parametrize("kind", sorted(NOISE))
def test_a_fact_that_is_machine_output_is_noise(kind: str) -> None:
    assert has_noise(NOISE[kind])


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_sentence_that_mentions_technical_things_survives_whole(sentence: str) -> None:
    assert drop_noise_lines(sentence) == (sentence, {})
    assert not has_noise(sentence)


def test_an_unclosed_fence_runs_to_the_end() -> None:
    assert drop_noise_lines(f"{BEFORE}\n```python\nwhile True:\n{AFTER}")[0] == BEFORE


def test_dropped_counts_by_rule_name() -> None:
    text = f"{BEFORE}\n[INFO] one\n[INFO] two\n```\nx\n```"
    assert drop_noise_lines(text)[1] == {"log_line": 2, "fenced_code": 1}
