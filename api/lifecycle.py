"""Managing memories on purpose: the internal interfaces of the Poco note, section 9."""

from __future__ import annotations

from flask import Blueprint, Response

from api.answers import (
    change_answer,
    history_answer,
    list_answer,
    managed_answer,
    overview_answer,
    related_answer,
    topics_answer,
)
from api.auth import caller, needs
from api.requests import body_as, wired
from domain.access import TokenScope
from domain.lifecycle import Action, Writer
from pipeline.manage import AGENT, Wish, manage
from runtime.metrics import managed
from tasks.contracts import Scoped
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
_USER = "user"


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
    changed = manage(wish, wired().manage_tools)
    managed(asked.action, success=changed.success)
    return change_answer(asked.action, changed)


@lifecycle.post("/update-item")
@needs(TokenScope.MANAGE)
def update_item() -> Response:
    """Correct a memory by its id, as its user does."""
    asked = body_as(UpdateItemRequest)
    writer, memory_id = _writer(_USER), str(asked.memory_id)
    return managed_answer(
        Wish(asked.scope(), Action.UPDATE, writer, asked.text, memory_id=memory_id, details=asked.details())
    )


@lifecycle.post("/delete-item")
@needs(TokenScope.MANAGE)
def delete_item() -> Response:
    """Forget a memory for good with every copy of it, or archive it."""
    asked = body_as(DeleteItemRequest)
    writer, memory_id = _writer(_USER), str(asked.memory_id)
    return managed_answer(Wish(asked.scope(), Action.DELETE, writer, memory_id=memory_id, mode=asked.mode))


@lifecycle.post("/restore-item")
@needs(TokenScope.MANAGE)
def restore_item() -> Response:
    """Bring an archived memory back."""
    asked = body_as(ItemRequest)
    return change_answer("restore", wired().keeper.restore(asked.scope(), str(asked.memory_id), _writer(_USER)))


@lifecycle.post("/delete-user")
@needs(TokenScope.MANAGE)
def delete_user() -> Response:
    """Forget everything of a user for good; when it was interrupted, the next call goes on."""
    return change_answer("delete_user", wired().eraser.forget_all(body_as(Scoped).scope(), _writer(_USER)))


@lifecycle.post("/history")
@needs(TokenScope.MANAGE)
def history() -> Response:
    """Every change of a memory, oldest first."""
    asked = body_as(ItemRequest)
    return history_answer(asked.scope(), str(asked.memory_id))


@lifecycle.post("/list-user")
@needs(TokenScope.MANAGE)
def list_user() -> Response:
    """A page of a user's memories; no model is needed."""
    asked = body_as(ListRequest)
    return list_answer(asked.scope(), asked)


@lifecycle.post("/overview")
@needs(TokenScope.MANAGE)
def overview() -> Response:
    """A user's memories in figures."""
    asked = body_as(OverviewRequest)
    return overview_answer(asked.scope(), asked)


@lifecycle.post("/topics")
@needs(TokenScope.MANAGE)
def topics() -> Response:
    """The names that a user's memories mention most."""
    asked = body_as(TopicsRequest)
    return topics_answer(asked.scope(), asked.limit)


@lifecycle.post("/related")
@needs(TokenScope.MANAGE)
def related() -> Response:
    """What is near one memory, without itself."""
    asked = body_as(RelatedRequest)
    return related_answer(asked.scope(), str(asked.memory_id), asked.limit)


def _writer(kind: str) -> Writer:
    return Writer(kind, caller().name)
