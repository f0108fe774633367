"""An extractor without a model, for trying and testing: finds sentences of the user that state something lasting.

It reads the conversation only, obeys nothing in it, and answers in the same JSON as a model would. It knows a table
of phrases in Chinese and English and nothing else: a real model understands what this one overlooks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from domain.candidate import Message, Role
from domain.facts import Fact
from domain.ports import ExtractionPrompt
from llm.answers import canonical_json
from llm.offline_cues import CUES, HYPOTHESIS, INJECTION, LASTING, ONE_OFF, OTHERS, QUESTION, TASK
from llm.offline_person import third_person

MAX_SENTENCE_CHARS = 300
MAX_FACTS = 20
_SENTENCE = re.compile(r"[^。！!？?；;\n]+[。！!？?；;]?")
_ENGLISH_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'\u4e00-\u9fff])")
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|「[^」]*」")
_CLAUSE = re.compile(r"[，,]")
_GREETING = re.compile(
    r"^(?:(?:请|麻烦)?(?:帮我)?(?:记住|记一下|记下来?|注意)(?:一下)?|顺便(?:说一?下|一提)?|另外|还有|对了|请"
    r"|please|note that|by the way|also|remember(?: that)?|keep in mind(?: that)?|ok|okay|yes|sure|thanks|好的?|行|嗯)"
    r"\s*[,，:：、]?\s*",
    re.IGNORECASE,
)
_EDGES = " \t\r\n,，.。;；、:："


@dataclass(frozen=True, slots=True)
class OfflineModel:
    """domain.ports.ExtractionModel by rules; deterministic, and instant."""

    model: str = "offline"

    def answer(self, prompt: ExtractionPrompt) -> str:
        """The facts of the prompt's conversation as mem0's answer JSON."""
        return canonical_json(lasting_facts(prompt.conversation))


def lasting_facts(messages: tuple[Message, ...]) -> list[Fact]:
    """What the user said that will still hold in a later task, in the user's language and words."""
    facts: dict[str, Fact] = {}
    for message in messages:
        if message.role is Role.USER:
            for fact in map(_fact, _sentences(message.content)):
                if fact is not None:
                    facts.setdefault(fact.text, fact)
    return list(facts.values())[:MAX_FACTS]


def _sentences(text: str) -> list[str]:
    return [
        part.strip()
        for sentence in _SENTENCE.findall(text)
        for part in _ENGLISH_SENTENCE.split(sentence)
        if part.strip()
    ]


def _fact(sentence: str) -> Fact | None:
    if len(sentence) > MAX_SENTENCE_CHARS or any(sign.search(sentence) for sign in (QUESTION, HYPOTHESIS, INJECTION)):
        return None
    statement = _lasting_part(sentence)
    if statement is None or OTHERS.search(statement):
        return None
    fact_type = _type(statement)
    return None if fact_type is None else Fact(third_person(statement), attributed_to="user", type=fact_type)


def _type(statement: str) -> str | None:
    """What kind of lasting statement this is, or None. What is quoted says nothing about the speaker."""
    said = _QUOTED.sub('""', statement)
    if TASK.search(said) and not LASTING.search(said):
        return None
    return next((cue.type for cue in CUES if cue.pattern.search(said)), None)


def _lasting_part(sentence: str) -> str | None:
    """The sentence without its greeting; where part of it is about today, only the clauses that are not."""
    sentence = _without_greeting(sentence)
    if not ONE_OFF.search(sentence):
        return sentence or None
    clauses = [clause for clause in _CLAUSE.split(sentence) if not ONE_OFF.search(clause)]
    lasting = [clause for clause in clauses if LASTING.search(clause) or _type(clause)]
    return "，".join(clause.strip(_EDGES) for clause in lasting) or None


def _without_greeting(sentence: str) -> str:
    previous = None
    while previous != sentence:
        previous, sentence = sentence, _GREETING.sub("", sentence, count=1)
    return sentence.strip(_EDGES)
