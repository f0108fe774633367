"""What a newcomer does: start everything in an empty directory, look at it, crash it, start it again, stop it."""

from __future__ import annotations

import base64
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from domain.jobs import Step
from runtime.embedded.servers import Servers
from storage.migrate import upgrade
from tests.conftest import new_database, own_broker
from tests.stack import Answer, Stack

COMMAND = Path(sys.executable).with_name("poco-memory")


class Newcomer:
    """Runs commands in a directory of its own, without any setting but those given."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder = folder
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("POCO_")}
        self.environment |= {f"POCO_{name.upper()}": value for name, value in settings.items()}

    def run(self, *arguments: str, code: int = 0) -> str:
        """Run `poco-memory` and give what it printed."""
        done = subprocess.run(
            [COMMAND, *arguments], cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=180
        )
        assert done.returncode == code, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def status(self) -> dict[str, Any]:
        """What `status --json` says."""
        status: dict[str, Any] = json.loads(self.run("status", "--json"))
        return status

    def pids(self) -> dict[str, int]:
        """The processes by name."""
        return {process["name"]: process["pid"] for process in self.status()["processes"]}

    def api(self) -> Stack:
        """The running API."""
        return Stack(self.folder, {}, self.status()["api"]["url"])

    def post(self, path: str, body: object) -> Answer:
        """POST to the API with the stack's token."""
        return self.api().post(path, body, token=self.run("token").strip())

    def job(self, job_id: str) -> dict[str, Any]:
        """One job as the API shows it."""
        return self.api().get(f"/v1/jobs/{job_id}", token=self.run("token").strip()).body


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Newcomer]:
    made = Newcomer(tmp_path_factory.mktemp("newcomer"))
    made.run("up", "--detach")
    yield made
    made.run("down")


@pytest.fixture
def guest(servers: Servers, tmp_path: Path) -> Iterator[Newcomer]:
    """A newcomer with a PostgreSQL and a Redis of their own."""
    database_url = new_database(servers, f"guest_{uuid.uuid4().hex[:8]}")
    broker_url = own_broker(servers, 1)
    made = Newcomer(tmp_path, database_url=database_url, broker_url=broker_url)
    yield made
    made.run("down")


def test_with_servers_of_your_own_nothing_embedded_is_started(guest: Newcomer) -> None:
    guest.run("up", "--detach")
    assert list(guest.pids()) == ["relay", "worker", "api", "flower"]
    assert json.loads(guest.run("demo", "--json"))["results"]
    assert not (guest.folder / ".poco" / "postgres").exists()


def test_a_database_of_another_embedding_model_stops_the_start(servers: Servers, tmp_path: Path) -> None:
    database_url = new_database(servers, f"other_{uuid.uuid4().hex[:8]}")
    upgrade(database_url, embedding_model="other-model", dims=384)
    guest = Newcomer(tmp_path, database_url=database_url, broker_url=servers.broker_url)
    done = subprocess.run(
        [COMMAND, "up", "--detach"], cwd=tmp_path, env=guest.environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode != 0
    assert "made with the embedding model other-model" in done.stderr
    guest.run("down")


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_everything_is_up_and_healthy_on_this_machine_only(newcomer: Newcomer) -> None:
    status = newcomer.status()
    assert [process["name"] for process in status["processes"]] == [
        "postgres",
        "valkey",
        "relay",
        "worker",
        "api",
        "flower",
    ]
    assert all(process["healthy"] for process in status["processes"])
    assert status["api"]["url"].startswith("http://127.0.0.1:")


def test_each_process_shows_its_metrics_where_status_and_links_say(newcomer: Newcomer) -> None:
    shown = {one["name"]: one["metrics"] for one in newcomer.status()["processes"] if one["metrics"]}
    assert list(shown) == ["relay", "worker", "api"]
    links = newcomer.run("links")
    for name, address in shown.items():
        assert address.startswith("127.0.0.1:")
        assert f"http://{address}/metrics   of the {name}" in links
        with urllib.request.urlopen(f"http://{address}/metrics", timeout=10) as response:
            assert b"memory_jobs_ended_total" in response.read()


def test_the_home_is_closed_to_others(newcomer: Newcomer) -> None:
    home = newcomer.folder / ".poco"
    assert home.stat().st_mode & 0o777 == 0o700
    assert (home / "secrets.json").stat().st_mode & 0o777 == 0o600


def test_no_command_line_holds_a_secret(newcomer: Newcomer) -> None:
    secrets = json.loads((newcomer.folder / ".poco" / "secrets.json").read_text(encoding="utf-8"))
    for pid in newcomer.pids().values():
        line = Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8")
        assert not any(secret in line for secret in secrets.values())


def test_the_demo_ends_as_it_should(newcomer: Newcomer) -> None:
    shown = json.loads(newcomer.run("demo", "--json"))
    outcomes = {result["outcome"] for result in shown["results"]}
    assert {"published", "no_effect", "rejected"} <= outcomes
    assert len(shown["results"]) >= 12
    assert all(result["as_expected"] for result in shown["results"])
    assert len(shown["searches"]) == 3
    assert all(search["found"] and search["hits"] for search in shown["searches"])


# Kind: mher/flower#1161.
def test_flower_shows_the_six_tasks_with_job_ids_only(newcomer: Newcomer) -> None:
    flower = newcomer.status()["flower"]
    secrets = json.loads((newcomer.folder / ".poco" / "secrets.json").read_text(encoding="utf-8"))
    url = f"{flower['url']}/api/tasks?limit=1000"
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(url, timeout=10)
    refused.value.close()
    assert refused.value.code == 401
    password = base64.b64encode(f"{flower['user']}:{secrets['flower_password']}".encode()).decode()
    request = urllib.request.Request(url, headers={"Authorization": f"Basic {password}"})
    with urllib.request.urlopen(request, timeout=10) as response:
        tasks = json.loads(response.read()).values()
    assert {task["name"] for task in tasks} == {step.task_name for step in Step}
    assert all(re.fullmatch(r"[\[(]'[0-9a-f-]{36}',?[\])]", task["args"]) for task in tasks)
    assert all(task["kwargs"] == "{}" for task in tasks)
    # As docs/flower.md says: a task that ended well tells in a word what the ledger made of it.
    ended = {task["result"] for task in tasks if task["state"] == "SUCCESS"}
    assert {"'done'", "'finished'"} <= ended <= {"'done'", "'finished'", "'dead'", "'not_ours'", "'fenced'"}


def test_flowers_metrics_need_no_password_so_it_listens_on_this_machine_only(newcomer: Newcomer) -> None:
    flower = newcomer.status()["flower"]
    assert flower["url"].startswith("http://127.0.0.1:")
    with urllib.request.urlopen(f"{flower['url']}/metrics", timeout=10) as response:
        shown = response.read().decode()
    assert "flower_worker_online" in shown
    secrets = json.loads((newcomer.folder / ".poco" / "secrets.json").read_text(encoding="utf-8"))
    assert not any(secret in shown for secret in secrets.values())


def test_a_second_up_says_it_is_up_already(newcomer: Newcomer) -> None:
    before = newcomer.pids()
    assert "already up" in newcomer.run("up", "--detach")
    assert newcomer.pids() == before


def test_a_process_that_dies_is_started_again(newcomer: Newcomer) -> None:
    before = newcomer.pids()["relay"]
    os.kill(before, signal.SIGKILL)
    newcomer.api().wait_until(lambda: newcomer.pids().get("relay") not in (None, before), 30, "the relay stays away")


@pytest.mark.parametrize("backend", ["valkey", "postgres"])
def test_the_relay_itself_outlives_an_outage_and_goes_on_sending(newcomer: Newcomer, backend: str) -> None:
    before = newcomer.pids()
    os.kill(before[backend], signal.SIGKILL)
    wait = newcomer.api().wait_until
    wait(lambda: newcomer.pids().get(backend) not in (None, before[backend]), 30, f"{backend} stays away")
    wait(lambda: newcomer.api().get("/health/ready", token=None).status == 200, 30, "the API is not ready")
    messages = [{"role": "user", "content": "我喜欢喝普洱茶"}, {"role": "assistant", "content": "好的"}]
    body = {"tenant_id": "acme", "user_id": f"outage-{backend}", "messages": messages}
    job_id = newcomer.post("/v1/memories/ingest", body).body["job_id"]
    wait(lambda: newcomer.job(job_id)["status"] == "success", 60, "the job is not finished")
    assert newcomer.pids()["relay"] == before["relay"]


def test_what_was_accepted_survives_the_death_of_everything(newcomer: Newcomer) -> None:
    messages = [{"role": "user", "content": "我喜欢喝乌龙茶"}, {"role": "assistant", "content": "好的"}]
    body = {"tenant_id": "acme", "user_id": "lin", "messages": messages}
    job_id = newcomer.post("/v1/memories/ingest", body).body["job_id"]
    state = json.loads((newcomer.folder / ".poco" / "state.json").read_text(encoding="utf-8"))
    pids = [state["pid"], *newcomer.pids().values()]
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + 20
    while any(map(is_alive, pids)):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    newcomer.run("status", code=1)
    newcomer.run("up", "--detach")
    job = newcomer.job(job_id)
    newcomer.api().wait_until(lambda: newcomer.job(job_id)["status"] == "success", 90, f"not finished: {job}")
    found = newcomer.post("/v1/memories/search", {"tenant_id": "acme", "user_id": "lin", "query": "用户喜欢喝什么茶"})
    assert [item["content"] for item in found.body["items"]] == ["用户喜欢喝乌龙茶"]


def test_down_ends_every_process_and_nothing_else(newcomer: Newcomer) -> None:
    bystander = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], cwd=newcomer.folder)
    pids = newcomer.pids().values()
    newcomer.run("down")
    assert not any(map(is_alive, pids))
    assert bystander.poll() is None
    bystander.kill()
    bystander.wait()
    newcomer.run("status", code=1)
    newcomer.run("down")
