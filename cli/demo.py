"""`poco-memory demo`: sends sample candidates to the running API, waits for them, and searches what was kept."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from cli.output import FAILED, complain, is_terminal, say, say_json
from domain.errors import ConfigurationError

if TYPE_CHECKING:
    from rich.progress import Progress

    from cli.client import ApiClient
    from cli.samples import Question, Sample

TENANT = "demo"
_POLL_SECONDS = 0.3
_FINAL = ("success", "dead")


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one sample."""

    candidate: str
    outcome: str
    reason: str | None
    expected: str
    as_expected: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """What one search found: hits as text and score, best first."""

    query: str
    hits: tuple[tuple[str, float], ...]
    found: bool


def register(app: typer.Typer) -> None:
    """Add this verb."""
    app.command()(demo)


def demo(
    json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
    url: Annotated[str | None, typer.Option(help="Another API, with POCO_SERVICE_TOKEN as its token.")] = None,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds to wait for all candidates.")] = 180.0,
) -> None:
    """Send sample candidates, wait for their outcomes and search them; exit code 1 when one is not as expected.

    Example: poco-memory demo
    """
    from cli.samples import QUESTIONS, samples

    client = _client(url)
    user_id = f"demo-{time.strftime('%Y%m%d-%H%M%S')}-{time.time_ns() % 1000:03}"
    with _progress_bar(hidden=json or not is_terminal()) as progress:
        results = _send_all(client, user_id, samples(), timeout, progress=progress)
    answers = [_ask(client, user_id, question) for question in QUESTIONS]
    if json:
        say_json({"user_id": user_id, "results": _plain(results), "searches": _plain(answers)})
    else:
        _show(results, answers)
    wrong = [one.candidate for one in results if not one.as_expected] + [one.query for one in answers if not one.found]
    if wrong:
        complain(f"Not as expected: {'; '.join(wrong)}.")
        raise typer.Exit(FAILED)
    if not json:
        say(f"Everything is as expected. The memories belong to the user {user_id} of the tenant {TENANT}.")


def _client(url: str | None) -> ApiClient:
    from cli.client import ApiClient
    from runtime.home import Home
    from runtime.settings import load_settings, required_secret
    from runtime.stack import running_stack

    settings = load_settings()
    if url:
        return ApiClient(url, required_secret(settings, "service_token"))
    home = Home(settings.home.expanduser().absolute())
    state = running_stack(home)
    api = state.record("api") if state else None
    if api is None or not api.address:
        raise ConfigurationError("The stack is not running. Start it with: poco-memory up --detach")
    given = settings.service_token
    return ApiClient(f"http://{api.address}", given.get_secret_value() if given else home.secrets().service_token)


def _progress_bar(*, hidden: bool) -> Progress:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, disable=hidden)


def _send_all(
    client: ApiClient, user_id: str, samples: Sequence[Sample], timeout: float, *, progress: Progress
) -> list[Result]:
    """Hand in all samples, then wait until each has its outcome or the time is over."""
    sending = progress.add_task("sent", total=len(samples))
    waiting = progress.add_task("finished", total=len(samples))
    jobs: dict[str, Sample] = {}
    for number, sample in enumerate(samples):
        jobs[client.ingest(_body(sample, user_id, number))] = sample
        progress.advance(sending)
    finished: dict[str, Result] = {}
    deadline = time.monotonic() + timeout
    while len(finished) < len(jobs) and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
        for job_id in jobs.keys() - finished.keys():
            job = client.job(job_id)
            if job["status"] in _FINAL:
                finished[job_id] = _judge(jobs[job_id], str(job["outcome"]), _text(job["reason"]))
                progress.advance(waiting)
    return [finished.get(job_id) or _judge(sample, "unfinished", None) for job_id, sample in jobs.items()]


def _body(sample: Sample, user_id: str, number: int) -> dict[str, object]:
    messages = [{"role": "user", "content": sample.user}]
    if sample.assistant is not None:
        messages.append({"role": "assistant", "content": sample.assistant})
    return {
        "tenant_id": TENANT,
        "user_id": user_id,
        "kind": sample.kind,
        "messages": messages,
        "idempotency_key": f"{user_id}-{number}",
    }


def _judge(sample: Sample, outcome: str, reason: str | None) -> Result:
    fits = outcome == sample.outcome and sample.reason in (None, reason)
    return Result(sample.title, outcome, reason, _with_reason(sample.outcome, sample.reason), fits)


def _ask(client: ApiClient, user_id: str, question: Question) -> Answer:
    hits = client.search(TENANT, user_id, question.query)
    found = any(question.finds.lower() in text.lower() for text, _ in hits)
    return Answer(question.query, tuple(hits), found)


def _show(results: Sequence[Result], answers: Sequence[Answer]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    table = Table("candidate", "outcome", "expected", "")
    for one in results:
        mark = "[green]✓[/]" if one.as_expected else "[red]✗[/]"
        table.add_row(one.candidate, _with_reason(one.outcome, one.reason), one.expected, mark)
    console.print(table)
    for answer in answers:
        console.print(f"\n? {answer.query}", markup=False, highlight=False, soft_wrap=True)
        for text, score in answer.hits:
            console.print(f"  {score:.2f}  {text}", markup=False, highlight=False, soft_wrap=True)
        if not answer.hits:
            console.print("  nothing was found")
    console.print()


def _with_reason(outcome: str, reason: str | None) -> str:
    return f"{outcome}: {reason}" if reason else outcome


def _plain(rows: Sequence[Result] | Sequence[Answer]) -> list[dict[str, object]]:
    return [asdict(row) for row in rows]


def _text(value: object) -> str | None:
    return None if value is None else str(value)
