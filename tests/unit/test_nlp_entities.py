"""Which names are recognised, of what kind, and what only looks like a name."""

from __future__ import annotations

import subprocess
import sys

import pytest

from domain.facts import EntityType
from nlp.entities import recognise

KINDS = {EntityType.QUOTED: "Q", EntityType.PROPER: "P", EntityType.IDENTIFIER: "I", EntityType.TOPIC: "T"}


def found(text: str) -> list[str]:
    return [f"{entity.text}/{KINDS[entity.type]}" for entity in recognise(text)]


@pytest.mark.parametrize(
    ("text", "entities"),
    [
        ("'林清' 和 ‘飞书’ 以及「青瓷」『云杉』《三体》", ["林清/Q", "飞书/Q", "青瓷/Q", "云杉/Q", "三体/Q"]),
        ('把"Poco"项目迁到“青瓷 UI”', ["Poco/Q", "青瓷 UI/Q"]),
        ("王小明在阿里巴巴杭州总部工作，使用PostgreSQL和C++ v18.6",
         ["王小明/P", "阿里巴巴/P", "杭州/P", "PostgreSQL/I", "C++/I"]),
        ("用户名叫林清，在字节跳动做后端", ["林清/P", "字节跳动/P"]),
        ("模板叫轻周报，不用钉钉", ["轻周报/P", "钉钉/P"]),
        ("李总和小张、王老师一起去了上海", ["李总/P", "小张/P", "王老师/P", "上海/P"]),
        ("项目用 Spring Boot 3.2 和 vue，部署在 S3", ["Spring Boot/P", "vue/I", "S3/I"]),
        ("用 `make_plan` 代替 npm", ["make_plan/I", "npm/I"]),
        ("User works at Google in Berlin with Anna Schmidt", ["Google/P", "Berlin/P", "Anna Schmidt/P"]),
        ("Deploys run on K8s with Docker Compose and redis", ["K8s/I", "Docker Compose/I", "redis/I"]),
        ("Her manager is Dr. Alan Reyes; they use GPT-4o and Node.js", ["Alan Reyes/P", "GPT-4o/I", "Node.js/I"]),
        ("don't touch the 'main' branch", ["main/Q"]),
        ("Der Nutzer arbeitet bei Siemens", ["Siemens/P"]),
        ("ユーザーは Next.js と「青空」を使う", ["Next.js/I", "青空/Q"]),
    ],
)  # fmt: skip
def test_names_are_found_in_reading_order(text: str, entities: list[str]) -> None:
    assert found(text) == entities


# Kind: mem0ai/mem0#6717.
@pytest.mark.parametrize(
    ("text", "entities"),
    [
        ("用户在飞书维护排班表", ["飞书/P"]),
        ("用户用豆瓣和剪映", ["豆瓣/P", "剪映/P"]),
        ("用户在滴滴上班，通勤坐携程订的车", ["滴滴/P", "携程/P"]),
        ("用户用腾讯会议开周会", ["腾讯会议/P"]),
        ("早餐喝小米粥，爱吃苹果", []),
        ("用戶在飛書維護排班表", []),
        ("飞书", ["飞书/P"]),
        ("用Notion写周报", ["Notion/P"]),
    ],
)
def test_a_name_needs_no_quotes_when_the_dictionary_knows_it(text: str, entities: list[str]) -> None:
    assert found(text) == entities


@pytest.mark.parametrize(
    "text",
    [
        "",
        "用户 User 使用者",
        "“用户希望每次都先给出结论然后再给出详细的推导过程”",
        '他说"请不要在晚上打扰我"',
        'the "release notes must be written by hand every week" rule',
        '"用户"和"User"',
        "字号不小于 28，日志保留 30 天",
        "这件事叫停止，那个叫小说",
        "我喜欢喝咖啡，高兴得很，小时候住在老家",
        "Prefers tea. Keep answers short. Never push on Friday",
        "Builds may not be shared. Screenshots may",
        "v18.6 和 2025-03-09",
        "see https://Example.com/Big/Name and /srv/Data/Old.txt",
        "mail to Some.Body@Example.com",
        "「あ」",
        "\x00\ud800",
    ],
)
def test_pseudo_names_are_dropped(text: str) -> None:
    assert found(text) == []


def test_no_entity_contains_a_quoted_one() -> None:
    assert found('用户长期偏好通过"飞书"沟通') == ["飞书/Q"]


def test_a_name_counts_once_whatever_its_case_width_and_spaces() -> None:
    assert found("“Poco”、ＰＯＣＯ 和 poco，还有 “poco”") == ["Poco/Q"]


def test_the_number_of_entities_is_bounded() -> None:
    assert len(found("、".join(f"“名字{number}号”" for number in range(100)))) == 24


def test_vectors_are_left_to_the_embedder() -> None:
    assert all(entity.vector == () for entity in recognise("“飞书”"))


def test_a_fact_without_a_capital_or_technical_word_needs_no_language_model() -> None:
    told = "import sys; from nlp.entities import recognise; print(recognise(sys.argv[1]), 'spacy' in sys.modules)"
    shown = [
        subprocess.run([sys.executable, "-c", told, text], capture_output=True, text=True, check=True).stdout.strip()
        for text in ("User prefers short reports", "User prefers redis", "User prefers reports by Anna")
    ]
    assert [line.rpartition(" ")[2] for line in shown] == ["False", "True", "True"]
    assert [len(line) > len("[] True") + 1 for line in shown] == [False, True, True]
