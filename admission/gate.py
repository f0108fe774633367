"""The one question of this floor: may a candidate be looked at, and what of it is left.

Secrets refuse the whole candidate and are searched before anything is cut, so none slips through inside a log line.
"""

from __future__ import annotations

import re
from collections import Counter

from admission.hygiene import clean_text
from admission.locators import cut_locators_once
from admission.noise import drop_noise_once
from admission.prose import has_words
from admission.secrets import find_secret
from admission.settle import settle
from domain.candidate import Admitted, Candidate, Form, Kind, Message, Rejected, RejectReason, Role, Verdict

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
_LINE_TAIL = re.compile(r"(?<=\S)[ \t]{1,64}(?=\n)")
_BLANK_LINES = re.compile(r"\n(?:[ \t]{0,64}\n){2,}")


def admit(candidate: Candidate) -> Verdict:
    """Judge a candidate by the hard rules of the Poco note, section 4.1: refused with a reason, or cleaned."""
    if candidate.kind in _SNAPSHOTS:
        return Rejected(_SNAPSHOTS[candidate.kind], f"kind_{candidate.kind.value}")
    secret = next((rule for message in candidate.messages if (rule := find_secret(message.content))), None)
    if secret:
        return Rejected(RejectReason.CREDENTIAL, secret)
    dropped: Counter[str] = Counter()
    messages = tuple(_cleaned(candidate.messages, dropped))
    if not _says_something(messages, Role.USER):
        return Rejected(RejectReason.MISSING_USER, "no_meaningful_user_message")
    if candidate.form is Form.MESSAGES and not _says_something(messages, Role.ASSISTANT):
        return Rejected(RejectReason.MISSING_ASSISTANT, "no_meaningful_assistant_message")
    return Admitted(messages, dict(dropped))


def clean_message(text: str) -> tuple[str, Counter[str]]:
    """What is left of one message, and what was dropped by rule name."""
    return settle(text, _clean_once)


def _cleaned(messages: tuple[Message, ...], dropped: Counter[str]) -> list[Message]:
    kept = []
    for message in messages:
        if message.role not in _SPEAKERS:
            dropped[f"role_{message.role.value}"] += 1
            continue
        text, cut = clean_message(message.content)
        dropped.update(cut)
        if has_words(text):
            kept.append(Message(message.role, text))
    return kept


def _clean_once(text: str) -> tuple[str, Counter[str]]:
    text, dropped = drop_noise_once(clean_text(text))
    text, cut = cut_locators_once(text)
    return _BLANK_LINES.sub("\n\n", _LINE_TAIL.sub("", text)).strip(), dropped + cut


def _says_something(messages: tuple[Message, ...], role: Role) -> bool:
    """A bare "ok" says something only as an answer, that is after the other side has spoken."""
    return any(
        message.role is role and (_is_answer(messages, at) or not _ACKNOWLEDGEMENT.fullmatch(message.content))
        for at, message in enumerate(messages)
    )


def _is_answer(messages: tuple[Message, ...], at: int) -> bool:
    return at > 0 and messages[at - 1].role is not messages[at].role
