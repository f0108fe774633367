"""Step 4, post-validation: what can be decided for certain about a finished fact, and nothing else.

No keyword decides here whether something is worth keeping (Poco note, section 4.2).
"""

from __future__ import annotations

import unicodedata
from collections import Counter

from admission.locators import has_path, has_url
from admission.noise import has_noise
from admission.secrets import find_secret
from domain.candidate import Role
from domain.facts import FactFault, StagedFact
from domain.jobs import Advance, Finish, Job, Outcome, StepResult

_ROLES = (Role.USER, Role.ASSISTANT)


def validate_step(job: Job, *, max_chars: int) -> StepResult:
    """Drop every bad fact, count it by its fault, keep the good ones."""
    faults = [(fact, find_fault(fact, max_chars=max_chars)) for fact in job.staged]
    kept = tuple(fact for fact, fault in faults if fault is None)
    counts = Counter(f"dropped_{fault}" for _, fault in faults if fault)
    if not kept:
        return Finish(Outcome.REJECTED, reason="post_validation", rule=next(iter(counts)), counts=counts)
    return Advance(staged=kept, counts=counts)


def find_fault(fact: StagedFact, *, max_chars: int) -> FactFault | None:
    """The first reason not to keep a fact, or None. `max_chars` counts characters, not bytes."""
    text = fact.text
    checks = (
        (FactFault.EMPTY, not text.strip()),
        (FactFault.CREDENTIAL, find_secret(text) is not None),
        (FactFault.STACK, has_noise(text)),
        (FactFault.HAS_URL, has_url(text)),
        (FactFault.HAS_PATH, has_path(text)),
        (FactFault.CONTROL_CHARACTERS, any(unicodedata.category(char) in ("Cc", "Cs") for char in text)),
        (FactFault.TOO_LONG, len(text) > max_chars),
        (FactFault.BAD_ROLE, fact.attributed_to not in _ROLES),
    )
    return next((fault for fault, is_bad in checks if is_bad), None)
