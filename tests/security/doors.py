"""Every endpoint, called rightly by a stranger about the memories and jobs of another tenant, and what it answers.

`{memory}` and `{job}` stand for the other tenant's ids, `{fresh}` for a key that was never used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from domain.access import TokenScope
from domain.scope import Scope

BANK = Scope("bank", "alice")
STRANGER = Scope("shop", "mallory")
EVERYBODY, USER = "everybody", "user"
INGEST, SEARCH, MANAGE, OPERATE = ({scope} for scope in TokenScope)
TEXT = "用户在“飞书”维护值班表"
_MINE = {"tenant_id": STRANGER.tenant_id, "user_id": STRANGER.user_id}
_ITEM = {**_MINE, "memory_id": "{memory}"}
_PAGE = {"type": ["fact"], "source": ["manage"], "status": ["active"], "text": TEXT, "limit": 50}
_DETAILS = {"title": "t", "confidence": 0.5, "importance": 0.5, "sensitivity": 1, "metadata": {"a": 1}}
_EVENT = {**_MINE, "source_message_id": "1", "source_role": "user", "source_text": TEXT, "idempotency_key": "{fresh}"}
_JOBS = {"reason": "poison", "step": "admit", "scope": STRANGER.key, "since": "1h", "older_than": "1s"}
_SOME_JOBS = {"reason": ["poison"], "step": ["admit"], "scope": STRANGER.key, "limit": 5}
_MEMORIES = "/api/v1/user-customer-settings/memories"


@dataclass(frozen=True)
class Door:
    """One way to call an endpoint: who may, with which body and query, and the status of the answer.

    `body` and `query` are None where none is read; `inside` is the field of an event that holds the request.
    """

    method: str
    path: str
    opens: str | set[TokenScope]
    status: int
    body: Mapping[str, Any] | None = None
    query: Mapping[str, str] | None = None
    needs_body: bool = True
    inside: str | None = None

    @property
    def fields(self) -> Mapping[str, Any]:
        """The fields of the request's body."""
        fields: Mapping[str, Any] = (self.body or {})[self.inside] if self.inside else self.body or {}
        return fields

    def with_fields(self, **changes: Any) -> dict[str, Any]:
        """The body with some fields changed."""
        fields = {**self.fields, **changes}
        return {**(self.body or {}), self.inside: fields} if self.inside else fields


DOORS = (
    Door("GET", "/health/live", EVERYBODY, 200),
    Door("GET", "/health/ready", EVERYBODY, 200),
    Door("GET", "/openapi.json", EVERYBODY, 200),
    Door("GET", "/docs", EVERYBODY, 302),
    Door("GET", "/docs/", EVERYBODY, 200),
    Door("GET", "/docs/index.css", EVERYBODY, 200),
    Door(
        "POST",
        "/v1/memories/ingest",
        INGEST,
        202,
        {**_MINE, "text": TEXT, "metadata": {}, "idempotency_key": "{fresh}"},
    ),
    Door(
        "POST",
        "/v1/events",
        INGEST,
        202,
        {"event": "memory.extract.requested", "version": 1, "payload": _EVENT},
        inside="payload",
    ),
    Door("POST", "/v1/memories/search", SEARCH, 200, {**_MINE, "query": TEXT, "top_k": 5, "min_score": 0}),
    Door("POST", "/v1/memories/manage", MANAGE, 200, {**_MINE, "action": "add", "text": TEXT, **_DETAILS}),
    Door("POST", "/v1/memories/manage", MANAGE, 404, {**_ITEM, "action": "update", "text": TEXT, **_DETAILS}),
    Door("POST", "/v1/memories/manage", MANAGE, 404, {**_ITEM, "action": "delete"}),
    Door("POST", "/v1/memories/manage", MANAGE, 404, {**_ITEM, "action": "delete", "mode": "archive"}),
    Door("POST", "/v1/memories/manage", MANAGE, 200, {**_MINE, "action": "none", "run_id": "run-1"}),
    Door("POST", "/v1/memories/update-item", MANAGE, 404, {**_ITEM, "text": TEXT, **_DETAILS}),
    Door("POST", "/v1/memories/delete-item", MANAGE, 404, _ITEM),
    Door("POST", "/v1/memories/restore-item", MANAGE, 404, _ITEM),
    Door("POST", "/v1/memories/delete-user", MANAGE, 200, _MINE),
    Door("POST", "/v1/memories/history", MANAGE, 404, _ITEM),
    Door("POST", "/v1/memories/list-user", MANAGE, 200, {**_MINE, **_PAGE}),
    Door("POST", "/v1/memories/overview", MANAGE, 200, {**_MINE, "time_zone": "UTC", "days": 30}),
    Door("POST", "/v1/memories/topics", MANAGE, 200, {**_MINE, "limit": 20}),
    Door("POST", "/v1/memories/related", MANAGE, 404, {**_ITEM, "limit": 5}),
    # Operators look at the jobs of every user, and agents at those they handed in: states and counts, no content.
    Door(
        "GET",
        "/v1/jobs",
        OPERATE,
        200,
        query={**_JOBS, "status": "dead", "outcome": "dead", "limit": "5", "cursor": "9"},
    ),
    Door("GET", "/v1/jobs/stats", OPERATE, 200),
    Door("POST", "/v1/jobs/retry", OPERATE, 200, {**_SOME_JOBS, "dry_run": True}),
    Door("POST", "/v1/jobs/retry", OPERATE, 200, {**_SOME_JOBS, "why": "w"}),
    Door("POST", "/v1/jobs/restart", OPERATE, 200, {**_SOME_JOBS, "why": "w"}),
    Door("POST", "/v1/jobs/{job}/retry", OPERATE, 409, {"why": "w"}, needs_body=False),
    Door("POST", "/v1/jobs/{job}/restart", OPERATE, 409, {"why": "w"}, needs_body=False),
    Door("GET", "/v1/jobs/{job}/audit", OPERATE, 200),
    Door("GET", "/v1/jobs/{job}", INGEST | OPERATE, 200),
    Door("GET", "/v1/jobs/{job}/explain", INGEST | OPERATE, 200),
    Door("GET", f"{_MEMORIES}/vector", USER, 200, query={"type": "fact", "text": TEXT, "limit": "50"}),
    Door("GET", "/api/v1/memory/items", USER, 200, query={"source": "manage", "text": TEXT, "limit": "50"}),
    Door("GET", f"{_MEMORIES}/overview", USER, 200, query={"time_zone": "UTC", "days": "30"}),
    Door("GET", f"{_MEMORIES}/topics", USER, 200, query={"limit": "20"}),
    Door("GET", f"{_MEMORIES}/{{memory}}/related", USER, 404, query={"limit": "5"}),
    Door("GET", f"{_MEMORIES}/{{memory}}/history", USER, 404),
    Door("PUT", f"{_MEMORIES}/{{memory}}", USER, 404, {"text": TEXT, **_DETAILS}),
    Door("DELETE", f"{_MEMORIES}/{{memory}}", USER, 404, query={"mode": "forget"}),
    Door("DELETE", f"{_MEMORIES}/{{memory}}", USER, 404, query={"mode": "archive"}),
    Door("POST", f"{_MEMORIES}/{{memory}}/restore", USER, 404),
    Door("DELETE", _MEMORIES, USER, 200),
    Door("DELETE", "/api/v1/memory/items/{memory}", USER, 404, query={"mode": "archive"}),
    Door("GET", "/api/v1/memory/settings", USER, 200),
    Door("POST", "/api/v1/memory/settings", USER, 200, {"memory_enabled": True}),
    Door("GET", "/api/v1/memory/jobs/{job}/explain", USER, 404),
)
WITH_BODY = tuple(door for door in DOORS if door.body is not None)
SCOPED = tuple(door for door in WITH_BODY if "tenant_id" in door.fields)
WITH_METADATA = tuple(door for door in WITH_BODY if "metadata" in door.fields)
WITH_QUERY = tuple(door for door in DOORS if door.query is not None)
USERS = tuple(door for door in DOORS if door.opens == USER)
