from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.errors import Backend, TransientError
from domain.facts import Fact
from llm.answers import MAX_FACT_CHARS, canonical_json, extract_json, normalize_facts, parse_answer
from llm.tolerant_json import MAX_DEPTH

TEA, ZH = "User likes tea", "用户偏好简体中文"


@pytest.mark.parametrize(
    ("answer", "texts"),
    [
        (f'{{"memory": [{{"id": "0", "text": "{TEA}"}}]}}', [TEA]),
        (f'["{TEA}", "{ZH}"]', [TEA, ZH]),
        (f'```json\n{{"facts": ["{ZH}"]}}\n```', [ZH]),
        (f'```\n{{"facts": ["{ZH}"]}}', [ZH]),
        (f'Sure, here you are [as asked]: {{"facts": ["{TEA}"]}} Anything else?', [TEA]),
        (f'<think>{{"facts": ["not this"]}}</think>{{"facts": ["{TEA}"]}}', [TEA]),
        (f'that was all.</think>{{"facts": ["{TEA}"]}}', [TEA]),
        ('{"facts": ["User writes </think> in notes"]}', ["User writes </think> in notes"]),
        (f"{{'facts': ['{TEA}'], 'sure': True, 'why': None}}", [TEA]),
        ("{'facts': [\"The user's name is Sam\"]}", ["The user's name is Sam"]),
        (f'{{"facts": ["{TEA}", "{ZH}",],}}', [TEA, ZH]),
        (f'{{\n// lasting only\n"facts": [/* one */ "{TEA}"] # end\n}}', [TEA]),
        (f'{{facts: ["{TEA}"]}}', [TEA]),
        (f'｛"facts"：["{TEA}"，"{ZH}"]｝', [TEA, ZH]),
        (f"{{“facts”：[“{ZH}”]}}", [ZH]),
        ('{"facts": ["a\nb"]}', ["a\nb"]),
        ('{"facts": ["用户的项目叫"青禾""]}', ['用户的项目叫"青禾"']),
        ('{"facts": ["项目叫"青禾"，代号"QH"。", "a b"]}', ['项目叫"青禾"，代号"QH"。', "a b"]),
        ('{"facts": ["口头禅是"注意"：先测试"]}', ['口头禅是"注意"：先测试']),
        ('{"facts": ["He said "yes", then left"]}', ['He said "yes", then left']),
        (f'{{"facts": ["{TEA}" // one\n, "{ZH}" # two\n]}}', [TEA, ZH]),
        (f"{{memory: [{{text: '{TEA}', attributed_to: 'user'}}, None]}}", [TEA]),
        (json.dumps(json.dumps({"facts": [TEA]})), [TEA]),
        (json.dumps({"facts": json.dumps([TEA, ZH])}), [TEA, ZH]),
        ('{"facts": "[draft] is a tag of the user"}', ["[draft] is a tag of the user"]),
        (f"['{TEA}', None]", [TEA]),
        (f'Draft {{"facts": ["b c"]}}<think>a</think> no.</think>{{"facts": ["{TEA}"]}}', [TEA]),
        ("see [1] " * 3000 + f'{{"facts": ["{TEA}"]}}', [TEA]),
        ("see [1] and [x] " * 300 + f'{{"facts": ["{TEA}"]}}', [TEA]),
        (f'<think>a</think>Sure. <think>{{"facts": ["b c"]}}</think>{{"facts": ["{TEA}"]}}', [TEA]),
        ('{"facts": ["用户喜欢 \\d 这种写法"]}', ["用户喜欢 \\d 这种写法"]),
        ('{"facts": ["\\u7528\\u6237 \\ud83d\\ude00"]}', ["用户 😀"]),
        ("{\"facts\": ['\\ud83d\\ude00 tea']}", ["😀 tea"]),
        (f'{{"facts": ["{TEA}", "{ZH[:4]}', [TEA]),
        (f'{{"memory": [{{"text": "{TEA}"}}, {{"text": "{ZH}", "attributed', [TEA]),
        (f'{{"facts": [{{"fact": "{TEA}"}}, {{"memory": "{ZH}"}}, {{"content": "c d"}}]}}', [TEA, ZH, "c d"]),
        (f'{{"facts": {{"preference": ["{TEA}"], "profile": ["{ZH}"]}}}}', [TEA, ZH]),
        (f'{{"result": {{"facts": ["{TEA}"]}}}}', [TEA]),
        (f'{{"Facts": "{TEA}"}}', [TEA]),
        (f'{{"text": "{TEA}"}}', [TEA]),
        (f'{{"note": "first"}}\n{{"facts": ["{TEA}"]}}', [TEA]),
        (f'{{"facts": ["{TEA}", " {TEA} ", "{TEA}."]}}', [TEA]),
        (f'{{"facts": ["", "  ", "---", "。", null, 3, true, "{TEA}"]}}', [TEA]),
        (f'{{"facts": ["{"x" * (MAX_FACT_CHARS + 1)}", "{TEA}"]}}', [TEA]),
        ('{"facts": ["a\\u0000b tea"]}', ["ab tea"]),
    ],
)
def test_the_facts_of_an_answer_are_read(answer: str, texts: list[str]) -> None:
    assert [fact.text for fact in parse_answer(answer)] == texts


@pytest.mark.parametrize(
    "answer",
    [
        "[]",
        '{"memory": []}',
        '{"facts": null}',
        '{"facts": 3}',
        '{"facts": [1, 2.5, true]}',
        '{"facts": [{"confidence": 0.9}]}',
        "Nothing lasting was said: {'facts': []}",
        "```json\n[]\n```",
        '{"memory": "none"}',
        '{"facts": ["无。"]}',
    ],
)
def test_an_answer_that_says_there_is_nothing_is_empty(answer: str) -> None:
    assert parse_answer(answer) == []


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "  \n",
        "nope!",
        "抱歉，我做不到。",
        '{"facts": [',
        "<think>cut off",
        "{}",
        "[1, 2]",
        '{"facts": ["cu',
        '"text"',
        "null",
        "{broken",
    ],
)
def test_an_answer_that_cannot_be_read_is_an_error_that_retries(answer: str) -> None:
    with pytest.raises(TransientError) as caught:
        parse_answer(answer)
    assert caught.value.backend is Backend.LLM_UNPARSEABLE
    assert not answer.strip() or answer not in str(caught.value)


def test_the_fields_a_model_gives_are_kept_when_they_are_of_their_kind() -> None:
    good = {
        "text": TEA,
        "attributed_to": "User",
        "type": "preference",
        "confidence": 0.9,
        "importance": 1,
        "sensitivity": 2,
        "expires_at": "2027-01-31T00:00:00Z",
    }
    bad = {
        "text": ZH,
        "attributed_to": 1,
        "confidence": 7,
        "importance": True,
        "sensitivity": "x",
        "expires_at": "soon",
    }
    assert normalize_facts([good, bad]) == [
        Fact(TEA, "user", "preference", 0.9, 1.0, 2, "2027-01-31"),
        Fact(ZH),
    ]


def test_canonical_json_is_mem0s_own_format_and_reads_back() -> None:
    facts = [Fact(TEA, "user", "preference", 0.5), Fact(ZH, "assistant")]
    written = canonical_json(facts)
    assert json.loads(written)["memory"][1] == {"id": "1", "text": ZH, "attributed_to": "assistant"}
    assert parse_answer(written) == facts


@pytest.mark.parametrize(
    "answer",
    [
        '{"facts": ' + "[" * 50_000,
        "[" * 50_000,
        "{" * 50_000,
        '{"a":' * 50_000,
        "说明。" * 40_000,
        "<think>" * 50_000,
        "[x " * 100_000,
        '["a" // ' * 50_000,
        "{/*" * 50_000,
        "{'a' " + " " * 500_000 + "{",
        '{"facts": ["' + "x" * 500_000,
    ],
)
def test_a_hostile_answer_ends_soon(answer: str) -> None:
    before = time.process_time()
    with pytest.raises(TransientError):
        parse_answer(answer)
    assert time.process_time() - before < 20  # a runaway takes minutes; this is no measurement


def test_nesting_up_to_the_limit_is_read() -> None:
    depth = MAX_DEPTH - 2
    answer = "{'facts': ['" + TEA + "'], 'more': " + "[" * depth + "]" * depth + "}"
    assert extract_json(answer) != [TEA]
    assert [fact.text for fact in parse_answer(answer)] == [TEA]


def test_five_thousand_facts_are_read() -> None:
    answer = json.dumps({"facts": [f"fact number {number}" for number in range(5000)]})
    assert len(parse_answer(answer)) == 5000


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["memory", "facts", "text", "x"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(values, st.integers(0, 200), st.text(max_size=10))
@settings(max_examples=200, deadline=None)
def test_every_fact_stands_in_the_answer_and_nothing_else_is_raised(value: Any, cut: int, around: str) -> None:
    check_answer(value, cut, around)


def check_answer(value: Any, cut: int, around: str) -> None:
    answer = around + json.dumps(value, ensure_ascii=False)[:cut]
    try:
        facts = parse_answer(answer)
    except TransientError:
        return
    plain = answer.encode("utf-8", "ignore").decode().replace("\x00", "")
    unescaped = plain.replace("\\\\", "\\").replace('\\"', '"').replace("\\n", "\n").replace("\\t", "\t")
    for fact in facts:
        words = [word for word in fact.text.replace("\\", " ").replace('"', " ").split() if word.isalnum()]
        assert all(word in unescaped or word in plain for word in words)


def test_extract_json_prefers_the_value_that_holds_facts() -> None:
    assert extract_json('{"facts": []} then {"facts": ["a b"]}') == {"facts": ["a b"]}


# Kinds: mem0ai/mem0#4026, garrytan/gbrain#4640, Project-N-E-K-O/N.E.K.O#718, Graphify-Labs/graphify#2286,
# mem0ai/mem0#5999, TencentCloud/TencentDB-Agent-Memory#110, mem0ai/mem0#5901, mem0ai/mem0#4831,
# bytedance/deer-flow#1857.
@pytest.mark.parametrize(
    ("answer", "texts"),
    [
        ('```json\n{"memory":[{"id":"0","text":"a b"}]}\n```\n说明：提取了一条', ["a b"]),
        (
            '<think>先写 {"memory":[{"text":"草稿一"}]} 再改</think>\n{"memory":[{"text":"用户偏好中文"}]}',
            ["用户偏好中文"],
        ),
        ('<think>先写草稿\n{"memory":[{"text":"用户偏好中文"}]}', ["用户偏好中文"]),
        ('{memory: [{"id": "0", "text": "a b", "explicit": True, "ttl": None},]}', ["a b"]),
        ("{“memory”:[{“id”:“0”,“text”:“用户用飞书”}]}", ["用户用飞书"]),
        ('{"memory":[{"text":"用户说“好”"}]}', ["用户说“好”"]),
        ('我权衡了 {一次性} 的要求。\n{"memory":[]}', []),
        ('[{"id":"0","text":"姓名：周周"}] 以上', ["姓名：周周"]),
        ('{"memory": ["用户住杭州", {"用户养了一只猫": true}, {"text": ""}, null, 42]}', ["用户住杭州"]),
        ('{"facts":["用户住杭州"]}', ["用户住杭州"]),
        ('{"facts": ["用户偏好深色主题。", "用户偏好深色主题", "　用户偏好深色主题 "]}', ["用户偏好深色主题。"]),
    ],
)
def test_real_answers_that_other_parsers_lost_are_read(answer: str, texts: list[str]) -> None:
    assert [fact.text for fact in parse_answer(answer)] == texts


# Kind: mem0ai/mem0#4536.
@pytest.mark.parametrize(
    ("answer", "texts"),
    [
        (
            '{"memory":[{"id":"0","text":"用户爱吃川菜","event":"DELETE"},'
            '{"id":"1","text":"用户改吃粤菜","event":"ADD"}]}',
            ["用户改吃粤菜"],
        ),
        ('{"memory":[{"id":"0","text":"User eats meat","action":"delete"},"User is vegan"]}', ["User is vegan"]),
        ('{"memory":[{"id":"0","text":"用户住在上海","event":"NONE"},{"id":"1","text":"用户养猫"}]}', ["用户养猫"]),
        (
            '{"memory":[{"id":"0","text":"用户住在杭州","old_memory":"用户住在上海","event":"UPDATE"}]}',
            ["用户住在杭州"],
        ),
        ('{"memory":[{"id":"0","event":"DELETE"}]}', []),
        ('{"memory":[{"id":"0","text":"用户参加了 event","event":"ADD"}]}', ["用户参加了 event"]),
    ],
)
def test_a_decision_about_what_is_known_is_no_new_fact(answer: str, texts: list[str]) -> None:
    assert [fact.text for fact in parse_answer(answer)] == texts


# Kind: agent0ai/agent-zero#1773.
@pytest.mark.parametrize(
    ("written", "text"),
    [
        (r"喜欢 \ud83d", "喜欢"),
        (r"喜欢 \ud83c\udf78", "喜欢 🍸"),
        (r"喜欢 \udf78\ud83c 酒", "喜欢 酒"),
        (r"likes \ud83c\ud83c\udf78 tea", "likes 🍸 tea"),
        (r"喜欢 🍸\ud83d", "喜欢 🍸"),
        ("喜欢 \ud83d 酒", "喜欢 酒"),
    ],
)
@pytest.mark.parametrize("quote", ['"', "'"])
def test_halves_of_a_character_are_joined_or_left_out(written: str, text: str, quote: str) -> None:
    answer = f'{{"memory":[{{"id":"0","text":"{written}"}}]}}'.replace('"', quote)
    (fact,) = parse_answer(answer)
    assert " ".join(fact.text.replace("\ufffd", "").split()) == text
    assert fact.text.encode()


# Kinds: cline/cline#13001, mem0ai/mem0#5999.
@pytest.mark.parametrize("answer", ['{"memory":[{"id":"0","event":"DELETE"}', '{"a":' * 15_000])
def test_a_cut_or_broken_answer_is_no_change_and_no_silence(answer: str) -> None:
    with pytest.raises(TransientError):
        parse_answer(answer)
