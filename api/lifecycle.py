"""Managing memories on purpose: the internal interfaces of the Poco note, section 9."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import structlog
from flask import Blueprint, Response, jsonify

from api.auth import caller, needs
from api.problems import problem
from api.requests import body_as, wired
from domain.access import TokenScope
from domain.lifecycle import Action, Changed, ChangeStatus, Writer
from pipeline.manage import AGENT, Wish, manage
from tasks.contracts import Scoped
from tasks.documents import item_document, neighbour_document, plain
from tasks.memory_requests import (
    DeleteItemRequest,
    ItemRequest,
    ListRequest,
    ManageRequest,
    OverviewRequest,
    RelatedRequest,
    TopicsRequest,
    UpdateItemRequest,
)

lifecycle = Blueprint("lifecycle", __name__, url_prefix="/v1/memories")
log = structlog.get_logger(__name__)
_USER = "user"
_NO_MEMORY = "There is no memory with this id."
# What a failed wish is answered with. Somebody else's memory looks like one that is not there.
_FAILURES: dict[ChangeStatus, tuple[int, str]] = {
    ChangeStatus.REJECTED: (422, "A rule refused it; nothing was written."),
    ChangeStatus.NOT_FOUND: (404, _NO_MEMORY),
    ChangeStatus.FORBIDDEN: (404, _NO_MEMORY),
    ChangeStatus.BACKEND_ERROR: (503, "A backend is not available; nothing was written. Try again shortly."),
    ChangeStatus.PARTIAL_CLEANUP: (503, "A part is deleted and a part is left. Call again to go on."),
}


@lifecycle.post("/manage")
@needs(TokenScope.MANAGE)
def manage_memory() -> Response:
    """Add, update or delete one memory, or decide to do nothing."""
    asked = body_as(ManageRequest)
    wish = Wish(
        scope=asked.scope(),
        action=asked.action,
        writer=_writer(AGENT),
        text=asked.text,
        memory_id=str(asked.memory_id) if asked.memory_id else None,
        details=asked.details(),
        mode=asked.mode,
        run_id=asked.run_id,
        agent_id=asked.agent_id,
        trace_id=asked.trace_id,
        run_kind=asked.run_kind,
    )
    return _answer(asked.action, manage(wish, wired().manage_tools))


@lifecycle.post("/update-item")
@needs(TokenScope.MANAGE)
def update_item() -> Response:
    """Correct a memory by its id, as its user does."""
    asked = body_as(UpdateItemRequest)
    wish = Wish(
        scope=asked.scope(),
        action=Action.UPDATE,
        writer=_writer(_USER),
        text=asked.text,
        memory_id=str(asked.memory_id),
        details=asked.details(),
    )
    return _answer(Action.UPDATE, manage(wish, wired().manage_tools))


@lifecycle.post("/delete-item")
@needs(TokenScope.MANAGE)
def delete_item() -> Response:
    """Forget a memory for good with every copy of it, or archive it."""
    asked = body_as(DeleteItemRequest)
    wish = Wish(
        scope=asked.scope(),
        action=Action.DELETE,
        writer=_writer(_USER),
        memory_id=str(asked.memory_id),
        mode=asked.mode,
    )
    return _answer(Action.DELETE, manage(wish, wired().manage_tools))


@lifecycle.post("/restore-item")
@needs(TokenScope.MANAGE)
def restore_item() -> Response:
    """Bring an archived memory back."""
    asked = body_as(ItemRequest)
    return _answer("restore", wired().keeper.restore(asked.scope(), str(asked.memory_id), _writer(_USER)))


@lifecycle.post("/delete-user")
@needs(TokenScope.MANAGE)
def delete_user() -> Response:
    """Forget everything of a user for good; when it was interrupted, the next call goes on."""
    return _answer("delete_user", wired().eraser.forget_all(body_as(Scoped).scope(), _writer(_USER)))


@lifecycle.post("/history")
@needs(TokenScope.MANAGE)
def history() -> Response:
    """Every change of a memory, oldest first."""
    asked = body_as(ItemRequest)
    entries = wired().keeper.history(asked.scope(), str(asked.memory_id))
    if entries is None:
        return problem(404, "not_found", _NO_MEMORY)
    return jsonify({"memory_id": str(asked.memory_id), "history": [plain(asdict(entry)) for entry in entries]})


@lifecycle.post("/list-user")
@needs(TokenScope.MANAGE)
def list_user() -> Response:
    """A page of a user's memories; no model is needed."""
    asked = body_as(ListRequest)
    page = wired().listing.page(asked.scope(), asked.filter(), limit=asked.limit, cursor=asked.cursor)
    return jsonify({"items": [item_document(item) for item in page.items], "next_cursor": page.next_cursor})


@lifecycle.post("/overview")
@needs(TokenScope.MANAGE)
def overview() -> Response:
    """A user's memories in figures."""
    asked = body_as(OverviewRequest)
    return jsonify(asdict(wired().listing.overview(asked.scope(), time_zone=asked.time_zone, days=asked.days)))


@lifecycle.post("/topics")
@needs(TokenScope.MANAGE)
def topics() -> Response:
    """The names that a user's memories mention most."""
    asked = body_as(TopicsRequest)
    found = wired().listing.topics(asked.scope(), limit=asked.limit)
    return jsonify({"topics": [asdict(topic) for topic in found]})


@lifecycle.post("/related")
@needs(TokenScope.MANAGE)
def related() -> Response:
    """What is near one memory, without itself."""
    asked = body_as(RelatedRequest)
    services = wired()
    near = services.listing.related(asked.scope(), str(asked.memory_id), limit=asked.limit)
    if near is None:
        return problem(404, "not_found", _NO_MEMORY)
    return jsonify({"items": [neighbour_document(memory, services.calibration) for memory in near]})


def _writer(kind: str) -> Writer:
    return Writer(kind, caller().name)


def _answer(action: str, changed: Changed) -> Response:
    """What happened: 200 when it did, else a problem with the same fields beside it."""
    shown: dict[str, Any] = {
        "action": action,
        "success": changed.success,
        "memory_id": changed.memory_id,
        "inserted_count": changed.inserted_count,
        "deleted_count": changed.deleted_count,
        "reason": changed.reason,
    }
    if changed.erasure:
        shown["erasure"] = asdict(changed.erasure)
    if changed.success:
        return jsonify({**shown, "status": changed.status})
    code, sentence = _FAILURES[changed.status]
    status = ChangeStatus.NOT_FOUND if changed.status is ChangeStatus.FORBIDDEN else changed.status
    if changed.status is ChangeStatus.PARTIAL_CLEANUP:
        event = (
            "memory_delete_user_partial_cleanup" if action == "delete_user" else "memory_delete_item_partial_cleanup"
        )
        log.error(event, reason=changed.reason, deleted=changed.deleted_count)
    return problem(code, status, sentence, extra=shown)
