"""Step 3, language check: facts must be in the user's language and keep names as the user spelled them.

A model's prompt cannot guarantee the language. Drift is answered with one constrained second run; a second
drift fails the whole write. The conversation itself is never stored instead (Poco note, section 4.2).
"""

from __future__ import annotations

from collections.abc import Sequence

from domain.candidate import Message, Role
from domain.facts import StagedFact
from domain.jobs import Advance, Finish, Job, Outcome, StepResult
from domain.ports import Extractor, LanguageIdentifier
from domain.text import LATIN_WORD, han_count

# Languages written without Latin letters: there, a Latin name the user never wrote was romanised or translated.
_OWN_SCRIPT = frozenset({"zh", "ja", "ko"})


def check_language_step(job: Job, *, extractor: Extractor, identify: LanguageIdentifier) -> StepResult:
    """Pass staged facts in the user's language; run again once when any of them drifted."""
    language = main_language(job.messages, identify)
    if language is None or not drifted(job.staged, job.messages, language, identify):
        return Advance()
    staged = extractor.extract(job.candidate.scope, job.messages, language=language)
    counts = {"language_retries": 1, "extracted": len(staged)}
    if not staged:
        return Finish(Outcome.NO_EFFECT, reason="nothing_durable", counts=counts)
    if drifted(staged, job.messages, language, identify):
        return Finish(Outcome.LANGUAGE_DRIFT, reason="language_drift", rule=f"expected_{language}", counts=counts)
    return Advance(staged=tuple(staged), counts=counts)


def main_language(messages: Sequence[Message], identify: LanguageIdentifier) -> str | None:
    """The language of what the user wrote; of everything when the user's part is too short to tell."""
    user = "\n".join(message.content for message in messages if message.role is Role.USER)
    return identify(user) or identify("\n".join(message.content for message in messages))


def drifted(
    facts: Sequence[StagedFact], messages: Sequence[Message], language: str, identify: LanguageIdentifier
) -> list[StagedFact]:
    """The facts that are in another language, or hold a Latin name that the conversation does not."""
    known = {word.lower() for message in messages for word in LATIN_WORD.findall(message.content)}
    return [
        fact
        for fact in facts
        if identify(fact.text) not in (None, language)
        or _changed_script(fact.text, messages, language)
        or (language in _OWN_SCRIPT and _foreign_names(fact.text, known))
    ]


def _changed_script(text: str, messages: Sequence[Message], language: str) -> bool:
    """Whether Chinese characters came into a conversation that has none, in a fact too short to identify."""
    return language not in _OWN_SCRIPT and han_count(text) > 0 and not any(han_count(m.content) for m in messages)


def _foreign_names(text: str, known: set[str]) -> set[str]:
    return {word.lower() for word in LATIN_WORD.findall(text)} - known
