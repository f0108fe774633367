"""The published document is true of every endpoint, and can be read without anything from elsewhere."""

from __future__ import annotations

import json
import re
import urllib.request
from typing import Any

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from tests.stack import Stack


@pytest.fixture(scope="module")
def document(stack: Stack) -> dict[str, Any]:
    with urllib.request.urlopen(f"{stack.url}/openapi.json", timeout=10) as response:
        found: dict[str, Any] = json.load(response)
    return found


def test_the_document_is_valid_openapi(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1.")
    assert list(OpenAPIV31SpecValidator(document).iter_errors()) == []


def test_every_operation_says_who_may_call_it_and_how_it_fails(document: dict[str, Any]) -> None:
    operations = [(path, found) for path, methods in document["paths"].items() for found in methods.values()]
    assert len(operations) == len({found["operationId"] for _, found in operations}) >= 35
    for path, found in operations:
        is_open = path.startswith("/health/")
        assert bool(found["security"]) != is_open, path
        assert is_open or {"401", "403", "429", "503"} <= found["responses"].keys(), path
        assert found["summary"], path


def test_a_request_off_the_contract_is_said_to_be_refused(document: dict[str, Any]) -> None:
    for name, schema in document["components"]["schemas"].items():
        if "properties" in schema and name != "MessageIn" and name != "ExtractRequested":
            assert schema["additionalProperties"] is False, name


def test_the_page_needs_nothing_from_elsewhere(stack: Stack) -> None:
    with urllib.request.urlopen(f"{stack.url}/docs", timeout=10) as response:
        page, policy = response.read().decode(), response.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    loaded = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert len(loaded) >= 5
    for path in loaded:
        assert path.startswith("/docs/")
        with urllib.request.urlopen(stack.url + path, timeout=10) as response:
            assert response.read(), path
    assert "/openapi.json" in page


@pytest.mark.parametrize(
    "path", ["/docs/../app.py", "/docs/%2e%2e/flask_swagger_ui.py", "/docs//etc/passwd", "/docs/no"]
)
def test_the_page_gives_away_no_other_file(stack: Stack, path: str) -> None:
    assert stack.get(path, token=None).status in (401, 404)


def test_a_request_keeps_its_id_and_its_trace(stack: Stack) -> None:
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    headers = {"X-Request-Id": "mine-7", "traceparent": f"00-{trace}-00f067aa0ba902b7-01"}
    request = urllib.request.Request(f"{stack.url}/health/live", headers=headers)
    with urllib.request.urlopen(request, timeout=10) as response:
        assert (response.headers["X-Request-Id"], response.headers["X-Trace-Id"]) == ("mine-7", trace)


@pytest.mark.parametrize("asked", ["", "two words", "x" * 129, "a\tb", "é"])
def test_an_id_that_could_forge_a_log_line_is_replaced(stack: Stack, asked: str) -> None:
    headers = {"X-Request-Id": asked, "traceparent": "00-" + "0" * 32 + "-00f067aa0ba902b7-01"}
    request = urllib.request.Request(f"{stack.url}/health/live", headers=headers)
    with urllib.request.urlopen(request, timeout=10) as response:
        assert re.fullmatch("[0-9a-f]{32}", response.headers["X-Request-Id"])
        assert response.headers["X-Trace-Id"].strip("0")


def test_a_problem_and_the_log_have_the_requests_id(stack: Stack, user_id: str) -> None:
    body = {"tenant_id": "test", "user_id": user_id, "messages": [{"role": "user", "content": "以后都用中文"}]}
    accepted = stack.post("/v1/memories/ingest", body)
    trace_id = accepted.body["trace_id"]
    assert accepted.headers["X-Trace-Id"] == trace_id
    line = next(line for line in stack.log("api").splitlines() if accepted.headers["X-Request-Id"] in line)
    assert "memory_ingest_accepted" in line
    assert trace_id in line
    refused = stack.post("/v1/memories/search", {})
    assert refused.body["request_id"] == refused.headers["X-Request-Id"]
