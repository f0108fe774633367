"""A task tells what went wrong by its kind only: its text would stand in the log and in Flower."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from domain.jobs import Claim, Step
from tests.fakes import FakeLedger, job


class Broken(FakeLedger):
    """A ledger that fails in a way nobody expected."""

    def claim(self, job_id: str, step: Step, owner: str, *, follows: str | None = None) -> Claim:
        raise ValueError("private words")


def test_an_unexpected_fault_of_the_ledger_is_told_without_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POCO_BROKER_URL", "redis://127.0.0.1:1/0")
    from tasks import ingest

    wired = SimpleNamespace(ledger=Broken(job()), steps={}, settings=SimpleNamespace(lease_seconds=30.0))
    monkeypatch.setattr(ingest, "process_services", lambda: wired)
    with pytest.raises(ingest.StepFailed) as caught:
        ingest.admit.run(str(job().id))
    assert str(caught.value) == "ValueError"
    assert caught.value.__suppress_context__
