"""A wire between a process and a server that a test can cut."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress


class Wire:
    """A port of 127.0.0.1 behind which another address is, until the wire is cut."""

    def __init__(self, port: int, to: tuple[str, int]) -> None:
        self.port = port
        self._to = to
        self._server: socket.socket | None = None
        self._ends: list[socket.socket] = []

    def to(self, url: str) -> str:
        """This address of the server behind, by way of the wire."""
        there = ":".join(map(str, self._to))
        return url.replace(there, f"127.0.0.1:{self.port}")

    def connect(self) -> None:
        """Let everybody through who knocks."""
        self._server = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, args=(self._server,), daemon=True).start()

    def cut(self) -> None:
        """Hang up on everybody, and answer nobody."""
        if self._server is not None:
            # Wakes the thread that accepts, which a mere close does not.
            self._server.shutdown(socket.SHUT_RDWR)
            self._server.close()
            self._server = None
        while self._ends:
            end = self._ends.pop()
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _accept(self, server: socket.socket) -> None:
        while True:
            try:
                here, _ = server.accept()
            except OSError:
                return
            there = socket.create_connection(self._to)
            self._ends += [here, there]
            for source, target in ((here, there), (there, here)):
                threading.Thread(target=_copy, args=(source, target), daemon=True).start()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_RDWR)
