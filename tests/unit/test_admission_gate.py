"""The verdicts of the gate, and what must hold for any text at all."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from admission.gate import admit, clean_message
from admission.hygiene import clean_text
from admission.locators import cut_locators, has_path, has_url
from admission.noise import drop_noise_lines, has_noise
from admission.secrets import find_secret
from domain.candidate import Admitted, Candidate, Cut, Form, Kind, Message, Rejected, RejectReason, Role
from domain.scope import Scope

USER, ASSISTANT, TOOL, SYSTEM = Role.USER, Role.ASSISTANT, Role.TOOL, Role.SYSTEM
SCOPE = Scope("tenant-a", "u1")
WISH, ANSWER = (USER, "以后报告都用中文写。"), (ASSISTANT, "好的，报告用中文写。")


def candidate(*turns: tuple[Role, str], kind: Kind = Kind.TASK_COMPLETED, form: Form = Form.MESSAGES) -> Candidate:
    return Candidate(SCOPE, tuple(Message(role, text) for role, text in turns), kind=kind, form=form)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (Kind.PRE_COMPACT, RejectReason.SESSION_SNAPSHOT),
        (Kind.SESSION_END, RejectReason.SESSION_SNAPSHOT),
        (Kind.SESSION_STATE, RejectReason.SESSION_STATE),
    ],
)
def test_snapshots_are_refused(kind: Kind, reason: RejectReason) -> None:
    assert admit(candidate(WISH, ANSWER, kind=kind)) == Rejected(reason, f"kind_{kind.value}")


@pytest.mark.parametrize("role", list(Role))
def test_a_secret_in_any_message_refuses_the_whole_candidate(role: Role) -> None:
    token = "gh" + "p_" + "a1B2c3D4e" * 4
    fenced = (role, f"```bash\nexport X={token}\n```")
    assert admit(candidate(WISH, ANSWER, fenced)) == Rejected(
        RejectReason.CREDENTIAL, "github_token", (Cut(2, "github_token", 0, 2),)
    )


@pytest.mark.parametrize(
    ("turns", "reason"),
    [
        ((), RejectReason.MISSING_USER),
        ((ANSWER,), RejectReason.MISSING_USER),
        (((USER, " \n\t"), ANSWER), RejectReason.MISSING_USER),
        (((USER, "https://news.example.com/1"), ANSWER), RejectReason.MISSING_USER),
        (((USER, "[INFO] BUILD FAILURE"), ANSWER), RejectReason.MISSING_USER),
        (((USER, "ok"), ANSWER), RejectReason.MISSING_USER),
        (((TOOL, "rows: 12"), ANSWER), RejectReason.MISSING_USER),
        ((WISH,), RejectReason.MISSING_ASSISTANT),
        ((WISH, (ASSISTANT, "?!")), RejectReason.MISSING_ASSISTANT),
        ((WISH, (SYSTEM, "Be polite.")), RejectReason.MISSING_ASSISTANT),
    ],
)
def test_both_sides_must_have_said_something(turns: tuple[tuple[Role, str], ...], reason: RejectReason) -> None:
    verdict = admit(candidate(*turns))
    assert isinstance(verdict, Rejected)
    assert verdict.reason is reason


def test_a_bare_yes_counts_as_the_answer_to_a_question() -> None:
    assert isinstance(admit(candidate((ASSISTANT, "以后都用 HTML 吗？"), (USER, "好的"))), Admitted)


def test_the_older_text_form_needs_the_user_only() -> None:
    assert isinstance(admit(candidate(WISH, form=Form.TEXT)), Admitted)


def test_admitted_messages_are_clean_and_what_was_dropped_is_counted() -> None:
    user = (USER, "项目叫“青禾”，稿件在 https://a.example.com/x 。\r\n[INFO] one\r\n\r\n\r\n配置在 /etc/a.yml 里")
    verdict = admit(candidate(user, (TOOL, "rows: 12"), ANSWER, (ASSISTANT, "```\nx\n```")))
    assert isinstance(verdict, Admitted)
    assert verdict.messages == (Message(USER, '项目叫"青禾"，稿件在。\n\n配置在 里'), Message(*ANSWER))
    assert verdict.dropped == {
        "url": 1, "log_line": 1, "path": 1, "role_tool": 1, "fenced_code": 1, "nothing_left": 1
    }  # fmt: skip


def test_every_cut_says_which_lines_of_which_message_it_took() -> None:
    user = (USER, "我喜欢茶。\n```\nx = 1\n```\n报告在 /srv/a/b.md 里\n[INFO] one\n[INFO] two\n以后都用中文。")
    verdict = admit(candidate((TOOL, "a\nb"), user, ANSWER))
    assert isinstance(verdict, Admitted)
    assert verdict.cuts == (
        Cut(0, "role_tool", 0, 1),
        Cut(1, "fenced_code", 1, 3),
        Cut(1, "path", 4, 4),
        Cut(1, "log_line", 5, 6),
    )
    assert verdict.dropped["log_line"] == 2


# Kinds: byte5ai/palaia#108, openclaw/openclaw#43898.
@pytest.mark.parametrize(
    ("text", "left", "block", "log_line"),
    [
        (
            "<memory-context>\n- 用户偏好中文\n</memory-context>\n以后报告用 HTML\n[INFO] x",
            "以后报告用 HTML",
            (0, 2),
            4,
        ),
        ("<relevant-memories>x</relevant-memories> 记住我爱吃海苔\n[INFO] x", "记住我爱吃海苔", (0, 0), 1),
    ],
)
def test_an_injected_block_goes_and_what_is_around_it_keeps_its_line_numbers(
    text: str, left: str, block: tuple[int, int], log_line: int
) -> None:
    verdict = admit(candidate((USER, text), ANSWER))
    assert isinstance(verdict, Admitted)
    assert verdict.messages[0].content == left
    assert verdict.cuts == (Cut(0, "injected_summary", *block), Cut(0, "log_line", log_line, log_line))


@pytest.mark.parametrize("when", ["这次", "以后", "今天", "长期", "本次", "just this once", "from now on"])
def test_no_word_decides_what_is_worth_remembering(when: str) -> None:
    user = (USER, f"{when} 生成 HTML 报告")
    assert admit(candidate(user, ANSWER)) == Admitted((Message(*user), Message(*ANSWER)))


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("“青禾”„x‟「林清」『飞书』〝a〞", '"青禾""x""林清""飞书""a"'),
        ("it‘s ’ok’", "it's 'ok'"),
        ("a\r\nb\rc\u2028d", "a\nb\nc\nd"),
        ("a\x00b\x1bc\td\ud800e", "abc\tde"),
        ("a\u200bb\u202ec\ufeffd\u200de", "abcde"),
        ("👩\u200d💻", "👩\u200d💻"),
        ("e\u0301", "é"),
        ("ＡＰＩ：１２３（全角）", "ＡＰＩ：１２３（全角）"),
    ],
)
def test_characters_are_made_plain(raw: str, clean: str) -> None:
    assert clean_text(raw) == clean


PIECES = [
    *(
        "/etc/passwd",
        "http://a.b/c",
        "```",
        "~~",
        "(",
        ")",
        "[",
        "]",
        "以后",
        "at x(y:1)",
        "  ",
        "<summary>",
        "</summary>",
    ),
    *(
        "# Session Summary",
        "{",
        "}",
        "\u200d",
        "😀",
        "\u200b",
        "\x00",
        "C:\\a\\b",
        "Traceback (most recent call last):",
    ),
    *(
        "KeyError: x",
        "$ ls",
        ".",
        "，",
        "\\\\h\\s",
        "`",
        "\ud800",
        "e\u0301",
        "\r",
        "---+---",
        "- ",
        "Summary:",
        "“",
        "www.",
    ),
    *("@@ -1,2 +1,2 @@", "://", "x=", "密码是", "token: ", "\n", "\n\n", " ", "\t", "|"),
]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=25).map("".join)


@given(TEXTS)
@settings(deadline=None, max_examples=150)
def test_any_text_can_be_cleaned_and_cleaning_twice_changes_nothing(text: str) -> None:
    check_cleaning(text)


def check_cleaning(text: str) -> None:
    for clean in (clean_text, lambda raw: drop_noise_lines(raw)[0], lambda raw: cut_locators(raw)[0]):
        assert clean(clean(text)) == clean(text)
    kept = clean_message(text)[0]
    assert clean_message(kept) == (kept, {})
    assert [check.__name__ for check in (has_noise, has_path, has_url) if check(kept)] == []
    find_secret(text)


# Each of these opens one of the longer patterns again and again.
SLOW = (
    "wifi ",
    "my code is ",
    "seed phrase ",
    "abcd ",
    "password: a-b-",
    "-p ",
    "<system-reminder>",
    "key=",
    "a:1:b:",
    "压测报告(",
)


@pytest.mark.parametrize(
    "unit", ["a", "/", '"', " ", "{", "1", "at ", "密码", "a/", "x=1 ", "\n", 'a /"{1 at \n', *SLOW]
)
def test_the_time_grows_with_the_length_only(unit: str) -> None:
    def seconds(size: int) -> float:
        text = (unit * size)[:size]
        start = time.process_time()
        clean_message(text)
        find_secret(text)
        return time.process_time() - start

    # Quadratic time would make this 100 times as long.
    assert seconds(100_000) < 40 * max(seconds(10_000), 0.005)


def test_a_secret_in_the_metadata_refuses_the_candidate_as_well() -> None:
    said = (Message(Role.USER, "以后都用中文回答"), Message(Role.ASSISTANT, "好的"))
    bad = Candidate(Scope("t", "u"), said, metadata={"db": {"password": "Qm7x@" + "99821"}})
    good = Candidate(
        Scope("t", "u"), said, metadata={"by": "user", "at": "2026-12-02T23:21:11.413", "ref": ["9f5afa9c01", 7]}
    )
    assert admit(bad) == Rejected(RejectReason.CREDENTIAL, "password_assignment")
    assert isinstance(admit(good), Admitted)
