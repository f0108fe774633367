"""Step 4, post-validation: what can be decided for certain about a finished fact, and nothing else.

No keyword decides here whether something is worth keeping (Poco note, section 4.2); but a fact that does not come
from the conversation is not a fact.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from admission.locators import has_path, has_url
from admission.noise import has_noise
from admission.secrets import find_secret
from domain.candidate import Message, Role
from domain.facts import Evidence, FactFault, FactVerdict, StagedFact
from domain.jobs import Advance, Finish, Job, Outcome, StepResult
from domain.sentences import sentences
from domain.text import han_count, loose
from pipeline.evidence import in_original
from pipeline.grounding import Words, ground

_ROLES = (Role.USER, Role.ASSISTANT)
_MOST_SENTENCES = 2


@dataclass(frozen=True, slots=True)
class _Checked:
    fact: StagedFact
    fault: FactFault | None = None
    rule: str | None = None
    evidence: Evidence | None = None


def validate_step(job: Job, *, max_chars: int, words: Words) -> StepResult:
    """Drop every bad fact, count it by its fault, keep the good ones with the sentence they rest on."""
    checked = [_check(fact, job, max_chars=max_chars, words=words) for fact in job.staged]
    counts = Counter(f"dropped_{check.fault}" for check in checked if check.fault)
    trace = tuple(FactVerdict(check.fact.id, check.rule, check.evidence) for check in checked)
    kept = tuple(check.fact for check in checked if check.fault is None)
    if not kept:
        rule = next(iter(counts)).removeprefix("dropped_")
        return Finish(Outcome.REJECTED, reason="post_validation", rule=rule, counts=counts, trace=trace)
    return Advance(staged=kept, counts=counts, trace=trace)


def find_fault(fact: StagedFact, *, max_chars: int) -> FactFault | None:
    """The first fault of a fact taken by itself, or None. `max_chars` counts characters, not bytes."""
    text = fact.text
    checks = (
        (FactFault.CREDENTIAL, find_secret(text) is not None),
        (FactFault.STACK, has_noise(text)),
        (FactFault.HAS_URL, has_url(text)),
        (FactFault.HAS_PATH, has_path(text)),
        (FactFault.CONTROL_CHARACTERS, any(unicodedata.category(char) in ("Cc", "Cs") for char in text)),
        (FactFault.TOO_LONG, len(text) > max_chars),
        (FactFault.BAD_ROLE, fact.attributed_to not in _ROLES),
        (FactFault.NOT_A_STATEMENT, not _is_statement(text)),
        (FactFault.SEVERAL_STATEMENTS, len(sentences(text)) > _MOST_SENTENCES),
    )
    return next((fault for fault, is_bad in checks if is_bad), None)


def _check(fact: StagedFact, job: Job, *, max_chars: int, words: Words) -> _Checked:
    fault = find_fault(fact, max_chars=max_chars)
    if fault is None and _is_whole_conversation(fact.text, job.messages):
        fault = FactFault.WHOLE_CONVERSATION
    if fault is not None:
        return _Checked(fact, fault, str(fault))
    found = ground(fact.text, fact.attributed_to, job.messages, words)
    if not isinstance(found, Evidence):
        return _Checked(fact, FactFault.UNGROUNDED, str(found))
    evidence = in_original(found, job.messages, job.candidate.messages)
    return _Checked(replace(fact, evidence=evidence), evidence=evidence)


def _is_statement(text: str) -> bool:
    """More than one word: a lone noun says nothing about anybody."""
    return han_count(text) >= 4 or len(text.split()) >= 2 or len(loose(text)) >= 8


def _is_whole_conversation(text: str, messages: Sequence[Message]) -> bool:
    """Whether a fact repeats everything that both sides said instead of stating something."""
    parts = [part for message in messages if (part := loose(message.content))]
    whole = loose(text)
    return len(parts) > 1 and all(part in whole for part in parts)
