"""The processes of a stack, made from the settings. Embedded servers are left out where a URL names another one."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from runtime.checks import beats, http_answers
from runtime.embedded.postgres import database_url, postgres_spec
from runtime.embedded.valkey import broker_url, valkey_spec
from runtime.home import METRICS, Home
from runtime.settings import Settings
from runtime.spec import Lifetime, ProcessSpec

# The exit code of our commands for wrong settings: starting again cannot help.
WRONG_SETTINGS = 2
_MARGIN_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Stack:
    """What a stack consists of; `environment` holds what each of our processes is told, with secrets."""

    specs: tuple[ProcessSpec, ...]
    environment: Mapping[str, str] = field(repr=False)


def build_stack(settings: Settings, home: Home) -> Stack:
    """Everything `poco-memory up` starts, in the order of the start; claims the ports.

    Raises:
        ConfigurationError: a wanted port is taken.
        EmbeddedServerError: an embedded server cannot run here.
    """
    wanted = {"api": settings.api_port, "flower": settings.flower_port, **_metrics_ports(settings)}
    embedded = {
        name: 0 for name, url in (("postgres", settings.database_url), ("valkey", settings.broker_url)) if url is None
    }
    ports = home.claim_ports(embedded | wanted)
    makers = {"postgres": postgres_spec, "valkey": valkey_spec}
    servers = tuple(make(home, ports[name]) for name, make in makers.items() if name in embedded)
    environment = stack_environment(settings, home, ports)
    migrate = _verb("migrate", environment, lifetime=Lifetime.TASK, after=tuple(spec.name for spec in servers))
    return Stack((*servers, migrate, *_services(settings, home, ports, environment)), environment)


def stack_environment(settings: Settings, home: Home, ports: Mapping[str, int]) -> dict[str, str]:
    """The environment of our processes: the caller's, and everything the settings leave to the stack."""
    secrets = home.secrets()
    given = {
        "POCO_DATABASE_URL": settings.database_url,
        "POCO_BROKER_URL": settings.broker_url,
        "POCO_SERVICE_TOKEN": settings.service_token,
        "POCO_OPERATOR_TOKEN": settings.operator_token,
        "POCO_FLOWER_PASSWORD": settings.flower_password,
    }
    made = {
        "POCO_DATABASE_URL": lambda: database_url(home, ports["postgres"]),
        "POCO_BROKER_URL": lambda: broker_url(home, ports["valkey"]),
        "POCO_SERVICE_TOKEN": lambda: secrets.service_token,
        "POCO_OPERATOR_TOKEN": lambda: secrets.operator_token,
        "POCO_FLOWER_PASSWORD": lambda: secrets.flower_password,
    }
    if not settings.user_jwks_url:
        given["POCO_USER_JWT_SECRET"] = settings.user_jwt_secret
        made["POCO_USER_JWT_SECRET"] = lambda: secrets.user_jwt_secret
    environment = dict(os.environ)
    environment.update({name: value.get_secret_value() if value else made[name]() for name, value in given.items()})
    if settings.embedding_calibration:
        environment["POCO_EMBEDDING_CALIBRATION"] = str(settings.embedding_calibration.absolute())
    return environment | {
        "POCO_API_PORT": str(ports["api"]),
        "POCO_FLOWER_PORT": str(ports["flower"]),
        "POCO_HOME": str(home.path),
        "MEM0_DIR": str(home.path / "mem0"),
        "MEM0_TELEMETRY": "False",
        # More threads would make a forked child hang in the local embedding model.
        "OMP_NUM_THREADS": "1",
        "PYTHONUNBUFFERED": "1",
    }


def _services(
    settings: Settings, home: Home, ports: Mapping[str, int], environment: Mapping[str, str]
) -> tuple[ProcessSpec, ...]:
    patience = settings.shutdown_seconds + _MARGIN_SECONDS
    shown = partial(_with_metrics, host=settings.metrics_host, ports=ports)
    return (
        shown(_beating("relay", home, environment, stop_seconds=10.0)),
        shown(_beating("worker", home, environment, stop_seconds=patience)),
        replace(
            shown(_listening("api", settings.api_host, ports["api"], "/health/live", environment)),
            after=("migrate",),
            stop_seconds=patience,
        ),
        # Flower has no business with the database, so it need not wait for it.
        replace(
            _listening("flower", settings.flower_host, ports["flower"], "/healthcheck", environment),
            after=("valkey",),
        ),
    )


def _verb(name: str, environment: Mapping[str, str], *, lifetime: Lifetime, after: tuple[str, ...] = ()) -> ProcessSpec:
    return ProcessSpec(
        name=name,
        command=_command(name),
        environment=environment,
        health=lambda: True,
        after=after,
        lifetime=lifetime,
        hopeless_codes=frozenset({WRONG_SETTINGS}),
    )


def _beating(name: str, home: Home, environment: Mapping[str, str], *, stop_seconds: float) -> ProcessSpec:
    heartbeat = home.heartbeat(name)
    return ProcessSpec(
        name=name,
        command=_command(name),
        environment={**environment, "POCO_HEARTBEAT_FILE": str(heartbeat)},
        health=partial(beats, heartbeat),
        after=("migrate",),
        # The beat of an earlier run must not speak for this one.
        prepare=partial(heartbeat.unlink, missing_ok=True),
        stop_seconds=stop_seconds,
        hopeless_codes=frozenset({WRONG_SETTINGS}),
    )


def _listening(name: str, host: str, port: int, path: str, environment: Mapping[str, str]) -> ProcessSpec:
    return ProcessSpec(
        name=name,
        command=_command(name),
        environment=environment,
        health=partial(http_answers, reachable(host), port, path),
        address=f"{reachable(host)}:{port}",
        hopeless_codes=frozenset({WRONG_SETTINGS}),
    )


def _metrics_ports(settings: Settings) -> dict[str, int]:
    first = settings.metrics_port
    return {f"{name}{METRICS}": first and first + place for place, name in enumerate(("api", "relay", "worker"))}


def _with_metrics(spec: ProcessSpec, *, host: str, ports: Mapping[str, int]) -> ProcessSpec:
    port = ports[f"{spec.name}{METRICS}"]
    environment = {**spec.environment, "POCO_METRICS_PORT": str(port)}
    return replace(spec, environment=environment, metrics=f"{reachable(host)}:{port}")


def _command(verb: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "cli.main", verb)


def reachable(host: str) -> str:
    """Where a server that listens on this address can be reached from this machine."""
    return "127.0.0.1" if host in ("0.0.0.0", "::", "") else host  # noqa: S104 - compared, not bound
