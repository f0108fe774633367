"""The language of short, mixed and empty texts."""

from __future__ import annotations

import threading

import pytest

from nlp import language
from nlp.language import identify

MIXED = [
    ("把 CI 的 cache 打开", "zh"),
    ("帮我 review 一下这个 pull request", "zh"),
    ("后台 backend 用 FastAPI，部署走 Kubernetes", "zh"),
    ("fix 一下 login 的 bug", "zh"),
    ("帮我看 src/foo/bar_baz.py 的 error handling", "zh"),
    ("deploy 之前先跑 unit test", "zh"),
    ("这个 feature 放到 next sprint", "zh"),
    ("用 pnpm，不用 npm", "zh"),
    ("Use 飞书 for team chat, please", "en"),
    ('User renamed the project to "长期记忆平台"', "en"),
    ("User likes 김치 and rice with every meal", "en"),
    ("画面は Next.js、サーバーは Go で統一します", "ja"),
    ("리뷰는 GitHub에서 하고 배포는 Argo CD로 합니다", "ko"),
    ("Я использую Kubernetes и Docker Compose", "ru"),
    ("Wir starten alles mit Docker Compose, kein Kubernetes", "de"),
    ("“帮我订一张去杭州的票”", "zh"),
    ("He greeted us with “你好吗”", "en"),
]
PLAIN = [
    ("你好", "zh"),
    ("咖啡不加糖", "zh"),
    ("住在大阪", "zh"),
    ("人工智能", "zh"),
    ("以後請用繁體中文回覆我", "zh"),
    ("會議記錄請寄給我", "zh"),
    ("鲜の每日是我们的店", "zh"),
    ("経営会議議事録", "ja"),
    ("東京都", "ja"),
    ("コーヒーは砂糖なし", "ja"),
    ("안녕하세요", "ko"),
    ("커피는 설탕 없이", "ko"),
    ("Mein Name ist Jonas.", "de"),
    ("Nein, danke", "de"),
    ("Alles klar.", "de"),
    ("Kaffee ohne Zucker", "de"),
    ("D'accord, merci", "fr"),
    ("J’aime le thé", "fr"),
    ("Café sans sucre", "fr"),
    ("Soy vegetariano.", "es"),
    ("Me llamo Ana", "es"),
    ("Café sin azúcar", "es"),
    ("Я люблю чай", "ru"),
    ("Понятно, спасибо", "ru"),
    ("Користувач працює вночі", "uk"),
    ("O usuário é vegetariano", "pt"),
    ("L'utente preferisce risposte brevi", "it"),
    ("ผู้ใช้ชอบชา", "th"),
    ("call me Max", "en"),
    ("Use tabs", "en"),
    ("I'm vegan", "en"),
    ("thanks", "en"),
    ("No meetings before 10", "en"),
    ("User standardises on Next.js and Go", "en"),
    ("USER WANTS ALL REPORTS IN UPPER CASE", "en"),
]
UNTELLABLE = [
    "", "   ", "ok", "OK", "Hm", "123", "...", "👍🎉", "PostgreSQL", "v18.6", "foo_bar = 3", "https://example.com/a/b",
    "Jonas Weber", "\x00\ud800",
]  # fmt: skip


@pytest.mark.parametrize(("text", "code"), MIXED + PLAIN)
def test_identify_names_the_main_language(text: str, code: str) -> None:
    assert identify(text) == code


@pytest.mark.parametrize("text", UNTELLABLE)
def test_identify_does_not_guess_from_too_little(text: str) -> None:
    assert identify(text) is None


def test_a_quoted_name_does_not_turn_the_language_but_a_wholly_quoted_text_counts() -> None:
    assert identify("User calls the wiki 「知识库与长期文档」") == "en"
    assert identify("「知识库与长期文档」") == "zh"


def test_code_and_paths_do_not_outvote_the_sentence_around_them() -> None:
    code = "```\nfor line in open(name): print(line.strip().lower())\n```"
    assert identify(f"这段代码太慢了\n{code}") == "zh"


def test_the_model_loads_once_for_many_threads() -> None:
    seen: list[int] = []
    threads = [threading.Thread(target=lambda: seen.append(id(language._model()))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 8
    assert len(set(seen)) == 1
