"""A user's switches and the kind of a run: off means no new row and a named outcome, and nothing is deleted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from domain.candidate import RunKind
from domain.jobs import Finish, Outcome, Publish, Step
from domain.lifecycle import Action, ChangeStatus, Writer
from domain.scope import Scope
from domain.switches import UserSettings
from runtime.embedded.servers import Servers
from runtime.settings import Settings
from runtime.wiring import Services
from storage.database import Database
from storage.ledger import SqlJobLedger
from storage.tables import MemoryRow
from storage.user_settings import SqlUserSettings
from tests.fakes import DIMS, FakeEmbedder, job, unique_scope
from tests.integration.conftest import EMBEDDING_DIMS
from tests.ledgers import claimed, rows, view
from tests.lifecycles import Life, said
from tests.scripted_model import ScriptedModel
from tests.stack import running_stack

FEISHU = "用户在“飞书”维护值班表"
SENTENCE = "我以后都在飞书维护值班表"
AGENT = Writer("agent", "service")


@pytest.fixture
def switches(database: Database) -> SqlUserSettings:
    return SqlUserSettings(database)


def memories(database: Database, scope: Scope) -> int:
    return rows(database, MemoryRow, MemoryRow.payload["user_id"].astext == scope.key)


def test_a_user_has_the_defaults_and_changes_one_switch_at_a_time(switches: SqlUserSettings, scope: Scope) -> None:
    assert switches.get(scope) == UserSettings()
    assert switches.change(scope, {"memory_save_enabled": False}) == UserSettings(memory_save_enabled=False)
    changed = switches.change(scope, {"sensitive_memory_enabled": True})
    assert changed == UserSettings(memory_save_enabled=False, sensitive_memory_enabled=True)
    assert switches.get(scope) == changed
    assert switches.get(unique_scope()) == UserSettings()


@pytest.mark.parametrize("switch", ["memory_enabled", "memory_save_enabled", "implicit_memory_enabled"])
def test_off_keeps_a_candidate_from_becoming_a_memory_also_while_it_runs(
    ledger: SqlJobLedger, switches: SqlUserSettings, database: Database, scope: Scope, switch: str
) -> None:
    running_id, _ = said(ledger, scope, SENTENCE, FEISHU)
    running = claimed(ledger, running_id, Step.CLEANUP)
    switches.change(scope, {switch: False})
    ledger.complete(running, Publish(running.staged))
    seen = view(ledger, running_id)
    assert (seen.outcome, seen.reason, seen.has_content) == (Outcome.MEMORY_OFF, switch, False)
    later, _ = said(ledger, scope, SENTENCE, FEISHU)
    closed = claimed(ledger, later, Step.CLEANUP).closed
    assert closed is not None
    assert (closed.outcome, closed.reason) == (Outcome.MEMORY_OFF, switch)
    assert memories(database, scope) == 0


def test_reference_alone_keeps_nothing_from_being_saved(
    ledger: SqlJobLedger, switches: SqlUserSettings, scope: Scope
) -> None:
    switches.change(scope, {"memory_reference_enabled": False})
    job_id, _ = said(ledger, scope, SENTENCE, FEISHU)
    assert claimed(ledger, job_id, Step.CLEANUP).closed is None
    assert UserSettings(memory_reference_enabled=False).reference_off(RunKind.INTERACTIVE) == "memory_reference_enabled"
    assert UserSettings().reference_off(RunKind.INTERACTIVE) is None
    assert UserSettings().reference_off(RunKind.NIGHT) == "run_night"


@pytest.mark.parametrize("kind", [RunKind.SCHEDULED, RunKind.BACKFILL, RunKind.NIGHT])
def test_a_run_without_a_person_saves_nothing(
    ledger: SqlJobLedger, database: Database, scope: Scope, kind: RunKind
) -> None:
    job_id, _ = said(ledger, scope, SENTENCE, FEISHU, run_kind=kind)
    job = claimed(ledger, job_id, Step.CLEANUP)
    ledger.complete(job, Publish(job.staged))
    seen = view(ledger, job_id)
    assert (seen.outcome, seen.reason) == (Outcome.MEMORY_OFF, f"run_{kind}")
    life = Life(database, scope, FakeEmbedder(), writer=AGENT)
    assert life.wish(Action.ADD, text=FEISHU, run_kind=kind).reason == f"run_{kind}"
    assert memories(database, scope) == 0


@pytest.mark.parametrize(("sensitivity", "enabled", "kept"), [(1, False, 1), (2, False, 0), (2, True, 1)])
def test_a_sensitive_fact_is_kept_only_when_the_user_wants_it(
    ledger: SqlJobLedger,
    switches: SqlUserSettings,
    database: Database,
    scope: Scope,
    sensitivity: int,
    enabled: bool,
    kept: int,
) -> None:
    switches.change(scope, {"sensitive_memory_enabled": enabled})
    job_id, _ = said(ledger, scope, SENTENCE, FEISHU, sensitivity=sensitivity)
    job = claimed(ledger, job_id, Step.CLEANUP)
    ledger.complete(job, Publish(job.staged))
    assert memories(database, scope) == kept
    if not kept:
        assert view(ledger, job_id).reason == "sensitive_memory_enabled"


@pytest.mark.parametrize("switch", ["memory_enabled", "memory_save_enabled"])
def test_an_agent_changes_nothing_while_saving_is_off_but_the_user_may(
    switches: SqlUserSettings, database: Database, scope: Scope, switch: str
) -> None:
    agent, user = Life(database, scope, FakeEmbedder(), writer=AGENT), Life(database, scope, FakeEmbedder())
    memory_id = user.add(FEISHU)
    switches.change(scope, {switch: False})
    wishes: tuple[dict[str, Any], ...] = (
        {"action": Action.ADD, "text": "用户喜欢红茶"},
        {"action": Action.UPDATE, "memory_id": memory_id, "text": "用户喜欢红茶"},
        {"action": Action.DELETE, "memory_id": memory_id},
    )
    for wish in wishes:
        changed = agent.wish(**wish)
        assert (changed.status, changed.reason) == (ChangeStatus.REJECTED, switch)
    assert agent.wish(Action.NONE).status is ChangeStatus.NONE
    assert memories(database, scope) == 1
    assert user.wish(Action.UPDATE, memory_id=memory_id, text="用户喜欢红茶").success
    assert user.forget(memory_id).success


def test_implicit_off_leaves_adding_on_purpose(switches: SqlUserSettings, database: Database, scope: Scope) -> None:
    switches.change(scope, {"implicit_memory_enabled": False})
    assert Life(database, scope, FakeEmbedder(), writer=AGENT).add(FEISHU)


def test_while_the_service_writes_nothing_an_agent_changes_nothing(database: Database, scope: Scope) -> None:
    life = Life(database, scope, FakeEmbedder(), is_writing_on=False, writer=AGENT)
    assert life.wish(Action.ADD, text=FEISHU).reason == "memory_write_enabled"
    assert memories(database, scope) == 0


@pytest.fixture
def silent(database_url: str) -> Iterator[Services]:
    """A service that is told to write nothing."""
    where: dict[str, Any] = {"embedding_base_url": "http://127.0.0.1:1/v1", "embedding_dims": DIMS}
    settings = Settings(
        database_url=SecretStr(database_url), embedding_model="fake", memory_write_enabled=False, **where
    )
    made = Services(settings)
    yield made
    made.database.dispose()


def test_a_service_that_writes_nothing_ends_every_candidate(silent: Services) -> None:
    ends = [function(job(("user", SENTENCE))) for function in silent.steps.values()]
    assert ends == [Finish(Outcome.MEMORY_OFF, reason="memory_write_enabled")] * 6


def test_a_service_that_is_off_finds_nothing_and_says_so(
    servers: Servers, stack_url: str, model: ScriptedModel, tmp_path: Path, user_id: str
) -> None:
    where: dict[str, Any] = {"embedding_base_url": model.url, "embedding_dims": EMBEDDING_DIMS}
    urls = {"database_url": stack_url, "broker_url": servers.broker_url, "embedding_model": "scripted"}
    with running_stack(tmp_path, "api", memory_enabled="false", **urls, **where) as stack:
        found = stack.search(user_id, "tea")
    assert found == {"items": [], "total": 0, "available": False, "error_reason": "memory_off"}
