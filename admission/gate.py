"""The one question of this floor: may a candidate be looked at, and what of it is left.

Secrets refuse the whole candidate and are searched before anything is cut, so none slips through inside a log line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from admission.draft import Draft, Line, merged
from admission.hygiene import clean_text
from admission.locators import cut_locators_once
from admission.noise import drop_noise_once
from admission.prose import has_words
from admission.secrets import find_secret, find_secret_in
from admission.settle import settle
from domain.candidate import Admitted, Candidate, Cut, Form, Kind, Message, Rejected, RejectReason, Role, Verdict

_SNAPSHOTS = {
    Kind.PRE_COMPACT: RejectReason.SESSION_SNAPSHOT,
    Kind.SESSION_END: RejectReason.SESSION_SNAPSHOT,
    Kind.SESSION_STATE: RejectReason.SESSION_STATE,
}
_SPEAKERS = (Role.USER, Role.ASSISTANT)
_ACKNOWLEDGEMENT = re.compile(
    r"\W{0,4}(?:ok(?:ay)?|k|yes|yep|sure|fine|got it|thanks|thank you|thx|good|great|好的?|好[吧呀啊嘞]|嗯{1,9}"
    r"|收到|谢谢|多谢|明白了?|知道了|可以|行|是的?|对的?|没问题)\W{0,4}",
    re.IGNORECASE,
)


def admit(candidate: Candidate) -> Verdict:
    """Judge a candidate by the hard rules of the Poco note, section 4.1: refused with a reason, or cleaned."""
    if candidate.kind in _SNAPSHOTS:
        return Rejected(_SNAPSHOTS[candidate.kind], f"kind_{candidate.kind.value}")
    for place, message in enumerate(candidate.messages):
        if rule := find_secret(message.content):
            return Rejected(RejectReason.CREDENTIAL, rule, (_whole(place, message, rule),))
    if rule := find_secret_in(candidate.metadata):
        return Rejected(RejectReason.CREDENTIAL, rule)
    cuts: list[Cut] = []
    messages = tuple(_cleaned(candidate.messages, cuts))
    if not _says_something(messages, Role.USER):
        return Rejected(RejectReason.MISSING_USER, "no_meaningful_user_message", merged(cuts))
    if candidate.form is Form.MESSAGES and not _says_something(messages, Role.ASSISTANT):
        return Rejected(RejectReason.MISSING_ASSISTANT, "no_meaningful_assistant_message", merged(cuts))
    return Admitted(messages, merged(cuts), Counter(cut.rule for cut in cuts))


def clean_message(text: str) -> tuple[str, Counter[str]]:
    """What is left of one message, and what was dropped by rule name."""
    draft = _draft(text)
    return draft.text, draft.dropped


def _cleaned(messages: tuple[Message, ...], cuts: list[Cut]) -> list[Message]:
    kept = []
    for place, message in enumerate(messages):
        if message.role not in _SPEAKERS:
            cuts.append(_whole(place, message, f"role_{message.role.value}"))
            continue
        draft = _draft(message.content, place)
        cuts.extend(draft.cuts)
        if has_words(draft.text):
            kept.append(Message(message.role, draft.text))
        else:
            cuts.append(_whole(place, message, "nothing_left"))
    return kept


def _whole(place: int, message: Message, rule: str) -> Cut:
    return Cut(place, rule, 0, message.content.count("\n"))


def _draft(text: str, place: int = 0) -> Draft:
    return settle(Draft.of(clean_text(text), place), _clean_once)


def _clean_once(draft: Draft) -> None:
    drop_noise_once(draft)
    cut_locators_once(draft)
    draft.lines = list(_tidied(draft.lines))


def _tidied(lines: list[Line]) -> Iterator[Line]:
    """Without spaces at line ends, several blank lines in a row, and blank lines at the edges."""
    blank: Line | None = None
    started = False
    for line in lines:
        text = line.text.rstrip()
        if not text:
            blank = blank or Line(line.number, "")
            continue
        if blank and started:
            yield blank
        blank = None
        yield Line(line.number, text if started else text.lstrip())
        started = True


def _says_something(messages: tuple[Message, ...], role: Role) -> bool:
    """A bare "ok" says something only as an answer, that is after the other side has spoken."""
    return any(
        message.role is role and (_is_answer(messages, at) or not _ACKNOWLEDGEMENT.fullmatch(message.content))
        for at, message in enumerate(messages)
    )


def _is_answer(messages: tuple[Message, ...], at: int) -> bool:
    return at > 0 and messages[at - 1].role is not messages[at].role
