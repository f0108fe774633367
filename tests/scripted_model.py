"""A small OpenAI-compatible HTTP server that answers by script: chat completions and embeddings on 127.0.0.1."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from chaos.serving import JsonHandler
from tests.planted import PLANTED

Json = dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """One answer: a status, the message's text, how the model says it stopped, and how long it takes (seconds)."""

    status: int = 200
    content: str | None = ""
    finish_reason: str = "stop"
    delay: float = 0.0
    raw: str | None = None


@dataclass(frozen=True)
class Recorded:
    """A request that came in, and when (monotonic seconds)."""

    path: str
    body: Json
    at: float
    authorization: str | None


def reply_facts(facts: Sequence[str], *, attributed_to: str = "user") -> Reply:
    """A model that found these facts."""
    rows = [{"id": str(n), "text": fact, "attributed_to": attributed_to} for n, fact in enumerate(facts)]
    return reply_text(json.dumps({"memory": rows}, ensure_ascii=False))


def reply_text(content: str | None, *, finish_reason: str = "stop") -> Reply:
    """A model that says exactly this."""
    return Reply(content=content, finish_reason=finish_reason)


def reply_status(status: int) -> Reply:
    """A model that fails with an HTTP status."""
    return Reply(status=status)


def reply_raw(body: str) -> Reply:
    """An endpoint that answers 200 with this body instead of a chat completion."""
    return Reply(raw=body)


def reply_slow(seconds: float, then: Reply) -> Reply:
    """A model that takes its time."""
    return replace(then, delay=seconds)


@dataclass
class ScriptedModel:
    """The server; use it as a context manager. `default` answers when no script is left.

    `embeddings_fail` is the status of every embeddings request, or None; `embedded_dims` overrules what was asked for;
    `refuses_dimensions` answers 400 to those that choose a length; `shuffles_embeddings` gives the rows back to front;
    `embedded_value` fills every vector.
    """

    dims: int = 64
    default: Reply = field(default_factory=lambda: reply_facts([]))
    embeddings_fail: int | None = None
    embedded_dims: int | None = None
    refuses_dimensions: bool = False
    shuffles_embeddings: bool = False
    embedded_value: float | None = None
    requests: list[Recorded] = field(default_factory=list)
    embedding_requests: list[Recorded] = field(default_factory=list)
    _queue: deque[Reply] = field(default_factory=deque)
    _marked: dict[str, deque[Reply]] = field(default_factory=lambda: defaultdict(deque))
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _server: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        """The base URL, ending in /v1."""
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def script(self, *replies: Reply) -> None:
        """Answer the next chat requests so, in order."""
        self._queue.extend(replies)

    def when(self, marker: str, *replies: Reply) -> None:
        """Answer the next chat requests that hold the marker so, whatever else comes in between."""
        self._marked[marker].extend(replies)

    def __enter__(self) -> ScriptedModel:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.shutdown()
        self._server.server_close()

    def answer_chat(self, request: Recorded) -> Reply:
        """Record a chat request and choose its reply."""
        said = json.dumps(request.body, ensure_ascii=False)
        with self._lock:
            self.requests.append(request)
            for marker, replies in self._marked.items():
                if replies and marker in said:
                    return replies.popleft()
            return self._queue.popleft() if self._queue else self.default

    def answer_embeddings(self, request: Recorded) -> tuple[int, Json]:
        """Record an embeddings request and embed its texts."""
        self.embedding_requests.append(request)
        if self.embeddings_fail is not None:
            return self.embeddings_fail, {"error": {"message": f"scripted failure: {PLANTED}"}}
        if self.refuses_dimensions and "dimensions" in request.body:
            return 400, {"error": {"message": f"scripted refusal: {PLANTED}"}}
        texts = request.body["input"]
        texts = [texts] if isinstance(texts, str) else texts
        dims = self.embedded_dims or request.body.get("dimensions") or self.dims
        vectors = [self._vector(text, dims) for text in texts]
        rows = [{"object": "embedding", "index": n, "embedding": vector} for n, vector in enumerate(vectors)]
        rows = rows[::-1] if self.shuffles_embeddings else rows
        return 200, {"object": "list", "model": request.body["model"], "data": rows, "usage": _usage()}

    def _vector(self, text: str, dims: int) -> list[float]:
        return bigram_vector(text, dims) if self.embedded_value is None else [self.embedded_value] * dims


def bigram_vector(text: str, dims: int) -> list[float]:
    """A unit vector in which texts that share character pairs are near each other."""
    numbers = [0.0] * dims
    for place in range(max(1, len(text) - 1)):
        digest = hashlib.sha256(text[place : place + 2].encode("utf-8", "replace")).digest()
        numbers[int.from_bytes(digest[:4]) % dims] += 1.0 if digest[4] % 2 else -1.0
    length = sum(number * number for number in numbers) ** 0.5
    return [number / length for number in numbers] if length else [1.0] + [0.0] * (dims - 1)


def _usage() -> Json:
    return {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


def _chat_body(model: str, reply: Reply) -> Json:
    message = {"role": "assistant", "content": reply.content}
    choice = {"index": 0, "message": message, "finish_reason": reply.finish_reason}
    return {
        "id": "scripted",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [choice],
        "usage": _usage(),
    }


def _failure() -> Json:
    return {"error": {"message": f"scripted: {PLANTED}"}}


def _handler(model: ScriptedModel) -> type[BaseHTTPRequestHandler]:
    class Handler(JsonHandler, BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send(200, {"object": "list", "data": [{"id": "scripted", "object": "model"}]})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            request = Recorded(self.path, body, time.monotonic(), self.headers.get("Authorization"))
            if self.path.endswith("/embeddings"):
                self.send(*model.answer_embeddings(request))
                return
            reply = model.answer_chat(request)
            time.sleep(reply.delay)
            body = _chat_body(body["model"], reply) if reply.status == 200 else _failure()
            self.send(reply.status, body if reply.raw is None else reply.raw)

    return Handler
