"""Turns "I" into "the user" where that is mechanical, so that a fact still stands alone in another conversation.

Where it is not, the user's sentence stays as it is.
"""

from __future__ import annotations

import re

_QUOTED = re.compile(r"(\"[^\"]*\"|“[^”]*”|「[^」]*」|'[^']*')")
_CHINESE_ME = re.compile(r"(?<!自)我(?!们)")
_HAS_HAN = re.compile(r"[\u4e00-\u9fff]")
_ADVERBS = r"(?:really|usually|generally|always|never|often|strongly|mostly|much|also|only)"
_ENGLISH_I = re.compile(rf"^I\s+(?P<adverb>{_ADVERBS}\s+)?(?P<verb>[a-z]+)\b", re.IGNORECASE)
_ENGLISH_AM = re.compile(r"^I(?:'m| am)\b", re.IGNORECASE)
_ENGLISH_DO_NOT = re.compile(r"^I (?:don't|do not)\b", re.IGNORECASE)
_ENGLISH_MY = re.compile(r"^my\b", re.IGNORECASE)
_FIRST_PERSON = re.compile(r"\b(?:I|I'm|I'd|I've|my|me|mine|myself)\b")
_THIRD = {
    "prefer": "prefers", "like": "likes", "love": "loves", "hate": "hates", "dislike": "dislikes", "enjoy": "enjoys",
    "want": "wants", "need": "needs", "use": "uses", "work": "works", "live": "lives", "study": "studies",
    "teach": "teaches", "tend": "tends", "have": "has", "eat": "eats", "drink": "drinks", "write": "writes",
    "deploy": "deploys", "favor": "favors", "favour": "favours", "speak": "speaks", "start": "starts",
}  # fmt: skip


def third_person(sentence: str) -> str:
    """The sentence with the speaker named as the user; quoted parts are never touched."""
    if _HAS_HAN.search(sentence):
        return "".join(_chinese(part) for part in _QUOTED.split(sentence))
    changed = _english_start(sentence)
    # A first person that is left would now contradict the beginning.
    return changed if changed is not None and not _FIRST_PERSON.search(changed) else sentence


def _chinese(part: str) -> str:
    return part if _QUOTED.fullmatch(part) else _CHINESE_ME.sub("用户", part)


def _english_start(sentence: str) -> str | None:
    for pattern, replacement in ((_ENGLISH_AM, "User is"), (_ENGLISH_DO_NOT, "User does not"), (_ENGLISH_MY, "User's")):
        if pattern.search(sentence):
            return pattern.sub(replacement, sentence, count=1)
    match = _ENGLISH_I.match(sentence)
    if match is None or match["verb"].lower() not in _THIRD:
        return None
    return f"User {match['adverb'] or ''}{_THIRD[match['verb'].lower()]}{sentence[match.end() :]}"
