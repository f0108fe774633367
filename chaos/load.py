"""Hands candidates in as a careful client does: with a key, and again with the same key until they are accepted."""

from __future__ import annotations

import http.client
import json
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from random import Random

from chaos.candidates import Kind, MadeCandidate, make_candidate

_TIMEOUT_SECONDS = 10.0
_AGAIN_SECONDS = 0.25
_ACCEPTED = (200, 202)
_PER_SECOND = 2.5
_MOST_OPEN, _FULL_SECONDS = 50, 0.5
_SHARES = {Kind.GOOD: 40, Kind.SLOW: 24, Kind.REJECTED: 12, Kind.EMPTY: 14, Kind.FAILING: 6, Kind.POISON: 4}
_RESUBMITTED, _TWINS = 0.12, 0.08


@dataclass
class Load:
    """Submits until told to stop. `accepted` holds every job id that a key was answered with, in that order."""

    port: int
    token: str = field(repr=False)
    random: Random
    open_jobs: Callable[[], int | None]
    accepted: dict[str, list[str]] = field(default_factory=dict)
    repeats: Counter[str] = field(default_factory=Counter)
    _number: int = 0
    _stop: threading.Event = field(default_factory=threading.Event)
    _given_up: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Submit at a steady pace until `stop`."""
        while not self._stop.is_set():
            if (self.open_jobs() or 0) >= _MOST_OPEN:
                # What waits longer than that is only a queue, and a long end.
                self._stop.wait(_FULL_SECONDS)
                continue
            kind = self.random.choices(list(_SHARES), list(_SHARES.values()))[0]
            self._submit_somehow(kind)
            self._stop.wait(self.random.uniform(0.5, 1.5) / _PER_SECOND)

    def stop(self) -> None:
        """Let `run` return."""
        self._stop.set()

    def give_up(self) -> None:
        """As `stop`, and leave what is not accepted yet: the stack is not coming back."""
        self._given_up.set()
        self.stop()

    def submit_one_of_each(self) -> None:
        """One candidate of each kind, for a time when nothing is broken."""
        for kind in Kind:
            self._submit_somehow(kind)

    def _submit_somehow(self, kind: Kind) -> None:
        candidate = make_candidate(kind, self._number, self.random)
        self._number += 1
        if self.random.random() < _TWINS:
            with ThreadPoolExecutor(2) as pool:
                list(pool.map(self._submit, (candidate, candidate)))
            self.repeats["two submits at once"] += 1
        else:
            self._submit(candidate)
        if self.random.random() < _RESUBMITTED:
            self._submit(candidate)
            self.repeats["submitted again"] += 1

    def _submit(self, candidate: MadeCandidate) -> None:
        """Until it is accepted: without an answer nobody knows whether it was written."""
        while (job_id := self._post(candidate)) is None:
            if self._given_up.wait(_AGAIN_SECONDS):
                return
        self.accepted.setdefault(candidate.marker.key, []).append(job_id)

    def _post(self, candidate: MadeCandidate) -> str | None:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_TIMEOUT_SECONDS)
        try:
            headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
            connection.request("POST", "/v1/memories/ingest", json.dumps(candidate.body()), headers)
            response = connection.getresponse()
            answer = json.load(response)
        except (OSError, http.client.HTTPException, ValueError):
            return None
        finally:
            connection.close()
        return str(answer["job_id"]) if response.status in _ACCEPTED else None
