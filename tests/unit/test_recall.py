from __future__ import annotations

import pytest

from domain.errors import Backend, TransientError
from domain.memory import Neighbour, RecallResult
from domain.ports import Purpose
from domain.scope import Scope
from pipeline.recall import search
from storage.calibrate import UNCALIBRATED
from tests.fakes import FakeEmbedder, FakeIndex, unique_scope

DOWN = TransientError(Backend.DATABASE_UNAVAILABLE, "down")


def find(scope: Scope, index: FakeIndex, embedder: FakeEmbedder, **options: float | str) -> RecallResult:
    return search(
        scope,
        str(options.get("query", "query")),
        top_k=int(options.get("top_k", 5)),
        min_score=float(options.get("min_score", 0.45)),
        embedder=embedder,
        index=index,
        calibration=UNCALIBRATED,
        max_query_chars=20,
    )


def holding(*similarities: float) -> tuple[Scope, FakeIndex]:
    scope = unique_scope()
    return scope, FakeIndex({scope: [Neighbour(str(s), f"memory {s}", s, {}) for s in similarities]})


def test_hits_below_the_cut_are_left_out() -> None:
    scope, index = holding(0.9, 0.45, 0.44)
    assert [hit.score for hit in find(scope, index, FakeEmbedder()).hits] == [0.9, 0.45]


def test_no_more_than_top_k_come_back_and_the_best_first() -> None:
    scope, index = holding(0.5, 0.9, 0.7)
    assert [hit.score for hit in find(scope, index, FakeEmbedder(), top_k=2).hits] == [0.9, 0.7]


def test_of_a_query_too_long_for_the_model_the_end_is_looked_up() -> None:
    scope, index = holding()
    embedder = FakeEmbedder()
    find(scope, index, embedder, query="讲了很多无关的话，说来话长，一言难尽。用户喜欢喝什么？")
    assert embedder.embedded == [("用户喜欢喝什么？", Purpose.QUERY)]


# Kind: mem0ai/mem0#6817.
def test_a_stored_secret_is_withheld_and_counted() -> None:
    scope = unique_scope()
    kept, old = (
        Neighbour("1", "User deploys on Tuesdays", 0.9, {}),
        Neighbour("2", "密码是 " + "Qm7x@" + "99821", 0.8, {}),
    )
    noted = Neighbour("3", "User deploys by hand", 0.7, {"db_password": "Qm7x@" + "99821"})
    result = find(scope, FakeIndex({scope: [kept, old, noted]}), FakeEmbedder())
    assert ([hit.id for hit in result.hits], result.withheld) == (["1"], 2)


def test_nothing_found_is_an_available_service() -> None:
    scope, index = holding()
    assert find(scope, index, FakeEmbedder()) == RecallResult()


@pytest.mark.parametrize(
    ("index", "embedder", "reason"),
    [
        (FakeIndex(failure=DOWN), FakeEmbedder(), "database_unavailable"),
        (
            FakeIndex(),
            FakeEmbedder(failure=TransientError(Backend.EMBEDDING_UNAVAILABLE, "x")),
            "embedding_unavailable",
        ),
    ],
)
def test_a_backend_that_is_down_is_said_and_not_shown_as_nothing_found(
    index: FakeIndex, embedder: FakeEmbedder, reason: str
) -> None:
    result = find(unique_scope(), index, embedder)
    assert (result.available, result.error_reason, result.hits) == (False, reason, ())


def test_another_scope_is_never_asked() -> None:
    _, index = holding(0.9)
    assert find(unique_scope(), index, FakeEmbedder()).hits == ()
