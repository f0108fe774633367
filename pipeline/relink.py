"""Step 5, entity relink: names and keyword terms of each fact, recognised for Chinese and English.

mem0's own recogniser finds no Chinese name and takes whole sentences for names (mem0 study, section 5).
"""

from __future__ import annotations

from dataclasses import replace

from domain.facts import Entity
from domain.jobs import Advance, Job, StepResult
from domain.ports import Embedder, EntityRecogniser, Purpose, Segmenter


def relink_step(job: Job, *, recognise: EntityRecogniser, segment: Segmenter, embedder: Embedder) -> StepResult:
    """Give each staged fact its entities, embedded, and its keyword terms."""
    named = [(fact, recognise(fact.text)) for fact in job.staged]
    vectors = _embed_once([entity.text for _, entities in named for entity in entities], embedder)
    staged = tuple(
        replace(
            fact,
            text_lemmatized=segment(fact.text),
            entities=tuple(Entity(entity.text, entity.type, vectors[entity.text]) for entity in entities),
        )
        for fact, entities in named
    )
    return Advance(staged=staged, counts={"entities": sum(len(fact.entities) for fact in staged)})


def _embed_once(names: list[str], embedder: Embedder) -> dict[str, tuple[float, ...]]:
    unique = list(dict.fromkeys(names))
    return dict(zip(unique, embedder.embed(unique, Purpose.STORE), strict=True)) if unique else {}
