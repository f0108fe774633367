"""Machine output goes line by line; sentences that only mention such things stay whole."""

from __future__ import annotations

import pytest

from admission.noise import drop_noise_lines, has_noise

BEFORE, AFTER = "我不吃香菜，请避开。", "以后报告用中文写。"

NOISE = {
    "load_table": "| 场景 | 线程数 | QPS | TP99(ms) |\n|----|----|----|----|\n| 下单 | 100 | 301 | 195 |",
    "buildkit": "#9 12.88 Successfully installed numpy-1.26.4\n#10 exporting to image",
    "plain_diff": "12,13c12\n< timeout = 30\n< budget = 5",
    "gcc": "gcc -O2 -Wall -Iinclude -c -o ring.o ring.c",
    "events": "Events:\n  Warning  BackOff  2m (x212 over 51m)  kubelet  Back-off",
    "response": "HTTP/1.1 503 Service Unavailable\nServer: nginx/1.24.0\nRetry-After: 5",
    "sanitizer": "==1==ERROR: AddressSanitizer\nREAD of size 8 at 0x602 thread T1\nSUMMARY: AddressSanitizer: leak",
    "node": "node:internal/modules/cjs/loader:1080\n\nError: Cannot find module 'x'\n\nNode.js v18.17.1",
    "tsc": "src/a.ts:1:7 - error TS2345: Argument\n\n149     run(x)\n        ~~~\n\nFound 1 error in src/a.ts:1",
    "rails": "NoMethodError (undefined method `x' for nil):\n\nconfig.ru:5:in `block in <main>'",
    "laravel": "Illuminate\\Database\\QueryException: SQLSTATE[42S22]: Column not found",
    "mybatis": "### Error updating database.  Cause: a.B\n### The error may involve a.b.C",
    "jstack": '"pool-1-thread-1" #35 prio=5 tid=0x00 nid=0x1a waiting\n   java.lang.Thread.State: WAITING (parking)',
    "deadlock": 'Found one deadlock:\n=====\n"a-writer":\n  waiting to lock monitor 0x0\n  which is held by b',
    "swift": "Fatal error: Unexpectedly found nil: line 52\nThread 1 Crashed:: main\n0   Wallet   0x0000000104 f",
    "kernel": "[ 396.55] oom_reaper: reaped process 6207\nkernel: [UFW BLOCK] IN=eth0 SRC=1.2.3.4",
    "cmake": "[ 43%] Building CXX object a.cpp.o",
    "gradle": "e: Unresolved reference: x\nFAILURE: Build failed with an exception.",
    "rfc5424": "<134>1 2025-11-12 12:58:58.672 vm haproxy 26 - - Connect from 1.2.3.4:5",
    "haproxy": '1.2.3.4:36 [12/Nov/2025:16:03:25.113] fe be/n 0/0/1 200 4 - - "GET /h HTTP/2.0"',
    "prometheus": 'ts=2025-11-12 19:34:17.631 caller=head.go:103 level=info msg="WAL loaded"',
    "runner": "Running with gitlab-runner 16.5.0 (ef37)\nsection_start:17:step_script",
    "logcat": "11-12 23:49:59.120  15145  16158 E AndroidRuntime: Shutting down VM",
    "jest": " FAIL  src/a.test.ts\n  ● A › merges\n\n    expect(a).toBe(b)\n\n    Expected: 4",
    "dotnet": "  Determining projects to restore...\nBuild succeeded.\n    0 Warning(s)",
    "git_push": "Enumerating objects: 176, done.\nerror: failed to push some refs to 'a:b.git'",
    "git_status": "Your branch is ahead of 'o/x' by 2.\nChanges not staged for commit:\n\tmodified:   a.ts",
    "ping": "Pinging 1.2.3.4 with 32 bytes of data:\nRequest timed out.\n    Packets: Sent = 2, Received = 0",
    "powershell": 'Get-Process : Cannot find "x".\nAt line:1 char:1\n    + CategoryInfo          : ObjectNotFound',
    "brew": "% brew install ffmpeg\n==> Pouring ffmpeg-7.0.tar.gz\n🍺  ffmpeg was installed: 287 files",
    "svn": "Index: lib/a.ts\n===================\n--- lib/a.ts\t(revision 4)\n+++ lib/a.ts\t(working copy)",
    "context_diff": "*** 4,5 ****\n! pool_size = 10;\n--- 4,5 ----\n! pool_size = 40;",
    "mysqldump": "-- MySQL dump 10.13  Distrib 8.0.33",
    "explain": "Seq Scan on b  (cost=0.00..18334.00 rows=1)\n   Filter: (clinic_id = 77)\n Planning Time: 1",
    "environment": "ROTA_REGION=eu-north-1\nLOG_LEVEL=debug",
    "load_report_zh": "压测报告 - 下单接口\n并发数：177\n平均响应时间：72.26ms\n吞吐量(TPS)：82.43\n错误率：0.031%",
    "load_usage_zh": "CPU 峰值 171%，内存占用 32.79GB",
    "jmeter_csv": "Label,# Samples,Average,Median,90% Line,Min,Max\n登录,64729,174,31,88,3,157",
    "vegeta": "Requests      [total, rate]         1500, 50.03\nLatencies     [min, mean, max]  8.1ms, 3",
    "k6_checks": "     ✓ status is 200\nERRO[0061] thresholds on metrics 'x' have been crossed",
    "template": "template <typename T>\nT f(T x) {\n    return x;\n}",
    "dockerfile": "FROM node:20-alpine\nRUN npm ci --omit=dev",
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


def test_a_summary_header_may_carry_a_note() -> None:
    text = f"{BEFORE}\n\n### Conversation summary (auto-generated)\n* Topic: kitchen\n\n{AFTER}"
    assert drop_noise_lines(text)[0].split() == [BEFORE, AFTER]


@pytest.mark.parametrize("line", ["我用 Arch。", "救命！", "Any idea?"])
def test_right_below_a_prompt_only_what_no_program_prints_stays(line: str) -> None:
    assert drop_noise_lines(f"$ make test\n{line}")[0] == line
    assert drop_noise_lines("$ make test\nNothing to do")[0] == ""


def test_lines_that_only_look_like_machine_output_go_with_the_output_beside_them() -> None:
    output = "2024-11-03 10:02:11 ERROR store - write failed\nshard_state 77 of bucket{3}"
    assert drop_noise_lines(f"{BEFORE}\n{output}")[0] == BEFORE
    assert drop_noise_lines("shard_state 77 of bucket{3}")[0] != ""


@pytest.mark.parametrize(
    "head", ["| Day | Training |\n|---|---|\n| Monday | I run 8 km |", "| 星期 | 训练 |\n|---|---|"]
)
def test_a_table_that_a_person_wrote_stays(head: str) -> None:
    assert drop_noise_lines(head)[0] == head


@pytest.mark.parametrize("between", ["\n", "\n\n", " "])
def test_a_block_that_opens_inside_a_line_goes_with_all_its_lines(between: str) -> None:
    block = f"<session-summary>之前比较过两个方案，{between}最后否掉了一个。</session-summary>"
    assert drop_noise_lines(f"{BEFORE}{block}{AFTER}")[0] == BEFORE + AFTER


@pytest.mark.parametrize(
    "line",
    [
        "我用 Arch。",
        "救命！",
        "Any idea?",
        "Thanks, I use Arch.",
        "Ubuntu 22.04 / PHP 8.2",
        "My stack: Django 5.1 / Postgres 16",
        "Team: 5 people (Berlin)",
    ],
)
def test_a_short_line_of_a_person_beside_machine_output_stays(line: str) -> None:
    for output in ("$ make test\nmake: *** [all] Error 2", "java.lang.Error: x\n\tat a.b.C.d(C.java:7)"):
        assert drop_noise_lines(f"{output}\n{line}")[0] == line


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_sentence_that_mentions_technical_things_survives_whole(sentence: str) -> None:
    assert drop_noise_lines(sentence) == (sentence, {})
    assert not has_noise(sentence)


def test_an_unclosed_fence_runs_to_the_end() -> None:
    assert drop_noise_lines(f"{BEFORE}\n```python\nwhile True:\n{AFTER}")[0] == BEFORE


def test_dropped_counts_by_rule_name() -> None:
    text = f"{BEFORE}\n[INFO] one\n[INFO] two\n```\nx\n```"
    assert drop_noise_lines(text)[1] == {"log_line": 2, "fenced_code": 1}
