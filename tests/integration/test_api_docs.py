"""The examples of docs/api.md are run in their order, and answer what the page says."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from domain.scope import Scope
from runtime.settings import Settings
from runtime.user_tokens import signed
from tests.scripted_model import ScriptedModel, reply_facts
from tests.stack import OPERATOR_TOKEN, TOKEN, USER_SECRET, Stack

EXAMPLE = re.compile(r"```sh\n(?P<command>.*?)```\n\n```json\n(?P<answer>.*?)```\n", re.DOTALL)
HEADING = re.compile(r"^### `(?P<method>[A-Z]+) (?P<path>/\S+)`$", re.MULTILINE)
LIN = Scope("acme", "lin")


@dataclass(frozen=True)
class Example:
    """A command and the answer that the page shows."""

    command: str
    answer: dict[str, Any]

    def run(self, variables: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """The status and the real answer."""
        command = self.command.replace("curl -s ", "curl -s -w '\\n%{http_code}' ", 1)
        done = subprocess.run(
            ["bash", "-c", command], env=variables, capture_output=True, text=True, timeout=60, check=True
        )
        body, _, status = done.stdout.rpartition("\n")
        return int(status), json.loads(body)


@pytest.fixture(scope="module")
def page(repository: Path) -> str:
    return (repository / "docs" / "api.md").read_text(encoding="utf-8")


@pytest.fixture
def variables(stack: Stack) -> Iterator[dict[str, str]]:
    settings = Settings(user_jwt_secret=SecretStr(USER_SECRET))
    yield {
        "PATH": stack.environment["PATH"],
        "API": stack.url,
        "TOKEN": TOKEN,
        "OPERATOR_TOKEN": OPERATOR_TOKEN,
        "USER_TOKEN": signed(LIN, USER_SECRET, settings, seconds=600),
    }
    stack.post("/v1/memories/delete-user", {"tenant_id": LIN.tenant_id, "user_id": LIN.user_id})


def test_every_interface_has_an_example(stack: Stack, page: str) -> None:
    sections = re.split(r"^(?=### )", page, flags=re.MULTILINE)[1:]
    assert all(HEADING.match(section) and EXAMPLE.search(section) for section in sections)
    told = {(match["method"], match["path"]) for match in HEADING.finditer(page)}
    assert told == set(stack.published().operations())


def test_every_example_answers_as_the_page_says(
    stack: Stack, model: ScriptedModel, page: str, variables: dict[str, str]
) -> None:
    model.when("以后周报都用中文写", reply_facts(["用户以后周报都用中文写"]))
    model.when("我对花生过敏", reply_facts(["用户对花生过敏"]))
    examples = [Example(match["command"], json.loads(match["answer"])) for match in EXAMPLE.finditer(page)]
    assert len(examples) >= 40
    for example in examples:
        status, answer = example.run(variables)
        expected = example.answer.get("status") if "code" in example.answer else None
        assert status == expected if expected else 200 <= status < 300, (example.command, answer)
        assert answer.keys() == example.answer.keys(), (example.command, answer)
        _follow(stack, variables, example.command, answer)


def test_the_answers_on_the_page_are_ones_the_document_promises(stack: Stack, page: str) -> None:
    for section in re.split(r"^(?=### )", page, flags=re.MULTILINE)[1:]:
        heading, example = HEADING.match(section), EXAMPLE.search(section)
        assert heading is not None
        assert example is not None
        answer = json.loads(example["answer"])
        is_problem = "code" in answer
        path = heading["path"].replace("{", "").replace("}", "")
        stack.published().check(
            heading["method"],
            path,
            answer["status"] if is_problem else 202 if path in ("/v1/memories/ingest", "/v1/events") else 200,
            "application/problem+json" if is_problem else "application/json",
            answer,
        )


def _follow(stack: Stack, variables: dict[str, str], command: str, answer: dict[str, Any]) -> None:
    """What a reader does between two examples: take the ids, and wait until a candidate is through."""
    if "/v1/memories/ingest" in command or "/v1/events" in command:
        stack.finished(answer["job_id"])
    if "/v1/memories/ingest" in command:
        variables["JOB_ID"] = answer["job_id"]
    if '"action": "add"' in command:
        variables["MEMORY_ID"] = answer["memory_id"]
