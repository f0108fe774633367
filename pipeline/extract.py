"""Step 2, infer extraction: let the model find the facts worth keeping, and stage them."""

from __future__ import annotations

from domain.facts import FactVerdict
from domain.jobs import Advance, Finish, Job, Outcome, StepResult
from domain.ports import Extractor


def extract_step(job: Job, *, extractor: Extractor) -> StepResult:
    """Stage what the model found; nothing found is a normal end (Poco note, section 4.2)."""
    staged = extractor.extract(job.candidate.scope, job.messages, language=None)
    if not staged:
        return Finish(Outcome.NO_EFFECT, reason="nothing_durable", counts={"extracted": 0})
    found = tuple(FactVerdict(fact.id) for fact in staged)
    return Advance(staged=tuple(staged), counts={"extracted": len(staged)}, trace=found)
