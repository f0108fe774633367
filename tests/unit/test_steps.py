from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from domain.candidate import Candidate, Kind, Message, Role
from domain.errors import Backend, TransientError
from domain.facts import Entity, EntityType, Evidence, FactFault, FactVerdict, StagedFact
from domain.jobs import Advance, Finish, Job, Outcome, Publish, Step
from domain.scope import Scope
from pipeline.admit import admit_step
from pipeline.cleanup import cleanup_step
from pipeline.extract import extract_step
from pipeline.language import check_language_step
from pipeline.relink import relink_step
from pipeline.validate import find_fault, validate_step
from runtime.wiring import grounding_words, language_tools
from tests.fakes import FakeEmbedder, FakeExtractor, is_finish, job, staged, unique_scope

TOOLS, WORDS = language_tools(), grounding_words()
ZH = (("user", '以后技术方案都用简体中文写，项目叫"青禾"。'), ("assistant", "好的，已记录。"))
EN = (("user", "I always want short emails on Fridays."), ("assistant", "Noted."))
FR = (("user", "Ma fille Una déteste les épinards, ne lui en propose jamais."), ("assistant", "C'est noté."))
PARTNER = (("user", "我的搭档叫林清，我们在飞书上对需求"), ("assistant", "好的。"))


def test_admit_passes_a_clean_conversation_on() -> None:
    result = admit_step(job(*ZH))
    assert isinstance(result, Advance)
    assert result.messages is not None
    assert [message.role for message in result.messages] == [Role.USER, Role.ASSISTANT]


def test_admit_ends_a_snapshot_with_its_reason() -> None:
    snapshot = Candidate(unique_scope(), (Message(Role.USER, "以后都用中文"),), kind=Kind.PRE_COMPACT)
    assert is_finish(admit_step(Job("j", snapshot, Step.ADMIT, 1)), Outcome.REJECTED, "session_snapshot")


def test_extract_stages_what_the_model_found() -> None:
    result = extract_step(job(*ZH), extractor=FakeExtractor([["用户偏好简体中文"]]))
    assert isinstance(result, Advance)
    assert result.staged is not None
    assert [fact.text for fact in result.staged] == ["用户偏好简体中文"]


def test_extract_ends_normally_when_nothing_was_found() -> None:
    assert is_finish(extract_step(job(*ZH), extractor=FakeExtractor([[]])), Outcome.NO_EFFECT, "nothing_durable")


@pytest.mark.parametrize(
    ("turns", "fact"),
    [
        (ZH, '用户偏好用简体中文写技术方案，项目名为"青禾"'),
        (EN, "User prefers short emails on Fridays"),
        (FR, "La fille de l'utilisateur, Una, déteste les épinards"),
        ((("user", "把 CI 的 cache 打开，以后都开"), ("assistant", "好")), "用户希望 CI 的 cache 一直打开"),
    ],
)
def test_facts_in_the_users_language_pass_without_a_second_run(turns: tuple[tuple[str, str], ...], fact: str) -> None:
    extractor = FakeExtractor([])
    result = check_language_step(job(*turns, facts=[staged(fact)]), extractor=extractor, tools=TOOLS)
    assert result == Advance()
    assert extractor.languages == []


# Drift in each direction; sources of the kinds: mem0ai/mem0#3206, xzf-thu/VoiceMem#8, aradlein/hass-agent-llm#50.
@pytest.mark.parametrize(
    ("turns", "drifted", "correct", "language"),
    [
        (ZH, "User prefers technical proposals in Simplified Chinese", "用户偏好简体中文的技术方案", "zh"),
        (EN, "用户周五喜欢短邮件", "User prefers short emails on Fridays", "en"),
        (FR, "The user's daughter Una hates spinach", "La fille de l'utilisateur, Una, déteste les épinards", "fr"),
        (PARTNER, "用户的搭档叫 Lin Qing，使用 Lark 对需求", "用户的搭档叫林清，使用飞书对需求", "zh"),
    ],
)
def test_a_drifted_fact_is_replaced_by_one_constrained_second_run(
    turns: tuple[tuple[str, str], ...], drifted: str, correct: str, language: str
) -> None:
    extractor = FakeExtractor([[correct]])
    result = check_language_step(job(*turns, facts=[staged(drifted)]), extractor=extractor, tools=TOOLS)
    assert isinstance(result, Advance)
    assert result.staged is not None
    assert [fact.text for fact in result.staged] == [correct]
    assert extractor.languages == [language]


def test_a_second_drift_fails_the_whole_write() -> None:
    extractor = FakeExtractor([["用户偏好简体中文", "User likes Chinese"]])
    result = check_language_step(job(*ZH, facts=[staged("User likes Chinese")]), extractor=extractor, tools=TOOLS)
    assert is_finish(result, Outcome.LANGUAGE_DRIFT, "language_drift")


def test_a_failing_model_in_the_second_run_is_left_to_the_retry() -> None:
    class Down(FakeExtractor):
        def extract(self, scope: Scope, messages: Sequence[Message], *, language: str | None) -> list[StagedFact]:
            raise TransientError(Backend.LLM_TIMEOUT, "30 s")

    drifted = job(*ZH, facts=[staged("User likes Chinese")])
    with pytest.raises(TransientError):
        check_language_step(drifted, extractor=Down([]), tools=TOOLS)


@pytest.mark.parametrize(
    ("text", "role", "fault"),
    [
        ("用户偏好简体中文", "user", None),
        ("The project is called Poco and uses PostgreSQL 18.6", "assistant", None),
        ("用户偏好简体中文", None, FactFault.BAD_ROLE),
        ("用户偏好简体中文", "system", FactFault.BAD_ROLE),
        ("  ", "user", FactFault.NOT_A_STATEMENT),
        ("User\x07 likes tea", "user", FactFault.CONTROL_CHARACTERS),
        ("长" * 501, "user", FactFault.TOO_LONG),
        ("User's notes are in /home/anna/notes/plan.md", "user", FactFault.HAS_PATH),
        ("User reads https://example.org/a every day", "user", FactFault.HAS_URL),
        ("User's key is sk-" + "a1B2" * 8, "user", FactFault.CREDENTIAL),
        ("java.lang.NullPointerException: x\n\tat a.b.C.d(C.java:12)", "user", FactFault.STACK),
    ],
)
def test_find_fault_names_what_is_wrong_with_a_fact(text: str, role: str | None, fault: FactFault | None) -> None:
    assert find_fault(staged(text, role=role), max_chars=500) == fault


def test_validate_keeps_the_good_facts_and_counts_the_bad() -> None:
    good, bad = staged("用户偏好简体中文"), staged("参考 https://example.org/x 的写法")
    result = validate_step(job(*ZH, facts=[good, bad]), max_chars=500, words=WORDS)
    evidence = Evidence(0, 0, len(ZH[0][1]), "user")
    assert result == Advance(
        staged=(replace(good, evidence=evidence),),
        counts={"dropped_has_url": 1},
        trace=(FactVerdict(good.id, None, evidence), FactVerdict(bad.id, "has_url")),
    )


# Kind: 1jehuang/jcode#960.
@pytest.mark.parametrize("text", ["服务", "OK", "-", "用户", "Chinese"])
def test_a_lone_word_is_no_statement(text: str) -> None:
    assert find_fault(staged(text), max_chars=500) == FactFault.NOT_A_STATEMENT


def test_a_list_of_statements_and_the_whole_conversation_are_no_facts() -> None:
    assert find_fault(staged("用户喜欢茶。用户喜欢咖啡。用户喜欢水。"), max_chars=500) == FactFault.SEVERAL_STATEMENTS
    copied = staged("\n".join(text for _, text in EN).replace("\n", " "))
    result = validate_step(job(*EN, facts=[copied]), max_chars=500, words=WORDS)
    assert isinstance(result, Finish)
    assert result.trace == (FactVerdict(copied.id, "whole_conversation"),)


def test_a_fact_nobody_said_is_dropped_as_ungrounded_with_its_rule() -> None:
    invented = staged("用户希望用日语写周报")
    result = validate_step(job(*ZH, facts=[invented]), max_chars=500, words=WORDS)
    assert isinstance(result, Finish)
    assert (result.counts, result.trace) == ({"dropped_ungrounded": 1}, (FactVerdict(invented.id, "value_not_said"),))


def test_a_name_nobody_said_is_asked_for_once_more() -> None:
    extractor = FakeExtractor([['用户的项目叫"青禾"']])
    result = check_language_step(job(*ZH, facts=[staged('用户的项目叫"红禾"')]), extractor=extractor, tools=TOOLS)
    assert isinstance(result, Advance)
    assert extractor.languages == ["zh"]


def test_validate_rejects_when_no_fact_is_left() -> None:
    result = validate_step(job(*ZH, facts=[staged("x" * 600)]), max_chars=500, words=WORDS)
    assert is_finish(result, Outcome.REJECTED, "post_validation")


def test_relink_gives_each_fact_its_terms_and_embedded_names() -> None:
    embedder = FakeEmbedder()
    names = {"林清 用 Poco": ["林清", "Poco"], "Poco 项目": ["Poco"]}
    result = relink_step(
        job(*ZH, facts=[staged(text) for text in names]),
        recognise=lambda text: [Entity(name, EntityType.PROPER) for name in names[text]],
        segment=lambda text: text.lower(),
        embedder=embedder,
    )
    assert isinstance(result, Advance)
    assert result.staged is not None
    assert [[e.text for e in fact.entities] for fact in result.staged] == [["林清", "Poco"], ["Poco"]]
    assert all(len(e.vector) == embedder.dims for fact in result.staged for e in fact.entities)
    assert [fact.text_lemmatized for fact in result.staged] == ["林清 用 poco", "poco 项目"]
    assert [text for text, _ in embedder.embedded] == ["林清", "Poco"]


def test_cleanup_publishes_what_is_staged() -> None:
    fact = staged("用户偏好简体中文")
    assert cleanup_step(job(*ZH, facts=[fact])) == Publish((fact,))


def test_cleanup_without_staged_facts_has_no_effect() -> None:
    assert is_finish(cleanup_step(job(*ZH)), Outcome.NO_EFFECT, "nothing_staged")
