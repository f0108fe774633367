"""What is stored and what is found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from domain.candidate import JsonValue
from domain.scope import Scope


@dataclass(frozen=True, slots=True)
class Origin:
    """Whose a memory is, where it comes from and who wrote it: the pipeline (`system`), a user or an agent."""

    scope: Scope
    source: str
    metadata: Mapping[str, JsonValue] = field(default_factory=dict, repr=False)
    agent_id: str | None = None
    run_id: str | None = None
    conversation_id: str | None = None
    source_message_id: str | None = None
    job_id: str | None = None
    trace_id: str | None = None
    operator_type: str = "system"
    operator: str | None = None


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
