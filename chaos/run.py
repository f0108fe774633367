"""One run: bring the world up, submit and break things for a while, let everything end, and judge what is left."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from chaos.faults import ROUND, Faults, plan
from chaos.invariants import Verdict, judge
from chaos.load import Load
from chaos.model import ChaosModel
from chaos.witness import Evidence, read_evidence
from chaos.world import World, running_world
from runtime.home import Home

_DRAIN_SECONDS = 60.0
_WHOLE_ROUND_SECONDS, _EXTRA_SECONDS = 60.0, 90.0
Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Report:
    """What a run came to.

    `repeats` are submits with a known key. `lost` and `doubled` count candidates and effects; both must be 0. `seconds`
    is the whole run.
    """

    seed: int
    seconds: float
    faults: Counter[str]
    repeats: Counter[str]
    accepted: int
    outcomes: Counter[str]
    lost: int
    doubled: int
    verdicts: tuple[Verdict, ...]

    @property
    def holds(self) -> bool:
        """Whether every invariant does."""
        return all(verdict.holds for verdict in self.verdicts)

    def document(self) -> dict[str, object]:
        """The report for programs."""
        return {
            "seed": self.seed,
            "seconds": round(self.seconds, 1),
            "faults": self.faults.total(),
            "faults_by_kind": dict(self.faults),
            "repeats_by_kind": dict(self.repeats),
            "accepted": self.accepted,
            "outcomes": dict(self.outcomes),
            "lost": self.lost,
            "doubled": self.doubled,
            "invariants": [
                {
                    "number": verdict.number,
                    "name": verdict.name,
                    "holds": verdict.holds,
                    "checked": verdict.checked,
                    "broken": list(verdict.broken),
                }
                for verdict in self.verdicts
            ],
        }


def run_chaos(folder: Path, *, seconds: float, seed: int, with_unique_index: bool, tell: Tell) -> Report:
    """Break a stack in an empty folder for some seconds; call this from the main thread.

    `tell` gets a sentence for each thing that happens.

    Raises:
        WorldBroken: when the stack does not come up, or not come back.
    """
    begun = time.monotonic()
    with ChaosModel() as model, running_world(Home.open(folder), model, with_unique_index=with_unique_index) as world:
        tell(f"The stack is up after {time.monotonic() - begun:.1f} s. Seed {seed}.")
        faults = Faults(world, Random(f"{seed} faults"), model.calls)
        load = Load(world.ports["api"], world.token, Random(f"{seed} load"), world.open_jobs)
        with _submitting(load, world):
            _break(faults, Random(f"{seed} plan"), seconds, tell)
            world.settle()
        tell("No more faults: everything has to end.")
        _drain(world, tell)
        world.tend(faults.seconds_to_calm())
        tell("One more candidate of each kind, on a stack that nothing disturbs.")
        load.submit_one_of_each()
        _drain(world, tell)
        evidence = read_evidence(
            world.database_url, accepted=load.accepted, calls=model.calls, faults=faults.done, frozen=faults.frozen
        )
    return _report(evidence, load.repeats, seed, time.monotonic() - begun)


def _break(faults: Faults, random: Random, seconds: float, tell: Tell) -> None:
    """Do the plan's faults until the time is up; from a minute on, each kind once in any case."""
    begun, names = time.monotonic(), plan(random)
    missing = set(ROUND) if seconds >= _WHOLE_ROUND_SECONDS else set[str]()
    most = begun + seconds + _EXTRA_SECONDS
    while time.monotonic() - begun < seconds or (missing and time.monotonic() < most):
        faults.world.tend(random.uniform(0.5, 2.5))
        is_over = time.monotonic() - begun >= seconds
        name = random.choice(sorted(missing)) if is_over and missing else next(names)
        if faults.do(name):
            missing.discard(name)
            tell(f"{time.monotonic() - begun:6.1f} s  {name}")


@contextmanager
def _submitting(load: Load, world: World) -> Iterator[None]:
    """Submit in a thread of its own during the block; the world is kept alive until the last one is accepted."""
    thread = threading.Thread(target=load.run, daemon=True, name="load")
    thread.start()
    try:
        yield
    except BaseException:
        # The interpreter would wait for ever for threads that go on submitting to nobody.
        load.give_up()
        raise
    load.stop()
    while thread.is_alive():
        world.tend(0.1)


def _drain(world: World, tell: Tell) -> None:
    """Wait until nothing is open, or nothing has ended for a long while."""
    fewest, deadline = None, time.monotonic() + _DRAIN_SECONDS
    while time.monotonic() < deadline:
        number = world.open_jobs()
        if number == 0:
            return
        if number is not None and (fewest is None or number < fewest):
            fewest, deadline = number, time.monotonic() + _DRAIN_SECONDS
        tell("The database does not answer." if number is None else f"{number} candidates are still open.")
        world.tend(2.0)


def _report(evidence: Evidence, repeats: Counter[str], seed: int, seconds: float) -> Report:
    ended = {job.id for job in evidence.jobs if job.status in ("success", "dead")}
    verdicts = judge(evidence)
    return Report(
        seed=seed,
        seconds=seconds,
        faults=Counter(fault.name for fault in evidence.faults),
        repeats=repeats,
        accepted=len(evidence.accepted),
        outcomes=Counter(job.outcome or job.status for job in evidence.jobs),
        lost=sum(not set(job_ids) <= ended for job_ids in evidence.accepted.values()),
        doubled=len(verdicts[1].broken),
        verdicts=tuple(verdicts),
    )
