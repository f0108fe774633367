"""Who gets in where: one row a token, tried at every endpoint, with the answers of users' and of services' ones."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from api.app import create_app
from domain.access import AGENT_SCOPES, TokenScope
from runtime.wiring import Services
from tests.planted import PLANTED
from tests.security.conftest import World, logging_to, token_for, user_token
from tests.security.doors import BANK, DOORS, EVERYBODY, STRANGER, USER, Door
from tests.security.identity_provider import Published, part
from tests.stack import OPERATOR_TOKEN, TOKEN, USER_SECRET

NOBODY, WRONG_KIND = 401, 403
NO_SCOPES: frozenset[TokenScope] = frozenset()


@pytest.fixture(autouse=True)
def untouched(world: World) -> Iterator[None]:
    with world.untouched():
        yield


@dataclass(frozen=True)
class Row:
    """A token, and the answers without it being for that: at users' endpoints, and at those for other scopes."""

    name: str
    token: str | Callable[[World], str] | None
    at_users: int = NOBODY
    elsewhere: int = NOBODY
    opens: frozenset[TokenScope] | str = NO_SCOPES

    def expected(self, door: Door) -> int:
        if door.opens == EVERYBODY or door.opens == self.opens:
            return door.status
        if isinstance(door.opens, set) and door.opens & set(self.opens):
            return door.status
        return self.at_users if door.opens == USER else self.elsewhere


def claims(**changes: Any) -> dict[str, Any]:
    known = {"tenant_id": BANK.tenant_id, "sub": BANK.user_id, "aud": "poco-memory", "exp": int(time.time()) + 600}
    return {name: value for name, value in {**known, **changes}.items() if value is not None}


def signed(secret: str = USER_SECRET, algorithm: str = "HS256", **changes: Any) -> str:
    return jwt.encode(claims(**changes), secret, algorithm=algorithm)


def named(*scopes: TokenScope, seconds: int = 600, revoked: bool = False) -> Callable[[World], str]:
    def make(world: World) -> str:
        name = f"t-{uuid.uuid4().hex[:12]}"
        token = world.services.tokens.create(name, scopes, datetime.now(UTC) + timedelta(seconds=seconds))
        if revoked:
            assert world.services.tokens.revoke(name)
        return token

    return make


def changed(make: Callable[[World], str]) -> Callable[[World], str]:
    """The token with another last character but one."""
    return lambda world: (token := make(world))[:-2] + ("A" if token[-2] != "A" else "B") + token[-1]


ROWS = [
    Row("none", None),
    Row("an empty one", ""),
    Row("a made-up one", "wrong"),
    Row("one with NUL in it", "a\x7fb"),
    Row("one that is not ASCII", "t\xf6k\xe9n"),
    Row("one of a hundred thousand characters", "x" * 100_000),
    Row("the service token and more", TOKEN + "x"),
    Row("the service token cut short", TOKEN[:-1]),
    Row("two in one", f"{TOKEN}, Bearer {TOKEN}"),
    Row("the secret of users' tokens", USER_SECRET),
    Row("the word that all secrets begin with", PLANTED),
    Row("a user's", user_token(STRANGER), elsewhere=WRONG_KIND, opens=USER),
    Row("a user's that ended", signed(exp=int(time.time()) - 60)),
    Row("a user's that never ends", signed(exp=None)),
    Row("a user's that is not valid yet", signed(nbf=int(time.time()) + 600)),
    Row("a user's for another service", signed(aud="another")),
    Row("a user's for no service", signed(aud=None)),
    Row("a user's without a tenant", signed(tenant_id=None)),
    Row("a user's without a user", signed(sub=None)),
    Row("every user's", signed(sub="*")),
    Row("every tenant's", signed(tenant_id="*")),
    Row("one over the colon", signed(tenant_id="bank:alice", sub="x")),
    Row("one of nobody", signed(sub=" ")),
    Row("one signed with nothing", jwt.encode(claims(), "", algorithm="none")),
    Row("one signed with None", f"{part({'alg': 'None'})}.{part(claims())}."),
    Row("one with its signature cut off", signed().rpartition(".")[0] + "."),
    Row("one signed with another secret", signed("x" * 64)),
    Row("one signed with another algorithm", signed(algorithm="HS384")),
    Row("one signed with the service token", signed(TOKEN)),
    Row(
        "one whose claims were changed",
        ".".join([signed().split(".")[0], part(claims(sub="bob")), signed().split(".")[2]]),
    ),
    Row("one with a key of its own", jwt.encode(claims(), "x" * 64, headers={"jwk": {"kty": "oct", "k": "eHh4"}})),
    Row(
        "one with a key elsewhere",
        jwt.encode(claims(), "x" * 64, headers={"jku": "http://127.0.0.1:1/", "kid": "../../x"}),
    ),
    Row("the service token", TOKEN, WRONG_KIND, WRONG_KIND, AGENT_SCOPES),
    Row("the operators' token", OPERATOR_TOKEN, WRONG_KIND, WRONG_KIND, frozenset({TokenScope.OPERATE})),
    *(Row(f"a named one to {scope}", named(scope), WRONG_KIND, WRONG_KIND, frozenset({scope})) for scope in TokenScope),
    Row("a named one for everything", named(*TokenScope), WRONG_KIND, WRONG_KIND, frozenset(TokenScope)),
    Row("a named one that was revoked", named(*TokenScope, revoked=True)),
    Row("a named one that ended", named(*TokenScope, seconds=-1)),
    Row("a named one with another secret part", changed(named(*TokenScope))),
    Row("a named one of no row", f"poco_{'0' * 16}_{'A' * 43}"),
    Row("a named one with a percent sign", f"poco_{'%' * 16}_{'A' * 43}"),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_token_opens_what_it_is_for_and_nothing_else(world: World, row: Row) -> None:
    token = row.token(world) if callable(row.token) else row.token
    assert [fault for door in DOORS for fault in world.faults(door, row.expected(door), token=token)] == []


def test_a_refusal_says_the_same_whatever_is_wrong(world: World) -> None:
    """Nobody learns from it whether a token ended, was revoked or never was."""
    for door in DOORS:
        if door.opens != EVERYBODY:
            tokens = [row.token for row in ROWS if row.expected(door) == NOBODY and isinstance(row.token, str)]
            answers = {world.call(door, token=token).get_data(as_text=True) for token in tokens}
            assert len(answers) == 1, answers


@pytest.mark.parametrize(
    "header",
    [
        "{token}",
        "Basic {token}",
        "Token {token}",
        "Bearer: {token}",
        "Bearer={token}",
        "Bearer",
        "Bearer Bearer {token}",
    ],
)
def test_a_token_is_shown_in_one_way_only(world: World, header: str) -> None:
    for door in DOORS:
        if door.opens != EVERYBODY:
            shown = {"Authorization": header.format(token=token_for(door))}
            assert world.faults(door, NOBODY, token=None, headers=shown) == []


@pytest.mark.parametrize("name", ["access_token", "token", "authorization", "Authorization", "jwt"])
def test_a_token_elsewhere_than_in_its_header_is_none(world: World, name: str) -> None:
    for door in DOORS:
        if door.opens != EVERYBODY:
            token = token_for(door)
            elsewhere = {"Cookie": f"{name}={token}", f"X-{name.replace('_', '-')}": token}
            assert world.faults(door, NOBODY, token=None, headers=elsewhere, query={name: token}) == []


def test_an_unknown_path_tells_a_stranger_nothing_and_a_user_that_it_is_none(world: World) -> None:
    client = world.app.test_client()
    for path in ("/", "/admin", "/v1", "/v1/memories", "/api/v1/memory", "/metrics", "/.env", "/static/../api/app.py"):
        assert client.get(path).status_code == 401
        for token in (TOKEN, OPERATOR_TOKEN, user_token(STRANGER)):
            assert client.get(path, headers={"Authorization": f"Bearer {token}"}).status_code == 404


@pytest.fixture(scope="module")
def by_keys(world: World, published: Published) -> Iterator[World]:
    """The same service in front of a login that publishes its keys."""
    changes = {"user_jwt_secret": None, "user_jwks_url": published.url}
    services = Services(world.services.settings.model_copy(update=changes))
    with logging_to(services.settings.home / "service-by-keys.log"):
        yield World(services, create_app(services), world.ids)
    services.database.dispose()


def by_key(published: Published, kid: str | None = "rsa", **changes: Any) -> str:
    return jwt.encode(claims(**changes), published.rsa_key, "RS256", headers={"kid": kid} if kid else {})


STRANGERS_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
KEY_ROWS: list[tuple[str, Callable[[Published], str]]] = [
    ("the public key as a secret", lambda published: published.confused(claims())),
    ("signed with nothing", lambda _: jwt.encode(claims(), "", algorithm="none", headers={"kid": "rsa"})),
    ("signed with a secret", lambda _: jwt.encode(claims(), USER_SECRET, headers={"kid": "rsa"})),
    ("a stranger's key", lambda _: jwt.encode(claims(), STRANGERS_KEY, "RS256", headers={"kid": "rsa"})),
    ("another key's name", lambda published: by_key(published, "ec")),
    ("an unknown key's name", lambda published: by_key(published, "unknown")),
    ("no key's name", lambda published: by_key(published, None)),
    ("ended", lambda published: by_key(published, exp=int(time.time()) - 60)),
    ("for another service", lambda published: by_key(published, aud="another")),
    ("every user's", lambda published: by_key(published, sub="*")),
]


@pytest.mark.parametrize("make", [row[1] for row in KEY_ROWS], ids=[row[0] for row in KEY_ROWS])
def test_a_token_that_no_published_key_has_signed_opens_nothing(
    by_keys: World, published: Published, make: Callable[[Published], str]
) -> None:
    for door in DOORS:
        if door.opens != EVERYBODY:
            assert by_keys.faults(door, NOBODY, token=make(published)) == []


def test_a_token_signed_with_a_published_key_opens_its_users_doors(by_keys: World, published: Published) -> None:
    mine = by_key(published, tenant_id=STRANGER.tenant_id, sub=STRANGER.user_id)
    for door in DOORS:
        if door.opens != EVERYBODY:
            expected = door.status if door.opens == USER else WRONG_KIND
            assert by_keys.faults(door, expected, token=mine) == []
