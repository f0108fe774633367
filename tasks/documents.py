"""What is shown of jobs, as plain documents for HTTP answers and `--json`: states, counts and times, never content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from enum import Enum
from typing import Any

from domain.access import TokenView
from domain.candidate import Cut
from domain.facts import FactVerdict
from domain.jobs import Explanation, JobView
from domain.lifecycle import MemoryItem
from domain.memory import Neighbour
from domain.operations import Acted, AuditEntry, JobCounts
from domain.ports import Calibration


def plain(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields with times in ISO 8601 and names as text."""
    return {key: _plain(value) for key, value in fields.items()}


def job_document(job: JobView) -> dict[str, Any]:
    """One job."""
    return plain({"job_id" if key == "id" else key: value for key, value in asdict(job).items()})


def explanation_document(explanation: Explanation) -> dict[str, Any]:
    """Which gate kept or dropped what, and by which rule. Lines count from 1, characters from 0."""
    shown = job_document(explanation.view)
    names = ("job_id", "status", "outcome", "reason", "rule", "last_error", "counts")
    return {**{name: shown[name] for name in names}, "messages": _messages(explanation), "facts": _facts(explanation)}


def audit_document(entries: Sequence[AuditEntry]) -> list[dict[str, Any]]:
    """What operators did, oldest first."""
    return [plain(asdict(entry)) for entry in entries]


def token_document(token: TokenView) -> dict[str, Any]:
    """A service token by its name, never itself."""
    return plain(asdict(token))


def item_document(item: MemoryItem) -> dict[str, Any]:
    """A memory as its user may see it; what is known about it stands beside its text."""
    shown = asdict(item)
    details = shown.pop("details")
    return {**shown, **details}


def neighbour_document(memory: Neighbour, calibration: Calibration) -> dict[str, Any]:
    """A memory that is near another one, with the calibrated score."""
    score = round(calibration.score(memory.similarity), 4)
    return {"id": memory.id, "content": memory.text, "score": score, "metadata": dict(memory.metadata)}


def acted_document(acted: Acted) -> dict[str, Any]:
    """What became of one wish."""
    return plain(asdict(acted))


def counts_document(counts: JobCounts) -> dict[str, Any]:
    """The ledger in figures; states as `status` or `status/outcome`, ages in seconds."""
    return {
        "open": counts.open,
        "by_state": {_state(status, outcome): count for (status, outcome), count in counts.by_state.items()},
        "open_by_step": {step.task_name: count for step, count in sorted(counts.open_by_step.items())},
        "dead_by_reason": dict(sorted(counts.dead_by_reason.items())),
        "oldest_open_seconds": counts.oldest_open_seconds,
        "outbox_ready": counts.outbox_ready,
        "outbox_oldest_seconds": counts.outbox_oldest_seconds,
    }


def _state(status: str, outcome: str | None) -> str:
    return f"{status}/{outcome}" if outcome else str(status)


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    return value.value if isinstance(value, Enum) else value


def _messages(explanation: Explanation) -> list[dict[str, Any]]:
    """Each message that lost something, with what it lost."""
    found: dict[int, list[dict[str, Any]]] = {}
    for _, entry in explanation.decisions:
        if isinstance(entry, Cut):
            cut = {"rule": entry.rule, "first_line": entry.first + 1, "last_line": entry.last + 1}
            found.setdefault(entry.message, []).append(cut)
    return [{"message": message, "dropped": found[message]} for message in sorted(found)]


def _facts(explanation: Explanation) -> list[dict[str, Any]]:
    """Each fact with the step that dropped it, or its evidence and whether it became a memory."""
    facts: dict[str, dict[str, Any]] = {}
    for step, entry in explanation.decisions:
        if isinstance(entry, FactVerdict):
            fact = facts.setdefault(entry.fact_id, {"fact_id": entry.fact_id, "evidence": None})
            fact |= {"step": step.task_name, "kept": entry.rule is None, "rule": entry.rule}
            if entry.evidence:
                fact["evidence"] = asdict(entry.evidence)
    return list(facts.values())
