"""A text with everything that is derived from it: its vector, its keyword terms, its names."""

from __future__ import annotations

from dataclasses import dataclass

from domain.facts import Entity
from domain.lifecycle import Wording
from domain.ports import Embedder, EntityRecogniser, Purpose, Segmenter


@dataclass(frozen=True, slots=True)
class WordingTools:
    """What it takes to derive them."""

    embedder: Embedder
    recognise: EntityRecogniser
    segment: Segmenter


def worded(text: str, tools: WordingTools) -> Wording:
    """Everything derived from one text; raises as the embedder does."""
    entities = tools.recognise(text)
    names = list(dict.fromkeys(entity.text for entity in entities))
    vector, *others = tools.embedder.embed([text, *names], Purpose.STORE)
    known = dict(zip(names, others, strict=True))
    named = tuple(Entity(entity.text, entity.type, known[entity.text]) for entity in entities)
    return Wording(text, vector, tools.segment(text), named)
