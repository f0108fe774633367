"""`poco-memory jobs`: see what happened to candidates, and retry, restart or cancel them."""

from __future__ import annotations

import getpass
import os
import uuid
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Annotated

import typer

from cli.output import FAILED, complain, is_terminal, say, say_json
from cli.processes import services_of_this_process
from domain.errors import InvalidField
from domain.jobs import Outcome, Status, Step
from domain.operations import Act, Acted, JobFilter, Operator, ago
from domain.scope import Scope, check_external_id

# The largest number that the database counts to.
_MOST = 2**63 - 1
_STEPS = {step.name.lower(): step for step in Step}

StatusOption = Annotated[list[Status] | None, typer.Option("--status", help="Only these; may be repeated.")]
OutcomeOption = Annotated[list[Outcome] | None, typer.Option("--outcome", help="Only these; may be repeated.")]
ReasonOption = Annotated[
    list[str] | None, typer.Option("--reason", help="Only these; backend_error means any backend. May be repeated.")
]
StepOption = Annotated[
    list[str] | None, typer.Option("--step", help=f"Next step to run, one of {', '.join(_STEPS)}. May be repeated.")
]
ScopeOption = Annotated[str | None, typer.Option("--scope", help="One user, as tenant:user.")]
SinceOption = Annotated[str | None, typer.Option("--since", help="Changed within this time: 30s, 15m, 2h, 7d.")]
OlderOption = Annotated[str | None, typer.Option("--older-than", help="Not changed within this time.")]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON document.")]
WhyOption = Annotated[str | None, typer.Option("--why", help="Why; kept in the audit.")]
AllOption = Annotated[bool, typer.Option("--all", help="All dead jobs that the filters leave.")]
LimitOption = Annotated[
    int | None, typer.Option("--limit", min=1, max=_MOST, help="Not more than this many, the oldest first.")
]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")]

app = typer.Typer(help="Find, retry, restart and cancel jobs. Needs the database only.", no_args_is_help=True)


def register(parent: typer.Typer) -> None:
    """Add the verb."""
    parent.add_typer(app, name="jobs")


@app.command("list")
def list_jobs(
    status: StatusOption = None,
    outcome: OutcomeOption = None,
    reason: ReasonOption = None,
    step: StepOption = None,
    scope: ScopeOption = None,
    since: SinceOption = None,
    older_than: OlderOption = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Jobs a page.")] = 50,
    after: Annotated[int | None, typer.Option(min=0, max=_MOST, help="Where the page before said to go on.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Show jobs, the latest accepted first.

    Example: poco-memory jobs list --status dead --since 2h
    """
    from cli.jobs_show import print_jobs
    from tasks.documents import job_document

    page = services_of_this_process().desk.page(
        _filter(status, outcome, reason, step, scope, since, older_than), limit=limit, cursor=after
    )
    if as_json:
        say_json({"jobs": [job_document(job) for job in page.jobs], "next": page.next_cursor})
        return
    print_jobs(page)


@app.command()
def show(job_id: str, as_json: JsonOption = False) -> None:
    """Show one job: where it stands, why, which rules dropped what, and what operators did to it.

    Example: poco-memory jobs show 0b5ad3f6-5f5e-4b5c-9d1e-0c9a6c1b7f10
    """
    from cli.jobs_show import print_job, whole_document

    services = services_of_this_process()
    explanation = services.ledger.explain(_job_id(job_id))
    if explanation is None:
        complain(f"There is no job {job_id}.")
        raise typer.Exit(FAILED)
    audit = services.desk.audit(job_id)
    if as_json:
        say_json(whole_document(explanation, audit))
    else:
        print_job(explanation, audit)


@app.command()
def cancel(job_id: str, why: WhyOption = None) -> None:
    """End an open job now, also while it runs; nothing of it becomes a memory.

    Example: poco-memory jobs cancel 0b5ad3f6-5f5e-4b5c-9d1e-0c9a6c1b7f10
    """
    _finish([services_of_this_process().desk.act(_job_id(job_id), Act.CANCEL, _operator(why))], Act.CANCEL)


@app.command()
def stats(as_json: JsonOption = False) -> None:
    """Count jobs by status, outcome, step and reason, and say how long the oldest has waited.

    Example: poco-memory jobs stats --json
    """
    from cli.jobs_show import print_counts
    from tasks.documents import counts_document

    counts = services_of_this_process().stats.counts()
    if as_json:
        say_json(counts_document(counts))
    else:
        print_counts(counts)


@app.command()
def watch(
    status: StatusOption = None,
    scope: ScopeOption = None,
    every: Annotated[float, typer.Option(min=0.2, max=86_400, help="Seconds between two looks.")] = 2.0,
    times: Annotated[int | None, typer.Option(min=1, help="Stop after so many looks.")] = None,
) -> None:
    """Watch the queue live: what is open at which step, what died of what, and the latest jobs. Ctrl-C ends it.

    Example: poco-memory jobs watch --status dead
    """
    from cli.jobs_watch import watch as watch_jobs

    services = services_of_this_process()
    watch_jobs(services.desk, services.stats, _filter(status, None, scope=scope), every=every, times=times)


def _replay_command(act: Act) -> Callable[..., None]:
    """The command that lets one job, or all that are meant, run again."""

    def command(
        job_id: Annotated[str | None, typer.Argument(help="One job; or --all with filters.")] = None,
        everything: AllOption = False,
        reason: ReasonOption = None,
        step: StepOption = None,
        scope: ScopeOption = None,
        since: SinceOption = None,
        older_than: OlderOption = None,
        limit: LimitOption = None,
        dry_run: DryRunOption = False,
        why: WhyOption = None,
    ) -> None:
        wanted = _filter([Status.DEAD], [Outcome.DEAD], reason, step, scope, since, older_than)
        if everything and job_id is None:
            _replay_all(act, wanted, limit, dry_run, why)
        elif everything or job_id is None:
            raise typer.BadParameter("name one job, or say --all")
        elif dry_run or limit or wanted != _filter([Status.DEAD], [Outcome.DEAD]):
            raise typer.BadParameter("filters, --limit and --dry-run go with --all")
        else:
            _finish([services_of_this_process().desk.act(_job_id(job_id), act, _operator(why))], act)

    return command


app.command(
    "retry",
    help="""Run dead jobs again from the step that failed; what was done before stays done.

    Example: poco-memory jobs retry --all --reason backend_error --since 2h --dry-run""",
)(_replay_command(Act.RETRY))
app.command(
    "restart",
    help="""Run dead jobs again from the first step, as if they had just come in.

    Example: poco-memory jobs restart --all --reason llm_unparseable --why "new extraction model\"""",
)(_replay_command(Act.RESTART))


def _replay_all(act: Act, wanted: JobFilter, limit: int | None, dry_run: bool, why: str | None) -> None:
    from pipeline.operate import act_on_all

    desk = services_of_this_process().desk
    if dry_run:
        meant = desk.ids(wanted, limit=limit)
        for one in meant:
            say(one)
        say(f"{act}: {len(meant)} jobs are meant. Nothing was done.")
    else:
        count, done = act_on_all(desk, wanted, act, _operator(why), limit=limit)
        _finish(_with_progress(done, count), act)


def _finish(results: Iterator[Acted] | list[Acted], act: Act) -> None:
    """Tell what was refused, count what was done; exit code 1 when anything was refused."""
    done = refused = 0
    for acted in results:
        if acted.refusal is None:
            done += 1
        else:
            refused += 1
            complain(f"{acted.job_id}: {acted.refusal} (it is {acted.status or 'unknown'})")
    say(f"{act}: {done} jobs done{f', {refused} refused' if refused else ''}.")
    if refused:
        raise typer.Exit(FAILED)


def _with_progress(results: Iterator[Acted], count: int) -> Iterator[Acted]:
    if not is_terminal():
        yield from results
        return
    with typer.progressbar(results, length=count) as bar:
        yield from bar


def _filter(
    status: list[Status] | None,
    outcome: list[Outcome] | None,
    reason: list[str] | None = None,
    step: list[str] | None = None,
    scope: str | None = None,
    since: str | None = None,
    older_than: str | None = None,
) -> JobFilter:
    try:
        key = Scope.from_key(scope).key if scope is not None else None
    except InvalidField as exc:
        raise typer.BadParameter(f"--scope is tenant:user; {exc}") from None
    return JobFilter(
        statuses=tuple(status or ()),
        outcomes=tuple(outcome or ()),
        reasons=tuple(_reason(name) for name in reason or ()),
        steps=tuple(_step(name) for name in step or ()),
        scope=key,
        since=_ago("--since", since),
        before=_ago("--older-than", older_than),
    )


def _reason(name: str) -> str:
    try:
        check_external_id("--reason", name)
    except InvalidField as exc:
        raise typer.BadParameter(str(exc)) from None
    return name


def _step(name: str) -> Step:
    if name not in _STEPS:
        raise typer.BadParameter(f"--step: {name!r} is none of {', '.join(_STEPS)}")
    return _STEPS[name]


def _ago(option: str, value: str | None) -> datetime | None:
    try:
        return ago(option, value)
    except InvalidField as exc:
        raise typer.BadParameter(str(exc)) from None


def _job_id(value: str) -> str:
    try:
        return str(uuid.UUID(value))
    except ValueError:
        raise typer.BadParameter(f"{value!r} is no job id (a UUID)") from None


def _operator(why: str | None) -> Operator:
    try:
        name = getpass.getuser()
    except (KeyError, OSError):
        # A container may run as a user that has no name.
        name = f"uid {os.getuid()}"
    try:
        return Operator(name, why)
    except InvalidField as exc:
        raise typer.BadParameter(f"--{exc}") from None
