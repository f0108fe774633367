"""Operators over HTTP: found by filters, run again one by one or all at once, refused with a reason, audited."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from domain.operations import JobFilter
from storage.database import Database
from storage.desk import SqlJobDesk
from tests.ledgers import UNKNOWN_JOB
from tests.scripted_model import Reply, ScriptedModel, reply_facts
from tests.stack import OPERATOR_TOKEN, Answer, Stack


def asked(stack: Stack, path: str) -> Answer:
    return stack.get(path, token=OPERATOR_TOKEN)


def told(stack: Stack, path: str, **body: object) -> Answer:
    return stack.post(path, body, token=OPERATOR_TOKEN)


def dead(stack: Stack, model: ScriptedModel, user_id: str) -> str:
    """A job that died because the model's answers were no JSON; the next answer will be good."""
    model.when(f"[{user_id}]", *[Reply(content="this is no JSON")] * 4, reply_facts(["用户偏好用中文写周报"]))
    job_id = stack.ingest(user_id, f"以后都用中文写周报 [{user_id}]", "好的")
    assert stack.finished(job_id)["status"] == "dead"
    return job_id


def test_a_dead_job_is_found_retried_from_its_step_and_audited(
    stack: Stack, model: ScriptedModel, user_id: str
) -> None:
    job_id = dead(stack, model, user_id)
    path = f"/v1/jobs?status=dead&status=failed&reason=backend_error&step=extract&scope=test:{user_id}&since=1h"
    found = asked(stack, path).body
    assert [job["job_id"] for job in found["jobs"]] == [job_id]
    assert found["next_cursor"] is None
    retried = told(stack, f"/v1/jobs/{job_id}/retry", why="the model is back")
    assert (retried.status, retried.body["status"]) == (200, "pending")
    assert stack.finished(job_id)["outcome"] == "published"
    audit = asked(stack, f"/v1/jobs/{job_id}/audit").body["audit"]
    assert [(entry["operation"], entry["operator"], entry["why"]) for entry in audit] == [
        ("job_retry", "operator", "the model is back")
    ]
    refused = stack.post(f"/v1/jobs/{job_id}/cancel", b"", token=OPERATOR_TOKEN)
    assert (refused.status, refused.body["code"]) == (409, "not_open")
    refused = told(stack, f"/v1/jobs/{job_id}/restart")
    assert (refused.status, refused.body["code"]) == (409, "not_dead")


def test_all_dead_jobs_of_a_kind_run_again_and_a_dry_run_changes_nothing(
    stack: Stack, model: ScriptedModel, user_id: str
) -> None:
    job_id = dead(stack, model, user_id)
    body = {"scope": f"test:{user_id}", "reason": ["llm_unparseable"]}
    dry = told(stack, "/v1/jobs/restart", **body, dry_run=True).body
    assert dry == {"dry_run": True, "meant": 1, "job_ids": [job_id]}
    assert asked(stack, f"/v1/jobs/{job_id}").body["status"] == "dead"
    assert told(stack, "/v1/jobs/restart", **body, limit=5).body == {
        "dry_run": False,
        "meant": 1,
        "job_ids": [job_id],
        "refused": [],
    }
    assert stack.finished(job_id)["outcome"] == "published"


# Kind: vectorize-io/hindsight#1969.
def test_what_died_in_an_outage_is_brought_back_once(stack: Stack, model: ScriptedModel, user_id: str) -> None:
    busy = Reply(status=429, content="busy")
    model.when(f"[{user_id}]", *[busy] * 4, reply_facts(["用户偏好用中文写周报"]))
    job_id = stack.ingest(user_id, f"以后都用中文写周报 [{user_id}]", "好的")
    assert stack.finished(job_id)["reason"] == "llm_rate_limited"
    body = {"scope": f"test:{user_id}", "reason": ["backend_error"], "since": "1h", "why": "the provider is back"}
    assert told(stack, "/v1/jobs/retry", **body).body["job_ids"] == [job_id]
    assert stack.finished(job_id)["outcome"] == "published"
    assert told(stack, "/v1/jobs/retry", **body).body["meant"] == 0


def test_pages_follow_one_another(stack: Stack, stack_database: Database, user_id: str) -> None:
    made = [stack.ingest(user_id, f"谢谢 {number}", "好的") for number in range(3)]
    for job_id in made:
        stack.finished(job_id)
    first = asked(stack, f"/v1/jobs?scope=test:{user_id}&limit=2").body
    second = asked(stack, f"/v1/jobs?scope=test:{user_id}&limit=2&cursor={first['next_cursor']}").body
    assert [job["job_id"] for job in first["jobs"] + second["jobs"]] == made[::-1]
    assert second["next_cursor"] is None
    meant = SqlJobDesk(stack_database).ids(JobFilter(scope=f"test:{user_id}"))
    assert meant == made


def test_the_figures_say_what_is_open_and_what_died(stack: Stack) -> None:
    figures = asked(stack, "/v1/jobs/stats").body
    assert set(figures) >= {"open", "by_state", "open_by_step", "dead_by_reason", "oldest_open_seconds"}
    assert isinstance(figures["open"], int)


@pytest.mark.parametrize(
    ("query", "field", "rule"),
    [
        ("status=gone", "status[0]", "enum"),
        ("step=eat", "step[0]", "literal_error"),
        ("since=yesterday", "since", "span"),
        ("older_than=5", "older_than", "span"),
        ("since=999999d", "since", "span"),
        ("scope=nobody", "scope", "required"),
        ("scope=a:*", "scope", "no_wildcard"),
        ("limit=0", "limit", "greater_than_equal"),
        ("limit=many", "limit", "int_parsing"),
        ("cursor=99999999999999999999", "cursor", "less_than"),
        ("reason=%00", "reason[0]", "storable"),
        ("colour=red", "colour", "extra_forbidden"),
    ],
)
def test_a_wrong_filter_is_named_with_its_rule(stack: Stack, query: str, field: str, rule: str) -> None:
    answer = asked(stack, f"/v1/jobs?{query}")
    assert answer.status == 422
    assert [(error["field"], error["rule"]) for error in answer.body["errors"]] == [(field, rule)]


@pytest.mark.parametrize("body", [{"why": ""}, {"why": "x" * 501}, {"why": 1}, {"other": 1}, [], b"{", b"\xff"])
@pytest.mark.parametrize("path", ["/v1/jobs/retry", f"/v1/jobs/{UNKNOWN_JOB}/retry"])
def test_a_wrong_wish_is_refused(stack: Stack, path: str, body: Any) -> None:
    assert stack.post(path, body, token=OPERATOR_TOKEN).status == 422


@pytest.mark.parametrize("job_id", [UNKNOWN_JOB, "no-uuid", str(uuid.uuid4()) + "%00"])
def test_a_job_that_is_not_there_is_not_found(stack: Stack, job_id: str) -> None:
    for path in (f"/v1/jobs/{job_id}/retry", f"/v1/jobs/{job_id}/cancel"):
        assert told(stack, path).status == 404
    assert asked(stack, f"/v1/jobs/{job_id}/audit").status == 404


def test_a_retry_can_be_started_as_a_task(stack: Stack, model: ScriptedModel, user_id: str) -> None:
    """As Flower does it: by the task's name, with the job's id."""
    job_id = dead(stack, model, user_id)
    from celery import Celery

    with Celery(broker=stack.environment["POCO_BROKER_URL"]) as sender:
        sender.send_task("ops.retry", args=[job_id], queue="ingest.fast", ignore_result=True)
        sender.send_task("ops.retry", args=[{"no": "id"}], queue="ingest.fast", ignore_result=True)
    stack.wait_until(lambda: stack.get(f"/v1/jobs/{job_id}").body["outcome"] == "published", 60, "was not retried")
    audit = asked(stack, f"/v1/jobs/{job_id}/audit").body["audit"]
    assert [(entry["operation"], entry["operator"]) for entry in audit] == [("job_retry", "flower")]
