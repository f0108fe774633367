"""What no client library sends, byte for byte to the real server: it is refused, and the service goes on."""

from __future__ import annotations

import socket
import urllib.parse

import pytest

from tests.planted import PLANTED
from tests.security.conftest import Running
from tests.stack import TOKEN

HEAD = f"POST /v1/memories/search HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\nConnection: close\r\n"
BODY = '{"tenant_id": "t", "user_id": "u", "query": "q"}'
CHUNKED = f"{HEAD}Transfer-Encoding: chunked\r\n\r\n"
CHUNK = f"{0x10000:x}\r\n{'x' * 0x10000}\r\n"
SENT = f"Content-Length: {len(BODY)}\r\n"


def answered(running: Running, sent: bytes) -> int:
    """The status of the answer; 0 when the connection is closed without one."""
    address = urllib.parse.urlsplit(running.stack.url)
    with socket.create_connection((str(address.hostname), int(address.port or 0)), timeout=20) as connection:
        try:
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
            first = connection.recv(1000)
        except ConnectionError:
            return 0
    return int(first.split()[1]) if first else 0


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (f"{HEAD}{SENT}\r\n{BODY}", {200}),
        (f"{HEAD}Content-Length: {1 << 40}\r\n\r\n", {413}),
        # Whoever goes on sending to a server that has answered may find the connection closed before the answer.
        (CHUNKED + CHUNK * 30 + "0\r\n\r\n", {413, 0}),
        (f"{CHUNKED}zz\r\n", {400, 422}),
        (f"{CHUNKED}5\r\nab", {400, 422}),
        (f"{CHUNKED}ffffffffffffffffffff\r\n{BODY}", {400, 413, 422}),
        (f"{CHUNKED}-1\r\n{BODY}", {400, 422}),
        (f"{HEAD}Content-Length: -1\r\n\r\n{BODY}", {400}),
        (f"{HEAD}Content-Length: x\r\n\r\n{BODY}", {400}),
        (f"{HEAD}{SENT}Content-Length: 5\r\n\r\n{BODY}", {400}),
        (f"{HEAD}{SENT}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n{HEAD}", {400, 422}),
        # What came is whole, and no more comes.
        (f"{HEAD}Content-Length: 500\r\n\r\n{BODY}", {200}),
        (f"{HEAD}Content-Length: 500\r\n\r\n{BODY[:-1]}", {400, 422}),
        (f"{HEAD}X-A: {'a' * 20_000}\r\n{SENT}\r\n{BODY}", {400, 431}),
        (HEAD + "".join(f"X-{number}: 1\r\n" for number in range(500)) + f"{SENT}\r\n{BODY}", {400, 431}),
        (f"{HEAD}X-A: a\x00b\r\n{SENT}\r\n{BODY}", {400}),
        (f"{HEAD}X-A : b\r\n{SENT}\r\n{BODY}", {400}),
        (f"{HEAD}no header at all\r\n{SENT}\r\n{BODY}", {400}),
        (HEAD.replace("/v1/memories/search", f"/v1/{'x' * 20_000}") + "\r\n", {400, 414}),
        (HEAD.replace("/v1/memories/search", "/v1/memories/search\x00") + f"{SENT}\r\n{BODY}", {400, 404}),
        (HEAD.replace("/v1/memories/search", "//evil.example/..") + "\r\n", {400, 404}),
        (HEAD.replace("POST", "P\x01ST") + f"{SENT}\r\n{BODY}", {400}),
        (HEAD.replace("HTTP/1.1", "HTTP/9.9") + f"{SENT}\r\n{BODY}", {400, 505}),
        (f"\x16\x03\x01 {PLANTED}\r\n\r\n", {400, 0}),
    ],
    ids=lambda value: ascii(value)[-60:],
)
def test_bytes_that_no_client_sends_are_refused(running: Running, sent: str, expected: set[int]) -> None:
    assert answered(running, sent.encode()) in expected
    assert running.stack.get("/health/live").status == 200
