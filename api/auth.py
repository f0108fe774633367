"""Who may call which endpoint. This is the one place where tokens and their scopes are checked."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import structlog
from flask import Flask, Response, current_app, g, request

from api.problems import RETRY_AFTER_SECONDS, problem
from api.requests import wired
from domain.access import AGENT_SCOPES, Caller, TokenScope
from domain.scope import Scope
from runtime.user_tokens import KeysUnavailable, NoSuchUser, UserTokens

log = structlog.get_logger(__name__)
View = TypeVar("View", bound=Callable[..., Any])
EVERYBODY: frozenset[TokenScope] = frozenset()
_USER = "user"
# What each endpoint needs: one of some scopes, or a user's own token.
_NEEDED: dict[Callable[..., Any], frozenset[TokenScope] | str] = {}
_OPERATOR = "operator"
_SERVICE = "service"


def needs(*scopes: TokenScope) -> Callable[[View], View]:
    """Let an endpoint be called with a token that has one of these scopes; with none, by everybody."""

    def mark(view: View) -> View:
        _NEEDED[view] = frozenset(scopes)
        return view

    return mark


def needs_user(view: View) -> View:
    """Let an endpoint be called with a user's own token, and with nothing else."""
    _NEEDED[view] = _USER
    return view


def needed_by(view: Callable[..., Any]) -> frozenset[TokenScope] | str | None:
    """What this endpoint needs: one of these scopes, or a user's own token; None when it does not say."""
    return _NEEDED.get(view)


def protect(app: Flask) -> None:
    """Check every request of the application.

    Raises:
        LookupError: an endpoint does not say who may call it.
    """
    for endpoint, view in app.view_functions.items():
        if view not in _NEEDED:
            raise LookupError(f"{endpoint} does not say who may call it")
    app.extensions["poco_users"] = UserTokens(app.extensions["poco"].settings)
    app.before_request(_authorize)


def caller() -> Caller:
    """Whose request this is."""
    found: Caller = g.caller
    return found


@dataclass(frozen=True, slots=True)
class Requester:
    """Whose request is counted: a service's token by its name, or a user by the scope."""

    kind: Literal["service", "user"]
    name: str = field(repr=False)


def requester() -> Requester | None:
    """Who makes this request, if anybody had to say it."""
    if "user_scope" in g:
        return Requester("user", user_scope().key)
    return Requester("service", caller().name) if "caller" in g else None


def user_scope() -> Scope:
    """Whose memories this request is about, by the user's own token."""
    found: Scope = g.user_scope
    return found


def _authorize() -> Response | None:
    view = current_app.view_functions.get(request.endpoint or "")
    needed = needed_by(view) if view else None
    if needed == EVERYBODY:
        return None
    if needed == _USER:
        return _authorize_user()
    known = _whose(_bearer_token())
    if known is None:
        # Without an endpoint there is nothing to protect from users either: Flask answers with 404 or 405.
        return None if needed is None and _is_users(_bearer_token()) else _refused_token()
    if isinstance(needed, frozenset) and not known.scopes & needed:
        log.warning("memory_request_forbidden", token=known.name, endpoint=request.endpoint)
        wanted = " or ".join(sorted(needed))
        return problem(403, "forbidden", f"This token does not have the scope {wanted}, which is needed here.")
    g.caller = known
    return None


def _authorize_user() -> Response | None:
    token = _bearer_token()
    try:
        g.user_scope = _users().scope(token)
    except KeysUnavailable:
        log.error("memory_user_keys_unavailable")  # noqa: TRY400 - the fault's text names an address
        response = problem(503, "keys_unavailable", "Tokens cannot be checked now. Try again shortly.")
        response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
        return response
    except NoSuchUser:
        if _whose(token) is not None:
            return problem(403, "forbidden", "This needs a user's own token; a service token is none.")
        return _refused_token()
    return None


def _refused_token() -> Response:
    if _is_users(_bearer_token()):
        return problem(403, "forbidden", "A user's token is not for this; it is for /api/v1.")
    response = problem(401, "unauthorized", "A valid token is needed: Authorization: Bearer <token>.")
    response.headers["WWW-Authenticate"] = 'Bearer realm="poco-memory"'
    return response


def _is_users(token: str) -> bool:
    try:
        _users().scope(token)
    except (NoSuchUser, KeysUnavailable):
        return False
    return True


def _users() -> UserTokens:
    found: UserTokens = current_app.extensions["poco_users"]
    return found


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
