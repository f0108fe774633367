"""An OpenAI-compatible endpoint in a process of its own that thinks for some seconds, for many callers at once.

`python -m bench.slow_model SECONDS` prints its port and serves until it is ended.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from bench.costless import DIMS, zero_answer

_VECTOR = [1.0 / DIMS**0.5] * DIMS


async def _serve(seconds: float) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await _head(reader):
            body = json.loads(await reader.readexactly(_length(head)))
            if b"/embeddings" in head.split(b"\r\n", 1)[0]:
                reply = _embeddings(body)
            else:
                await asyncio.sleep(seconds)
                reply = _completion(body)
            text = json.dumps(reply).encode()
            top = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n"
            writer.write(top.encode() + text)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def _head(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return b""


def _length(head: bytes) -> int:
    lines = (line.partition(b":") for line in head.split(b"\r\n"))
    return next(int(value) for name, _, value in lines if name.lower() == b"content-length")


def _embeddings(body: dict[str, Any]) -> dict[str, Any]:
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    rows = [{"object": "embedding", "index": place, "embedding": _VECTOR} for place, _ in enumerate(texts)]
    return {"object": "list", "model": body["model"], "data": rows, "usage": {"prompt_tokens": 1, "total_tokens": 1}}


def _completion(body: dict[str, Any]) -> dict[str, Any]:
    """One fact for each line that begins as the bench's candidates do."""
    prompt = str(body["messages"][-1]["content"])
    lines = (line.partition("user: ")[2] or line for line in prompt.splitlines())
    said = [line for line in lines if line.startswith(("I prefer ", "我负责", "我希望第"))]
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": zero_answer(said[-2:])},
        "finish_reason": "stop",
    }
    return {"id": "slow", "object": "chat.completion", "created": 0, "model": body["model"], "choices": [choice]}


if __name__ == "__main__":
    asyncio.run(_serve(float(sys.argv[1])))
