from __future__ import annotations

import os
import re
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command
from typer.testing import CliRunner

from cli.main import app
from cli.processes import _QUEUES
from runtime.home import Home
from runtime.processes import build_stack
from runtime.settings import Settings

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
OURS = {name: service for name, service in COMPOSE["services"].items() if service.get("image") == "poco-memory"}


def test_the_compose_file_has_every_part_of_the_service() -> None:
    ours = {"migrate", "relay", "worker-llm", "worker-fast", "api", "flower"}
    assert set(COMPOSE["services"]) == {"postgres", "redis", *ours}


@pytest.mark.parametrize("name", sorted(OURS))
def test_each_container_runs_a_command_that_exists(name: str) -> None:
    verb, *options = OURS[name]["command"]
    assert verb in get_command(app).commands  # type: ignore[attr-defined]
    assert CliRunner().invoke(app, [verb, *options, "--help"]).exit_code == 0
    command = get_command(app).commands[verb]  # type: ignore[attr-defined]
    command.make_context(verb, options)


def test_the_containers_run_the_same_commands_as_the_stack(tmp_path: Path) -> None:
    settings = Settings(database_url="postgresql://u:p@h/d", broker_url="redis://h/0")
    verbs = [spec.command[-1] for spec in build_stack(settings, Home.open(tmp_path / "home")).specs]
    assert verbs == ["migrate", "relay", "worker", "api", "flower"]
    assert {service["command"][0] for service in OURS.values()} == set(verbs)


def test_the_workers_share_every_queue_and_none_twice() -> None:
    commands = [service["command"] for service in OURS.values() if service["command"][0] == "worker"]
    queues = [command[command.index("--queues") + 1] for command in commands]
    assert sorted(queues) == sorted(_QUEUES.split(","))
    assert len({command[command.index("--name") + 1] for command in commands}) == len(commands)


@pytest.mark.parametrize(("age", "healthy"), [(0, True), (60, False), (None, False)])
def test_a_container_whose_process_stopped_beating_is_not_healthy(
    tmp_path: Path, age: int | None, healthy: bool
) -> None:
    checked = [service for service in OURS.values() if "healthcheck" in service]
    assert {service["command"][0] for service in checked} == {"relay", "worker"}
    heartbeat = tmp_path / "alive"
    if age is not None:
        heartbeat.touch()
        os.utime(heartbeat, (time.time() - age,) * 2)
    for service in checked:
        assert service["environment"]["POCO_HEARTBEAT_FILE"]
        script = service["healthcheck"]["test"][1].replace("$$", "$")
        environment = {**os.environ, "POCO_HEARTBEAT_FILE": str(heartbeat)}
        done = subprocess.run(["sh", "-c", script], env=environment, check=False, capture_output=True)
        assert (done.returncode == 0) is healthy


@pytest.mark.parametrize("name", sorted(OURS))
def test_each_variable_of_a_container_is_a_setting(name: str) -> None:
    known = {f"POCO_{field.upper()}" for field in Settings.model_fields}
    assert set(OURS[name]["environment"]) <= known | {"POCO_HEARTBEAT_FILE"}


def test_redis_keeps_an_append_only_file_and_never_evicts() -> None:
    command = COMPOSE["services"]["redis"]["command"]
    assert command[command.index("--appendonly") + 1] == "yes"
    assert command[command.index("--maxmemory-policy") + 1] == "noeviction"


def test_no_port_is_open_beyond_this_host() -> None:
    ports = [port for service in COMPOSE["services"].values() for port in service.get("ports", [])]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_the_compose_file_holds_no_password() -> None:
    text = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    assert all("${" in value for value in re.findall(r"(?:PASSWORD|TOKEN|API_KEY): (.+)", text))


def test_the_image_installs_from_the_lock_file_and_runs_the_command_line() -> None:
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert "--require-hashes --requirement requirements.lock" in lines
    assert 'ENTRYPOINT ["poco-memory"]' in lines
    assert "USER poco" in lines
