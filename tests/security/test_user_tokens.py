"""Users' tokens: only those made for this service by the one who may, and never checked the way a token asks for."""

from __future__ import annotations

import base64
import json
import time
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from pydantic import SecretStr

from domain.scope import Scope
from runtime.settings import Settings
from runtime.user_tokens import KeysUnavailable, NoSuchUser, UserTokens, signed
from tests.security.identity_provider import Published, part

SECRET = "a-secret-of-64-characters-so-that-even-sha-512-is-content-with-it-here"
ALICE = Scope("t1", "alice")


def claims(**changes: Any) -> dict[str, Any]:
    known = {"tenant_id": "t1", "sub": "alice", "aud": "poco-memory", "exp": int(time.time()) + 600}
    return {name: value for name, value in {**known, **changes}.items() if value is not None}


def by_secret(**settings: Any) -> UserTokens:
    return UserTokens(Settings(user_jwt_secret=SecretStr(SECRET), **settings))


def test_a_token_made_for_this_service_names_its_user() -> None:
    assert by_secret().scope(jwt.encode(claims(), SECRET, algorithm="HS256")) == ALICE
    settings = Settings(user_jwt_secret=SecretStr(SECRET), user_jwt_issuer="us")
    assert UserTokens(settings).scope(signed(ALICE, SECRET, settings, seconds=60)) == ALICE


def test_the_claims_can_have_other_names() -> None:
    tokens = by_secret(user_jwt_tenant_claim="org", user_jwt_user_claim="uid")
    made = claims(org="t1", uid="alice", sub="somebody", tenant_id="other")
    assert tokens.scope(jwt.encode(made, SECRET, algorithm="HS256")) == ALICE


@pytest.mark.parametrize(
    "changes",
    [
        {"exp": int(time.time()) - 60},
        {"exp": None},
        {"nbf": int(time.time()) + 86_400},
        {"aud": "another-service"},
        {"aud": None},
        {"aud": ["another-service", "a-third"]},
        {"sub": None},
        {"tenant_id": None},
        {"sub": 7},
        {"tenant_id": ["t1"]},
        {"sub": "*"},
        {"sub": ""},
        {"sub": "a b"},
        {"sub": "a\x00b"},
        {"sub": "x" * 129},
        {"tenant_id": "t1:alice"},
        {"tenant_id": "*"},
    ],
)
def test_a_token_with_wrong_claims_is_nobodys(changes: dict[str, Any]) -> None:
    try:
        token = jwt.encode(claims(**changes), SECRET, algorithm="HS256")
    except TypeError:
        # The library makes no token with a subject that is no text; somebody else might.
        token = jwt.api_jws.encode(json.dumps(claims(**changes)).encode(), SECRET, algorithm="HS256")
    with pytest.raises(NoSuchUser):
        by_secret().scope(token)


@pytest.mark.parametrize("issuer", [None, "them"])
def test_a_token_of_another_issuer_is_nobodys(issuer: str | None) -> None:
    with pytest.raises(NoSuchUser):
        by_secret(user_jwt_issuer="us").scope(jwt.encode(claims(iss=issuer), SECRET, algorithm="HS256"))


@pytest.mark.parametrize(
    "token",
    [
        "",
        "a.b.c",
        "..",
        "é",
        "\x00",
        jwt.encode(claims(), SECRET + "x", algorithm="HS256"),
        jwt.encode(claims(), SECRET, algorithm="HS512"),
        jwt.encode(claims(), "", algorithm="none"),
        f"{part({'alg': 'none'})}.{part(claims())}.",
        f"{part({'alg': 'NONE'})}.{part(claims())}.",
        f"{part({'alg': 'HS256'})}.{part(claims())}.",
        f"{base64.urlsafe_b64encode(b'[' * 6000).decode()}.{part(claims())}.x",
    ],
)
def test_a_token_that_is_not_signed_by_us_is_nobodys(token: str) -> None:
    with pytest.raises(NoSuchUser):
        by_secret().scope(token)


def test_without_a_secret_or_keys_every_token_is_nobodys() -> None:
    with pytest.raises(NoSuchUser):
        UserTokens(Settings()).scope(jwt.encode(claims(), SECRET, algorithm="HS256"))


def by_keys(published: Published) -> UserTokens:
    return UserTokens(Settings(user_jwks_url=published.url))


def test_published_keys_of_both_kinds_are_taken_and_fetched_once(published: Published) -> None:
    tokens, before = by_keys(published), published.fetched
    for key, algorithm, kid in ((published.rsa_key, "RS256", "rsa"), (published.ec_key, "ES256", "ec")):
        assert tokens.scope(jwt.encode(claims(), key, algorithm=algorithm, headers={"kid": kid})) == ALICE
    assert published.fetched == before + 1


def test_a_public_key_is_no_secret(published: Published) -> None:
    """Key confusion: signed with HS256 and the text of the public key, which everybody knows."""
    with pytest.raises(NoSuchUser):
        by_keys(published).scope(published.confused(claims()))


def test_a_key_that_is_not_published_is_refused_and_does_not_make_us_fetch_all_day(published: Published) -> None:
    tokens, before = by_keys(published), published.fetched
    stranger = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    for kid in ("rsa", "unknown", "unknown", "unknown", None):
        headers = {"kid": kid} if kid else {}
        with pytest.raises(NoSuchUser):
            tokens.scope(jwt.encode(claims(), stranger, algorithm="RS256", headers=headers))
    assert published.fetched <= before + 2


def test_keys_that_cannot_be_fetched_are_told_apart_from_a_wrong_token(published: Published) -> None:
    tokens = UserTokens(Settings(user_jwks_url="http://127.0.0.1:1/keys"))
    with pytest.raises(KeysUnavailable):
        tokens.scope(jwt.encode(claims(), published.rsa_key, algorithm="RS256", headers={"kid": "rsa"}))


@pytest.mark.parametrize("answer", [b"<html>", b"[1]", b'{"keys": 7}', b'{"keys": [7]}', b"[" * 9000])
def test_keys_that_cannot_be_read_are_as_good_as_none(published: Published, answer: bytes) -> None:
    published.broken = answer
    try:
        with pytest.raises(KeysUnavailable):
            by_keys(published).scope(jwt.encode(claims(), published.rsa_key, algorithm="RS256", headers={"kid": "rsa"}))
    finally:
        published.broken = None


def test_a_secret_and_keys_together_are_refused() -> None:
    with pytest.raises(ValueError, match="exclude each other"):
        Settings(user_jwt_secret=SecretStr(SECRET), user_jwks_url="https://example.com/keys")
