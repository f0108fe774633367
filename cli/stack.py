"""The verbs for the whole stack: up, down, status, links, token."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from cli.output import DONE, FAILED, complain, is_terminal, say, say_json
from cli.show import print_links, show_status, status_document
from domain.errors import ConfigurationError

if TYPE_CHECKING:
    import subprocess

    from runtime.home import Home
    from runtime.settings import Settings
    from runtime.state import StackState

_POLL_SECONDS = 0.1
# Stopping what came up before a failed start takes a while too.
_MARGIN_SECONDS = 60.0
_NOT_RUNNING = "The stack is not running. Start it with: poco-memory up --detach"
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
SecondsOption = Annotated[float, typer.Option("--timeout", min=1, help="Give up when not everything answers by then.")]


def register(app: typer.Typer) -> None:
    """Add these verbs."""
    for verb in (up, down, status, links, token):
        app.command()(verb)


def up(
    detach: Annotated[bool, typer.Option("--detach", "-d", help="Return when everything answers.")] = False,
    links: Annotated[bool, typer.Option(help="Print the addresses at the end.")] = True,
    timeout: SecondsOption = 120.0,
) -> None:
    """Start everything on this machine; Ctrl-C stops it.

    Example: poco-memory up --detach
    """
    from runtime.home import HomeInUse

    settings, home = _opened_home()
    try:
        if not detach:
            raise typer.Exit(_up_here(settings, home, timeout))
        code = _up_detached(home, timeout)
    except HomeInUse:
        code = _already_up(home, timeout)
    if code == DONE and links:
        print_links(home)
    raise typer.Exit(code)


def down() -> None:
    """Stop everything that runs from this home, and nothing else.

    Example: poco-memory down
    """
    from runtime.stack import stop_stack

    _, home = _existing_home()
    ended = stop_stack(home) if home else []
    say(f"Stopped: {', '.join(reversed(ended))}." if ended else "Nothing was running.")


def status(json: JsonOption = False) -> None:
    """Show what runs and how it is; exit code 1 when nothing does.

    Example: poco-memory status --json
    """
    from runtime.stack import process_statuses, running_stack

    settings, home = _existing_home()
    state = running_stack(home) if home else None
    statuses = process_statuses(home, state, time.time()) if home and state else []
    if json:
        say_json(status_document(settings, state, statuses))
    elif state is None:
        say(_NOT_RUNNING)
    else:
        show_status(state, statuses)
    raise typer.Exit(DONE if state else FAILED)


def links() -> None:
    """Print the addresses of the running stack and how to stop it.

    Example: poco-memory links
    """
    _, home = _existing_home()
    if home is None or not print_links(home):
        complain(_NOT_RUNNING)
        raise typer.Exit(FAILED)


def token(
    operator: Annotated[bool, typer.Option("--operator", help="The operators' token instead.")] = False,
    user: Annotated[str | None, typer.Option("--user", help="A token of this user, as tenant:user, for a day.")] = None,
) -> None:
    """Print the service token of the HTTP API, the operators' one, or one of a user for trying.

    Example: curl -H "Authorization: Bearer $(poco-memory token)" ...
    """
    settings, home = _existing_home()
    secrets = home.known_secrets() if home else None
    name = "user_jwt_secret" if user else "operator_token" if operator else "service_token"
    given = getattr(settings, name)
    found = given.get_secret_value() if given else getattr(secrets, name, None)
    if found is None:
        complain("There is no token yet. The first `poco-memory up` makes one.")
        raise typer.Exit(FAILED)
    say(_user_token(user, found, settings) if user else found)


def _user_token(user: str, secret: str, settings: Settings) -> str:
    from domain.errors import InvalidField
    from domain.scope import Scope
    from runtime.user_tokens import signed

    try:
        return signed(Scope.from_key(user), secret, settings, seconds=86_400)
    except InvalidField as exc:
        raise typer.BadParameter(f"--user is tenant:user; {exc}") from None


def _up_here(settings: Settings, home: Home, timeout: float) -> int:
    from cli.progress import StartDisplay
    from runtime.stack import log_problem, run_stack
    from runtime.state import Phase

    with StartDisplay() as display:
        is_announced = False

        def show(state: StackState) -> None:
            nonlocal is_announced
            display.show(state)
            if state.phase is Phase.READY and not is_announced:
                is_announced = True
                display.close()
                _announce(home)

        failure = run_stack(settings, home, start_seconds=timeout, show=show)
    if failure:
        complain(log_problem(home, failure))
        return FAILED
    say("Everything is stopped.")
    return DONE


def _announce(home: Home) -> None:
    """The links with their password are for a person's eyes; anything else than a terminal may be a log."""
    if is_terminal():
        print_links(home)
    else:
        say("Everything is ready. `poco-memory links` tells where.")


def _up_detached(home: Home, timeout: float) -> int:
    from runtime.stack import launch_supervisor

    with home.lock():
        # Only to see that nobody else holds it; the supervisor takes it for itself.
        pass
    process = launch_supervisor(home, start_seconds=timeout)
    try:
        return _follow(home, timeout, process)
    except KeyboardInterrupt:
        process.terminate()
        process.wait()
        complain("Interrupted; everything that had started is stopped.")
        return FAILED


def _follow(home: Home, timeout: float, process: subprocess.Popen[bytes]) -> int:
    """Show the start of the supervisor until it is up or has given up."""
    from cli.progress import StartDisplay
    from runtime.stack import SUPERVISOR, log_problem
    from runtime.state import Phase, read_state

    deadline = time.monotonic() + timeout + _MARGIN_SECONDS
    with StartDisplay() as display:
        while process.poll() is None and time.monotonic() < deadline:
            state = read_state(home)
            if state and state.pid == process.pid:
                display.show(state)
                if state.phase is Phase.READY:
                    break
            time.sleep(_POLL_SECONDS)
    if process.returncode is None and time.monotonic() < deadline:
        return DONE
    if process.returncode is None:
        process.terminate()
        complain(f"The supervisor was not ready within {timeout + _MARGIN_SECONDS:.0f} seconds, and is being stopped.")
        return FAILED
    state = read_state(home)
    if state and state.pid == process.pid and state.failure:
        complain(log_problem(home, state.failure))
    else:
        # It gave up before there was anything to watch, and said why.
        complain(home.log_tail(SUPERVISOR))
    return process.returncode or FAILED


def _already_up(home: Home, timeout: float) -> int:
    """Another supervisor holds the home: wait until it is up, if it is still starting."""
    from runtime.stack import running_stack
    from runtime.state import Phase

    deadline = time.monotonic() + timeout
    state = running_stack(home)
    while state and state.phase is Phase.STARTING and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
        state = running_stack(home)
    if state is None or state.phase is not Phase.READY:
        complain(f"{home.path} is in use, but not by a stack that is up. Try again in a moment.")
        return FAILED
    say("The stack is already up.")
    return DONE


def _opened_home() -> tuple[Settings, Home]:
    from runtime.home import Home
    from runtime.settings import load_settings

    settings = load_settings()
    return settings, Home.open(settings.home)


def _existing_home() -> tuple[Settings, Home | None]:
    """The home if there is one; looking makes none."""
    from runtime.home import Home
    from runtime.settings import load_settings

    settings = load_settings()
    home = Home(settings.home.expanduser().absolute())
    try:
        return settings, home if home.logs.is_dir() else None
    except PermissionError as exc:
        raise ConfigurationError(f"POCO_HOME: {home.path} belongs to another user.") from exc
