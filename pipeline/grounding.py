"""Where in the conversation a fact comes from, or why it does not come from there.

A model turns an assistant's suggestion into the user's wish, a friend's taste into the user's, a question into a
statement, and adds names and numbers nobody said. Nothing of that may be remembered, so each fact has to show the
sentence it rests on. Everything here is decided by words and tables; no model is asked.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from domain.candidate import Message, Role
from domain.facts import Evidence
from domain.ports import WordFinder
from domain.sentences import Span, clauses, sentences
from domain.text import HAN
from pipeline import grounding_cues as cues
from pipeline.contrasts import swapped
from pipeline.numbers import missing_numbers

# Shares of a fact's content that have to stand in its source: in all of it, and in the one best sentence.
_SUPPORT = 0.4
_BEST_SENTENCE = 0.2
# A fact whose clause it repeats this closely has to agree with it in negation.
_SAME_CLAIM = 0.55
# Content that only an assistant's proposal holds may make up this much of a user's fact.
_BORROWED = 0.25
_STEM = 4


class Ungrounded(StrEnum):
    """Why a fact is not believed; counted and shown as the rule that dropped it."""

    NAME = "name_not_said"
    NUMBER = "number_not_said"
    VALUE = "value_not_said"
    NEGATION = "negation_differs"
    NOT_SAID = "not_said"
    ONLY_SUGGESTED = "only_suggested"
    ONLY_ASKED = "only_asked"
    ONLY_SUPPOSED = "only_supposed"
    SOMEBODY_ELSE = "somebody_else"
    NOT_THE_USERS_NAME = "not_the_users_name"


Grounding: TypeAlias = Evidence | Ungrounded


@dataclass(frozen=True, slots=True)
class Words:
    """The language tools that grounding needs."""

    content: WordFinder
    names: WordFinder


@dataclass(frozen=True, slots=True)
class _Source:
    """A sentence of the conversation with its place."""

    message: int
    role: Role
    span: Span


def ground(text: str, attributed_to: str | None, messages: Sequence[Message], words: Words) -> Grounding:
    """The sentence that a fact rests on, as its place in `messages`, or why there is none.

    A fact of the user rests on what the user said, or on a proposal of the assistant that the user agreed to. A fact
    of the assistant may rest on anything the assistant said.
    """
    everything = _normal("\n".join(message.content for message in messages))
    if unsaid(words.names(text), messages):
        return Ungrounded.NAME
    if missing_numbers(text, everything):
        return Ungrounded.NUMBER
    if swapped(text, everything):
        return Ungrounded.VALUE
    sources = list(_sources(messages, attributed_to))
    content = words.content(text)
    if not sources:
        return Ungrounded.NOT_SAID
    best = max(sources, key=lambda source: _share(content, _normal(source.span.text)))
    fault = _fault(text, content, best, sources, attributed_to, messages)
    return fault or Evidence(best.message, best.span.start, best.span.end, best.role.value)


def unsaid(names: Sequence[str], messages: Sequence[Message]) -> list[str]:
    """The names that nobody in the conversation said, whatever their case, width and spacing."""
    everything = _normal("\n".join(message.content for message in messages))
    return [name for name in names if not _is_said(name, everything)]


def _fault(
    text: str,
    content: list[str],
    best: _Source,
    sources: Sequence[_Source],
    attributed_to: str | None,
    messages: Sequence[Message],
) -> Ungrounded | None:
    said = _normal("\n".join(source.span.text for source in sources))
    if attributed_to == Role.USER and _is_borrowed(content, said, messages):
        return Ungrounded.ONLY_SUGGESTED
    if content and (_share(content, said) < _SUPPORT or _share(content, _normal(best.span.text)) < _BEST_SENTENCE):
        return Ungrounded.NOT_SAID
    if attributed_to == Role.USER:
        fault = _misread(text, content, sources, best)
        if fault is not None:
            return fault
    return None if _agrees(text, content, best) else Ungrounded.NEGATION


def _misread(text: str, content: list[str], sources: Sequence[_Source], best: _Source) -> Ungrounded | None:
    """Whether the sentence speaks of something else than what the user is, does or wants."""
    if cues.IDENTITY.search(text):
        told = any(cues.IDENTITY_CUE.search(source.span.text) for source in sources)
        return None if told else Ungrounded.NOT_THE_USERS_NAME
    if best.role is not Role.USER:
        return None
    sentence = best.span.text
    if _is_question(sentence) and not cues.REQUEST.search(sentence):
        return Ungrounded.ONLY_ASKED
    clause = _closest_clause(content, sentence)
    if cues.HYPOTHETICAL.search(clause) and not cues.CONDITION.search(text):
        return Ungrounded.ONLY_SUPPOSED
    if _subject_is_somebody_else(clause, sentence) and not cues.PERSON.search(text):
        return Ungrounded.SOMEBODY_ELSE
    return None


def _subject_is_somebody_else(clause: str, sentence: str) -> bool:
    if cues.OTHER_SUBJECT.search(clause):
        return True
    # A clause without a subject of its own goes on with that of the clause before it.
    before = sentence[: sentence.find(clause)]
    earlier = next((piece for piece in reversed(clauses(before)) if _has_subject(piece)), "")
    return not _has_subject(clause) and cues.OTHER_SUBJECT.search(earlier) is not None


def _has_subject(clause: str) -> bool:
    return cues.FIRST_PERSON.search(clause) is not None or cues.OTHER_SUBJECT.search(clause) is not None


def _is_question(sentence: str) -> bool:
    return cues.QUESTION.search(sentence) is not None


def _agrees(text: str, content: list[str], best: _Source) -> bool:
    """Whether fact and clause are both negated or both not, where they make the same claim."""
    clause = _closest_clause(content, best.span.text)
    if _share(content, _normal(clause)) < _SAME_CLAIM:
        return True
    in_fact = _is_negated(text)
    if in_fact == _is_negated(clause):
        return True
    # The negation may stand in the next clause: "香菜，我从来不吃".
    return in_fact and _is_negated(best.span.text)


def _is_negated(text: str) -> bool:
    return cues.NEGATION.search(cues.EITHER_WAY.sub("", text)) is not None


def _closest_clause(content: list[str], sentence: str) -> str:
    return max(clauses(sentence) or [sentence], key=lambda clause: _share(content, _normal(clause)))


def _is_borrowed(content: list[str], said: str, messages: Sequence[Message]) -> bool:
    """Whether much of the fact stands only in what the assistant proposed and the user never took up."""
    proposed = _normal("\n".join(_proposals(messages)))
    borrowed = [word for word in content if _covered(word, said) < 0.5 <= _covered(word, proposed)]
    return bool(borrowed) and _weight(borrowed) >= _BORROWED * _weight(content)


def _proposals(messages: Sequence[Message]) -> Iterator[str]:
    for place, message in enumerate(messages):
        if message.role is Role.ASSISTANT and not _is_agreed(messages, place):
            yield from (
                span.text
                for span in sentences(message.content)
                if not cues.ECHO.search(message.content) or cues.PROPOSAL.search(span.text)
            )


def _sources(messages: Sequence[Message], attributed_to: str | None) -> Iterator[_Source]:
    for place, message in enumerate(messages):
        is_source = message.role is Role.USER or attributed_to == Role.ASSISTANT or _is_agreed(messages, place)
        if is_source:
            yield from (_Source(place, message.role, span) for span in sentences(message.content))


def _is_agreed(messages: Sequence[Message], place: int) -> bool:
    """Whether the user's next turn plainly agrees to this one."""
    reply = messages[place + 1] if place + 1 < len(messages) else None
    if messages[place].role is not Role.ASSISTANT or reply is None or reply.role is not Role.USER:
        return False
    if cues.AGREEMENT.search(reply.content) is None:
        return False
    opening = next(iter(sentences(reply.content)), None)
    return opening is not None and not cues.REFUSAL.search(opening.text) and not _is_question(opening.text)


def _share(content: list[str], source: str) -> float:
    """How much of the content the source holds, by weight, 0..1; 1 when there is no content to look for."""
    total = _weight(content)
    return sum(_covered(word, source) * _word_weight(word) for word in content) / total if total else 1.0


def _weight(content: list[str]) -> float:
    return sum(map(_word_weight, content))


def _word_weight(word: str) -> float:
    return float(len(word)) if HAN.match(word) else 2.0


def _covered(word: str, source: str) -> float:
    """How much of a word the source holds: Chinese by its characters, others by their stem."""
    if word in source:
        return 1.0
    if HAN.match(word):
        return sum(char in source for char in word) / len(word) if len(word) > 1 else 0.0
    return 1.0 if len(word) > _STEM and _stem(word) in source else 0.0


def _stem(word: str) -> str:
    return word[: max(_STEM, len(word) * 2 // 3)]


def _is_said(name: str, everything: str) -> bool:
    key = _normal(name)
    if key in everything or _loose(key) in _loose(everything):
        return True
    # A name of several words may be a fact's own joining of neighbours: each has to stand there.
    parts = key.split()
    return len(parts) > 1 and all(part in everything for part in parts)


def _normal(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _loose(text: str) -> str:
    return re.sub(r"[\W_]+", "", text)
