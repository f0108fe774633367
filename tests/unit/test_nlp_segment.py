"""The terms of the keyword index, in Chinese, English and mixed text."""

from __future__ import annotations

import pytest

from nlp.segment import terms


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("用户喜欢喝拿铁咖啡", "拿铁 咖啡 喜欢"),
        ("后端部署在阿里云", "后端 部署 阿里云"),
        ("在字节跳动工作，用飞书和钉钉沟通", "字节跳动 飞书 钉钉 沟通"),
        ("用 C++ 和 C#，数据库是 PostgreSQL v18.6", "c++ c# postgresql v18.6 数据库"),
        ("The databases were running slowly", "database run running slowly"),
        ("keep foo_bar and Node.js apart", "foo_bar node.js apart"),
        ("released on 2025-03-09 with gpt-4o", "release 2025-03-09 gpt-4o"),
        ("user's well-known habits", "know habit"),
        ("ＦＡＳＴＡＰＩ　缓存", "fastapi 缓存"),
        ("以後請用繁體中文回覆", "繁體 中文 回覆"),
        ("ユーザーは報告書を木曜日に受け取る", "ユーザー 報告書 木曜 曜日"),
        ("사용자는 코드 리뷰를 한다", "코드 리뷰를 리뷰"),
        ("Der Nutzer möchte die Preise ohne Mehrwertsteuer", "preise mehrwertsteuer"),
        ("Пользователь хочет отчёты", "отчёты"),
    ],
)
def test_terms_hold_what_people_search_for(text: str, wanted: str) -> None:
    assert set(wanted.split()) <= set(terms(text).split())


@pytest.mark.parametrize(
    ("text", "unwanted"),
    [
        ("用户的，这个是我们的！", "用户 的 这个 是 我们 ， ！"),
        ("the user is not with us, doesn't it", "the user is not with us does doesn doesn't t"),
        ("用 C++ 写", "c 用"),
        ("PostgreSQL v18.6", "v18 6 postgre sql"),
        ("Der Hund und die Katze schlafen auf dem Sofa", "der und die auf dem"),
        ("報告書をください", "を くだ ださ さい"),
    ],
)
def test_terms_leave_out_stop_words_and_pieces(text: str, unwanted: str) -> None:
    assert not set(unwanted.split()) & set(terms(text).split())


# Kind: mem0ai/mem0#6717.
@pytest.mark.parametrize(
    "text",
    [
        "用户在飞书维护排班表",
        "用户长期吃素",
        "素",
        "猫",
        "用戶在臺北工作",
        "用户说 OK",
        "User works at Acme",
        "🍸 马天尼",
        "ＡＢＣ",
    ],
)
def test_whatever_is_said_leaves_terms(text: str) -> None:
    assert terms(text).split()


@pytest.mark.parametrize("text", ["", "   ", "，。！ ...", "的 the 了", "🎉", "\x00\ud800"])
def test_nothing_to_index_is_an_empty_string(text: str) -> None:
    assert terms(text) == ""


@pytest.mark.parametrize(
    ("fact", "query"),
    [
        ("项目代号是罗塞塔棱镜", "棱镜"),
        ("用户负责云杉鹭江平台", "鹭江"),
        ("User is running the databases", "run database"),
        ("用户养鹅", "鹅"),
        ("用户只吃鱼", "鱼"),
        ("User likes running", "running"),
        ("Caching is done by redis", "Redis"),
        ("User owns two corgis and drives a Prius", "prius"),
    ],
)
def test_a_query_finds_a_new_word_however_the_fact_was_cut(fact: str, query: str) -> None:
    assert set(terms(query).split()) & set(terms(fact).split())


def test_terms_are_unique_lower_case_and_in_reading_order() -> None:
    assert terms("Redis REDIS redis, then Kafka") == "redis kafka"
