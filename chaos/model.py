"""A scripted OpenAI-compatible server on 127.0.0.1: the marker in a request says how it is answered.

It remembers every call. The published memory carries the number of the call it came from as its `confidence`, so a
result that a late worker slipped in can be told from the one that counts.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from types import TracebackType
from typing import Any

from chaos.candidates import Kind, Marker, find_marker
from chaos.serving import JsonHandler

DIMS = 64
CONFIDENCE_UNIT = 1000
_SLOW_SECONDS = 1.5
# A killed asker never reads its answer; one that was not found gets it and tries again.
_POISON_STATUS = 503


@dataclass(frozen=True, slots=True)
class Call:
    """One question to the model: the candidate's key, which call of that key it is from 1 on, and when (epoch).

    `pid` is the worker child that asked, None when it was gone already.
    """

    key: str
    number: int
    at: float
    pid: int | None


@dataclass
class ChaosModel:
    """The server; use it as a context manager.

    `find_asker` tells who talks from one TCP port to another; `kill` ends the process of a poisonous one.
    """

    find_asker: Callable[[int, int], int | None] = field(default=lambda *_: None)
    kill: Callable[[int], object] = field(default=lambda _: None)
    calls: list[Call] = field(default_factory=list)
    _counts: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _server: ThreadingHTTPServer | None = None

    def __enter__(self) -> ChaosModel:
        """Begin to listen on a free port."""
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True, name="model").start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()

    @property
    def url(self) -> str:
        """The base URL, ending in /v1."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def port(self) -> int:
        """Where it listens."""
        if self._server is None:
            raise RuntimeError("the model is not listening")
        return int(self._server.server_address[1])

    def answer(self, question: str, port: int) -> tuple[int, dict[str, Any]]:
        """Status and body for a chat request; a slow one takes its time here."""
        marker = find_marker(question)
        if marker is None:
            return 400, _error("no marker")
        pid = self.find_asker(port, self.port)
        number = self._note(marker, pid)
        if marker.kind is Kind.POISON:
            if pid is not None:
                self.kill(pid)
            return _POISON_STATUS, _error("poison")
        if marker.kind is Kind.FAILING:
            return 500, _error("scripted")
        if marker.kind is Kind.SLOW:
            time.sleep(_SLOW_SECONDS)
        return 200, _completion(marker, number)

    def _note(self, marker: Marker, pid: int | None) -> int:
        with self._lock:
            self._counts[marker.key] += 1
            number = self._counts[marker.key]
            self.calls.append(Call(marker.key, number, time.time(), pid))
        return number


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):
            # A killed worker resets its connections; anything else is a fault of ours.
            super().handle_error(request, client_address)


def _error(message: str) -> dict[str, Any]:
    return {"error": {"message": message}}


def _completion(marker: Marker, number: int) -> dict[str, Any]:
    fact = {
        "id": "0",
        "text": marker.fact,
        "attributed_to": "user",
        "confidence": number / CONFIDENCE_UNIT,
    }
    content = json.dumps({"memory": [] if marker.kind is Kind.EMPTY else [fact]})
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
    return {
        "id": "chaos",
        "object": "chat.completion",
        "created": 0,
        "model": "chaos",
        "choices": [choice],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


def _embeddings(texts: list[str]) -> dict[str, Any]:
    rows = [{"object": "embedding", "index": place, "embedding": _vector(text)} for place, text in enumerate(texts)]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return {"object": "list", "model": "chaos", "data": rows, "usage": usage}


def _vector(text: str) -> list[float]:
    """A direction that depends on the text alone."""
    random = Random(text)
    return [random.gauss(0.0, 1.0) for _ in range(DIMS)]


def _handler(model: ChaosModel) -> type[BaseHTTPRequestHandler]:
    class Handler(JsonHandler, BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path.endswith("/embeddings"):
                texts = request["input"]
                self.send(200, _embeddings([texts] if isinstance(texts, str) else texts))
                return
            question = "\n".join(message["content"] for message in request["messages"])
            self.send(*model.answer(question, self.client_address[1]))

    return Handler
