"""When a failed step is tried again: after 1, 2 and 4 seconds, then never (Poco note, section 4.1)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Delays in seconds between the attempts of one step; one attempt more than delays."""

    delays: tuple[float, ...] = (1.0, 2.0, 4.0)

    @property
    def max_attempts(self) -> int:
        """How often a step is started at most."""
        return len(self.delays) + 1

    def delay_after(self, failures: int) -> float | None:
        """Seconds to wait after the nth failure of a step, or None when it is over."""
        return self.delays[failures - 1] if failures <= len(self.delays) else None
