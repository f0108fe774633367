"""The verbs that are one process each: what the supervisor, docker-compose and systemd units run.

They replace themselves with the program they start, so signals reach it directly. No secret is on a command line.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NoReturn

import typer

from cli.output import say
from domain.errors import ConfigurationError

if TYPE_CHECKING:
    from runtime.settings import Settings
    from runtime.wiring import Services

_QUEUES = "ingest.llm,ingest.fast"
_THREADS_PER_CONNECTION = 4
_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - a folder gunicorn makes unlinked files in


def register(app: typer.Typer) -> None:
    """Add these verbs."""
    for verb in (migrate, relay, worker, api, flower):
        app.command()(verb)


def migrate() -> None:
    """Bring the database schema to this version.

    Example: POCO_DATABASE_URL=... poco-memory migrate
    """
    from runtime.settings import required_secret
    from storage.migrate import upgrade

    settings = settings_of_this_process()
    upgrade(required_secret(settings, "database_url"), embedding_model=settings.embedding_model, dims=settings.dims)
    say("The database schema is up to date.")


def relay() -> None:
    """Send what the outbox holds to the broker, until stopped.

    Example: poco-memory relay
    """
    settings = settings_of_this_process()
    _require(settings, "database_url", "broker_url")
    _check_metrics_port(settings)
    from tasks.relay import run

    run()


def worker(
    queues: Annotated[str, typer.Option(help="Queues to work on, comma-separated.")] = _QUEUES,
    name: Annotated[str, typer.Option(help="Name before the host name; different for each worker of a host.")] = "poco",
    pool: Annotated[
        Literal["prefork", "threads"] | None,
        typer.Option(help="Processes, or threads for steps that wait for a model; as in POCO_WORKER_POOL."),
    ] = None,
    concurrency: Annotated[
        int | None, typer.Option(min=1, max=256, help="Steps at a time; as in POCO_WORKER_CONCURRENCY.")
    ] = None,
) -> None:
    """Work on the steps of the pipeline.

    Example: poco-memory worker --queues ingest.llm --name llm --pool threads --concurrency 64
    """
    settings = settings_of_this_process()
    _require(settings, "database_url", "broker_url")
    chosen = {
        "worker_pool": pool or settings.worker_pool,
        "worker_concurrency": concurrency or settings.worker_concurrency,
    }
    settings = settings.model_copy(update=chosen)
    environment = {**worker_environment(settings), **_shared_metrics(settings, "worker")}
    _become("celery", *worker_arguments(settings, queues, name), environment=environment)


def worker_arguments(settings: Settings, queues: str, name: str, *, app: str = "tasks.app") -> Sequence[str]:
    """What Celery's command line is given for a worker."""
    return (
        f"--app={app}",
        "worker",
        f"--pool={settings.worker_pool}",
        f"--concurrency={settings.worker_concurrency}",
        f"--queues={queues}",
        f"--loglevel={settings.log_level}",
        f"--hostname={name}@%h",
        "--without-gossip",
        "--without-mingle",
        "--task-events",
    )


def worker_environment(settings: Settings) -> Mapping[str, str]:
    """What a worker is told by its environment."""
    # A plain SIGTERM would wait for the running step for ever; this way the soft shutdown's time limit holds.
    told = {"REMAP_SIGTERM": "SIGQUIT"}
    if settings.worker_pool == "threads":
        # A step holds a connection only while it claims and completes, so a few threads can share one.
        shared = settings.worker_concurrency // _THREADS_PER_CONNECTION
        told["POCO_DATABASE_POOL_SIZE"] = str(max(settings.database_pool_size, shared))
    return told


def api() -> None:
    """Serve the HTTP API.

    Example: POCO_API_PORT=8080 poco-memory api
    """
    settings = settings_of_this_process()
    _require(settings, "database_url", "broker_url", "service_token")
    settings = settings.model_copy(update={"api_port": _port(settings.api_port)})
    _become("gunicorn", *api_arguments(settings), environment=_shared_metrics(settings, "api"))


def api_arguments(settings: Settings, *, app: str = "api.app:create_app()") -> Sequence[str]:
    """What gunicorn's command line is given for the API; its port is a real one."""
    return (
        app,
        "--worker-class=gthread",
        f"--bind={settings.api_host}:{settings.api_port}",
        f"--workers={settings.api_workers}",
        f"--threads={settings.api_threads}",
        f"--graceful-timeout={settings.shutdown_seconds:.0f}",
        # Loading a model may take longer than the default of 30 s on a busy machine.
        "--timeout=120",
        f"--log-level={settings.log_level}",
        "--error-logfile=-",
        "--no-control-socket",
        # The most gunicorn takes: a filter of Chinese text is nine bytes a character.
        "--limit-request-line=8190",
        "--config=python:api.server",
        *_in_memory(),
    )


def flower() -> None:
    """Serve Flower, the pipeline's web page for operators.

    Example: POCO_FLOWER_PORT=5555 poco-memory flower
    """
    from runtime.settings import required_secret

    settings = settings_of_this_process()
    _require(settings, "broker_url", "flower_password")
    password = required_secret(settings, "flower_password")
    if "," in password:
        raise ConfigurationError("POCO_FLOWER_PASSWORD must not contain a comma, which Flower takes as a separator.")
    _become(
        "celery",
        "--app=tasks.app",
        "flower",
        f"--address={settings.flower_host}",
        f"--port={_port(settings.flower_port)}",
        "--persistent=False",
        # Everybody may read a command line, only the owner an environment.
        environment={
            "FLOWER_BASIC_AUTH": f"{settings.flower_user}:{password}",
            "FLOWER_PURGE_OFFLINE_WORKERS": "600",
        },
    )


def settings_of_this_process() -> Settings:
    """This process's settings; what is unset comes from the embedded stack of the home, while it runs."""
    from runtime.settings import load_settings

    settings = load_settings()
    defaults = {
        "MEM0_DIR": str((settings.home / "mem0").absolute()),
        "MEM0_TELEMETRY": "False",
        "OMP_NUM_THREADS": "1",
        **_from_running_stack(settings),
    }
    for name, value in defaults.items():
        os.environ[name] = os.environ.get(name) or value
    return load_settings()


def services_of_this_process() -> Services:
    """The wired services of a command that works on the database itself."""
    from runtime.wiring import Services

    return Services(settings_of_this_process())


def _from_running_stack(settings: Settings) -> Mapping[str, str]:
    if settings.database_url and settings.broker_url:
        return {}
    from runtime.home import Home
    from runtime.stack import connection_environment

    return connection_environment(Home(settings.home.absolute()))


def _require(settings: Settings, *names: str) -> None:
    from runtime.settings import required_secret

    for name in names:
        required_secret(settings, name)


def _port(wanted: int) -> int:
    from runtime.home import free_port

    return wanted or free_port()


def _check_metrics_port(settings: Settings) -> None:
    from runtime.home import is_free

    if settings.metrics_port and not is_free(settings.metrics_port):
        raise ConfigurationError(
            f"POCO_METRICS_PORT: port {settings.metrics_port} is in use. Each process of a host needs one of its own."
        )


def _shared_metrics(settings: Settings, verb: str) -> Mapping[str, str]:
    """Where the children of this process leave their figures for it to show."""
    if not settings.metrics_port:
        return {}
    from runtime.metrics_store import FOLDER_VARIABLE, fresh_folder

    _check_metrics_port(settings)
    return {FOLDER_VARIABLE: str(fresh_folder(settings.home, verb, settings.metrics_port))}


def _in_memory() -> Sequence[str]:
    """Gunicorn's heartbeat files belong where writing never waits for a disk."""
    return [f"--worker-tmp-dir={_SHARED_MEMORY}"] if os.access(_SHARED_MEMORY, os.W_OK) else []


def _become(module: str, *arguments: str, environment: Mapping[str, str] | None = None) -> NoReturn:
    from runtime.spec import PROJECT_ROOT

    # A folder named like one of our packages, where the user stands, must not be imported instead of ours.
    home = {"POCO_HOME": str(Path(os.environ.get("POCO_HOME") or ".poco").absolute())}
    os.chdir(PROJECT_ROOT)
    sys.stdout.flush()
    os.execvpe(  # noqa: S606 - our own command
        sys.executable, [sys.executable, "-m", module, *arguments], {**os.environ, **home, **(environment or {})}
    )
