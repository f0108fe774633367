"""Keeps a set of processes running: starts them in order, starts again what dies, ends them in reverse order.

One loop in the main thread, because the kernel's parent-death signal fires when the starting thread ends.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from domain.errors import PocoError
from runtime.children import Child, spawn
from runtime.home import Home
from runtime.spec import Lifetime, ProcessSpec
from runtime.state import Failure, Phase, ProcessRecord, StackState

_POLL_SECONDS = 0.2
_STABLE_SECONDS = 30.0
_FIRST_DELAY = 0.5
_LONGEST_DELAY = 10.0
_MAX_DEATHS_BEFORE_READY = 3


def restart_delay(deaths: int) -> float:
    """Seconds to wait after the nth death in a row: 0.5, doubling to 10."""
    return min(_LONGEST_DELAY, _FIRST_DELAY * 2.0 ** min(deaths - 1, 10))


@dataclass(slots=True)
class _Watched:
    """One process under watch."""

    spec: ProcessSpec
    phase: Phase = Phase.WAITING
    child: Child | None = None
    started: float = 0.0
    started_at: float | None = None
    deaths: int = 0
    restarts: int = 0
    start_not_before: float = 0.0
    was_ready: bool = False

    @property
    def is_done(self) -> bool:
        return self.phase in (Phase.READY, Phase.FINISHED)

    def record(self) -> ProcessRecord:
        return ProcessRecord(
            name=self.spec.name,
            phase=self.phase,
            address=self.spec.address,
            pid=self.child.pid if self.child else None,
            identity=self.child.identity if self.child else None,
            started_at=self.started_at,
            restarts=self.restarts,
            stop_signal=self.spec.stop_signal,
            stop_seconds=self.spec.stop_seconds,
            metrics=self.spec.metrics,
        )


@dataclass(slots=True)
class Supervisor:
    """Runs the specs until told to stop. `notify` gets the state after each change, a start before anything else."""

    specs: Sequence[ProcessSpec]
    home: Home
    state: StackState
    notify: Callable[[StackState], None]
    start_seconds: float
    _watched: list[_Watched] = field(default_factory=list)
    _is_stopping: bool = False

    def run(self) -> Failure | None:
        """Start everything and keep it running. None after `stop`, or why the start was given up; all is ended then."""
        self._watched = [_Watched(spec) for spec in self.specs]
        deadline = time.monotonic() + self.start_seconds
        self._tell(Phase.STARTING)
        try:
            while not self._is_stopping and self.state.failure is None:
                self._round()
                self._check_start(deadline)
                time.sleep(_POLL_SECONDS)
        finally:
            self._end_all()
        return self.state.failure

    def stop(self) -> None:
        """End `run` soon; may be called from a signal handler."""
        self._is_stopping = True

    def _round(self) -> None:
        for watched in self._watched:
            if self._is_stopping or self.state.failure:
                return
            before = watched.record()
            self._advance(watched)
            if watched.record() != before:
                self._tell(self.state.phase)

    def _advance(self, watched: _Watched) -> None:
        if watched.phase is Phase.FINISHED:
            return
        if watched.child is None:
            if time.monotonic() >= watched.start_not_before and self._may_start(watched.spec):
                self._start(watched)
            return
        code = watched.child.exit_code()
        if code is not None:
            self._bury(watched, code)
        elif watched.phase is Phase.STARTING and watched.spec.lifetime is Lifetime.SERVICE and watched.spec.health():
            watched.phase, watched.was_ready = Phase.READY, True

    def _may_start(self, spec: ProcessSpec) -> bool:
        return all(other.is_done or other.was_ready for other in self._watched if other.spec.name in spec.after)

    def _start(self, watched: _Watched) -> None:
        try:
            watched.child = spawn(watched.spec, self.home)
        except (PocoError, OSError) as exc:
            self._give_up(watched.spec.name, str(exc))
            return
        watched.phase = Phase.STARTING
        watched.started, watched.started_at = time.monotonic(), time.time()

    def _bury(self, watched: _Watched, code: int) -> None:
        """Note a death, and say when the next start is due or that there will be none."""
        watched.child = None
        if code == 0 and watched.spec.lifetime is Lifetime.TASK:
            watched.phase, watched.was_ready = Phase.FINISHED, True
            return
        now = time.monotonic()
        watched.deaths = 1 if now - watched.started >= _STABLE_SECONDS else watched.deaths + 1
        watched.phase = Phase.WAITING
        watched.start_not_before = now + restart_delay(watched.deaths)
        watched.restarts += 1
        hopeless = code in watched.spec.hopeless_codes or watched.deaths >= _MAX_DEATHS_BEFORE_READY
        if hopeless and not watched.was_ready:
            self._give_up(watched.spec.name, f"it ended {_how(code)} before it was ready")

    def _check_start(self, deadline: float) -> None:
        if self.state.phase is not Phase.STARTING or self.state.failure:
            return
        missing = [watched for watched in self._watched if not watched.was_ready]
        if not missing:
            self._tell(Phase.READY)
        elif time.monotonic() > deadline:
            # What waits for another one is not the culprit.
            late = next((watched for watched in missing if watched.child), missing[0])
            self._give_up(late.spec.name, f"it was not ready within {self.start_seconds:.0f} seconds")

    def _give_up(self, name: str, message: str) -> None:
        self.state = replace(self.state, failure=Failure(name, message))

    def _end_all(self) -> None:
        self._tell(Phase.STOPPING)
        for watched in reversed(self._watched):
            if watched.child:
                watched.phase = Phase.STOPPING
                self._tell(Phase.STOPPING)
                watched.child.stop()
                watched.child, watched.phase = None, Phase.FINISHED
        self._tell(Phase.FAILED if self.state.failure else Phase.FINISHED)

    def _tell(self, phase: Phase) -> None:
        records = tuple(watched.record() for watched in self._watched)
        self.state = replace(self.state, phase=phase, processes=records)
        self.notify(self.state)


def _how(code: int) -> str:
    return f"by signal {-code}" if code < 0 else f"with exit code {code}"
