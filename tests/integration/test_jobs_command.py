"""`poco-memory jobs`: with the command alone an operator finds a dead job, says why, and sees it succeed."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.ledgers import UNKNOWN_JOB
from tests.planted import PLANTED
from tests.scripted_model import Reply, ScriptedModel, reply_facts
from tests.stack import Stack


def jobs(stack: Stack, *arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error."""
    done = subprocess.run(
        [sys.executable, "-m", "cli.main", "jobs", *arguments],
        env=stack.environment | {"USER": "anna", "LOGNAME": "anna"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.returncode, done.stdout, done.stderr


def document(stack: Stack, *arguments: str) -> dict[str, Any]:
    code, out, err = jobs(stack, *arguments, "--json")
    assert code == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


def test_a_dead_job_is_found_explained_retried_and_succeeds(stack: Stack, model: ScriptedModel, user_id: str) -> None:
    model.when(f"[{user_id}]", *[Reply(content=f"this is no JSON: {PLANTED}")] * 4)
    job_id = stack.ingest(user_id, f"以后都用中文写周报，{PLANTED} [{user_id}]", "好的")
    assert stack.finished(job_id)["status"] == "dead"
    scope = f"test:{user_id}"
    listed = document(stack, "list", "--status", "dead", "--scope", scope, "--since", "5m")
    assert [job["job_id"] for job in listed["jobs"]] == [job_id]
    shown = document(stack, "show", job_id)
    assert (shown["reason"], shown["step_name"], shown["attempts"]["extract"]) == (
        "llm_unparseable",
        "memory.extract",
        4,
    )
    assert PLANTED not in json.dumps(shown)
    meant = jobs(stack, "retry", "--all", "--reason", "backend_error", "--scope", scope, "--dry-run")
    assert (meant[0], meant[1].splitlines()[0]) == (0, job_id)
    assert document(stack, "show", job_id)["status"] == "dead"
    model.when(f"[{user_id}]", reply_facts(["用户偏好用中文写周报"]))
    code, out, err = jobs(stack, "retry", "--all", "--scope", scope, "--why", "the model is fixed")
    assert (code, out) == (0, "retry: 1 jobs done.\n"), err
    assert stack.finished(job_id)["outcome"] == "published"
    after = document(stack, "show", job_id)
    assert after["attempts"]["admit"] == 1
    assert after["attempts"]["extract"] == 5
    assert [(entry["operation"], entry["operator"], entry["why"]) for entry in after["audit"]] == [
        ("job_retry", "anna", "the model is fixed")
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("retry",), "name one job, or say --all"),
        (("retry", UNKNOWN_JOB, "--all"), "name one job, or say --all"),
        (("restart", UNKNOWN_JOB, "--dry-run"), "go with --all"),
        (("restart", UNKNOWN_JOB, "--reason", "poison"), "go with --all"),
        (("retry", "--all", "--since", "soon"), "--since: must be a time"),
        (("list", "--scope", "nobody"), "tenant:user"),
        (("list", "--step", "first"), "'first' is none of"),
        (("show", "12"), "is no job id"),
    ],
)
def test_wrong_usage_is_told_by_the_option(stack: Stack, arguments: tuple[str, ...], words: str) -> None:
    code, _, err = jobs(stack, *arguments)
    assert code == 2
    assert words in " ".join(err.split())


def test_what_cannot_be_done_is_told_for_each_job(stack: Stack, user_id: str) -> None:
    job_id = stack.ingest(user_id, "我的密码是 Hk82-qq-Lm", "好的")
    stack.finished(job_id)
    code, out, err = jobs(stack, "cancel", job_id)
    assert (code, out) == (1, "cancel: 0 jobs done, 1 refused.\n")
    assert f"{job_id}: not_open (it is success)" in err


def test_people_get_tables(stack: Stack, user_id: str) -> None:
    job_id = stack.ingest(user_id, "我的密码是 Hk82-qq-Lm", "好的")
    stack.finished(job_id)
    listed = jobs(stack, "list", "--scope", f"test:{user_id}")[1]
    assert job_id in listed
    assert "rejected" in listed
    assert "rejected" in jobs(stack, "show", job_id)[1]
    assert "success/rejected" in jobs(stack, "stats")[1]


def test_the_queue_is_watched_a_line_each_time_where_nobody_reads_a_screen(stack: Stack) -> None:
    code, out, err = jobs(stack, "watch", "--every", "0.2", "--times", "2")
    assert code == 0, err
    lines = out.splitlines()
    assert len(lines) == 2
    assert all(" open " in line and " dead " in line for line in lines)


def test_watching_goes_on_while_the_database_is_away(stack: Stack) -> None:
    away = Stack(stack.folder, stack.environment | {"POCO_DATABASE_URL": "postgresql://u:p@127.0.0.1:1/x"}, stack.url)
    code, out, _ = jobs(away, "watch", "--every", "0.2", "--times", "2")
    assert code == 0
    assert out.count("database_unavailable") == 2
