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
from api.endpoints import answers, takes_body
from api.requests import wired
from api.shapes import Change, ChangeProblem, History, Items, Near, Topics
from domain.access import TokenScope
from domain.lifecycle import Action, Overview, Writer
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
@answers(Change, failures=(404,), problem=ChangeProblem)
@takes_body(ManageRequest)
def manage_memory(asked: ManageRequest) -> Response:
    """Add, update or delete one memory, or decide to do nothing."""
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
@answers(Change, failures=(404,), problem=ChangeProblem)
@takes_body(UpdateItemRequest)
def update_item(asked: UpdateItemRequest) -> Response:
    """Correct a memory by its id, as its user does."""
    writer, memory_id = _writer(_USER), str(asked.memory_id)
    return managed_answer(
        Wish(asked.scope(), Action.UPDATE, writer, asked.text, memory_id=memory_id, details=asked.details())
    )


@lifecycle.post("/delete-item")
@needs(TokenScope.MANAGE)
@answers(Change, failures=(404,), problem=ChangeProblem)
@takes_body(DeleteItemRequest)
def delete_item(asked: DeleteItemRequest) -> Response:
    """Forget a memory for good with every copy of it, or archive it."""
    writer, memory_id = _writer(_USER), str(asked.memory_id)
    return managed_answer(Wish(asked.scope(), Action.DELETE, writer, memory_id=memory_id, mode=asked.mode))


@lifecycle.post("/restore-item")
@needs(TokenScope.MANAGE)
@answers(Change, failures=(404,), problem=ChangeProblem)
@takes_body(ItemRequest)
def restore_item(asked: ItemRequest) -> Response:
    """Bring an archived memory back."""
    return change_answer("restore", wired().keeper.restore(asked.scope(), str(asked.memory_id), _writer(_USER)))


@lifecycle.post("/delete-user")
@needs(TokenScope.MANAGE)
@answers(Change, problem=ChangeProblem)
@takes_body(Scoped)
def delete_user(asked: Scoped) -> Response:
    """Forget everything of a user for good; when it was interrupted, the next call goes on."""
    return change_answer("delete_user", wired().eraser.forget_all(asked.scope(), _writer(_USER)))


@lifecycle.post("/history")
@needs(TokenScope.MANAGE)
@answers(History, failures=(404,))
@takes_body(ItemRequest)
def history(asked: ItemRequest) -> Response:
    """Every change of a memory, oldest first."""
    return history_answer(asked.scope(), str(asked.memory_id))


@lifecycle.post("/list-user")
@needs(TokenScope.MANAGE)
@answers(Items)
@takes_body(ListRequest)
def list_user(asked: ListRequest) -> Response:
    """A page of a user's memories; no model is needed."""
    return list_answer(asked.scope(), asked)


@lifecycle.post("/overview")
@needs(TokenScope.MANAGE)
@answers(Overview)
@takes_body(OverviewRequest)
def overview(asked: OverviewRequest) -> Response:
    """A user's memories in figures."""
    return overview_answer(asked.scope(), asked)


@lifecycle.post("/topics")
@needs(TokenScope.MANAGE)
@answers(Topics)
@takes_body(TopicsRequest)
def topics(asked: TopicsRequest) -> Response:
    """The names that a user's memories mention most."""
    return topics_answer(asked.scope(), asked.limit)


@lifecycle.post("/related")
@needs(TokenScope.MANAGE)
@answers(Near, failures=(404,))
@takes_body(RelatedRequest)
def related(asked: RelatedRequest) -> Response:
    """What is near one memory, without itself."""
    return related_answer(asked.scope(), str(asked.memory_id), asked.limit)


def _writer(kind: str) -> Writer:
    return Writer(kind, caller().name)
