"""What became of a candidate, and why: states, counts, places and rule names, never content."""

from __future__ import annotations

import uuid

from flask import Blueprint, Response, jsonify
from werkzeug.exceptions import NotFound

from api.auth import caller, needs
from api.endpoints import answers, takes_body, takes_optional_body, takes_query
from api.problems import problem
from api.requests import wired
from api.shapes import ActedOnMany, Audit, Counts, Job, Jobs, Why
from domain.access import TokenScope
from domain.jobs import Outcome, Status
from domain.operations import Act, Acted, Operator, Refusal
from pipeline.operate import act_on_all
from tasks.documents import acted_document, audit_document, counts_document, explanation_document, job_document
from tasks.operations import ActOnMany, ActOnOne, JobsQuery

jobs = Blueprint("jobs", __name__, url_prefix="/v1/jobs")
NO_JOB = "There is no job with this id."
_WHY_NOT = {
    Refusal.NOT_DEAD: "only a dead job can be run again, and retried also one that waits for its retry",
    Refusal.NOT_OPEN: "the job has ended already",
    Refusal.CONTENT_GONE: "what was said has been removed after its time",
}


@jobs.get("")
@needs(TokenScope.OPERATE)
@answers(Jobs)
@takes_query(JobsQuery)
def page(asked: JobsQuery) -> Response:
    """Jobs of every user that the filters leave, the latest accepted first."""
    wanted = asked.filter(tuple(asked.status), tuple(asked.outcome))
    found = wired().desk.page(wanted, limit=asked.limit, cursor=asked.cursor)
    return jsonify({"jobs": [job_document(job) for job in found.jobs], "next_cursor": found.next_cursor})


@jobs.get("/stats")
@needs(TokenScope.OPERATE)
@answers(Counts)
def stats() -> Response:
    """The ledger in figures."""
    return jsonify(counts_document(wired().stats.counts()))


@jobs.post("/retry")
@needs(TokenScope.OPERATE)
@answers(ActedOnMany)
@takes_body(ActOnMany)
def retry_many(asked: ActOnMany) -> Response:
    """Run dead jobs again from the step that failed."""
    return _act_on_many(Act.RETRY, asked)


@jobs.post("/restart")
@needs(TokenScope.OPERATE)
@answers(ActedOnMany)
@takes_body(ActOnMany)
def restart_many(asked: ActOnMany) -> Response:
    """Run dead jobs again from the first step."""
    return _act_on_many(Act.RESTART, asked)


@jobs.post("/<job_id>/<any(retry, restart, cancel):act>")
@needs(TokenScope.OPERATE)
@answers(Acted, failures=(404, 409))
@takes_optional_body(ActOnOne)
def act_on_one(asked: ActOnOne, job_id: str, act: str) -> Response:
    """Run a dead job again, or end an open one; 409 when it is not one."""
    operator = Operator(caller().name, asked.why)
    acted = wired().desk.act(_known(job_id), Act(act), operator)
    if acted.refusal is None:
        return jsonify(acted_document(acted))
    if acted.refusal is Refusal.NOT_FOUND:
        raise NotFound(NO_JOB)
    return problem(409, acted.refusal, f"Nothing was done: {_WHY_NOT[acted.refusal]}. The job is {acted.status}.")


@jobs.get("/<job_id>/audit")
@needs(TokenScope.OPERATE)
@answers(Audit, failures=(404,))
def audit(job_id: str) -> Response:
    """What operators did to a job, oldest first."""
    known = _known(job_id)
    if wired().ledger.view(known) is None:
        raise NotFound(NO_JOB)
    return jsonify({"job_id": known, "audit": audit_document(wired().desk.audit(known))})


@jobs.get("/<job_id>")
@needs(TokenScope.INGEST, TokenScope.OPERATE)
@answers(Job, failures=(404,))
def show(job_id: str) -> Response:
    """One job."""
    view = wired().ledger.view(_known(job_id))
    if view is None:
        raise NotFound(NO_JOB)
    return jsonify(job_document(view))


@jobs.get("/<job_id>/explain")
@needs(TokenScope.INGEST, TokenScope.OPERATE)
@answers(Why, failures=(404,))
def explain(job_id: str) -> Response:
    """Which gate kept or dropped what, and by which rule. Lines count from 1, characters from 0."""
    explanation = wired().ledger.explain(_known(job_id))
    if explanation is None:
        raise NotFound(NO_JOB)
    return jsonify(explanation_document(explanation))


def _act_on_many(act: Act, asked: ActOnMany) -> Response:
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
        raise NotFound(NO_JOB) from None
