"""The whole service as processes, started by the same commands as in production, on test servers."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.answers import PublishedAnswers
from tests.planted import PLANTED

TOKEN = f"{PLANTED}-token-for-the-test-run"
USER_SECRET = f"{PLANTED}-secret-of-users-tokens-for-the-test-run"
OPERATOR_TOKEN = f"{PLANTED}-operators-token-for-the-test-run"
START_SECONDS = 60


@dataclass(frozen=True)
class Answer:
    """What the API answered."""

    status: int
    body: dict[str, Any]
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Stack:
    """The running processes and how to talk to them."""

    folder: Path
    environment: dict[str, str]
    url: str
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    metrics_ports: dict[str, int] = field(default_factory=dict)
    _published: PublishedAnswers | None = None

    def start(self, verb: str) -> None:
        """Start one process of the service and wait until it answers."""
        heartbeat = self.folder / f"{verb}.alive"
        heartbeat.unlink(missing_ok=True)
        metrics = str(self.metrics_ports.setdefault(verb, free_port()))
        environment = {**self.environment, "POCO_HEARTBEAT_FILE": str(heartbeat), "POCO_METRICS_PORT": metrics}
        with (self.folder / f"{verb}.log").open("ab") as log:
            self.processes[verb] = subprocess.Popen(
                [sys.executable, "-m", "cli.main", verb],
                env=environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        answers = self._api_answers if verb == "api" else heartbeat.exists
        self.wait_until(answers, START_SECONDS, f"{verb} does not answer:\n{self.log(verb)[-2000:]}")

    def stop(self, verb: str, how: signal.Signals = signal.SIGTERM) -> None:
        """End a process: with SIGKILL its whole group at once, else in its own time."""
        process = self.processes.pop(verb)
        if how is signal.SIGKILL:
            os.killpg(process.pid, how)
        else:
            process.send_signal(how)
        process.wait(timeout=60)

    def log(self, verb: str) -> str:
        """Everything a process wrote."""
        return (self.folder / f"{verb}.log").read_text(encoding="utf-8")

    def scrape(self, verb: str) -> str:
        """What a process shows to Prometheus."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics_ports[verb]}/metrics", timeout=10) as response:
            return str(response.read().decode())

    def note_metrics(self) -> None:
        """Write down what every running process shows to Prometheus, for those who read the logs."""
        # A test may run a process that shows no metrics.
        for verb in self.metrics_ports.keys() & self.processes.keys():
            with suppress(OSError):
                (self.folder / f"{verb}.metrics").write_text(self.scrape(verb), encoding="utf-8")

    def post(self, path: str, body: object, *, token: str | None = TOKEN) -> Answer:
        """POST JSON to the API; bytes are sent as they are."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self._ask(urllib.request.Request(self.url + path, data=data, method="POST"), token)

    def get(self, path: str, *, token: str | None = TOKEN) -> Answer:
        """GET from the API."""
        return self._ask(urllib.request.Request(self.url + path), token)

    def ingest(self, user_id: str, *texts: str, **fields: object) -> str:
        """Hand in a candidate of alternating user and assistant turns, the last answer planted; gives the job id."""
        roles = ("user", "assistant")
        messages = [{"role": roles[place % 2], "content": text} for place, text in enumerate(texts)]
        if messages[-1]["role"] == "assistant":
            messages[-1]["content"] += f" ({PLANTED})"
        answer = self.post(
            "/v1/memories/ingest", {"tenant_id": "test", "user_id": user_id, "messages": messages, **fields}
        )
        assert answer.status in (200, 202), answer
        return str(answer.body["job_id"])

    def finished(self, job_id: str, seconds: float = 60) -> dict[str, Any]:
        """The job once it has ended."""
        self.wait_until(
            lambda: self.get(f"/v1/jobs/{job_id}").body["status"] in ("success", "dead"), seconds, f"{job_id} goes on"
        )
        return self.get(f"/v1/jobs/{job_id}").body

    def search(self, user_id: str, query: str, **fields: object) -> dict[str, Any]:
        """What a search finds."""
        answer = self.post("/v1/memories/search", {"tenant_id": "test", "user_id": user_id, "query": query, **fields})
        assert answer.status == 200, answer
        return answer.body

    def wait_until(self, condition: Any, seconds: float, complaint: str) -> None:
        """Poll until the condition holds."""
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, complaint
            time.sleep(0.05)

    def published(self) -> PublishedAnswers:
        """What this API's OpenAPI document says."""
        if self._published is None:
            self._published = PublishedAnswers(_answer(urllib.request.Request(f"{self.url}/openapi.json")).body)
        return self._published

    def _ask(self, request: urllib.request.Request, token: str | None) -> Answer:
        request.add_header("Content-Type", "application/json")
        if token is not None:
            request.add_header("Authorization", f"Bearer {token}")
        answer = _answer(request)
        content_type = answer.headers["Content-Type"]
        self.published().check(request.get_method(), request.full_url, answer.status, content_type, answer.body)
        return answer

    def _api_answers(self) -> bool:
        try:
            return self.get("/health/live").status == 200
        except OSError:
            return False


def _answer(request: urllib.request.Request) -> Answer:
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return Answer(response.status, json.loads(response.read()), dict(response.headers))
    except urllib.error.HTTPError as exc:
        with exc:
            return Answer(exc.code, json.loads(exc.read()), dict(exc.headers))


@contextmanager
def running_stack(folder: Path, *verbs: str, **settings: object) -> Iterator[Stack]:
    """Start the named processes with the given settings (without the prefix POCO_) and end them afterwards."""
    port = free_port()
    known = {
        "home": folder,
        "service_token": TOKEN,
        "operator_token": OPERATOR_TOKEN,
        "user_jwt_secret": USER_SECRET,
        "api_port": port,
        "flower_password": f"{PLANTED}-password",
        "worker_concurrency": 2,
        **settings,
    }
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("POCO_")}
    environment = {**inherited, **{f"POCO_{name.upper()}": str(value) for name, value in known.items()}}
    stack = Stack(folder, environment, f"http://127.0.0.1:{port}")
    try:
        for verb in verbs:
            stack.start(verb)
        yield stack
    finally:
        stack.note_metrics()
        for verb in reversed(list(stack.processes)):
            stack.stop(verb)


def free_port() -> int:
    """A port of 127.0.0.1 that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
