from __future__ import annotations

import pytest

from domain.candidate import Message, Role
from domain.errors import Backend, InvalidField, TransientError
from domain.facts import Entity, EntityType
from domain.jobs import Step
from domain.retry import RetryPolicy
from domain.scope import MAX_ID_CHARS, Scope
from domain.text import canonical, content_hash, ending, han_count, latin_word_count, storable
from tests.fakes import staged


@pytest.mark.parametrize(
    ("tenant_id", "user_id", "field", "rule"),
    [
        ("", "u", "tenant_id", "required"),
        ("t", "", "user_id", "required"),
        ("t", "*", "user_id", "no_wildcard"),
        ("t", "a*b", "user_id", "no_wildcard"),
        ("*", "u", "tenant_id", "no_wildcard"),
        ("t", " u", "user_id", "no_whitespace"),
        ("t", "a b", "user_id", "no_whitespace"),
        ("t", "a\u3000b", "user_id", "no_whitespace"),
        ("t", "a\nb", "user_id", "no_whitespace"),
        ("t", "a\x00b", "user_id", "printable"),
        ("t", "a\u200bb", "user_id", "printable"),
        ("t", "a\ud800", "user_id", "printable"),
        ("t", "x" * (MAX_ID_CHARS + 1), "user_id", "max_length"),
        ("a:b", "c", "tenant_id", "no_colon"),
    ],
)
def test_a_scope_refuses_what_could_reach_another_user(tenant_id: str, user_id: str, field: str, rule: str) -> None:
    with pytest.raises(InvalidField) as caught:
        Scope(tenant_id, user_id)
    assert (caught.value.field, caught.value.rule) == (field, rule)


@pytest.mark.parametrize("user_id", ["u", "林清", "a:b", "a&b=c%d", "x" * MAX_ID_CHARS])
def test_a_scope_key_leads_back_to_its_scope(user_id: str) -> None:
    scope = Scope("acme", user_id)
    assert Scope.from_key(scope.key) == scope


def test_two_scopes_never_share_a_key() -> None:
    assert Scope("a", "b:c").key != Scope("a", "b").key + ":d"
    with pytest.raises(InvalidField):
        Scope("a:b", "c")


def test_retries_come_after_one_two_and_four_seconds_and_then_never() -> None:
    policy = RetryPolicy()
    assert [policy.delay_after(failures) for failures in (1, 2, 3, 4)] == [1.0, 2.0, 4.0, None]
    assert policy.max_attempts == 4


def test_the_six_steps_have_the_names_operators_see() -> None:
    assert [step.task_name for step in Step] == [
        "memory.admit",
        "memory.extract",
        "memory.check_language",
        "memory.validate",
        "memory.relink",
        "memory.cleanup",
    ]


def test_scripts_are_counted_by_character_and_by_word() -> None:
    text = "把 CI 的 cache 打开, don't ask"
    assert (han_count(text), latin_word_count(text)) == (4, 4)


def test_storable_text_fits_utf8_and_jsonb() -> None:
    assert storable("a\x00b\ud800c😀") == "abc😀"


# Kind: bytedance/deer-flow#1857.
@pytest.mark.parametrize(
    ("text", "one_spelling"),
    [
        ("用户偏好深色主题。", "用户偏好深色主题"),
        ("　用户偏好深色主题 ", "用户偏好深色主题"),
        ("User  likes\ntea.", "User likes tea"),
        ("User lives in the U.S.", "User lives in the U.S."),
        ("User works at Foo Inc.", "User works at Foo Inc."),
        ("Wait...", "Wait..."),
    ],
)
def test_one_statement_has_one_spelling(text: str, one_spelling: str) -> None:
    assert canonical(text) == one_spelling


@pytest.mark.parametrize(
    ("text", "limit", "end"),
    [
        ("短句。", 10, "短句。"),
        ("第一句。第二句。", 6, "第二句。"),
        ("没有句号的长文本", 4, "的长文本"),
        ("一二三四五六。", 4, "四五六。"),
    ],
)
def test_the_end_of_a_text_begins_at_a_sentence_where_it_can(text: str, limit: int, end: str) -> None:
    assert ending(text, limit) == end


def test_the_hash_is_the_one_mem0_writes() -> None:
    assert content_hash("User likes tea") == "23b322a91f91af2d2f248fffeb1fc532"


def test_no_repr_holds_what_a_user_said() -> None:
    shown = [Message(Role.USER, "marker"), staged("marker"), Entity("marker", EntityType.PROPER)]
    assert "marker" not in repr(shown)


def test_an_error_names_its_backend_first() -> None:
    assert str(TransientError(Backend.LLM_TIMEOUT, "after 30 s")) == "llm_timeout: after 30 s"
