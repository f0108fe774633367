"""Every operation of the published document, asked as it allows and as it does not: no 500, no answer off the document.

Schemathesis makes the requests; it runs by itself against an API with a database of its own.
"""

from __future__ import annotations

import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from domain.access import TokenScope
from runtime.embedded.servers import Servers
from storage.database import Database
from storage.migrate import upgrade
from storage.tokens import SqlTokens
from tests.conftest import new_database, own_broker
from tests.integration.conftest import EMBEDDING_DIMS, scripted
from tests.integration.test_gateway import token_of
from tests.scripted_model import ScriptedModel
from tests.stack import Stack, running_stack

EXAMPLES = 15
# The others hold the document to more than JSON Schema can say of ids, spans and dates.
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,"
    "response_schema_conformance,ignored_auth"
)
# One worker: Python 3.11 cannot parse in two threads at once, and Hypothesis does.
SCHEMATHESIS = (
    *(sys.executable, "-m", "schemathesis.cli", "--config-file", "schemathesis.toml", "run"),
    *("--phases=coverage,fuzzing", f"--checks={CHECKS}", "--workers=1", "--no-color"),
)


@pytest.fixture
def alone(servers: Servers, model: ScriptedModel, tmp_path: Path) -> Iterator[Stack]:
    """An API by itself: nobody works on what it accepts."""
    url = new_database(servers, f"schema_{uuid.uuid4().hex[:8]}")
    upgrade(url, embedding_model="scripted", dims=EMBEDDING_DIMS)
    limits = {"service_requests_per_minute": 0, "user_requests_per_minute": 0}
    with running_stack(tmp_path, "api", **scripted(url, own_broker(servers, 12), model), **limits) as stack:
        yield stack


def all_scopes(stack: Stack) -> str:
    """A token for everything a service or operator may do."""
    database = Database(stack.environment["POCO_DATABASE_URL"])
    try:
        return SqlTokens(database).create("everything", list(TokenScope))
    finally:
        database.dispose()


def config(stack: Stack) -> str:
    return f"""
[auth.openapi.service_token]
bearer = "{all_scopes(stack)}"
[auth.openapi.user_token]
bearer = "{token_of("u-schema")}"
[generation]
max-examples = {EXAMPLES}
deterministic = true
"""


def test_no_request_gets_a_500_or_an_answer_off_the_document(alone: Stack, tmp_path: Path) -> None:
    (tmp_path / "schemathesis.toml").write_text(config(alone), encoding="utf-8")
    done = subprocess.run(
        [*SCHEMATHESIS, f"{alone.url}/openapi.json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-2000:]
    assert "memory_request_fault" not in alone.log("api")
