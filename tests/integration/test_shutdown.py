"""A worker that is told to stop hands a step that takes too long back, as nobody's failure."""

from __future__ import annotations

import time
import uuid
from pathlib import Path

import pytest

from domain.errors import Fenced
from domain.jobs import Advance, Step
from domain.scope import Scope
from runtime.embedded.servers import Servers
from storage.database import Database
from storage.ledger import SqlJobLedger
from storage.migrate import upgrade
from storage.outbox import send_ready
from tests.conftest import new_database, own_broker
from tests.ledgers import claimed, ready_jobs, sender, submit, view
from tests.scripted_model import ScriptedModel, reply_facts, reply_slow
from tests.stack import running_stack

FACT = "用户偏好用简体中文写技术方案"
LEASE_SECONDS = 120


@pytest.mark.parametrize("pool", ["prefork", "threads"])
def test_a_stopped_workers_step_goes_on_at_once_with_the_next_worker(
    servers: Servers, model: ScriptedModel, user_id: str, tmp_path: Path, pool: str
) -> None:
    url = new_database(servers, f"shutdown_{uuid.uuid4().hex[:8]}")
    upgrade(url, embedding_model="scripted", dims=model.dims)
    marker = f"[{user_id}]"
    model.when(marker, reply_slow(8, reply_facts([FACT])), reply_facts([FACT]))
    settings = {
        "database_url": url,
        "broker_url": own_broker(servers, 4),
        "llm_model": "scripted",
        "llm_base_url": model.url,
        "embedding_model": "scripted",
        "embedding_base_url": model.url,
        "embedding_dims": model.dims,
        "lease_seconds": LEASE_SECONDS,
        "handoff_seconds": LEASE_SECONDS,
        "shutdown_seconds": 1,
        "worker_pool": pool,
    }
    with running_stack(tmp_path, "api", "relay", "worker", **settings) as stack:
        job_id = stack.ingest(user_id, f"以后技术方案都用简体中文写 {marker}", "好的")
        stack.wait_until(
            lambda: any(marker in str(request.body) for request in model.requests), 30, "the extraction does not begin"
        )
        stack.stop("worker")
        assert "memory_step_handed_back" in stack.log("worker")
        before = time.monotonic()
        stack.start("worker")
        job = stack.finished(job_id)
        assert time.monotonic() - before < LEASE_SECONDS / 2
    assert (job["outcome"], job["lost_count"], job["attempts"]["extract"]) == ("published", 0, 2)


def test_a_handed_back_step_is_anybodys_and_its_old_worker_changes_nothing(
    ledger: SqlJobLedger, database: Database, scope: Scope
) -> None:
    job = claimed(ledger, submit(ledger, scope).job_id, Step.ADMIT)
    send_ready(database, sender([]))
    assert not ledger.hand_back(job.id, "somebody else")
    assert ready_jobs(database, job.id) == []
    assert ledger.hand_back(job.id, "work")
    assert ready_jobs(database, job.id) == [job.id]
    assert not ledger.hand_back(job.id, "work")
    with pytest.raises(Fenced):
        ledger.complete(job, Advance())
    assert claimed(ledger, job.id, Step.ADMIT).fence > job.fence
    assert view(ledger, job.id).lost_count == 0
