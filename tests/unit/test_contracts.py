from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pydantic import ValidationError

from domain.candidate import Candidate, Form, Kind, Message, Role
from domain.errors import InvalidField
from domain.jobs import Submission
from pipeline.submit import SizeLimits, submit
from tasks.contracts import Event, IngestRequest, event_schema, problems
from tests.fakes import FakeLedger, candidate, job

GOOD: dict[str, Any] = {
    "tenant_id": "acme",
    "user_id": "林清",
    "messages": [{"role": "user", "content": "以后都用中文"}, {"role": "assistant", "content": "好的"}],
}
EVENT: dict[str, Any] = {
    "event": "memory.extract.requested",
    "version": "v1",
    "payload": {
        "user_id": 42,
        "conversation_id": "c1",
        "assistant_id": "scheduler",
        "run_id": "r1",
        "source_message_id": 7,
        "source_role": "user",
        "source_text": "以后周五不安排会议",
        "occurred_at": "2026-12-01T08:00:00Z",
        "trace_id": "t1",
        "idempotency_key": "7:42",
    },
}


def faults(body: dict[str, Any]) -> list[tuple[str, str]]:
    with pytest.raises(ValidationError) as caught:
        IngestRequest.model_validate(body)
    return [(problem.field, problem.rule) for problem in problems(caught.value)]


def test_a_request_becomes_a_candidate_with_its_roles() -> None:
    made = IngestRequest.model_validate({**GOOD, "run_id": "r1", "metadata": {"category": "preference"}}).candidate()
    assert [message.role for message in made.messages] == [Role.USER, Role.ASSISTANT]
    assert (made.scope.key, made.kind, made.form, made.run_id) == (
        "acme:林清",
        Kind.TASK_COMPLETED,
        Form.MESSAGES,
        "r1",
    )
    assert made.metadata == {"category": "preference"}


@pytest.mark.parametrize(("role", "ours"), [("developer", Role.SYSTEM), ("function", Role.TOOL)])
def test_roles_of_chat_vendors_are_taken_by_our_names(role: str, ours: Role) -> None:
    messages = [{"role": role, "content": "x"}]
    made = IngestRequest.model_validate({"tenant_id": "t", "user_id": "u", "messages": messages}).candidate()
    assert made.messages[0].role is ours


# Kind: mem0ai/mem0#4799.
def test_a_content_of_parts_is_its_text_and_a_missing_one_is_empty() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    parts = [{"type": "text", "text": "我喜欢徒步"}, image, {"type": "text", "text": "每周一次"}]
    messages = [{"role": "user", "content": parts}, {"role": "assistant", "content": None, "tool_calls": []}]
    made = IngestRequest.model_validate({"tenant_id": "t", "user_id": "u", "messages": messages}).candidate()
    assert [message.content for message in made.messages] == ["我喜欢徒步\n每周一次", ""]


def test_the_older_text_form_is_the_users_text() -> None:
    made = IngestRequest.model_validate({"tenant_id": "a", "user_id": "u", "text": "以后都用中文"}).candidate()
    assert made.messages == (Message(Role.USER, "以后都用中文"),)
    assert made.form is Form.TEXT


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"tenant_id": ""}, ("tenant_id", "required")),
        ({"user_id": "*"}, ("user_id", "no_wildcard")),
        ({"user_id": "a b"}, ("user_id", "no_whitespace")),
        ({"tenant_id": "a:b"}, ("tenant_id", "no_colon")),
        ({"tenant_id": None}, ("tenant_id", "string_type")),
        ({"user_id": 7}, ("user_id", "string_type")),
        ({"run_id": "*"}, ("run_id", "no_wildcard")),
        ({"kind": "diary"}, ("kind", "enum")),
        ({"messages": []}, ("messages", "too_short")),
        ({"messages": "hello"}, ("messages", "list_type")),
        ({"messages": [{"role": "king", "content": "x"}]}, ("messages[0].role", "enum")),
        ({"messages": [{"role": "user"}]}, ("messages[0].content", "required")),
        ({"messages": [{"role": "user", "content": {"type": "text"}}]}, ("messages[0].content", "string_type")),
        ({"text": "both forms"}, ("messages", "one_of")),
        ({"usr_id": "typo"}, ("usr_id", "extra_forbidden")),
        ({"idempotency_key": ""}, ("idempotency_key", "string_too_short")),
        ({"trace_id": "\x00"}, ("trace_id", "storable")),
        ({"conversation_id": "x" * 257}, ("conversation_id", "string_too_long")),
    ],
)
def test_a_wrong_field_is_named_with_its_rule(change: dict[str, Any], expected: tuple[str, str]) -> None:
    assert faults({**GOOD, **change}) == [expected]


def test_a_missing_form_and_a_missing_scope_are_named() -> None:
    assert faults({"tenant_id": "a", "user_id": "u"}) == [("messages", "one_of")]
    assert faults({"messages": GOOD["messages"]}) == [("tenant_id", "required"), ("user_id", "required")]


def test_no_problem_repeats_the_value() -> None:
    with pytest.raises(ValidationError) as caught:
        IngestRequest.model_validate({**GOOD, "kind": "marker-value"})
    assert "marker-value" not in json.dumps([problem.message for problem in problems(caught.value)])


def test_an_event_maps_onto_a_candidate() -> None:
    made = Event.model_validate(EVENT).payload.candidate()
    assert made.scope.key == "default:42"
    assert (made.agent_id, made.run_id, made.conversation_id) == ("scheduler", "r1", "c1")
    assert (made.source_message_id, made.idempotency_key, made.trace_id) == ("7", "7:42", "t1")
    assert made.messages == (Message(Role.USER, "以后周五不安排会议"),)
    assert made.form is Form.TEXT


@pytest.mark.parametrize("field", ["user_id", "source_message_id", "source_role", "source_text", "idempotency_key"])
def test_an_event_without_a_required_field_is_refused(field: str) -> None:
    payload = {key: value for key, value in EVENT["payload"].items() if key != field}
    with pytest.raises(ValidationError):
        Event.model_validate({**EVENT, "payload": payload})


SCHEMA = Path(__file__).parents[2] / "docs" / "schemas" / "memory.extract.requested.v1.json"


def test_an_events_time_holds_nothing_that_cannot_be_stored() -> None:
    with pytest.raises(ValidationError):
        Event.model_validate({**EVENT, "payload": {**EVENT["payload"], "occurred_at": "2026\x00"}})


def test_the_published_schema_is_the_codes() -> None:
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == event_schema()


@pytest.mark.parametrize(
    ("change", "is_valid"),
    [
        ({}, True),
        ({"user_id": "林清"}, True),
        ({"tenant_id": "acme"}, True),
        ({"extra": "ignored"}, True),
        ({"user_id": "a b"}, False),
        ({"user_id": "*"}, False),
        ({"user_id": ""}, False),
        ({"source_role": "system"}, False),
        ({"source_text": ""}, False),
        ({"idempotency_key": None}, False),
        ({"run_id": 1.5}, False),
        ({"user_id": True}, False),
    ],
)
def test_schema_and_code_agree_on_what_an_event_is(change: dict[str, Any], is_valid: bool) -> None:
    event = {**EVENT, "payload": {**EVENT["payload"], **change}}
    assert jsonschema.Draft202012Validator(event_schema()).is_valid(event) is is_valid
    try:
        Event.model_validate(event)
    except ValidationError:
        assert not is_valid
    else:
        assert is_valid


def accept(made: Candidate) -> Submission:
    return submit(made, ledger=FakeLedger(job()), limits=SizeLimits(message=10, candidate=15, metadata=100))


@pytest.mark.parametrize(
    ("metadata", "rule"),
    [
        ({"user_id": "victim"}, "reserved_key"),
        ({"expiration_date": "2000-01-01"}, "reserved_key"),
        ({"a": "\x00"}, "storable"),
        ({"a": {"\ud800": 1}}, "storable"),
        ({"a": float("inf")}, "finite"),
        ({"a": [[[[[[[[[1]]]]]]]]]}, "max_depth"),
        ({"a": "中" * 31}, "max_bytes"),
    ],
)
def test_metadata_is_checked_for_every_producer(metadata: dict[str, Any], rule: str) -> None:
    with pytest.raises(InvalidField) as caught:
        accept(replace(candidate(("user", "ok")), metadata=metadata))
    assert (caught.value.field, caught.value.rule) == ("metadata", rule)


def test_metadata_at_the_limit_is_accepted() -> None:
    assert accept(replace(candidate(("user", "ok")), metadata={"a": "中" * 30})).job_id


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("run_id", "a b", "no_whitespace"),
        ("agent_id", "*", "no_wildcard"),
        ("trace_id", "a\x00", "storable"),
        ("idempotency_key", "", "required"),
        ("conversation_id", "x" * 257, "max_length"),
    ],
)
def test_ids_are_checked_for_every_producer(field: str, value: str, rule: str) -> None:
    change: dict[str, Any] = {field: value}
    with pytest.raises(InvalidField) as caught:
        accept(replace(candidate(("user", "ok")), **change))
    assert (caught.value.field, caught.value.rule) == (field, rule)


@pytest.mark.parametrize(
    ("texts", "field"),
    [
        (["中文中文"], "messages[0].content"),
        (["ok", "x" * 11], "messages[1].content"),
        (["x" * 8, "x" * 8], "messages"),
    ],
)
def test_a_message_over_the_limit_is_named(texts: list[str], field: str) -> None:
    with pytest.raises(InvalidField) as caught:
        accept(candidate(*(("user", text) for text in texts)))
    assert (caught.value.field, caught.value.rule) == (field, "max_bytes")


def test_a_candidate_at_the_limit_is_accepted() -> None:
    assert accept(candidate(("user", "x" * 10), ("assistant", "x" * 5))).job_id


def test_a_candidate_without_messages_is_refused() -> None:
    with pytest.raises(InvalidField):
        accept(candidate())
