"""What a user and the kind of a run allow: whether anything is saved or brought into a prompt (Poco note, section 7;
SmartMate note, section 5.4).
"""

from __future__ import annotations

from dataclasses import dataclass

from domain.candidate import RunKind
from domain.jobs import Finish, Outcome

SENSITIVE = 2


@dataclass(frozen=True, slots=True)
class UserSettings:
    """A user's switches. Off means that nothing new is written; nothing is deleted by it.

    `memory_enabled` is the main switch. `memory_save_enabled`: conversations write, change and forget.
    `memory_reference_enabled`: memories are brought into prompts. `implicit_memory_enabled`: facts are kept that nobody
    asked to keep. `sensitive_memory_enabled`: such facts may be sensitive (health, money, papers).
    """

    memory_enabled: bool = True
    memory_save_enabled: bool = True
    memory_reference_enabled: bool = True
    implicit_memory_enabled: bool = True
    sensitive_memory_enabled: bool = False

    def saving_off(self) -> str | None:
        """The switch that keeps conversations from writing, or None."""
        return _first_off(self, "memory_enabled", "memory_save_enabled")

    def implicit_off(self, run_kind: RunKind) -> str | None:
        """What keeps a candidate of such a run from becoming memories, or None."""
        if run_kind is not RunKind.INTERACTIVE:
            return f"run_{run_kind}"
        return self.saving_off() or _first_off(self, "implicit_memory_enabled")

    def reference_off(self, run_kind: RunKind) -> str | None:
        """What keeps memories out of the prompts of such a run, or None."""
        if run_kind is not RunKind.INTERACTIVE:
            return f"run_{run_kind}"
        return _first_off(self, "memory_enabled", "memory_reference_enabled")


def closed(settings: UserSettings, run_kind: RunKind, *, is_managed: bool) -> Finish | None:
    """How a candidate ends that nothing may come of, or None; asked before each step and again when it publishes."""
    reason = settings.implicit_off(run_kind)
    if reason is not None:
        return Finish(Outcome.MEMORY_OFF, reason=reason)
    return Finish(Outcome.SKIPPED_MANAGED, reason="run_managed") if is_managed else None


def _first_off(settings: UserSettings, *names: str) -> str | None:
    return next((name for name in names if not getattr(settings, name)), None)
