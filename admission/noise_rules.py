"""The table of lines that machines print: one shape a row, grouped by the rule name that `dropped` counts.

Patterns look at the first `HEAD` characters of a line only, so none of them can run long.
"""

from __future__ import annotations

import re

HEAD = 300

# ruff: noqa: E501 - a row of the table stays on one line
# fmt: off

_LEVEL = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL|SEVERE|SUCCESS|PANIC|DETAIL|STATEMENT|HINT|LOG)"
_TIME = r"\d{1,2}:\d{2}:\d{2}"
_DATE = r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{2}[-/.]\d{2}[-/.]\d{2,4}|\d{4}年\d{1,2}月\d{1,2}日|\d{1,2}[ -][A-Z][a-z]{2}[ -]\d{4})"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_ERROR_NAME = r"[A-Z]\w{0,60}(?:Error|Exception|Exit|Interrupt|Warning|Failure|Fault|Throwable|Iteration|Timeout)"

_MEASURE = (
    r"(?:最大|峰值|总|平均|实际)?(?:并发(?:用户|线程|连接)?数?|请求(?:总)?数|样本数|(?:平均|最大|最小|中位)?响应时间|平均耗时|最大耗时|吞吐[量率]?|错误率|失败率|成功率|失败数|成功数"
    r"|[Pp]\d{2,3}|TPS|QPS|RPS|CPU\s?(?:峰值|使用率|占用率?)?|内存\s?(?:峰值|使用率?|占用率?)?|持续时间|压测时长|线程数)(?:\([A-Za-z/]{1,8}\)|（[A-Za-z/]{1,8}）)?"
)
_UNIT = r"(?:%|[a-zA-Zµ/]{1,12}|[个次条秒人]|毫秒|次/秒|个/秒|[KMG]i?B)?"

_TABLE: dict[str, tuple[str, ...]] = {
    "stack_trace": (
        r"\W{0,12}(?:Exception Group )?Traceback \(most recent call last\)",
        r"[\s|]{0,12}File \"[^\"]{1,200}\", line \d+",
        r"(?!.{0,290}\|\s*\Z)[\s|+-]{0,12}\|\s+(?:File \"|raise |Traceback|\w*Exception|\w*Error:|\w)",
        r"\s{0,12}\+(?:-\+)?-{4,}",
        r"(?:During handling of the above exception|The above exception was the direct cause)",
        r"\s{0,12}at [\w.$/<>@`\[\], ]{1,160}\([^)]{0,160}\)(?: in .{1,200})?\s*\Z",
        r"\s{0,12}at (?:async |new )?\S.{0,160}\(?(?:\S+:\d+:\d+|<anonymous>|index \d+|native)\)?\s*\Z",
        r"\s{2,12}at \S{2,160}(?::\d+)?\s*\Z",
        r"\tat \S",
        r"\s{0,8}at .{1,200}:line \d+",
        r"\s{0,8}\.\.\. \d+ (?:more|common frames omitted)",
        r"\s{0,8}(?:Caused by|Suppressed): [\w.$]{2,120}(?:[.:]|\Z)(?=\S|\s\S|\Z)(?<![a-z]:)",
        r"\s{0,8}Caused by: [a-z]\w*(?:\.\w{1,60}){1,10}",
        r"\s{0,8}(?:Caused by: )?" + _ERROR_NAME + r": \S",
        r"Exception in thread \"",
        r"(?:[a-z_]\w{0,40}\.){1,10}(?:[A-Z]\w{1,80})?(?:Exception|Error|Throwable|Failure)\b(?::|\s*\Z)",
        r"(?:[A-Z]\w{0,40}\.){1,8}\w{2,80}(?:Exception|Error): ",
        r"\s{0,12}--- End of (?:inner exception )?stack trace",
        r"(?:Uncaught|Unhandled) .{0,60}(?:Error|Exception|rejection)\b.{0,8}[:(]",
        r"panic: \S.{0,120}(?:error|nil|index|close|deadlock|invalid|goroutine|\[recovered\]|assert|slice|unexpected|:)",
        r"fatal error: ", r"goroutine \d+ \[", r"\[signal SIG", r"created by [\w./*()]{3,}", r"exit status \d+\s*\Z",
        r"\s{1,8}\S{1,200}\.(?:go|rs|kt|java|py|rb|php|cs|cpp|c|ts|js|swift|ex|scala):\d+",
        r"(?:[\w./-]{1,80}\.)?\(?\*?\w{1,60}\)?(?:\.\w{1,60}){1,4}\((?:0x[0-9a-f]+|\{0x|\.\.\.)",
        r"thread '.{0,80}' panicked at", r"stack backtrace:", r"\s{0,8}\d{1,4}:\s+(?:0x[0-9a-f]+ - )?[\w<>{}$ ]{1,80}::\S",
        r"called `(?:Result|Option)::", r"note: (?:run with|Some details)",
        r"\S{1,160}\.(?:rb|erb):\d+:in ", r"\s{1,8}from \S{1,160}:\d+",
        r"PHP (?:Fatal error|Warning|Notice|Parse error|Deprecated|Stack trace)", r"(?:Stack trace|Call Stack|堆栈信息|调用栈)[:：]\s*\Z",
        r"(?:Fatal error|Warning|Notice|Parse error|Deprecated): .{1,200} on line \d+", r"\s{0,4}thrown in \S",
        r"\s{0,4}#\d{1,4}\s+(?:0x[0-9a-fA-F]+|/|\{main\}|\[internal|[\w\\:>-]{1,80}\(|.{1,160}\(\d+\): )",
        r"(?:Program|Thread \d+ \S{1,40}) received signal SIG", r"FATAL EXCEPTION: ", r"Process: [\w.]+, PID: \d+",
        r"==\d+==", r"Segmentation fault", r"Aborted \(core dumped\)", r"\*\* \([A-Z]\w", r"\s{2,8}\(\w{1,40} [\d.]+\) \S+:\d+",
        r".{1,120} at \S{1,120}\.p[lm] line \d+\.",
        r"terminate called |(?:READ|WRITE) of size \d+ at 0x|SUMMARY: \w{1,40}Sanitizer", r"node:internal/\S|Require stack:|Node\.js v\d+\.",
        r"\S{1,160}\.[a-z]{1,5}:\d+:\d+ - (?:error|warning|note)\b", r"(?:error|fatal|warning|note|help)(?:\[\w+\])?: (?:aborting|failed|could not|cannot|unable|no such|pathspec|unused|unresolved|undefined|expected|mismatched|not found|use of|borrow|.{1,80}`).{0,250}\Z",
        r"" + _ERROR_NAME + r" \(.{1,200}\):", r"(?:[A-Z]\w{0,40}\\){1,8}\w{2,80}: \S", r"\S{1,160}\.(?:rb|ru|rake):\d+(?::in\b|\s*\Z)", r"#{3} (?:Error|The error|Cause|SQL)\b",
        r"\"[^\"]{1,80}\" (?:#\d+ )?.{0,40}\bprio=\d", r"\s{0,12}java\.lang\.Thread\.State:", r"Found (?:one|\d+) (?:Java-level )?deadlocks?|\"[^\"]{1,80}\":\s*\Z|Error: \S", r"\s{1,12}(?:waiting (?:to lock|on|for)|which is held by|- (?:waiting|locked|parking)\b)", r"Thread \d+ \(.{1,80}\):?\s*\Z",
        r"For more information about this error, try", r"Fatal error: \S", r"Thread \d+ Crashed|\d{1,4}\s{1,12}[\w.]{1,60}\s{1,40}0x[0-9a-f]{4}", r"Found \d+ errors? in \S",
    ),
    "log_line": (
        r"[\w.-]{1,40}-\d{1,3}\s{1,12}\| ", rf"{_LEVEL} - \S", r"LINE \d+: ", r"\s{1,80}[\^~]{1,80}\s*\Z", r"collected \d+ items?\b",
        rf"\W{{0,2}}{_DATE}[T ]{{1,4}}{_TIME}(?:[.,]\d{{1,9}}|Z|[+-]\d\d:?\d\d)",
        rf"\W{{0,2}}{_DATE}[T ]{{1,4}}{_TIME}(?: ?[A-Z+]\S{{2,5}})?[\])]?\s{{0,4}}(?:[-|\[(#]|\W{{0,3}}{_LEVEL}\b|\S{{1,60}}\[\d+\]|[\w.]{{3,60}}:\s)",
        rf"\[?{_TIME}(?:[.,]\d{{1,9}})?\]?\s{{1,4}}(?:\[|\W{{0,2}}{_LEVEL}\b)",
        rf"\[[^\]\n]{{0,60}}{_TIME}[^\]\n]{{0,80}}\]\s*\S",
        r"[【\[](?:错误|警告|信息|调试|严重|致命|提示|异常|通知)[】\]]\s{0,3}(?:\d{2,4}[-年/]|\d\d:\d\d)",
        rf"{_LEVEL}:[\w.]{{2,80}}:",
        rf"{_LEVEL}(?::\s{{2,}}|\s{{2,}}\S{{1,80}}[.:]|\s{{0,4}}[\[|]\S|\s{{1,3}}\d{{4}}-\d\d-\d\d)",
        rf"\[\s?{_LEVEL}\s?\]",
        r"(?:<\d{1,3}>)?" + _MONTH + rf" {{1,2}}\d{{1,2}} {_TIME} \S{{1,80}} [^:\n]{{1,80}}:",
        r"\S{1,80} \S{1,40} \S{1,40} \[\d{2}/" + _MONTH + r"/\d{4}:",
        r".{0,120}\"(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) \S{1,200} HTTP/\d",
        r"\[\s{0,8}\d{1,9}\.\d{3,9}\]\s", r"\[\d{1,9}\.\d{1,9}s\]", r"[IWEFD]\d{4} \d\d:\d\d:\d\d\.\d+\s",
        r"\d{1,7}:[MSCX] \d\d " + _MONTH, r"(?:info|warn|fail|dbug|trce|crit|error|debug): [\w.]{2,120}\[\d+\]",
        r"[DIWEVF]/[\w.:-]{1,60}\s{0,8}\(\s{0,6}\d+\):", r"##\[\w+\]", r"::(?:error|warning|notice|group|endgroup|set-output)\b",
        r"npm (?:ERR!|(?:WARN|warn|error|notice|info|verb)\b)", r"(?:[\w.]{1,30}=(?:\"[^\"]{0,200}\"|[^\s\"]{1,120})\s){2,20}[\w.]{1,30}=\S", r"yarn (?:run v|install v)\d", r"(?:error|warning) Command failed",
        r"(?:---|===) (?:FAIL|PASS|SKIP|RUN|PAUSE|CONT)\b", r"(?:ok|FAIL|\?)\s{1,8}\t?\S{1,120}\s{1,8}(?:[\d.]+s|\(cached\)|\[)",
        r"(?:PASS|FAIL|(?:OK|FAILED) \(.{1,60}\))\s*\Z", r"\s{1,8}\w{1,60}_test\.go:\d+:", r"={3,} .{1,120} ={3,}\s*\Z",
        r"\S{1,160}\.py(?:::\w+){1,4}\S{0,80}\s+(?:PASSED|FAILED|ERROR|SKIPPED)", r"(?:FAILED|ERROR|PASSED) \S{1,120}\.py\b", r"E {2,}\S",
        r"(?:PASS|FAIL) \S{1,160}\.(?:test|spec)\.", r"(?:Tests|Test Suites|Snapshots):\s{1,12}.{0,60}\d+ (?:passed|failed|total)",
        r"test \S{1,120} \.\.\. (?:ok|FAILED|ignored)", r"test result: ", r"\s{2,8}(?:Compiling|Finished|Running|Downloaded|Updating|Blocking) \S",
        r"(?:error|warning)(?:\[E\d+\]|: could not compile)", r"\S{1,160}:\d+:\d+: (?:fatal error|error|warning|note):",
        r"\S{1,160}\(\d+,\d+\): (?:error|warning) ", r"> Task :", r"Execution failed for task '", r"BUILD (?:SUCCESS|FAIL)", r"make(?:\[\d+\])?: ",
        r"Step \d+/\d+ : ", r"\s{0,4}---> \S", r"The command '.{1,200}' returned a non-zero code", r"\[\+\] (?:Running|Building|Creating)",
        r" => \S", r"#\d+ (?:\[|DONE|CACHED|ERROR|sha256:|\d+\.\d+ \S|(?:exporting|naming|writing|transferring|resolve|extracting|load) )", r"(?:Successfully (?:built|tagged|installed)|Removing intermediate container) \S",
        r"(?:Collecting|Downloading|Installing collected packages:|Requirement already satisfied:|Building wheel|Using cached) ?\S+[-=:.>< ]\S{0,80}\s*\Z",
        r"\s{0,8}# \S{1,120} (?:will be|must be) (?:created|destroyed|updated|replaced|read)", r"\s{0,8}[-+~/]{1,3} resource \"",
        r"\s{2,12}[-+~] \"?[\w.-]{1,60}\"?\s{1,40}= ", r"Plan: \d+ to add", r"Apply complete! ",
        r"(?:\w+\.)*\w+: (?:Creating|Destroying|Refreshing state|Still creating|Creation complete)",
        r"\S{1,40}\s{2,}(?:Warning|Normal)\s{2,}\S+\s{2,}", r"vite v\d", r"✓ \d+ modules", r"(?:remote|Cloning into|Receiving objects|Resolving deltas|Unpacking objects)\b.{0,4}[:'].",
        r"\[\s{0,8}\d{1,9}\.\d{1,9}\]\s", r"\[\s?\d{1,3}%\]\s\S", r"FAILURE: |[ew]: \S.{0,200}: ?\S|\* What went wrong:|> \S.{1,80} FAILED\s*\Z", r"<\d{1,3}>\d? ?(?:\d{4}|" + _MONTH + r")", r"(?:kernel|systemd|sshd|cron|dockerd)(?:\[\d+\])?: \S", r".{0,200}\b(?:level|lvl|severity)=\"?(?:trace|debug|info|warn|warning|error|fatal)\b",
        r"\d{1,3}(?:\.\d{1,3}){3}:\d{1,5} \[", r"Running with gitlab-runner|section_(?:start|end):\d", r"\d\d-\d\d \d\d:\d\d:\d\d\.\d+\s{1,6}\d+\s{1,6}\d+ [VDIWEF] ", r"(?:TRAC|DEBU|INFO|WARN|ERRO|FATA)\[\d{1,8}\]",
        r"webpack \d|Module not found: \S|\s{0,4}(?:Determining projects to|All projects are up-to-date)|Build (?:succeeded|FAILED)\.|\s{1,8}\d+ (?:Warning|Error)\(s\)|Time Elapsed \d", r"\s{0,4}(?:PASS|FAIL)\s{1,4}\S{1,160}\.(?:test|spec)\.|\s{0,8}● \S|\s{2,12}expect\(|\s{2,12}(?:Expected|Received)(?: \w+)?: ",
        r"platform (?:linux|darwin|win32) -- Python", r"\d+ actionable tasks?: ", r"\s{1,8}(?:Warning|Normal)\s{2,}\w+\s{2,}\d", r"HTTP/\d(?:\.\d)? \d{3}\b|(?:Server|Content-[A-Z][a-z]{3,12}|Cache-Control|Transfer-Encoding|Retry-After|Strict-Transport-Security): \S",
    ),
    "shell": (
        r"\s{0,4}Volume (?:in drive|Serial Number)", r"\d\d/\d\d/\d{4}\s{1,4}\d\d:\d\d\s", r"[-dl][rwxsStT-]{9}[@+.]?\s", r"total \d+\s*\Z", r"Already up to date\.\s*\Z",
        r"\s{0,4}[$❯➜] {1,4}[A-Za-z./_~]", r"(?:\(\S{1,40}\) ?)?[\w.-]{1,40}@[\w.-]{1,64}[:\s][^#$%\n]{0,120}[#$%](?:\s|\Z)",
        r"\[[\w.-]{1,40}@[\w.-]{1,64} [^\]\n]{0,120}\][#$](?:\s|\Z)", r"(?:PS )?[A-Za-z]:\\[^>\n]{0,160}>", r"PS [~/][^>\n]{0,160}>",
        r">>> ?\S", r"\.\.\. {1,12}\S", r"(?:In|Out) ?\[\d{1,5}\]:", r"\w{1,40}[=-][#>*] ?\S", r"(?:mysql|mariadb|sqlite|redis|mongo\w{0,2}|ftp|irb|node|sftp|gdb)(?:\(\S{1,40}\):?\S{0,16})?> ?\S",
        r"(?:localhost|\d{1,3}(?:\.\d{1,3}){3}):\d{2,5}(?:\[\d+\])?> ?\S", r"(?:root|bash|sh)(?:-[\d.]+)?[#$] \S", r"# (?:apt|yum|cd|ls|cat|systemctl|docker|sudo|service)\b(?: [\w./-]+)*\s*\Z",
        r"(?:Enumerating|Counting|Compressing|Writing|Receiving) objects: \d", r"Pinging \S{1,80} with \d|Request timed out\.|Reply from \S{1,60}: |\s{0,8}Packets: Sent = |PING \S{1,80} \(|\d+ bytes from \S", r"[A-Z][a-z]{2,20}-[A-Z]\w{2,40} ?: \S", r"At line:\d+ char:\d+", r"\s{1,8}\+ (?:CategoryInfo|FullyQualifiedErrorId|~)", r"\s! \[(?:rejected|remote rejected)\]",
        r"(?:Filesystem|NAME|NAMESPACE|USER|PID|UID|CONTAINER ID|REPOSITORY|Proto|Mem|Swap)\s{2,}\S+\s{2,}\S", r"% [a-z]{2,20}(?: \S{1,80}){1,12}\s*\Z", r"==> \S|🍺 ", r"Your branch is |On branch \S+\s*\Z|Changes (?:not staged|to be committed)|Untracked files:|nothing to commit|\s{1,8}(?:modified|new file|deleted|renamed|both modified):\s|\s{0,8}\(use \"git",
    ),
    "diff": (
        r"diff --(?:git|cc|combined) ", r"index [0-9a-f]{6,40}\.\.[0-9a-f]{6,40}", r"(?:---|\+\+\+) (?:[ab]/|/dev/null|\S{1,160}\.\w{1,8}(?:\s|\Z))",
        r"@@ -\d+(?:,\d+)? \+\d+", r"(?:new|deleted) file mode \d{6}", r"(?:similarity|rename) (?:index|from|to) \S", r"Binary files \S+ and ",
        r"<{7} \S", r">{7} \S", r"={7}\s*\Z", r"commit [0-9a-f]{40}\b\s*(?:\(|\Z)", r"Author: .{1,80} <\S+@\S+>",
        r"Index: \S{1,160}\.\w{1,8}\s*\Z",
        r"\*{3} \d+,\d+ \*{4}|--- \d+,\d+ ----|! \w[^。，.!?]{0,200}[=(){};]",
        r"\d+(?:,\d+)?[acd]\d+(?:,\d+)?\s*\Z", r"\*{3} \S{1,160}\s{1,4}\d{4}-\d\d-\d\d",
    ),
    "dump": (
        r"\s{0,8}(?:0x)?[0-9a-fA-F]{4,16}[:\s]\s{0,4}(?:[0-9a-fA-F]{2,4}\s{1,2}){4}", r"\s{0,8}(?:[0-9a-fA-F]{2}[\s:]{1,2}){8}",
        r"(?=.{0,60}[A-Z])(?=.{0,60}[a-z])(?=.{0,60}\d)[A-Za-z0-9+/_-]{60,}={0,2}\s*\Z", r"[0-9a-fA-F]{40,}\s*\Z", r"-----(?:BEGIN|END) [A-Z ]{3,40}-----",
        r"\s{0,40}\"[\w.$@ -]{1,80}\"\s{0,3}:\s{0,3}(?:\"(?:[^\"\\]|\\.){0,200}\"|-?\d[\d.eE+-]{0,30}|true|false|null|[\[{].{0,200})\s{0,3}(?:[\]}]\s?)*,?\s*\Z",
        r"\s{0,8}<\?xml\b", r"\s{0,8}<!DOCTYPE\b", r"\s{0,40}</?[A-Za-z][\w.-]{0,60}(?::\w{1,40})?(?:\s[^<>\n]{0,200})?/?>(?:.{0,250}</[\w:.-]{1,60}>)?\s*\Z",
        r"\s{0,8}(?=[^+\n]{0,200}\+|\s{0,8}-)[-+|]{1,4}-{2,}[-+|:\s]*\Z", r"\(\d+ rows?(?: affected)?\)", r"\s{0,4}\+-{2,}\+", r"\d+ rows? in set", r"Query OK, ",
        r"-- (?:MySQL|MariaDB|PostgreSQL)(?: database)? dump\b", r"[0-9a-fA-F]{7,16}\s*\Z(?<=\d)(?<!\d{8})|0{3,8}[0-9a-f]{1,5}\s*\Z", r"\s{0,8}-{3,80}(?:\+-{3,80}){1,30}\s*\Z",
        r"\s{0,60}(?:->\s{1,4})?(?:Seq|Index(?: Only)?|Bitmap \w+|Hash|Nested|Merge|Sort|Aggregate|Gather|Limit|Parallel)\b.{0,120}\(cost=", r"\s{1,60}(?:Filter|Index Cond|Rows Removed by \w+|Sort Key|Sort Method|Hash Cond|Join Filter|Buffers|Heap Fetches): |\s{0,8}(?:Planning|Execution) Time: ", r"(?:export )?[A-Z][A-Z0-9_]{2,60}=\S{0,200}\s*\Z",
    ),
    "load_test": (
        r"Running \d+\w{0,3} test @", r"\s{0,8}\d+ (?:threads?|goroutines?) and \d+ connections", r"\s{0,8}Thread Stats\s", r"\s{0,8}(?:Latency|Req/Sec)\s{2,}\d",
        r"\s{0,8}Latency Distribution", r"\s{0,8}\d+ requests in \d", r"\s{0,8}(?:Requests|Transfer|Bytes)/sec:", r"This is ApacheBench", r"Benchmarking \S{1,120} \(be patient\)",
        r"(?:Server (?:Software|Hostname|Port)|Document (?:Path|Length)|Concurrency Level|Time taken for tests|Connection Times|Percentage of the requests|Completed \d+ requests|Finished \d+ requests)\b",
        r"\s{0,8}\w{3,20}:\s{2,}\d+\s{1,8}\d+\s{1,8}[\d.]+", r"\s{1,8}\d{1,3}(?:\.\d+)?%\s{1,8}(?:in )?\d", r"summary [+=]\s{1,12}\d+ in ",
        r"\s{0,12}[\w{}: /-]{2,60}\.{3,}\s?:\s", r"\s{0,8}(?:running|default)\s.{0,20}\[?.{0,40}\d+/\d+ VUs", r"\s{0,4}(?:GET|POST|PUT|DELETE|PATCH|Aggregated)\b.{1,160}\|", r"Type\s{2,}Name\s{2,}",
        r"={3,} \S{1,40} ={3,}", r"\s{0,4}[\d.,]+ requests per second", r"\s{0,4}[\d.,]+ requests completed in", r"\s{0,4}\d+ parallel clients", r"\s{0,4}\d+ bytes payload", r"\s{0,4}keep alive: \d",
        r"SQL statistics:", r"\s{0,8}queries performed:", r"\s{0,8}[\w%./() -]{2,50}:(?:\s{2,}|\t)\s{0,40}[+-]?\d[\d.,]*\s?(?:%|[a-zA-Zµ/]{1,12}\b|\(|\Z|\s)", r"\s{0,8}\[\d{3}\]\s{1,8}\d+ responses",
        r"(?:压测|压力测试|性能测试)(?:结果|报告|数据|输出)?[:：]?.{0,60}[=＝]\s?\d", r"(?:[^=\s]{1,40}=\s?[\d.,]+[\w%/]{0,8}[\s,，;；|]{1,3}){2,8}[^=\s]{1,40}=\s?[\d.,]+[\w%/]{0,8}\s*\Z",
        r"\s{0,4}(?:tps|qps|rps|latency|p\d{2,3}|avg|min|max|total)\s?[=:]\s?[\d.,]+\s?\w{0,8}(?:[\s,;|]|\Z)", r"(?:transaction type|scaling factor|query mode|number of (?:clients|threads|transactions)|latency average|initial connection time)\b.{0,30}[:=]",
        r"[^,\n]{1,60}(?:,[\d.]+%?){5,30}\s*\Z|(?:[\w#%][\w #%./-]{0,20},){5,30}[\w #%./-]{1,20}\s*\Z", r"Creating summari[sz]er|Starting the test @|Tidying up|\.\.\. end of run", r"\s{0,8}[✓✗✔✖] \S.{0,200}\Z", r"default [✓✗↓]", r"Response time percentiles", rf"\s{{0,8}}(?:{_MEASURE}\s?[:：=]?\s?[\d.,]+\s?{_UNIT}[,，;；、|\s]{{0,3}}){{1,10}}\Z", r"(?:压测|压力测试|性能测试|负载测试)(?:报告|结果|摘要|数据)?\s?[-—|:：]{1,2}\s?.{0,60}\Z",
        r"(?:Requests|Duration|Latencies|Bytes (?:In|Out)|Success|Status Codes)\s{1,10}\[|Error Set:", r"(?:压测|压力测试|性能测试|负载测试)(?:报告|结果|摘要|数据)\s?[(（][^()（）\n]{0,40}[)）]\s*\Z",
        r"\s{0,4}\|(?:[^|\n]{0,40}\|){0,8}?\s?(?:QPS|TPS|RPS|T?P\d{2}|平均耗时|平均响应时间|吞吐[量率]|失败率|错误率|[Rr]equests?/s(?:ec)?|[Ll]atency|[Tt]hroughput)[^|\n]{0,20}\|",
    ),
    "code": (
        r"\s{0,40}(?:async )?def \w+\(", r"\s{0,40}class \w+(?:\([^)\n]{0,120}\))?:\s*\Z", r"\s{0,40}(?:import [\w.]+(?: as \w+)?(?:, ?[\w.]+){0,8};?|from [\w.]+ import [\w*, ()]+|import .{1,120} from ['\"].{1,120}|#include\s?[<\"].{1,80}|package [\w.]+;|using [\w.]+;|use [\w:{}, ]+;)\s*\Z",
        r"\s{0,40}@\w[\w.]{0,60}(?:\(.{0,120}\))\s*\Z", r"\s{0,40}(?:public|private|protected|static|export|const|let|var|func|fn|function|interface|enum|struct|impl|type|val) [^。，\n]{0,160}[({;=]", r"\s{0,40}(?:if|elif|while|for|switch|catch|with) ?\(?[^。，\n]{0,160}(?:[)\w] ?\{|[()\[\]=<>_][^。，\n]{0,60}:|True:|[)\]]:)\s*\Z",
        r"\s{0,40}(?:else|try|finally|do)\s?[:{]\s*\Z", r"\s{0,40}\}?\s?(?:else|catch|finally)\b[^。，\n]{0,80}\{\s*\Z", r"\s{0,40}except [\w.,() ]{1,80}:\s*\Z", r"\s{0,40}(?:return|raise|throw|yield|await|assert) .{0,160}[()\[\]{};]", r"\s{0,40}[}\])]{1,4}[;,]?\s*\Z|\s{0,40}[{\[(]\s*\Z",
        r"\s{0,40}(?:SELECT\s.{1,200}\sFROM|INSERT INTO|DELETE FROM|UPDATE \S{1,60} SET|(?:CREATE|ALTER|DROP|TRUNCATE) (?:TABLE|INDEX|VIEW|DATABASE|UNIQUE)) ", r"\s{0,40}[\w.\[\]'\"]{1,80}(?: ?: ?\w{1,40})? ?(?:=|:=|\+=|-=) ?[^=\s][^。，\n]{0,200}[()\[\]{};\"']\s*\Z", r"\s{0,40}[\w.]{1,80}\((?:\)|[^。，\n]{0,200}[=\"'._;\[\]][^。，\n]{0,200}\))[;,]?\s*\Z", r"[^。，\n]{0,200}[()=\[\]\"'>][^。，\n]{0,90};\s*\Z", r"[^。，\n]{1,250}[)\w=>] ?\{\s*\Z",
        r"(?:SELECT [\w*.,() ]{1,200}|FROM [\w.]+(?: \w+)?|WHERE \S+ ?[=<>].{1,200}|(?:ORDER|GROUP) BY .{1,100}|(?:LEFT |RIGHT |INNER )?JOIN .{1,200}|LIMIT \d+);?\s*\Z", r"export [A-Z_][A-Z0-9_]*=", r"#!/", r"\s{0,40}(?://|/\*|\*/) ?\S", r"(?:FROM [\w./-]+:[\w.-]+|RUN \S.{0,200}(?:&&| -\w| install )|COPY \S+ \S+\s*\Z|(?:ENTRYPOINT|CMD) \[|EXPOSE \d+|WORKDIR /|ENV \w+=)",
        r"\s{0,40}template ?<", r"RUN (?:npm|yarn|pnpm|pip3?|uv|apt|apt-get|apk|yum|dnf|go|make|mvn|cargo|curl|wget|mkdir|chmod|chown|cp|useradd|adduser|set|bundle|composer|python3?|node)\b",
    ),
    "command": (
        r"(?:sudo|\./\S{1,80}) ?\S", r"(?:curl|wget|kubectl|docker|docker-compose|podman|helm|git|npm|npx|pnpm|yarn|pip3?|uv|poetry|python3?|node|go|cargo|mvn|gradle|make|apt|apt-get|yum|dnf|brew|systemctl|journalctl|ssh|scp|rsync|tar|chmod|chown|mkdir|rm|cp|mv|cd|ls|cat|tail|head|grep|find|sed|awk|ps|kill|psql|mysql|redis-cli|terraform|ansible|aws|gcloud|az|celery|pytest|export|source|dotnet|java|vim|nano|gcc|g\+\+|clang|clang\+\+|ld|wrk|ab|hey|k6|locust|jmeter)(?: [^。，\n]{0,250})?\Z",
    ),
}
# fmt: on
# One pattern a rule: trying its shapes one after the other costs a call for each.
RULES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile("|".join(f"(?:{shape})" for shape in shapes))) for name, shapes in _TABLE.items()
)
# These shapes also fit what people write, so prose is let off.
WEAK = frozenset(("code", "command"))
