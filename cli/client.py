"""The three calls of the HTTP API that the demo needs. The token is sent and never shown."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from domain.errors import PocoError

_TIMEOUT_SECONDS = 30.0
# Never through a proxy: the API is on this machine or named by its user.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class ApiError(PocoError):
    """The API refused a call or cannot be reached; says which call and why, never what was sent."""


@dataclass(frozen=True, slots=True)
class ApiClient:
    """One API and its token."""

    url: str
    token: str = field(repr=False)

    def ingest(self, body: Mapping[str, object]) -> str:
        """Hand in a candidate; gives its job's id. Raises ApiError."""
        return str(self._call("POST", "/v1/memories/ingest", body)["job_id"])

    def job(self, job_id: str) -> dict[str, Any]:
        """How a job stands. Raises ApiError."""
        return self._call("GET", f"/v1/jobs/{job_id}")

    def search(self, tenant_id: str, user_id: str, query: str, top_k: int = 3) -> list[tuple[str, float]]:
        """Memories that answer a query, as text and score, best first. Raises ApiError, also without a service."""
        body = {"tenant_id": tenant_id, "user_id": user_id, "query": query, "top_k": top_k}
        answer = self._call("POST", "/v1/memories/search", body)
        if not answer["available"]:
            raise ApiError(f"The search is not available: {answer['error_reason']}.")
        return [(str(item["content"]), float(item["score"])) for item in answer["items"]]

    def _call(self, method: str, path: str, body: Mapping[str, object] | None = None) -> dict[str, Any]:
        try:
            request = urllib.request.Request(  # noqa: S310 - an http URL of our own or of the caller
                self.url.rstrip("/") + path,
                data=None if body is None else json.dumps(body).encode(),
                method=method,
                headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
            )
            with _OPENER.open(request, timeout=_TIMEOUT_SECONDS) as response:
                answer = json.load(response)
        except urllib.error.HTTPError as exc:
            with exc:
                raise ApiError(f"{method} {path} was answered with {exc.code} {exc.reason}.") from None
        except (OSError, http.client.HTTPException, ValueError) as exc:
            raise ApiError(f"{method} {path} failed: {exc}.") from exc
        if not isinstance(answer, dict):
            raise ApiError(f"{method} {path} was answered with something else than an object.")
        return answer
