"""The gates on rows of one's own: answers as the chain would give them, bad lines told by number, nothing written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from runtime.spec import PROJECT_ROOT

TURNS = [{"role": "user", "content": "以后都用中文写周报，工具用 Loki。"}, {"role": "assistant", "content": "好的。"}]


def dry_run(gate: str, *lines: str, files: Path | None = None, **extra: str) -> tuple[int, list[dict[str, Any]], str]:
    """Exit code, answers and what was said on standard error; through files when a folder is given."""
    where = ["--in", str(files / "in"), "--out", str(files / "out")] if files else []
    if files:
        (files / "in").write_text("\n".join(lines), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "cli.main", "dry-run", gate, *where],
        input="\n".join(lines),
        env={name: value for name, value in os.environ.items() if not name.startswith("POCO_")} | extra,
        cwd=PROJECT_ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    answers = (files / "out").read_text(encoding="utf-8") if files else done.stdout
    return done.returncode, [json.loads(line) for line in answers.splitlines()], done.stderr


def row(number: int, **fields: object) -> str:
    return json.dumps({"id": f"r{number}", "unknown": 1, **fields}, ensure_ascii=False)


def test_admission_answers_with_verdict_reason_and_what_is_left(tmp_path: Path) -> None:
    secret = [{"role": "user", "content": "我的密码是 Hk82-qq-Lm"}, TURNS[1]]
    code, answers, said = dry_run(
        "admission",
        row(1, kind="task_completed", messages=[{**TURNS[0], "content": "[INFO] x\n" + TURNS[0]["content"]}, TURNS[1]]),
        row(2, kind="pre_compact", messages=TURNS),
        row(3, messages=secret),
        "",
        files=tmp_path,
    )
    assert (code, said) == (0, "")
    assert answers[0] == {
        "id": "r1", "verdict": "accept", "reason": None, "messages": TURNS, "dropped": {"log_line": 1}
    }  # fmt: skip
    assert [(answer["id"], answer["verdict"], answer["reason"]) for answer in answers[1:]] == [
        ("r2", "reject", "session_snapshot"),
        ("r3", "reject", "credential"),
    ]
    assert "Hk82" not in json.dumps(answers)


def test_extraction_answers_with_outcome_and_facts() -> None:
    raws = ['```json\n{"facts": ["用户喜欢茶"]}\n```', '{"facts": []}', "I found nothing special, {"]
    code, answers, _ = dry_run("extraction", *(row(number, raw=raw) for number, raw in enumerate(raws)))
    assert code == 0
    assert [(answer["outcome"], answer["facts"]) for answer in answers] == [
        ("facts", ["用户喜欢茶"]),
        ("empty", []),
        ("unparseable", []),
    ]


@pytest.mark.parametrize(
    ("text", "role", "label", "grounded"),
    [
        ("用户希望用中文写周报", "user", "ok", True),
        ("用户希望用日文写周报", "user", "ok", False),
        ("User wants the weekly report in Chinese", "user", "drift", False),
        ("用户的周报在 /srv/reports/a.md", "user", "has_path", False),
        ("用户的周报在 https://example.org/a", "user", "has_url", False),
        ("用户的密码是 Hk82-qq-Lm", "user", "credential", False),
        ('Traceback (most recent call last):\n  File "/a.py", line 1', "user", "stack", False),
        ("长" * 501, "user", "too_long", False),
        ("用户希望用中文写周报", "system", "bad_role", True),
    ],
)
def test_postcheck_answers_with_the_label_and_whether_it_is_grounded(
    text: str, role: str, label: str, grounded: bool
) -> None:
    fact = {"text": text, "attributed_to": role}
    code, (answer,), _ = dry_run("postcheck", row(1, messages=TURNS, fact=fact))
    assert (code, answer["label"], answer["grounded"]) == (0, label, grounded)


def test_bad_lines_are_told_by_number_and_the_run_goes_on() -> None:
    code, answers, said = dry_run(
        "admission", "{", "[1]", row(3), row(4, messages=[{"role": "boss", "content": "x"}]), row(5, messages=TURNS)
    )
    assert (code, [answer["id"] for answer in answers]) == (1, ["r5"])
    assert [line.split(":")[0] for line in said.splitlines()] == [
        "Line 1", "Line 2", "Line 3", "Line 4", "4 lines were not judged."
    ]  # fmt: skip
    assert "messages" in said.splitlines()[2]
    assert "messages[0].role" in said.splitlines()[3]


def test_a_missing_file_is_wrong_usage(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cli.main", "dry-run", "admission", "--in", str(tmp_path / "none")],
        cwd=PROJECT_ROOT, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert "No such file" in done.stderr


def test_rules_for_secrets_of_ones_own_hold_here_too(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text("[[rules]]\nid = 'badge'\nregex = 'badge-[a-z]{12}'\nkeywords = ['badge-']\n")
    candidate = row(
        1, kind="task_completed", messages=[{"role": "user", "content": "我的是 badge-abcdefghijkl"}, TURNS[1]]
    )
    assert dry_run("admission", candidate)[1][0]["verdict"] == "accept"
    answer = dry_run("admission", candidate, POCO_SECRET_RULES=str(tmp_path / "own.toml"))[1][0]
    assert (answer["verdict"], answer["reason"]) == ("reject", "credential")
    code, _, said = dry_run("admission", candidate, POCO_SECRET_RULES=str(tmp_path / "none.toml"))
    assert code != 0
    assert "POCO_SECRET_RULES" in said
    assert "Traceback" not in said
