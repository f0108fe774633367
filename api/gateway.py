"""What users do with their own memories (Poco note, section 9; SmartMate note, section 9).

Tenant and user come from the token. No answer holds relations or vectors.
"""

from __future__ import annotations

from dataclasses import asdict
from uuid import UUID

from flask import Blueprint, Response, jsonify
from werkzeug.exceptions import NotFound

from api.answers import (
    NO_MEMORY,
    change_answer,
    history_answer,
    list_answer,
    managed_answer,
    overview_answer,
    related_answer,
    topics_answer,
)
from api.auth import needs_user, user_scope
from api.endpoints import answers, takes_body, takes_query
from api.jobs import NO_JOB
from api.requests import wired
from api.shapes import Change, ChangeProblem, History, Items, Near, OwnWhy, Topics
from domain.lifecycle import NO_DETAILS, Action, Details, Mode, Overview, Writer
from domain.switches import UserSettings
from pipeline.manage import Wish
from tasks.documents import explanation_document
from tasks.memory_requests import ArchiveIn, DeleteIn, ListIn, OverviewIn, RelatedIn, SettingsIn, TopicsIn, UpdateIn

gateway = Blueprint("gateway", __name__, url_prefix="/api/v1")
_MEMORIES = "/user-customer-settings/memories"


@gateway.get(f"{_MEMORIES}/vector")
@gateway.get("/memory/items", endpoint="items")
@needs_user
@answers(Items)
@takes_query(ListIn)
def list_memories(asked: ListIn) -> Response:
    """A page of one's memories, the latest first."""
    return list_answer(user_scope(), asked)


@gateway.get(f"{_MEMORIES}/overview")
@needs_user
@answers(Overview)
@takes_query(OverviewIn)
def overview(asked: OverviewIn) -> Response:
    """One's memories in figures."""
    return overview_answer(user_scope(), asked)


@gateway.get(f"{_MEMORIES}/topics")
@needs_user
@answers(Topics)
@takes_query(TopicsIn)
def topics(asked: TopicsIn) -> Response:
    """The names that one's memories mention most."""
    return topics_answer(user_scope(), asked.limit)


@gateway.get(f"{_MEMORIES}/<memory_id>/related")
@needs_user
@answers(Near, failures=(404,))
@takes_query(RelatedIn)
def related(asked: RelatedIn, memory_id: str) -> Response:
    """What is near one memory, without itself."""
    return related_answer(user_scope(), _known(memory_id), asked.limit)


@gateway.get(f"{_MEMORIES}/<memory_id>/history")
@needs_user
@answers(History, failures=(404,))
def history(memory_id: str) -> Response:
    """Every change of a memory, oldest first."""
    return history_answer(user_scope(), _known(memory_id))


@gateway.put(f"{_MEMORIES}/<memory_id>")
@needs_user
@answers(Change, failures=(404,), problem=ChangeProblem)
@takes_body(UpdateIn)
def update(asked: UpdateIn, memory_id: str) -> Response:
    """Correct a memory: its text, its details or both."""
    return _managed(Action.UPDATE, memory_id, text=asked.text, details=asked.details())


@gateway.delete(f"{_MEMORIES}/<memory_id>")
@needs_user
@answers(Change, failures=(404,), problem=ChangeProblem)
@takes_query(DeleteIn)
def delete(asked: DeleteIn, memory_id: str) -> Response:
    """Forget a memory for good, or archive it."""
    return _managed(Action.DELETE, memory_id, mode=asked.mode)


@gateway.post(f"{_MEMORIES}/<memory_id>/restore")
@needs_user
@answers(Change, failures=(404,), problem=ChangeProblem)
def restore(memory_id: str) -> Response:
    """Bring an archived memory back."""
    return change_answer("restore", wired().keeper.restore(user_scope(), _known(memory_id), _writer()))


@gateway.delete(_MEMORIES)
@needs_user
@answers(Change, problem=ChangeProblem)
def delete_all() -> Response:
    """Forget everything for good."""
    return change_answer("delete_user", wired().eraser.forget_all(user_scope(), _writer()))


@gateway.delete("/memory/items/<memory_id>")
@needs_user
@answers(Change, failures=(404,), problem=ChangeProblem)
@takes_query(ArchiveIn)
def archive(asked: ArchiveIn, memory_id: str) -> Response:
    """Take a memory out of sight; it can be restored, unless `mode=forget` says for good."""
    return _managed(Action.DELETE, memory_id, mode=asked.mode)


@gateway.get("/memory/settings")
@needs_user
@answers(UserSettings)
def settings() -> Response:
    """One's switches."""
    return jsonify(asdict(wired().user_settings.get(user_scope())))


@gateway.post("/memory/settings")
@needs_user
@answers(UserSettings)
@takes_body(SettingsIn)
def change_settings(asked: SettingsIn) -> Response:
    """Set some switches; answers with all of them."""
    changes = asked.model_dump(exclude_none=True)
    return jsonify(asdict(wired().user_settings.change(user_scope(), changes)))


@gateway.get("/memory/jobs/<job_id>/explain")
@needs_user
@answers(OwnWhy, failures=(404,))
def explain(job_id: str) -> Response:
    """Why a candidate of one's own ended as it did; with the text of each fact that is a memory now."""
    explanation = wired().ledger.explain(_known(job_id, NO_JOB))
    if explanation is None or explanation.view.scope != user_scope().key:
        raise NotFound(NO_JOB)
    shown = explanation_document(explanation)
    for fact in shown["facts"]:
        item = wired().keeper.item(user_scope(), fact["fact_id"])
        fact["text"] = item.content if item else None
    return jsonify(shown)


def _managed(
    action: Action,
    memory_id: str,
    *,
    text: str | None = None,
    details: Details = NO_DETAILS,
    mode: Mode = Mode.FORGET,
) -> Response:
    wish = Wish(user_scope(), action, _writer(), text=text, memory_id=_known(memory_id), details=details, mode=mode)
    return managed_answer(wish)


def _known(key: str, complaint: str = NO_MEMORY) -> str:
    try:
        return str(UUID(key))
    except ValueError:
        raise NotFound(complaint) from None


def _writer() -> Writer:
    return Writer("user", user_scope().key)
