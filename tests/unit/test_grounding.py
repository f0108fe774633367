"""A fact has to show the sentence it rests on; what a model added, borrowed or misread is dropped by name."""

from __future__ import annotations

import pytest

from domain.candidate import Message, Role
from domain.facts import Evidence
from domain.sentences import clauses, sentences
from pipeline.evidence import in_original
from pipeline.grounding import Ungrounded, ground
from pipeline.numbers import missing_numbers, numbers
from runtime.wiring import grounding_words

WORDS = grounding_words()


def turns(*texts: str) -> tuple[Message, ...]:
    """A conversation that the user begins."""
    return tuple(Message((Role.USER, Role.ASSISTANT)[place % 2], text) for place, text in enumerate(texts))


def rests_on(fact: str, *texts: str, by: str = "user") -> str:
    """The sentence that a fact rests on, or the rule that dropped it."""
    messages = turns(*texts)
    found = ground(fact, by, messages, WORDS)
    if not isinstance(found, Evidence):
        return str(found)
    assert messages[found.message].role == found.role
    return messages[found.message].content[found.start : found.end]


@pytest.mark.parametrize(
    ("fact", "texts", "sentence"),
    [
        ("用户喜欢喝不加糖的美式咖啡", ("你好。我喜欢喝美式，不加糖。", "好的。"), "我喜欢喝美式，不加糖。"),
        ("User prefers tea without milk", ("Hi. I like tea without milk! Bye.", "Ok."), "I like tea without milk!"),
        (
            '用户在"青禾"项目中优先考虑易维护性',
            ('以后优先考虑易维护性；项目叫"青禾"。', "好。"),
            "以后优先考虑易维护性；",
        ),
        ("用户有两个孩子", ("我有2个孩子，都上小学了。", "真好。"), "我有2个孩子，都上小学了。"),
        ("User's daughter hates spinach", ("My daughter hates spinach.", "Noted."), "My daughter hates spinach."),
        ("用户从不吃香菜", ("香菜，我从来不吃。", "记下了。"), "香菜，我从来不吃。"),
        ("ユーザーは抹茶ラテが好き", ("抹茶ラテが好きです。", "了解です。"), "抹茶ラテが好きです。"),
    ],
)  # fmt: skip
def test_a_fair_paraphrase_rests_on_its_sentence(fact: str, texts: tuple[str, ...], sentence: str) -> None:
    assert rests_on(fact, *texts) == sentence


# Kinds: MemTensor/MemOS-Cloud-OpenClaw-Plugin#10, liliMozi/openhanako#2053, getnao/nao#1018, mem0ai/mem0#3206.
@pytest.mark.parametrize(
    ("fact", "texts", "rule"),
    [
        ("用户用递归实现了链表反转", ("讲讲链表反转", "可以用递归；若要 O(1) 空间用迭代"), Ungrounded.ONLY_SUGGESTED),
        ("用户希望统一用 Loki 收集日志", ("日志怎么收集", "建议统一用 Loki"), Ungrounded.ONLY_SUGGESTED),
        ("用户叫 Christo", ("查一下用户 Christo 的 KPI", "好的，这是 Christo 的 KPI。"), Ungrounded.NOT_THE_USERS_NAME),
        ("用户的搭档叫 Lin Qing", ("我的搭档叫林清，我们在飞书上对需求", "好的。"), Ungrounded.NAME),
        ("User runs 20 km every week", ("I run 12 km every week.", "Great."), Ungrounded.NUMBER),
        ("用户喜欢吃香菜", ("我不喜欢吃香菜。", "好的。"), Ungrounded.NEGATION),
        ("User does not like jazz", ("I like jazz.", "Noted."), Ungrounded.NEGATION),
        ("用户喜欢喝普洱茶", ("我朋友喜欢喝普洱茶，帮他挑一款。", "好的。"), Ungrounded.SOMEBODY_ELSE),
        ("User prefers tabs over spaces", ("My boss prefers tabs over spaces.", "I see."), Ungrounded.SOMEBODY_ELSE),
        ("User likes sailing on lakes", ("What is sailing on lakes like?", "Relaxing."), Ungrounded.ONLY_ASKED),
        ("用户住在上海", ("如果我住在上海，通勤要多久？", "大概一小时。"), Ungrounded.ONLY_ASKED),
        ("用户搬到上海工作", ("要是我搬到上海工作，房租会很贵。", "是的。"), Ungrounded.ONLY_SUPPOSED),
        ("用户希望用日文写周报", ("以后都用中文写周报。", "好的。"), Ungrounded.VALUE),
        ("User deploys on Fridays", ("I deploy on Tuesdays.", "Noted."), Ungrounded.VALUE),
        ("用户喜欢爬山和摄影", ("以后周报都用表格。", "好的。"), Ungrounded.NOT_SAID),
    ],
)  # fmt: skip
def test_what_the_conversation_does_not_carry_is_dropped_by_name(
    fact: str, texts: tuple[str, ...], rule: Ungrounded
) -> None:
    assert rests_on(fact, *texts) == rule


@pytest.mark.parametrize(
    ("fact", "texts"),
    [
        ("用户决定统一用 Loki 收集日志", ("日志怎么收集", "建议统一用 Loki 收集日志。", "好，就这么定。")),
        ("User decided to use PostgreSQL", ("Which database?", "I suggest PostgreSQL.", "Good, PostgreSQL it is.")),
        ("User decided to deploy on Tuesdays", ("When?", "I would deploy on Tuesdays.", "Sounds good!")),
    ],
)
def test_a_proposal_counts_once_the_user_agreed(fact: str, texts: tuple[str, ...]) -> None:
    assert rests_on(fact, *texts) in texts


@pytest.mark.parametrize("reply", ["再想想吧。", "不用了，谢谢。", "这个靠谱吗？", "好像不太行。"])
def test_a_proposal_does_not_count_without_agreement(reply: str) -> None:
    found = rests_on("用户希望统一用 Loki 收集日志", "日志怎么收集", "建议统一用 Loki 收集日志。", reply)
    assert found == Ungrounded.ONLY_SUGGESTED


def test_a_fact_of_the_assistant_rests_on_what_the_assistant_said() -> None:
    texts = ("帮我查一下。", "日志目前由 Loki 收集。")
    assert rests_on("日志由 Loki 收集", *texts, by="assistant") == "日志目前由 Loki 收集。"


def test_a_wish_in_the_form_of_a_question_is_a_wish() -> None:
    assert rests_on("用户希望以后都用中文回答", "以后能不能都用中文回答？", "可以。") == "以后能不能都用中文回答？"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("我有两个孩子，三十五岁，月薪一万二千元", {2, 35, 12000}),
        ("at 08:00, 1,000 items and 10k rows", {8, 1000, 10000}),
        ("twenty-five people, two hundred seats", {25, 200}),
        ("一起去吃三明治，万一下雨", set()),
        ("v18.6 and gpt4", set()),
    ],
)
def test_numbers_are_read_in_digits_and_in_words(text: str, found: set[float]) -> None:
    assert numbers(text) == found


def test_an_hour_may_be_given_on_either_clock() -> None:
    assert not missing_numbers("20:00 开会", "晚上八点开会")
    assert missing_numbers("21:00 开会", "晚上八点开会") == {21}


def test_sentences_know_their_place() -> None:
    text = "我喜欢茶。Node.js v1.2 is fine! 好\n然后呢？"
    found = sentences(text)
    assert [span.text for span in found] == ["我喜欢茶。", "Node.js v1.2 is fine!", "好", "然后呢？"]
    assert all(text[span.start : span.end] == span.text for span in found)


def test_clauses_end_at_commas_and_conjunctions() -> None:
    assert clauses("I don't like tea, but I love coffee") == ["I don't like tea", "but I love coffee"]


@pytest.mark.parametrize(
    ("original", "cleaned", "quoted"),
    [
        ("[INFO] x\n项目叫“青禾”。", '项目叫"青禾"。', "项目叫“青禾”。"),
        ("你好。稿件放在 /srv/a/b.md 里，都这样。", "稿件放在 里，都这样。", "稿件放在 /srv/a/b.md 里，都这样。"),
        ("a\u200bb", "ab", "a\u200bb"),
    ],
)
def test_evidence_points_into_the_message_as_it_was_handed_in(original: str, cleaned: str, quoted: str) -> None:
    originals = (Message(Role.TOOL, cleaned), *turns(original))
    place = in_original(Evidence(0, 0, len(cleaned), "user"), turns(cleaned), originals)
    assert place.message == 1
    assert originals[1].content[place.start : place.end] == quoted
