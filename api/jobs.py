"""What became of a candidate, and why: states, counts, places and rule names, never content."""

from __future__ import annotations

import uuid
from dataclasses import asdict
from datetime import datetime
from typing import Any

from flask import Blueprint, Response, jsonify
from werkzeug.exceptions import NotFound

from api.requests import wired
from domain.candidate import Cut
from domain.facts import FactVerdict
from domain.jobs import Explanation, JobView

jobs = Blueprint("jobs", __name__, url_prefix="/v1/jobs")
_NO_JOB = "There is no job with this id."


@jobs.get("/<job_id>")
def show(job_id: str) -> Response:
    """One job."""
    view = wired().ledger.view(_known(job_id))
    if view is None:
        raise NotFound(_NO_JOB)
    return jsonify(_shown(view))


@jobs.get("/<job_id>/explain")
def explain(job_id: str) -> Response:
    """Which gate kept or dropped what, and by which rule. Lines count from 1, characters from 0."""
    explanation = wired().ledger.explain(_known(job_id))
    if explanation is None:
        raise NotFound(_NO_JOB)
    shown = _shown(explanation.view)
    names = ("job_id", "status", "outcome", "reason", "rule", "last_error", "counts")
    return jsonify(
        {**{name: shown[name] for name in names}, "messages": _messages(explanation), "facts": _facts(explanation)}
    )


def _known(job_id: str) -> str:
    try:
        return str(uuid.UUID(job_id))
    except ValueError:
        raise NotFound(_NO_JOB) from None


def _shown(view: JobView) -> dict[str, Any]:
    fields = asdict(view)
    fields["job_id"] = fields.pop("id")
    return {key: value.isoformat() if isinstance(value, datetime) else value for key, value in fields.items()}


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
