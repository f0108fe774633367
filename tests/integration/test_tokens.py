"""Tokens: kept as hashes, each for what it is needed for, ended at once; and who may call what."""

from __future__ import annotations

import subprocess
import sys
import uuid
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from domain.access import Caller, TokenScope
from domain.errors import InvalidField
from storage.database import Database
from storage.tables import TokenRow
from storage.tokens import SqlTokens
from tests.ledgers import UNKNOWN_JOB
from tests.stack import OPERATOR_TOKEN, TOKEN, Stack


@pytest.fixture
def tokens(database: Database) -> SqlTokens:
    return SqlTokens(database)


@pytest.fixture
def name() -> str:
    return f"t-{uuid.uuid4().hex[:12]}"


def test_a_token_stands_for_its_name_and_scopes(tokens: SqlTokens, name: str) -> None:
    token = tokens.create(name, [TokenScope.SEARCH, TokenScope.INGEST])
    expected = Caller(name, frozenset({TokenScope.INGEST, TokenScope.SEARCH}))
    assert tokens.caller(token) == expected
    assert tokens.caller(token) == expected


def test_nothing_of_the_secret_part_is_stored(tokens: SqlTokens, database: Database, name: str) -> None:
    token = tokens.create(name, [TokenScope.SEARCH])
    with database.transaction() as connection:
        row = connection.execute(select(TokenRow.__table__).where(TokenRow.name == name)).one()
    secret = token.rpartition("_")[2] if token.count("_") == 2 else token[len("poco_") + 17 :]
    assert secret
    assert secret not in str(tuple(row))
    assert secret not in repr(tokens.known())


def test_a_token_with_another_secret_part_is_nobodys(tokens: SqlTokens, name: str) -> None:
    token = tokens.create(name, [TokenScope.SEARCH])
    other = token[:-1] + ("A" if token[-1] != "A" else "B")
    assert tokens.caller(other) is None
    assert tokens.caller("") is None
    assert tokens.caller("poco_\x00") is None


def test_a_revoked_token_is_nobodys_and_its_name_is_free(database: Database, tokens: SqlTokens, name: str) -> None:
    token = tokens.create(name, [TokenScope.SEARCH])
    with pytest.raises(InvalidField, match="belongs to another token"):
        tokens.create(name, [TokenScope.SEARCH])
    assert tokens.revoke(name)
    assert not tokens.revoke(name)
    assert SqlTokens(database).caller(token) is None
    assert tokens.create(name, [TokenScope.SEARCH]) != token


def test_an_expired_token_is_nobodys(tokens: SqlTokens, name: str) -> None:
    assert tokens.caller(tokens.create(name, [TokenScope.SEARCH], datetime.now(UTC) - timedelta(seconds=1))) is None


@pytest.mark.parametrize("wrong", ["", "two words", "x" * 65, "名字", "-dash"])
def test_a_name_must_fit_a_log_and_a_command_line(tokens: SqlTokens, wrong: str) -> None:
    with pytest.raises(InvalidField, match="name: must be"):
        tokens.create(wrong, [TokenScope.SEARCH])


AGENT_CALLS = [("POST", "/v1/memories/ingest"), ("POST", "/v1/events"), ("POST", "/v1/memories/search")]
OPERATOR_CALLS = [
    ("GET", "/v1/jobs"),
    ("GET", "/v1/jobs/stats"),
    ("POST", "/v1/jobs/retry"),
    ("POST", "/v1/jobs/restart"),
    ("GET", f"/v1/jobs/{UNKNOWN_JOB}/audit"),
    *(("POST", f"/v1/jobs/{UNKNOWN_JOB}/{act}") for act in ("retry", "restart", "cancel")),
]


def called(stack: Stack, method: str, path: str, token: str | None) -> tuple[int, str | None]:
    answer = stack.get(path, token=token) if method == "GET" else stack.post(path, {}, token=token)
    return answer.status, answer.body.get("code")


@pytest.mark.parametrize(("method", "path"), AGENT_CALLS + OPERATOR_CALLS)
def test_nobody_comes_in_without_a_token(stack: Stack, method: str, path: str) -> None:
    for token in (None, "wrong", f"poco_{'0' * 16}_{'A' * 43}"):
        assert called(stack, method, path, token) == (401, "unauthorized")


@pytest.mark.parametrize(("method", "path"), OPERATOR_CALLS)
def test_an_agent_may_not_operate(stack: Stack, method: str, path: str) -> None:
    assert called(stack, method, path, TOKEN) == (403, "forbidden")
    assert called(stack, method, path, OPERATOR_TOKEN)[0] not in (401, 403)


@pytest.mark.parametrize(("method", "path"), AGENT_CALLS)
def test_an_operator_may_not_act_as_an_agent(stack: Stack, method: str, path: str) -> None:
    assert called(stack, method, path, OPERATOR_TOKEN) == (403, "forbidden")
    assert called(stack, method, path, TOKEN)[0] not in (401, 403)


def command(stack: Stack, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cli.main", "tokens", *arguments],
        env=stack.environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_a_token_made_by_command_opens_what_it_is_for_until_it_is_revoked(stack: Stack, name: str) -> None:
    made = command(stack, "create", name, "--scope", "operate", "--expires", "1h")
    token = made.stdout.strip()
    assert called(stack, "GET", "/v1/jobs/stats", token)[0] == 200
    assert called(stack, "POST", "/v1/memories/search", token) == (403, "forbidden")
    listed = command(stack, "list").stdout
    assert f"{name} " in listed
    assert "expires" in listed
    assert token not in listed
    assert token not in stack.log("api")
    assert command(stack, "create", name).returncode == 2
    assert command(stack, "revoke", name).returncode == 0
    stack.wait_until(lambda: called(stack, "GET", "/v1/jobs/stats", token)[0] == 401, 30, "a revoked token still opens")
    assert command(stack, "revoke", name).returncode == 1
    assert "revoked" in command(stack, "list", "--json").stdout
