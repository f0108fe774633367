"""How what became of memories is answered, to services and to users alike."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import structlog
from flask import Response, jsonify

from api.problems import problem
from api.requests import wired
from domain.lifecycle import Changed, ChangeStatus
from domain.scope import Scope
from pipeline.manage import Wish, manage
from tasks.documents import item_document, neighbour_document, plain
from tasks.memory_requests import ListIn, OverviewIn

log = structlog.get_logger(__name__)
NO_MEMORY = "There is no memory with this id."
# What a failed wish is answered with. Somebody else's memory looks like one that is not there.
_FAILURES: dict[ChangeStatus, tuple[int, str]] = {
    ChangeStatus.REJECTED: (422, "A rule refused it; nothing was written."),
    ChangeStatus.NOT_FOUND: (404, NO_MEMORY),
    ChangeStatus.FORBIDDEN: (404, NO_MEMORY),
    ChangeStatus.BACKEND_ERROR: (503, "A backend is not available; nothing was written. Try again shortly."),
    ChangeStatus.PARTIAL_CLEANUP: (503, "A part is deleted and a part is left. Call again to go on."),
}


def change_answer(action: str, changed: Changed) -> Response:
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


def managed_answer(wish: Wish) -> Response:
    """Do what is wished for, and say what happened."""
    return change_answer(wish.action, manage(wish, wired().manage_tools))


def no_memory() -> Response:
    """Nothing of this id; somebody else's looks the same."""
    return problem(404, "not_found", NO_MEMORY)


def list_answer(scope: Scope, asked: ListIn) -> Response:
    """A page of memories."""
    page = wired().listing.page(scope, asked.filter(), limit=asked.limit, cursor=asked.cursor)
    return jsonify({"items": [item_document(item) for item in page.items], "next_cursor": page.next_cursor})


def overview_answer(scope: Scope, asked: OverviewIn) -> Response:
    """Memories in figures."""
    return jsonify(asdict(wired().listing.overview(scope, time_zone=asked.time_zone, days=asked.days)))


def topics_answer(scope: Scope, limit: int) -> Response:
    """The names that memories mention most."""
    return jsonify({"topics": [asdict(topic) for topic in wired().listing.topics(scope, limit=limit)]})


def related_answer(scope: Scope, memory_id: str, limit: int) -> Response:
    """What is near one memory, without itself."""
    services = wired()
    near = services.listing.related(scope, memory_id, limit=limit)
    if near is None:
        return no_memory()
    return jsonify({"items": [neighbour_document(memory, services.calibration) for memory in near]})


def history_answer(scope: Scope, memory_id: str) -> Response:
    """Every change of a memory, oldest first."""
    keeper = wired().keeper
    item, entries = keeper.item(scope, memory_id), keeper.history(scope, memory_id)
    if item is None or entries is None:
        return no_memory()
    history = [plain(asdict(entry)) for entry in entries]
    evidence = asdict(item.evidence) if item.evidence else None
    return jsonify({"memory_id": memory_id, "evidence": evidence, "history": history})
