"""What is said about a running stack: its addresses, its processes, its models."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from cli.output import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runtime.home import Home
    from runtime.settings import Settings
    from runtime.stack import ProcessStatus
    from runtime.state import StackState


def print_links(home: Home) -> bool:
    """Where to go now; False when nothing runs."""
    from runtime.checks import http_answers
    from runtime.settings import load_settings
    from runtime.stack import running_stack

    state = running_stack(home)
    if state is None:
        return False
    settings, secrets = load_settings(), home.secrets()
    flower_password = (
        settings.flower_password.get_secret_value() if settings.flower_password else secrets.flower_password
    )
    api, flower = (record.address if (record := state.record(name)) else None for name in ("api", "flower"))
    say("")
    if api:
        say(f"API       http://{api}")
        host, _, port = api.rpartition(":")
        if http_answers(host, int(port), "/docs/"):
            say(f"Docs      http://{api}/docs")
    if flower:
        say(f"Flower    http://{flower}   user {settings.flower_user}   password {flower_password}")
    for record in state.processes:
        if record.metrics:
            say(f"Metrics   http://{record.metrics}/metrics   of the {record.name}")
    say("Token     poco-memory token")
    say("Stop      make stop   (or: poco-memory down)")
    say(_models_in_words(state.model, state.embedding))
    return True


def status_document(
    settings: Settings, state: StackState | None, statuses: Sequence[ProcessStatus]
) -> dict[str, object]:
    """The same for programs; `api`, `flower` and `phase` are null while nothing runs."""
    addresses = {one.name: one.address for one in statuses}
    api, flower = addresses.get("api"), addresses.get("flower")
    return {
        "running": state is not None,
        "phase": state.phase if state else None,
        "home": str(settings.home.expanduser().absolute()),
        "api": {"url": f"http://{api}"} if api else None,
        "flower": {"url": f"http://{flower}", "user": settings.flower_user} if flower else None,
        "processes": [asdict(one) for one in statuses],
        "model": state.model if state else settings.llm_model,
        "embedding": state.embedding if state else settings.embedding_model,
    }


def show_status(state: StackState, statuses: Sequence[ProcessStatus]) -> None:
    """A table of the processes and a sentence on the whole."""
    _show_table(statuses)
    say(f"\nThe stack is {_in_words(state, statuses)}.")
    say(_models_in_words(state.model, state.embedding))


def _show_table(statuses: Sequence[ProcessStatus]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("process", "pid", "address", "metrics", "healthy", "uptime")
    for one in statuses:
        uptime = "" if one.uptime_seconds is None else _duration(one.uptime_seconds)
        healthy = "[green]yes[/]" if one.healthy else "[red]no[/]"
        table.add_row(one.name, str(one.pid or ""), one.address or "", one.metrics or "", healthy, uptime)
    Console().print(table)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"


def _in_words(state: StackState, statuses: Sequence[ProcessStatus]) -> str:
    from runtime.state import Phase

    if state.phase is not Phase.READY:
        return state.phase
    ill = [one.name for one in statuses if not one.healthy]
    return f"up, but not healthy: {', '.join(ill)} (see the logs)" if ill else "up and healthy"


def _models_in_words(model: str, embedding: str) -> str:
    from runtime.settings import OFFLINE_MODEL

    sentence = f"Facts are extracted by {model}, embedded by {embedding}."
    if model == OFFLINE_MODEL:
        sentence += (
            "\n`offline` is a set of rules for trying and testing, not for real use:"
            " set POCO_LLM_MODEL, POCO_LLM_BASE_URL and POCO_LLM_API_KEY for a language model."
        )
    return sentence
