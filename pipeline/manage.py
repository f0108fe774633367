"""Manage one memory on purpose: add, update, delete or none, answered with what really happened.

The text is fact already, so nothing is extracted; but the rules of admission and post-validation hold for it as for
any other (Poco note, sections 4.2, 7 and 9).
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field

from admission.hygiene import as_seen
from admission.secrets import find_secret, find_secret_in
from domain.candidate import Role, RunKind
from domain.errors import InvalidField, TransientError
from domain.facts import StagedFact
from domain.lifecycle import DEFAULTS, NO_DETAILS, Action, Changed, ChangeStatus, Details, Mode, Wording, Writer
from domain.memory import Origin
from domain.metadata import check_metadata
from domain.ports import Eraser, LanguageIdentifier, MemoryKeeper, UserSettingsStore
from domain.scope import Scope
from domain.text import canonical
from pipeline.validate import find_fault
from pipeline.wording import WordingTools, worded

SOURCE = "manage"
AGENT = "agent"
WRITING_OFF = "memory_write_enabled"


@dataclass(frozen=True, slots=True)
class Wish:
    """What somebody wants done to the memories of a scope."""

    scope: Scope
    action: Action
    writer: Writer
    text: str | None = field(default=None, repr=False)
    memory_id: str | None = None
    details: Details = NO_DETAILS
    mode: Mode = Mode.FORGET
    run_id: str | None = None
    agent_id: str | None = None
    trace_id: str | None = None
    run_kind: RunKind = RunKind.INTERACTIVE


@dataclass(frozen=True, slots=True)
class ManageTools:
    """Stores, models and limits; `max_chars` of a text, `max_metadata_bytes` of metadata as JSON."""

    keeper: MemoryKeeper
    eraser: Eraser
    wording: WordingTools
    identify: LanguageIdentifier
    user_settings: UserSettingsStore
    max_chars: int
    max_metadata_bytes: int
    is_writing_on: bool = True


def manage(wish: Wish, tools: ManageTools) -> Changed:
    """Do it and say what happened. A well-formed wish makes its run's own candidate stay out, also when it fails.

    Raises:
        InvalidField: the wish is not well formed; nothing was written.
    """
    _check(wish, tools)
    try:
        if wish.run_id is not None:
            tools.keeper.note_run(wish.scope, wish.run_id)
        off = _off(wish, tools)
        return Changed(ChangeStatus.REJECTED, wish.memory_id, reason=off) if off else _ACTIONS[wish.action](wish, tools)
    except TransientError as exc:
        return Changed(ChangeStatus.BACKEND_ERROR, wish.memory_id, reason=exc.backend)


def _check(wish: Wish, tools: ManageTools) -> None:
    needs_text = wish.action is Action.ADD
    needs_id = wish.action in (Action.UPDATE, Action.DELETE)
    if needs_text and not _tidy(wish.text):
        raise InvalidField("text", "required", f"is needed to {wish.action}")
    if needs_id and wish.memory_id is None:
        raise InvalidField("memory_id", "required", f"is needed to {wish.action}")
    if not needs_id and wish.memory_id is not None:
        raise InvalidField("memory_id", "unexpected", f"must not be given to {wish.action}")
    if wish.action in (Action.DELETE, Action.NONE) and (wish.text is not None or wish.details != NO_DETAILS):
        raise InvalidField("text", "unexpected", f"nothing can be changed with {wish.action}")
    if wish.action is Action.UPDATE and not _tidy(wish.text) and not wish.details.given:
        raise InvalidField("text", "required", "text or another field is needed to update")
    check_metadata(wish.details.metadata, max_bytes=tools.max_metadata_bytes)


def _off(wish: Wish, tools: ManageTools) -> str | None:
    """The switch that keeps an agent from changing memories, or None; users may always correct and delete theirs."""
    if wish.writer.kind != AGENT or wish.action is Action.NONE:
        return None
    if not tools.is_writing_on:
        return WRITING_OFF
    if wish.run_kind is not RunKind.INTERACTIVE:
        return f"run_{wish.run_kind}"
    return tools.user_settings.get(wish.scope).saving_off()


def _add(wish: Wish, tools: ManageTools) -> Changed:
    text = _tidy(wish.text)
    rule = _fault(text, wish.details, tools)
    if rule is not None:
        return Changed(ChangeStatus.REJECTED, reason=rule)
    wording = worded(text, tools.wording)
    return tools.keeper.add(_origin(wish), _fact(wording, wish.details))


def _update(wish: Wish, tools: ManageTools) -> Changed:
    memory_id, text = str(wish.memory_id), _tidy(wish.text)
    present = tools.keeper.item(wish.scope, memory_id)
    if present is None:
        # Nothing is asked of a model for a memory that is not there; the keeper knows whether it is somebody else's.
        return tools.keeper.update(wish.scope, memory_id, None, NO_DETAILS, wish.writer)
    rule = _fault(text or present.content, wish.details, tools)
    if rule is not None:
        return Changed(ChangeStatus.REJECTED, memory_id, reason=rule)
    if text and wish.writer.kind == AGENT and _drifts(present.content, text, tools.identify):
        return Changed(ChangeStatus.REJECTED, memory_id, reason="language_drift")
    wording = worded(text, tools.wording) if text else None
    return tools.keeper.update(wish.scope, memory_id, wording, wish.details, wish.writer)


def _drifts(before: str, after: str, identify: LanguageIdentifier) -> bool:
    """Whether an agent says a memory in another language; a user may."""
    languages = identify(before), identify(after)
    return None not in languages and languages[0] != languages[1]


def _delete(wish: Wish, tools: ManageTools) -> Changed:
    remove = tools.keeper.archive if wish.mode is Mode.ARCHIVE else tools.eraser.forget
    return remove(wish.scope, str(wish.memory_id), wish.writer)


def _none(_: Wish, __: ManageTools) -> Changed:
    return Changed(ChangeStatus.NONE)


_ACTIONS = {Action.ADD: _add, Action.UPDATE: _update, Action.DELETE: _delete, Action.NONE: _none}


def _tidy(text: str | None) -> str:
    return canonical(as_seen(text or ""))


def _fault(text: str, details: Details, tools: ManageTools) -> str | None:
    """The rule that a text or its details break, or None."""
    if find_secret(text) or find_secret(details.title or "") or find_secret_in(details.metadata):
        return "credential"
    fact = StagedFact("", text, (), Role.USER.value)
    fault = find_fault(fact, max_chars=tools.max_chars)
    return str(fault) if fault else None


def _fact(wording: Wording, details: Details) -> StagedFact:
    return StagedFact(
        id=str(uuid.uuid4()),
        text=wording.text,
        vector=wording.vector,
        attributed_to=Role.USER.value,
        payload={**DEFAULTS.given, **details.given},
        text_lemmatized=wording.text_lemmatized,
        entities=wording.entities,
    )


def _origin(wish: Wish) -> Origin:
    return Origin(
        scope=wish.scope,
        source=SOURCE,
        agent_id=wish.agent_id,
        run_id=wish.run_id,
        trace_id=wish.trace_id,
        operator_type=wish.writer.kind,
        operator=wish.writer.name,
    )
