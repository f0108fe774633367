"""Who may call which endpoint. This is the one place where tokens and their scopes are checked."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from typing import Any, TypeVar

import structlog
from flask import Flask, Response, current_app, g, request

from api.problems import problem
from api.requests import wired
from domain.access import AGENT_SCOPES, Caller, TokenScope

log = structlog.get_logger(__name__)
View = TypeVar("View", bound=Callable[..., Any])
_EVERYBODY: frozenset[TokenScope] = frozenset()
_OPERATOR = "operator"
_SERVICE = "service"


def needs(*scopes: TokenScope) -> Callable[[View], View]:
    """Let an endpoint be called with a token that has one of these scopes; with none, by everybody."""

    def mark(view: View) -> View:
        view.needs = frozenset(scopes)  # type: ignore[attr-defined]
        return view

    return mark


def protect(app: Flask) -> None:
    """Check every request of the application.

    Raises:
        LookupError: an endpoint does not say who may call it.
    """
    for endpoint, view in app.view_functions.items():
        if not hasattr(view, "needs"):
            raise LookupError(f"{endpoint} does not say who may call it")
    app.before_request(_authorize)


def caller() -> Caller:
    """Whose request this is."""
    found: Caller = g.caller
    return found


def _authorize() -> Response | None:
    view = current_app.view_functions.get(request.endpoint or "")
    needed: frozenset[TokenScope] | None = getattr(view, "needs", None)
    if needed == _EVERYBODY:
        return None
    known = _whose(_bearer_token())
    if known is None:
        response = problem(401, "unauthorized", "A valid token is needed: Authorization: Bearer <token>.")
        response.headers["WWW-Authenticate"] = 'Bearer realm="poco-memory"'
        return response
    # Without an endpoint there is nothing to protect: Flask answers with 404 or 405.
    if needed is not None and not known.scopes & needed:
        log.warning("memory_request_forbidden", token=known.name, endpoint=request.endpoint)
        wanted = " or ".join(sorted(needed))
        return problem(403, "forbidden", f"This token does not have the scope {wanted}, which is needed here.")
    g.caller = known
    return None


def _bearer_token() -> str:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _whose(token: str) -> Caller | None:
    services = wired()
    settings = services.settings
    for name, expected, scopes in (
        (_SERVICE, settings.service_token, AGENT_SCOPES),
        (_OPERATOR, settings.operator_token, frozenset({TokenScope.OPERATE})),
    ):
        # Compared as bytes: compare_digest refuses text that is not ASCII.
        if expected and hmac.compare_digest(token.encode(), expected.get_secret_value().encode()):
            return Caller(name, scopes)
    return services.tokens.caller(token)
