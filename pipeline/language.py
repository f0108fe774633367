"""Step 3, language check: facts must be in the user's language and keep names as the user spelled them.

A model's prompt cannot guarantee the language. Drift is answered with one constrained second run; a second
drift fails the whole write. The conversation itself is never stored instead (Poco note, section 4.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from domain.candidate import Message, Role
from domain.facts import FactVerdict, StagedFact
from domain.jobs import Advance, Finish, Job, Outcome, StepResult
from domain.ports import Extractor, LanguageIdentifier, WordFinder
from domain.text import han_count
from pipeline.grounding import unsaid

# Languages written without Latin letters: there, a Latin name the user never wrote was romanised or translated.
_OWN_SCRIPT = frozenset({"zh", "ja", "ko"})
_RULE = "language_drift"


@dataclass(frozen=True, slots=True)
class LanguageTools:
    """What tells languages apart, and what finds the words that a translation leaves behind."""

    identify: LanguageIdentifier
    names: WordFinder
    translated: WordFinder


def check_language_step(job: Job, *, extractor: Extractor, tools: LanguageTools) -> StepResult:
    """Pass staged facts in the user's language; run again once when any of them drifted."""
    language = main_language(job.messages, tools.identify)
    if language is None:
        return Advance()
    foreign = _to_run_again(job.staged, job.messages, language, tools)
    if not foreign:
        return Advance()
    trace = tuple(FactVerdict(fact.id, _RULE) for fact in foreign)
    staged = tuple(extractor.extract(job.candidate.scope, job.messages, language=language))
    counts = {"language_retries": 1, "extracted": len(staged)}
    if not staged:
        return Finish(Outcome.NO_EFFECT, reason="nothing_durable", counts=counts, trace=trace)
    again = drifted(staged, job.messages, language, tools)
    trace += tuple(FactVerdict(fact.id, _RULE if fact in again else None) for fact in staged)
    if again:
        rule = f"expected_{language}"
        return Finish(Outcome.LANGUAGE_DRIFT, reason=_RULE, rule=rule, counts=counts, trace=trace)
    return Advance(staged=staged, counts=counts, trace=trace)


def main_language(messages: Sequence[Message], identify: LanguageIdentifier) -> str | None:
    """The language of what the user wrote; of everything when the user's part is too short to tell."""
    user = "\n".join(message.content for message in messages if message.role is Role.USER)
    return identify(user) or identify("\n".join(message.content for message in messages))


def drifted(
    facts: Sequence[StagedFact], messages: Sequence[Message], language: str, tools: LanguageTools
) -> list[StagedFact]:
    """The facts that are in another language, or hold a word that was romanised or translated."""
    return [
        fact
        for fact in facts
        if tools.identify(fact.text) not in (None, language)
        or _changed_script(fact.text, messages, language)
        or (language in _OWN_SCRIPT and unsaid(tools.translated(fact.text), messages))
    ]


def _to_run_again(
    facts: Sequence[StagedFact], messages: Sequence[Message], language: str, tools: LanguageTools
) -> list[StagedFact]:
    """As `drifted`, and the facts with a name nobody said, which a second run may spell as the user did."""
    wrong = drifted(facts, messages, language, tools)
    return wrong + [fact for fact in facts if fact not in wrong and unsaid(tools.names(fact.text), messages)]


def _changed_script(text: str, messages: Sequence[Message], language: str) -> bool:
    """Whether Chinese characters came into a conversation that has none, in a fact too short to identify."""
    return language not in _OWN_SCRIPT and han_count(text) > 0 and not any(han_count(m.content) for m in messages)
