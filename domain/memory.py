"""What is stored and what is found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from domain.candidate import JsonValue


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A stored memory near a vector; `similarity` is the model's own cosine, larger is closer."""

    id: str
    text: str = field(repr=False)
    similarity: float
    metadata: Mapping[str, JsonValue] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that answers a query; `score` is calibrated to 0..1, the same scale for every model."""

    id: str
    text: str = field(repr=False)
    score: float
    metadata: Mapping[str, JsonValue] = field(repr=False)


@dataclass(frozen=True, slots=True)
class RecallResult:
    """Found memories, best first. No hits and no service are different answers.

    `withheld` counts the hits that hold a credential and so are not among them.
    """

    hits: tuple[Hit, ...] = ()
    available: bool = True
    error_reason: str | None = None
    withheld: int = 0
