"""Users' own tokens: JWT, checked by PyJWT. Whose memory it is comes from the claims and from nowhere else."""

from __future__ import annotations

import threading
import time
from functools import cached_property
from typing import Any

import jwt
from jwt import PyJWK, PyJWKClient

from domain.errors import InvalidField
from domain.scope import Scope
from runtime.settings import Settings

_SECRET_ALGORITHMS = ("HS256",)
_KEY_ALGORITHMS = ("RS256", "ES256")
_LEEWAY_SECONDS = 30
_KEYS_SECONDS = 300
_TIMEOUT_SECONDS = 5
# A token that names an unknown key makes us fetch the keys again, but no more often than this.
_REFRESH_SECONDS = 10.0


class NoSuchUser(Exception):
    """The token is not valid here; it says nothing about why."""


class KeysUnavailable(Exception):
    """The public keys cannot be fetched, so no token can be checked."""


def signed(scope: Scope, secret: str, settings: Settings, *, seconds: float) -> str:
    """A user's token for trying, valid for so many seconds; a deployment's own login makes the real ones."""
    now = int(time.time())
    claims = {
        settings.user_jwt_tenant_claim: scope.tenant_id,
        settings.user_jwt_user_claim: scope.user_id,
        "aud": settings.user_jwt_audience,
        "iat": now,
        "exp": now + int(seconds),
    }
    if settings.user_jwt_issuer:
        claims["iss"] = settings.user_jwt_issuer
    return jwt.encode(claims, secret, algorithm=_SECRET_ALGORITHMS[0])


class UserTokens:
    """Checks users' tokens by the one way that the settings name: a secret, or published keys."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._refreshed_at = float("-inf")

    def scope(self, token: str) -> Scope:
        """Whose token it is.

        Raises:
            NoSuchUser: it is not valid.
            KeysUnavailable: it cannot be checked now.
        """
        claims = self._claims(token)
        names = self._settings.user_jwt_tenant_claim, self._settings.user_jwt_user_claim
        tenant, user = (claims.get(name) for name in names)
        if not isinstance(tenant, str) or not isinstance(user, str):
            raise NoSuchUser
        try:
            return Scope(tenant, user)
        except InvalidField:
            raise NoSuchUser from None

    def _claims(self, token: str) -> dict[str, Any]:
        settings = self._settings
        try:
            key, algorithms = self._key(token)
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=list(algorithms),
                audience=settings.user_jwt_audience,
                issuer=settings.user_jwt_issuer,
                leeway=_LEEWAY_SECONDS,
                options={"require": ["exp", settings.user_jwt_tenant_claim, settings.user_jwt_user_claim]},
            )
        except jwt.PyJWTError:
            raise NoSuchUser from None
        return claims

    def _key(self, token: str) -> tuple[Any, tuple[str, ...]]:
        """The key, and the only algorithms it may be used with: a token never chooses how it is checked."""
        if self._settings.user_jwt_secret is not None:
            return self._settings.user_jwt_secret.get_secret_value(), _SECRET_ALGORITHMS
        if self._settings.user_jwks_url is None:
            raise NoSuchUser
        key = self._published_key(jwt.get_unverified_header(token).get("kid"))
        # Each key has its algorithm. The library fails, and does not refuse, when it is used with another one.
        return key.key, tuple(name for name in _KEY_ALGORITHMS if name == key.algorithm_name)

    def _published_key(self, kid: object) -> PyJWK:
        for refresh in (False, True):
            if refresh and not self._may_refresh():
                break
            for key in self._fetched_keys(refresh=refresh):
                if key.key_id == kid:
                    return key
        raise NoSuchUser

    def _fetched_keys(self, *, refresh: bool) -> list[PyJWK]:
        try:
            return self._client.get_signing_keys(refresh=refresh)
        except (jwt.PyJWTError, ValueError, TypeError, AttributeError, RecursionError):
            # Nobody answers, or with something else than keys: a page of a proxy, a document that is broken.
            raise KeysUnavailable from None

    def _may_refresh(self) -> bool:
        with self._lock:
            now = time.monotonic()
            if now - self._refreshed_at < _REFRESH_SECONDS:
                return False
            self._refreshed_at = now
            return True

    @cached_property
    def _client(self) -> PyJWKClient:
        url = self._settings.user_jwks_url or ""
        return PyJWKClient(url, cache_jwk_set=True, lifespan=_KEYS_SECONDS, timeout=_TIMEOUT_SECONDS)
