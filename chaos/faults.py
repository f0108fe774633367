"""The faults, each done to the world and told apart by name, and the seeded plan that orders them."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random

import redis

from chaos.candidates import Kind, marker_of_key
from chaos.model import Call
from chaos.witness import AFTERMATH_SECONDS, Fault, Frozen
from chaos.world import API, LEASE_SECONDS, RELAYS, WORKERS, Lease, World, signal_by_id
from runtime.procfs import children_of

OUTAGE_SECONDS = 8.0
_PATIENCE_SECONDS = 6.0
# A job whose workers died four times is poison by design; a fault aims at no job that is near it.
_MOST_LOST = 1
_EXTRACT = 2
# How often each fault stands in a round of the plan.
ROUND = {
    "child frozen": 3,
    "worker killed": 2,
    "worker terminated": 2,
    "child killed": 3,
    "child terminated": 1,
    "relay killed": 2,
    "relay terminated": 1,
    "api killed": 1,
    "api terminated": 1,
    "delivered twice": 3,
    "redis flushed": 2,
    "redis wiped": 2,
    "postgres killed": 2,
    "broker hung": 1,
    "broker away": 1,
}


def plan(random: Random) -> Iterator[str]:
    """Names of faults without end: first each of them once, then in rounds by their weight, always shuffled."""
    names = list(ROUND)
    while True:
        random.shuffle(names)
        yield from names
        names = [name for name, times in ROUND.items() for _ in range(times)]


@dataclass
class Faults:
    """Does faults and remembers them; `calls` is what the model was asked so far. Call it from the main thread."""

    world: World
    random: Random
    calls: Sequence[Call] = ()
    done: list[Fault] = field(default_factory=list)
    frozen: list[Frozen] = field(default_factory=list)

    def do(self, name: str) -> bool:
        """Do the fault of this name; False when there was nothing to do it to."""
        began = time.time()
        if not self._action(name)():
            return False
        self.done.append(Fault(name, began, time.time()))
        return True

    def seconds_to_calm(self) -> float:
        """How long to wait until the last fault is felt no more."""
        return max(0.0, self.done[-1].ended + AFTERMATH_SECONDS - time.time()) if self.done else 0.0

    def _action(self, name: str) -> Callable[[], bool]:
        actions: dict[str, Callable[[], bool]] = {
            "child frozen": self._freeze_child,
            "child killed": lambda: self._end_child(signal.SIGKILL),
            "child terminated": lambda: self._end_child(signal.SIGTERM),
            "worker killed": lambda: self._end_worker(signal.SIGKILL),
            "worker terminated": lambda: self._end_worker(signal.SIGTERM),
            "relay killed": lambda: self._end(self.random.choice(RELAYS), signal.SIGKILL),
            "relay terminated": lambda: self._end(self.random.choice(RELAYS), signal.SIGTERM),
            "api killed": lambda: self._end(API, signal.SIGKILL),
            "api terminated": lambda: self._end(API, signal.SIGTERM),
            "delivered twice": self._send_again,
            "redis flushed": self._flush_broker,
            "redis wiped": self._wipe_broker,
            "postgres killed": self._kill_database,
            "broker hung": self._hang_broker,
            "broker away": self._take_broker_away,
        }
        return actions[name]

    def _end(self, name: str, how: signal.Signals) -> bool:
        self.world.signal(name, how)
        return True

    def _end_worker(self, how: signal.Signals) -> bool:
        name = self.random.choice(WORKERS)
        mine = set(children_of(self.world.children[name].pid))
        if not mine or any(self._is_near_poison(lease) for lease in self.world.leases() if lease.pid in mine):
            return False
        return self._end(name, how)

    def _end_child(self, how: signal.Signals) -> bool:
        lease = self._await_lease(Kind.SLOW, Kind.GOOD, Kind.EMPTY)
        return lease is not None and signal_by_id(lease.pid, how)

    def _freeze_child(self) -> bool:
        """Stop a child in the middle of an extraction, and let it go on when somebody else has its job."""
        lease = self._await_lease(Kind.SLOW)
        if lease is None or not self._has_asked(lease) or not signal_by_id(lease.pid, signal.SIGSTOP):
            return False
        try:
            fence = self._await_other_owner(lease)
        finally:
            signal_by_id(lease.pid, signal.SIGCONT)
        self.frozen.append(Frozen(lease.key, lease.fence, fence))
        return True

    def _has_asked(self, lease: Lease) -> bool:
        """Wait until the model works on it: at waking its answer is there, sooner than that of whoever took over."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not any(call.key == lease.key and call.pid == lease.pid for call in list(self.calls)):
            if time.monotonic() > deadline:
                return False
            self.world.tend(0.02)
        return True

    def _await_other_owner(self, lease: Lease) -> int:
        statement = "SELECT fence, lease_owner IS NOT NULL FROM memory_jobs WHERE idempotency_key = %s"
        deadline, fence = time.monotonic() + LEASE_SECONDS + _PATIENCE_SECONDS, lease.fence
        while time.monotonic() < deadline:
            for fence, is_owned in self.world.ask(statement, lease.key):
                if fence > lease.fence + 1 and is_owned:
                    return int(fence)
            self.world.tend(0.1)
        return int(fence)

    def _send_again(self) -> bool:
        """What a relay leaves behind that dies between sending and forgetting: every chain under way is sent again."""
        waiting = "SELECT 1 FROM memory_jobs WHERE status = 'failed' AND next_retry_at > now() + interval '1 s'"
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not self.world.ask(waiting) and time.monotonic() < deadline:
            # Best is a moment when a retry is not due yet.
            self.world.tend(0.05)
        statement = (
            "INSERT INTO memory_outbox (job_id, ready) "
            "SELECT id, true FROM memory_jobs WHERE status IN ('processing', 'failed') RETURNING job_id"
        )
        return bool(self.world.ask(statement))

    def _flush_broker(self) -> bool:
        with _client(self.world) as client:
            try:
                client.flushall()
            except redis.RedisError:
                return False
        return True

    def _wipe_broker(self) -> bool:
        self.world.kill("valkey")
        self.world.forget_broker_data()
        self.world.start("valkey")
        return True

    def _kill_database(self) -> bool:
        self.world.kill("postgres")
        self.world.start("postgres")
        return True

    def _hang_broker(self) -> bool:
        if self._await_lease(Kind.SLOW) is None:
            return False
        self.world.signal("valkey", signal.SIGSTOP)
        try:
            self.world.tend(OUTAGE_SECONDS)
        finally:
            self.world.signal("valkey", signal.SIGCONT)
        return True

    def _take_broker_away(self) -> bool:
        if self._await_lease(Kind.SLOW) is None:
            return False
        self.world.kill("valkey")
        self.world.tend(OUTAGE_SECONDS)
        self.world.start("valkey")
        return True

    def _await_lease(self, *kinds: Kind) -> Lease | None:
        """Somebody who works on a job of one of these kinds and is not near poison; None when nobody begins."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < deadline:
            ours = set(self.world.worker_children())
            for lease in self.world.leases():
                kind = marker_of_key(lease.key).kind
                # What is slow is slow in its extraction only.
                is_meant = kind in kinds and (kind is not Kind.SLOW or lease.step == _EXTRACT)
                if lease.pid in ours and is_meant and not self._is_near_poison(lease):
                    return lease
            self.world.tend(0.05)
        return None

    def _is_near_poison(self, lease: Lease) -> bool:
        return lease.lost_count > _MOST_LOST and marker_of_key(lease.key).kind is not Kind.POISON


@contextmanager
def _client(world: World) -> Iterator[redis.Redis]:
    client = redis.Redis.from_url(world.broker_url, socket_timeout=2, socket_connect_timeout=2)
    try:
        yield client
    finally:
        client.close()
