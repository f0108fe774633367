"""Ingest and search: the contract of the Poco note, sections 5 and 9."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Annotated

import structlog
from flask import Blueprint, Response, g, jsonify
from pydantic import BeforeValidator, Field, StringConstraints

from api.auth import needs
from api.endpoints import answers, takes_body
from api.observe import follow
from api.requests import wired
from api.shapes import Accepted, Found
from domain.access import TokenScope
from domain.candidate import Candidate
from domain.memory import RecallResult
from domain.text import storable
from pipeline.recall import search as recall
from pipeline.submit import submit
from runtime.metrics import searched
from tasks.contracts import Event, IngestRequest, Scoped

memories = Blueprint("memories", __name__, url_prefix="/v1")
log = structlog.get_logger(__name__)
MAX_QUERY_CHARS = 4000


def _storable(value: object) -> object:
    return storable(value) if isinstance(value, str) else value


class SearchRequest(Scoped):
    """A question to one user's memory."""

    query: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_QUERY_CHARS),
        BeforeValidator(_storable),
    ]
    top_k: int = Field(5, ge=1, le=50)
    min_score: float | None = Field(None, ge=0, le=1, description="Unset: POCO_MIN_SCORE, 0.45 by default.")


@memories.post("/memories/ingest")
@needs(TokenScope.INGEST)
@answers(Accepted, 202, 200)
@takes_body(IngestRequest)
def ingest(asked: IngestRequest) -> tuple[Response, int]:
    """Accept a candidate: 202 with its job, or 200 with the job its idempotency key already made."""
    return _accept(asked.candidate())


@memories.post("/events")
@needs(TokenScope.INGEST)
@answers(Accepted, 202, 200)
@takes_body(Event)
def receive_event(asked: Event) -> tuple[Response, int]:
    """Accept a `memory.extract.requested` event; answers as ingest does."""
    return _accept(asked.payload.candidate())


@memories.post("/memories/search")
@needs(TokenScope.SEARCH)
@answers(Found)
@takes_body(SearchRequest)
def search(asked: SearchRequest) -> Response:
    """Find memories; an unavailable backend is said in the answer, never shown as nothing found."""
    services = wired()
    if not services.settings.memory_enabled:
        return jsonify(_search_answer(RecallResult(available=False, error_reason="memory_off")))
    started = perf_counter()
    result = recall(
        asked.scope(),
        asked.query,
        top_k=asked.top_k,
        min_score=services.settings.min_score if asked.min_score is None else asked.min_score,
        embedder=services.embedder,
        index=services.index,
        calibration=services.calibration,
        max_query_chars=services.settings.embedding_max_chars,
    )
    searched(result, perf_counter() - started)
    if not result.available:
        log.error("memory_search_failed", reason=result.error_reason)
    if result.withheld:
        log.warning("memory_search_withheld", count=result.withheld, reason="credential")
    return jsonify(_search_answer(result))


def _accept(candidate: Candidate) -> tuple[Response, int]:
    services = wired()
    if candidate.trace_id is None:
        candidate = replace(candidate, trace_id=g.trace_id)
    submission = submit(candidate, ledger=services.ledger, limits=services.size_limits)
    follow(submission.trace_id)
    log.info("memory_ingest_accepted", job_id=submission.job_id, new=submission.created)
    body = {"job_id": submission.job_id, "status": submission.status, "trace_id": submission.trace_id}
    return jsonify(body), 202 if submission.created else 200


def _search_answer(result: RecallResult) -> dict[str, object]:
    items = [
        {"id": hit.id, "content": hit.text, "score": round(hit.score, 4), "metadata": dict(hit.metadata)}
        for hit in result.hits
    ]
    return {
        "items": items,
        "total": len(items),
        "available": result.available,
        "error_reason": result.error_reason,
    }
