"""What became of a candidate, and why: states, counts, places and rule names, never content."""

from __future__ import annotations

import uuid
from dataclasses import asdict
from typing import Any

from flask import Blueprint, Response, jsonify
from werkzeug.exceptions import NotFound

from api.auth import caller, needs
from api.problems import problem
from api.requests import body_as, optional_body_as, query_as, wired
from domain.access import TokenScope
from domain.candidate import Cut
from domain.facts import FactVerdict
from domain.jobs import Explanation, Outcome, Status
from domain.operations import Act, Acted, Operator, Refusal
from pipeline.operate import act_on_all
from tasks.documents import acted_document, audit_document, counts_document, job_document
from tasks.operations import ActOnMany, ActOnOne, JobsQuery

jobs = Blueprint("jobs", __name__, url_prefix="/v1/jobs")
_NO_JOB = "There is no job with this id."
_WHY_NOT = {
    Refusal.NOT_DEAD: "only a dead job can be run again, and retried also one that waits for its retry",
    Refusal.NOT_OPEN: "the job has ended already",
    Refusal.CONTENT_GONE: "what was said has been removed after its time",
}


@jobs.get("")
@needs(TokenScope.OPERATE)
def page() -> Response:
    """Jobs of every user that the filters leave, the latest accepted first."""
    asked = query_as(JobsQuery)
    wanted = asked.filter(tuple(asked.status), tuple(asked.outcome))
    found = wired().desk.page(wanted, limit=asked.limit, cursor=asked.cursor)
    return jsonify({"jobs": [job_document(job) for job in found.jobs], "next_cursor": found.next_cursor})


@jobs.get("/stats")
@needs(TokenScope.OPERATE)
def stats() -> Response:
    """The ledger in figures."""
    return jsonify(counts_document(wired().stats.counts()))


@jobs.post("/retry")
@needs(TokenScope.OPERATE)
def retry_many() -> Response:
    """Run dead jobs again from the step that failed."""
    return _act_on_many(Act.RETRY)


@jobs.post("/restart")
@needs(TokenScope.OPERATE)
def restart_many() -> Response:
    """Run dead jobs again from the first step."""
    return _act_on_many(Act.RESTART)


@jobs.post("/<job_id>/<any(retry, restart, cancel):act>")
@needs(TokenScope.OPERATE)
def act_on_one(job_id: str, act: str) -> Response:
    """Run a dead job again, or end an open one; 409 when it is not one."""
    operator = Operator(caller().name, optional_body_as(ActOnOne).why)
    acted = wired().desk.act(_known(job_id), Act(act), operator)
    if acted.refusal is None:
        return jsonify(acted_document(acted))
    if acted.refusal is Refusal.NOT_FOUND:
        raise NotFound(_NO_JOB)
    return problem(409, acted.refusal, f"Nothing was done: {_WHY_NOT[acted.refusal]}. The job is {acted.status}.")


@jobs.get("/<job_id>/audit")
@needs(TokenScope.OPERATE)
def audit(job_id: str) -> Response:
    """What operators did to a job, oldest first."""
    known = _known(job_id)
    if wired().ledger.view(known) is None:
        raise NotFound(_NO_JOB)
    return jsonify({"job_id": known, "audit": audit_document(wired().desk.audit(known))})


@jobs.get("/<job_id>")
@needs(TokenScope.INGEST, TokenScope.OPERATE)
def show(job_id: str) -> Response:
    """One job."""
    view = wired().ledger.view(_known(job_id))
    if view is None:
        raise NotFound(_NO_JOB)
    return jsonify(job_document(view))


@jobs.get("/<job_id>/explain")
@needs(TokenScope.INGEST, TokenScope.OPERATE)
def explain(job_id: str) -> Response:
    """Which gate kept or dropped what, and by which rule. Lines count from 1, characters from 0."""
    explanation = wired().ledger.explain(_known(job_id))
    if explanation is None:
        raise NotFound(_NO_JOB)
    shown = job_document(explanation.view)
    names = ("job_id", "status", "outcome", "reason", "rule", "last_error", "counts")
    return jsonify(
        {**{name: shown[name] for name in names}, "messages": _messages(explanation), "facts": _facts(explanation)}
    )


def _act_on_many(act: Act) -> Response:
    asked = body_as(ActOnMany)
    wanted = asked.filter((Status.DEAD,), (Outcome.DEAD,))
    if asked.dry_run:
        meant = wired().desk.ids(wanted, limit=asked.limit)
        return jsonify({"dry_run": True, "meant": len(meant), "job_ids": meant})
    count, results = act_on_all(wired().desk, wanted, act, Operator(caller().name, asked.why), limit=asked.limit)
    refused: list[Acted] = []
    done: list[str] = []
    for acted in results:
        if acted.refusal is None:
            done.append(acted.job_id)
        else:
            refused.append(acted)
    return jsonify(
        {
            "dry_run": False,
            "meant": count,
            "job_ids": done,
            "refused": [acted_document(acted) for acted in refused],
        }
    )


def _known(job_id: str) -> str:
    try:
        return str(uuid.UUID(job_id))
    except ValueError:
        raise NotFound(_NO_JOB) from None


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
