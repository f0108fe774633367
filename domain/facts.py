"""Extracted statements, from the model's answer to the staged form that is published or dropped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from domain.candidate import JsonValue

Vector: TypeAlias = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Fact:
    """One statement that stands alone, as the model gave it.

    The optional fields are filled only where the model gave them: `type` (preference, constraint, fact, ...),
    `confidence` and `importance` in 0..1, `sensitivity` 0, 1 or 2, `expires_at` as an ISO 8601 date.
    """

    text: str = field(repr=False)
    attributed_to: str | None = None
    type: str | None = None
    confidence: float | None = None
    importance: float | None = None
    sensitivity: int | None = None
    expires_at: str | None = None


class EntityType(StrEnum):
    """The kinds of entity that mem0's entity table knows."""

    PROPER = "PROPER"
    QUOTED = "QUOTED"
    TOPIC = "TOPIC"
    IDENTIFIER = "IDENTIFIER"


@dataclass(frozen=True, slots=True)
class Entity:
    """Something a fact mentions by name. `vector` is there once it was embedded."""

    text: str = field(repr=False)
    type: EntityType
    vector: Vector = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The sentence a fact rests on: characters `start` to `end` of a message of the candidate, and who said it."""

    message: int
    start: int
    end: int
    role: str


@dataclass(frozen=True, slots=True)
class FactVerdict:
    """What a step said of a fact: kept when there is no rule. `fact_id` is the id of the memory it may become."""

    fact_id: str
    rule: str | None = None
    evidence: Evidence | None = None


@dataclass(frozen=True, slots=True)
class StagedFact:
    """A fact that has not passed all gates yet; invisible to every search.

    `payload` is what mem0 would have written beside the vector (`data`, `hash`, `attributed_to`, ...).
    """

    id: str
    text: str = field(repr=False)
    vector: Vector = field(repr=False)
    attributed_to: str | None
    payload: Mapping[str, JsonValue] = field(default_factory=dict, repr=False)
    text_lemmatized: str = field(default="", repr=False)
    entities: tuple[Entity, ...] = ()
    evidence: Evidence | None = None


class FactFault(StrEnum):
    """Why post-validation drops a fact."""

    CREDENTIAL = "credential"
    HAS_PATH = "has_path"
    HAS_URL = "has_url"
    STACK = "stack"
    TOO_LONG = "too_long"
    BAD_ROLE = "bad_role"
    CONTROL_CHARACTERS = "control_characters"
    NOT_A_STATEMENT = "not_a_statement"
    SEVERAL_STATEMENTS = "several_statements"
    WHOLE_CONVERSATION = "whole_conversation"
    UNGROUNDED = "ungrounded"
