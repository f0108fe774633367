"""What each endpoint takes and answers, said beside the endpoint and nowhere else.

The decorators read and check a request before the endpoint sees it, and `api/reference.py` publishes the same classes,
so that what is documented is what is done.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from api.requests import body_as, optional_body_as, query_as
from api.shapes import Problem
from tasks.contracts import Contract

C = TypeVar("C", bound=Contract)
P = ParamSpec("P")
R = TypeVar("R")
View = TypeVar("View", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Spoken:
    """What an endpoint takes and answers; `failures` are the statuses of its own beside those that any may answer."""

    body: type[Contract] | None = None
    is_body_optional: bool = False
    query: type[Contract] | None = None
    answer: type[Any] | None = None
    statuses: tuple[int, ...] = (200,)
    failures: tuple[int, ...] = ()
    problem: type[Problem] = Problem


_NOTHING = Spoken()
_SPOKEN: dict[Callable[..., Any], Spoken] = {}


def spoken(view: Callable[..., Any]) -> Spoken:
    """What this endpoint takes and answers."""
    return _SPOKEN.get(view, _NOTHING)


def takes_body(contract: type[C]) -> Callable[[Callable[Concatenate[C, P], R]], Callable[P, R]]:
    """Give an endpoint the request's JSON body, checked, as its first argument."""
    return _takes(lambda: body_as(contract), Spoken(body=contract))


def takes_optional_body(contract: type[C]) -> Callable[[Callable[Concatenate[C, P], R]], Callable[P, R]]:
    """As `takes_body`; no body at all is an empty object."""
    return _takes(lambda: optional_body_as(contract), Spoken(body=contract, is_body_optional=True))


def takes_query(contract: type[C]) -> Callable[[Callable[Concatenate[C, P], R]], Callable[P, R]]:
    """Give an endpoint the request's query, checked, as its first argument."""
    return _takes(lambda: query_as(contract), Spoken(query=contract))


def answers(
    answer: type[Any], *statuses: int, failures: tuple[int, ...] = (), problem: type[Problem] = Problem
) -> Callable[[View], View]:
    """Say what an endpoint answers: with 200 if no status is named, and with which problems of its own."""

    def mark(view: View) -> View:
        _SPOKEN[view] = replace(
            spoken(view), answer=answer, statuses=statuses or (200,), failures=failures, problem=problem
        )
        return view

    return mark


def _takes(read: Callable[[], C], said: Spoken) -> Callable[[Callable[Concatenate[C, P], R]], Callable[P, R]]:
    def give(view: Callable[Concatenate[C, P], R]) -> Callable[P, R]:
        @wraps(view)
        def asked(*args: P.args, **kwargs: P.kwargs) -> R:
            return view(read(), *args, **kwargs)

        _SPOKEN[asked] = said
        return asked

    return give
