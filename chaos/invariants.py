"""What must hold after a run, one function for each promise. A function lists what breaks it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from chaos.candidates import PUBLISHED_KINDS, Kind
from chaos.model import CONFIDENCE_UNIT, Call
from chaos.witness import AFTERMATH_SECONDS, Evidence, JobSeen, Moment

DELAYS = (1.0, 2.0, 4.0)
BROKER_FAULTS = frozenset({"broker hung", "broker away", "redis flushed", "redis wiped"})
_SLACK_SECONDS = 2.0
_CLOCK_SECONDS = 0.05
_DATABASE = "database_unavailable"
_STEPS = ("admit", "extract", "check_language", "validate", "relink", "cleanup")
_OUTCOMES = {Kind.GOOD: "published", Kind.SLOW: "published", Kind.REJECTED: "rejected", Kind.EMPTY: "no_effect"}
_DEATHS = {Kind.FAILING: "llm_unavailable", Kind.POISON: "poison"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """One invariant after a run: how many things were looked at, and what broke it."""

    number: int
    name: str
    checked: int
    broken: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether nothing broke it."""
        return not self.broken


Check = Callable[[Evidence], Iterator[str]]


def every_candidate_ends(seen: Evidence) -> Iterator[str]:
    """1: every accepted candidate ends in a terminal state, with the outcome of its kind; none is lost."""
    jobs = {job.id: job for job in seen.jobs}
    for key, job_ids in seen.accepted.items():
        for job_id in job_ids:
            if job_id not in jobs:
                yield f"{key}: job {job_id} is gone"
    for job in seen.jobs:
        if job.status not in ("success", "dead"):
            yield f"{job.key}: {job.status} at step {job.step}"
        elif job.status == "success" and job.outcome != _OUTCOMES.get(job.marker.kind):
            yield f"{job.key}: {job.outcome}"


def every_effect_happens_once(seen: Evidence) -> Iterator[str]:
    """2: a key makes one job, a published job one memory with one line in history and audit, a name one entity."""
    for key, job_ids in seen.accepted.items():
        if len(set(job_ids)) > 1:
            yield f"{key}: {len(set(job_ids))} jobs"
    yield from _more_than_once("key", Counter(job.key for job in seen.jobs))
    yield from _more_than_once("text", Counter((memory.scope, memory.text) for memory in seen.memories))
    yield from _more_than_once("entity", Counter((entity.scope, entity.name) for entity in seen.entities))
    for entity in seen.entities:
        yield from _more_than_once("link", Counter(entity.memory_ids))
    memories = {memory.id for memory in seen.memories}
    by_job = Counter(memory.job_id for memory in seen.memories)
    for job in seen.jobs:
        expected = 1 if job.outcome == "published" else 0
        if by_job[job.id] != expected:
            yield f"{job.key}: {by_job[job.id]} memories, {expected} expected"
    for name, effects, what in (("history", seen.history, "ADD"), ("audit", seen.audit, "create")):
        lines = Counter(effect.memory_id for effect in effects if effect.what == what)
        for memory_id in memories | set(lines):
            expected = int(memory_id in memories)
            if lines[memory_id] != expected:
                yield f"memory {memory_id}: {lines[memory_id]} lines of {name}, {expected} expected"


def deterministic_ends_are_final(seen: Evidence) -> Iterator[str]:
    """3: rejected and no_effect leave no row and never retry; what is rejected never reaches the model."""
    calls, with_rows = _calls(seen), _jobs_with_rows(seen)
    for job in _of_kinds(seen, Kind.REJECTED, Kind.EMPTY):
        if job.id in with_rows:
            yield f"{job.key}: left a row"
        if any(_is_failure(before, after) for before, after in _changes(seen, job)):
            yield f"{job.key}: was tried again"
        if job.marker.kind is Kind.REJECTED and calls.get(job.key):
            yield f"{job.key}: reached the model"


def failing_makes_four_attempts(seen: Evidence) -> Iterator[str]:
    """4: four failures, then dead; the next attempt waits 1, 2 and 4 seconds, and not much longer when all is well."""
    calls = _calls(seen)
    for job in _of_kinds(seen, Kind.FAILING):
        failures = [after for before, after in _changes(seen, job) if after.retry_count > before.retry_count]
        counts = [moment.retry_count for moment in failures]
        if counts != list(range(1, len(DELAYS) + 2)):
            yield f"{job.key}: failures were counted {counts}"
            continue
        claims = [moment for _, moment in _claims(seen, job)]
        for failure, delay in zip(failures, DELAYS, strict=False):
            following = next((claim.at for claim in claims if claim.id > failure.id), None)
            gap = 0.0 if following is None else following - failure.at
            most = float("inf") if _is_disturbed(seen, job) else delay + _SLACK_SECONDS
            if not delay - _CLOCK_SECONDS <= gap <= most:
                yield f"{job.key}: the attempt after failure {failure.retry_count} came after {gap:.2f} s"
        yield from _wrong_calls(seen, job, calls.get(job.key, []))


def _wrong_calls(seen: Evidence, job: JobSeen, calls: Sequence[Call]) -> Iterator[str]:
    """The model's own record of a failing job; only of one that no fault has touched is it known exactly."""
    if len(calls) != len(DELAYS) + 1 and job.lost_count == 0 and not _is_disturbed(seen, job):
        yield f"{job.key}: the model was asked {len(calls)} times"
    failed = sum(_is_failure(before, after) for before, after in _changes(seen, job))
    if len(calls) < failed:
        yield f"{job.key}: the model was asked {len(calls)} times only"


def poison_ends_dead(seen: Evidence) -> Iterator[str]:
    """5: a candidate that kills whoever works on it ends dead as poison and leaves no row."""
    with_rows = _jobs_with_rows(seen)
    for job in _of_kinds(seen, Kind.POISON):
        if (job.status, job.reason) != ("dead", _DEATHS[Kind.POISON]):
            yield f"{job.key}: {job.status}, {job.reason}"
        if job.id in with_rows:
            yield f"{job.key}: left a row"


def effects_follow_acceptance(seen: Evidence) -> Iterator[str]:
    """6: within a scope jobs are queued, end and take effect in the order in which they were accepted."""
    order = {effect.memory_id: place for place, effect in enumerate(seen.audit)}
    ids = {job_id: place for place, job_ids in enumerate(seen.accepted.values()) for job_id in job_ids}
    memories = {memory.job_id: memory.id for memory in seen.memories}
    for scope in {job.scope for job in seen.jobs}:
        jobs = [job for job in seen.jobs if job.scope == scope]
        for name, places in (
            ("was queued", [(ids[job.id], job) for job in jobs if job.id in ids]),
            ("ended", [(_end(seen, job), job) for job in jobs if job.finished]),
            ("took effect", [(order.get(memories[job.id], 0), job) for job in jobs if job.id in memories]),
        ):
            for (earlier, _), (later, job) in pairwise(places):
                if later <= earlier:
                    yield f"{job.key}: {name} before an older one of its scope"


def late_workers_change_nothing(seen: Evidence) -> Iterator[str]:
    """7: only the holder of the latest lease completes a step, and what is published is its result."""
    for job in seen.jobs:
        for before, after in _changes(seen, job):
            is_completion = after.step > before.step or (after.status == "success" and before.status != "success")
            if is_completion and (before.owner is None or after.fence != before.fence):
                yield f"{job.key}: step {before.step} was completed without a lease"
            # That a message was sent for it all the same is no change of what is seen here.
            if before.status in ("success", "dead") and replace(before, id=after.id, at=after.at) != after:
                yield f"{job.key}: was changed after its end"
    yield from _late_results(seen)


def _late_results(seen: Evidence) -> Iterator[str]:
    """Memories that hold another answer than the one the last claim of the extraction got."""
    jobs, all_calls = {job.id: job for job in seen.jobs}, _calls(seen)
    for memory in seen.memories:
        job = jobs.get(memory.job_id or "")
        if job is None:
            continue
        owner = next((claim.owner for name, claim in reversed([*_claims(seen, job)]) if name == "extract"), None)
        pid = (owner or "").rpartition(":")[2]
        numbers = [call.number for call in all_calls.get(job.key, []) if str(call.pid) == pid]
        number = round((memory.confidence or 0) * CONFIDENCE_UNIT)
        if not numbers or number != numbers[-1]:
            yield f"{job.key}: call {number} was published, but the last claim made the calls {numbers}"


def nothing_dies_of_an_outage(seen: Evidence) -> Iterator[str]:
    """8: only what must die is dead, and of its own reason: no outage of the broker or anything else kills a job."""
    for job in seen.jobs:
        if job.status == "dead" and job.reason != _DEATHS.get(job.marker.kind):
            yield f"{job.key}: dead, {job.reason}"


def nothing_is_left_over(seen: Evidence) -> Iterator[str]:
    """9: no staged row but those of dead jobs, no orphan entity, no open lease, nothing in the outbox."""
    jobs = {job.id: job for job in seen.jobs}
    memories = {memory.id for memory in seen.memories}
    for job_id in seen.staged:
        if job_id not in jobs or jobs[job_id].status != "dead":
            yield f"job {job_id}: a staged row is left"
    for entity in seen.entities:
        if not entity.memory_ids or set(entity.memory_ids) - memories:
            yield f"entity {entity.id}: nothing mentions it"
    for job in seen.jobs:
        if job.owner is not None or job.status == "processing":
            yield f"{job.key}: its lease is open"
    for job_id in seen.outbox:
        yield f"job {job_id}: a row is left in the outbox"


def finished_steps_stay_finished(seen: Evidence) -> Iterator[str]:
    """10: the step pointer never goes back, only the step it names is claimed, and only a claim asks the model."""
    calls = _calls(seen)
    for job in seen.jobs:
        for before, after in _changes(seen, job):
            if after.step < before.step:
                yield f"{job.key}: went back from step {before.step} to {after.step}"
        for name, claim in _claims(seen, job):
            if name != _STEPS[claim.step - 1]:
                yield f"{job.key}: {name} ran again at step {claim.step}"
        asked, claimed = len(calls.get(job.key, [])), sum(name == "extract" for name, _ in _claims(seen, job))
        if asked > claimed:
            yield f"{job.key}: the model was asked {asked} times for {claimed} claims"


_ASKED: Mapping[Check, Callable[[Evidence], int]] = {
    every_candidate_ends: lambda seen: len(seen.accepted),
    every_effect_happens_once: lambda seen: len(seen.memories),
    deterministic_ends_are_final: lambda seen: len(_of_kinds(seen, Kind.REJECTED, Kind.EMPTY)),
    failing_makes_four_attempts: lambda seen: len(_of_kinds(seen, Kind.FAILING)),
    poison_ends_dead: lambda seen: len(_of_kinds(seen, Kind.POISON)),
    effects_follow_acceptance: lambda seen: len(_of_kinds(seen, *PUBLISHED_KINDS)),
    late_workers_change_nothing: lambda seen: sum(one.fence_at_waking > one.fence for one in seen.frozen),
    nothing_dies_of_an_outage: lambda seen: sum(fault.name in BROKER_FAULTS for fault in seen.faults),
    nothing_is_left_over: lambda seen: len(seen.jobs),
    finished_steps_stay_finished: lambda seen: sum(map(len, seen.moments.values())),
}
INVARIANTS: Sequence[Check] = tuple(_ASKED)


def judge(seen: Evidence) -> list[Verdict]:
    """Every invariant, in order."""
    return [
        Verdict(number, check.__name__.replace("_", " "), _ASKED[check](seen), tuple(check(seen)))
        for number, check in enumerate(INVARIANTS, 1)
    ]


def _of_kinds(seen: Evidence, *kinds: Kind) -> list[JobSeen]:
    return [job for job in seen.jobs if job.marker.kind in kinds]


def _calls(seen: Evidence) -> dict[str, list[Call]]:
    calls: dict[str, list[Call]] = {}
    for call in seen.calls:
        calls.setdefault(call.key, []).append(call)
    return calls


def _jobs_with_rows(seen: Evidence) -> set[str | None]:
    return {memory.job_id for memory in seen.memories} | {effect.job_id for effect in seen.audit}


def _changes(seen: Evidence, job: JobSeen) -> Iterator[tuple[Moment, Moment]]:
    yield from pairwise(seen.moments.get(job.id, ()))


def _claims(seen: Evidence, job: JobSeen) -> Iterator[tuple[str, Moment]]:
    """Each claim of the job: the step's name, and the job after it."""
    for before, after in _changes(seen, job):
        for name, count in after.attempts.items():
            if count > before.attempts.get(name, 0):
                yield name, after


def _is_failure(before: Moment, after: Moment) -> bool:
    """A failed attempt; one that could not reach the database is nobody's decision."""
    return after.retry_count > before.retry_count and not (after.last_error or "").startswith(_DATABASE)


def _is_disturbed(seen: Evidence, job: JobSeen) -> bool:
    """Whether a fault, or what followed it, touched the job's life."""
    end = job.finished or float("inf")
    return any(fault.began <= end and fault.ended >= job.created - AFTERMATH_SECONDS for fault in seen.faults)


def _end(seen: Evidence, job: JobSeen) -> int:
    return next((moment.id for moment in seen.moments.get(job.id, ()) if moment.status in ("success", "dead")), 0)


def _more_than_once(what: str, counts: Mapping[object, int]) -> Iterator[str]:
    for name, number in counts.items():
        if number > 1:
            yield f"{what} {name}: {number} times"
