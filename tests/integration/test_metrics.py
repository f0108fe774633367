"""What API, worker and relay show to Prometheus, on the running service."""

from __future__ import annotations

import json
import os
import signal
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from runtime.embedded.servers import Servers
from runtime.procfs import children_of
from storage.migrate import upgrade
from tests.conftest import new_database, own_broker
from tests.integration.conftest import EMBEDDING_DIMS, scripted
from tests.planted import PLANTED
from tests.scrapes import names, value
from tests.scripted_model import ScriptedModel, reply_facts, reply_slow, reply_status, reply_text
from tests.stack import TOKEN, Stack, running_stack

FACT = "用户偏好用简体中文写技术方案"
SAID = "以后技术方案都用简体中文写"
STEPS = ("admit", "extract", "check_language", "validate", "relink", "cleanup")


@pytest.fixture
def own_url(servers: Servers) -> str:
    """A database that no other relay looks at."""
    url = new_database(servers, f"metrics_{uuid.uuid4().hex[:8]}")
    upgrade(url, embedding_model="scripted", dims=EMBEDDING_DIMS)
    return url


@contextmanager
def own_stack(
    servers: Servers, url: str, model: ScriptedModel, folder: Path, *verbs: str, **settings: object
) -> Iterator[Stack]:
    with running_stack(
        folder,
        *verbs,
        **scripted(url, own_broker(servers, 2), model),
        reaper_seconds=0.5,
        **settings,
    ) as stack:
        yield stack


def rise(stack: Stack, verb: str, before: str, name: str, **labels: str) -> float:
    return value(stack.scrape(verb), name, **labels) - value(before, name, **labels)


def wait_for_rise(stack: Stack, verb: str, before: str, name: str, **labels: str) -> None:
    """An end is counted right after the ledger has it, so the ledger may be seen first."""
    stack.wait_until(lambda: rise(stack, verb, before, name, **labels) == 1, 30, f"{name} {labels} does not rise by 1")


def test_one_candidate_moves_the_figures_of_all_three_processes(
    stack: Stack, model: ScriptedModel, user_id: str
) -> None:
    before = {verb: stack.scrape(verb) for verb in ("api", "worker", "relay")}
    marker = f"[{user_id}]"
    model.when(marker, reply_facts([FACT]))
    job = stack.finished(stack.ingest(user_id, f"{SAID} {marker}", f"好的 {marker}"))
    assert job["outcome"] == "published"
    assert stack.search(user_id, FACT)["total"] == 1

    api, worker = before["api"], before["worker"]
    assert rise(stack, "api", api, "memory_ingest_total", result="accepted") == 1
    assert rise(stack, "api", api, "memory_http_seconds_count", endpoint="memories.ingest", status="2xx") == 1
    assert rise(stack, "api", api, "memory_search_seconds_count", result="found") == 1
    assert rise(stack, "api", api, "memory_search_hits_sum") == 1
    wait_for_rise(stack, "worker", worker, "memory_decisions_total", decision="ADD")
    assert rise(stack, "worker", worker, "memory_jobs_ended_total", outcome="published") == 1
    for step in STEPS:
        assert rise(stack, "worker", worker, "memory_step_seconds_count", step=step, result="ok") == 1
    assert rise(stack, "worker", worker, "memory_model_seconds_count", result="ok") == 1
    assert rise(stack, "worker", worker, "memory_embedding_seconds_count", purpose="store") >= 1
    assert rise(stack, "relay", before["relay"], "memory_relay_sent_total") >= 1
    stack.wait_until(
        lambda: rise(stack, "relay", before["relay"], "memory_jobs", status="success", outcome="published") == 1,
        30,
        "the ledger's figures do not follow",
    )
    assert value(stack.scrape("relay"), "memory_ledger_up") == 1


def test_retries_and_dead_jobs_are_counted_with_step_and_reason(
    stack: Stack, model: ScriptedModel, user_id: str
) -> None:
    before = stack.scrape("worker")
    marker = f"[{user_id}]"
    model.when(marker, reply_text(f"no JSON at all: {PLANTED}"), *[reply_status(500)] * 3)
    job = stack.finished(stack.ingest(user_id, f"{SAID} {marker}", f"好的 {marker}"))
    assert (job["outcome"], job["reason"]) == ("dead", "llm_unavailable")
    wait_for_rise(stack, "worker", before, "memory_jobs_ended_total", outcome="dead", reason="llm_unavailable")
    assert rise(stack, "worker", before, "memory_job_retries_total", step="extract", reason="llm_unparseable") == 1
    assert rise(stack, "worker", before, "memory_job_retries_total", step="extract", reason="llm_unavailable") == 2
    assert rise(stack, "worker", before, "memory_model_errors_total", reason="llm_unavailable") == 3
    assert rise(stack, "worker", before, "memory_json_parse_fail_total") == 1
    assert rise(stack, "worker", before, "memory_step_seconds_count", step="extract", result="failed") == 4


def test_every_line_of_the_worker_about_a_job_carries_its_trace(
    stack: Stack, model: ScriptedModel, user_id: str
) -> None:
    marker = f"[{user_id}]"
    model.when(marker, *[reply_status(500)] * 4)
    trace_id = f"trace-{user_id}"
    job = stack.finished(stack.ingest(user_id, f"{SAID} {marker}", f"好的 {marker}", trace_id=trace_id))
    # The last line that is written about it; the ledger may be seen first.
    stack.wait_until(lambda: len(said_by_celery(stack, job["job_id"])) >= 5, 30, "Celery says too little")
    ours = lines_about(stack, job["job_id"])
    failed = [line for line in ours if line["event"] == "memory_ingest_failed"]
    retried = [line for line in ours if line["event"] == "memory_ingest_retry_scheduled"]
    assert [(line["reason"], line["trace_id"]) for line in failed] == [("llm_unavailable", trace_id)]
    assert [line["trace_id"] for line in retried] == [trace_id] * 3
    assert all(line["trace_id"] == trace_id for line in said_by_celery(stack, job["job_id"]))


def test_no_text_no_user_and_no_token_is_in_any_scrape(stack: Stack, model: ScriptedModel, user_id: str) -> None:
    marker = f"[{user_id}]"
    model.when(marker, reply_facts([FACT]))
    stack.finished(stack.ingest(user_id, f"{SAID} {marker}", f"好的 {marker}", trace_id=f"trace-{user_id}"))
    stack.search(user_id, f"{marker} {FACT} {PLANTED}")
    stack.get(f"/{user_id}/{TOKEN}", token=TOKEN)
    stack.get("/v1/jobs/nothing", token=f"{TOKEN}x")
    for verb in ("api", "worker", "relay"):
        shown = stack.scrape(verb)
        assert not any(planted in shown for planted in (user_id, "简体中文", TOKEN, "password", "127.0.0.1"))
    assert value(stack.scrape("api"), "memory_http_seconds_count", endpoint="other", status="4xx") >= 1


def test_a_new_child_of_the_worker_goes_on_counting_where_the_dead_one_stopped(
    servers: Servers, own_url: str, model: ScriptedModel, tmp_path: Path
) -> None:
    with own_stack(servers, own_url, model, tmp_path, "api", "relay", "worker") as stack:
        folder = next((tmp_path / "run" / "metrics").glob("worker-*"))
        main = stack.processes["worker"].pid
        before = children_of(main)
        finish_one(stack, model, "u-one")
        wait_for_total(stack, 1)
        for pid in before:
            os.kill(pid, signal.SIGKILL)
        stack.wait_until(lambda: len(set(children_of(main)) - set(before)) == len(before), 30, "no new children")
        for user_id in ("u-two", "u-three", "u-four"):
            finish_one(stack, model, user_id)
        wait_for_total(stack, 4)
        # One for the main process, one for each of the two children, however many have died.
        assert {path.name for path in folder.glob("counter_*.db")} <= {f"counter_{slot}.db" for slot in range(3)}


def test_a_database_that_is_away_is_told_and_no_figure_of_it_is_shown(
    servers: Servers, own_url: str, model: ScriptedModel, tmp_path: Path
) -> None:
    with own_stack(servers, own_url, model, tmp_path, "relay") as stack:
        assert value(stack.scrape("relay"), "memory_ledger_up") == 1
        assert "memory_outbox_ready" in names(stack.scrape("relay"))
        name = own_url.rsplit("/", 1)[1]
        with psycopg.connect(servers.database_url, autocommit=True) as connection:
            connection.execute(f"ALTER DATABASE {name} WITH ALLOW_CONNECTIONS false")
            connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,))
        stack.wait_until(lambda: value(stack.scrape("relay"), "memory_ledger_up") == 0, 30, "nobody noticed")
        shown = names(stack.scrape("relay"))
        assert "memory_ledger_up" in shown
        assert not {"memory_jobs", "memory_outbox_ready", "memory_backlog_high"} & shown
        stack.wait_until(
            lambda: value(stack.scrape("relay"), "memory_relay_waits_total", backend="database") >= 1, 30, "not counted"
        )
        with psycopg.connect(servers.database_url, autocommit=True) as connection:
            connection.execute(f"ALTER DATABASE {name} WITH ALLOW_CONNECTIONS true")
        stack.wait_until(lambda: value(stack.scrape("relay"), "memory_ledger_up") == 1, 30, "it does not come back")


def test_several_api_processes_are_shown_as_one(
    servers: Servers, stack_url: str, model: ScriptedModel, tmp_path: Path
) -> None:
    with own_stack(servers, stack_url, model, tmp_path, "api", api_workers=2) as stack:
        before = stack.scrape("api")
        for number in range(20):
            stack.get(f"/v1/jobs/none-{number}")
        assert rise(stack, "api", before, "memory_http_seconds_count", endpoint="jobs.show", status="4xx") == 20


def test_a_stopping_worker_says_which_step_it_hands_back(
    servers: Servers, own_url: str, model: ScriptedModel, tmp_path: Path
) -> None:
    with own_stack(servers, own_url, model, tmp_path, "api", "relay", "worker", shutdown_seconds=1) as stack:
        model.when("[u-drain]", reply_slow(20, reply_facts([])))
        job_id = stack.ingest("u-drain", f"{SAID} [u-drain]", "好的 [u-drain]")
        stack.wait_until(lambda: stack.get(f"/v1/jobs/{job_id}").body["step"] == 2, 30, "it is not admitted")
        stack.wait_until(lambda: "[u-drain]" in str([one.body for one in model.requests]), 30, "the model is not asked")
        stack.stop("worker")
        drained = [line for line in lines_about(stack, job_id) if line["event"] == "memory_ingest_drain_timeout"]
        assert [line["step"] for line in drained] == ["memory.extract"]


def lines_about(stack: Stack, job_id: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in stack.log("worker").splitlines() if line.startswith("{")]
    return [line for line in lines if line.get("job_id") == job_id]


def said_by_celery(stack: Stack, job_id: str) -> list[dict[str, Any]]:
    """How each step and each attempt ended: one line for the first step, four for the second."""
    return [line for line in lines_about(stack, job_id) if line["logger"] == "celery.app.trace"]


def finish_one(stack: Stack, model: ScriptedModel, user_id: str) -> None:
    model.when(f"[{user_id}]", reply_facts([]))
    stack.finished(stack.ingest(user_id, f"{SAID} [{user_id}]", f"好的 [{user_id}]"))


def wait_for_total(stack: Stack, jobs: int) -> None:
    def counted() -> bool:
        return value(stack.scrape("worker"), "memory_jobs_ended_total") == jobs

    stack.wait_until(counted, 30, f"not {jobs} ended jobs")
