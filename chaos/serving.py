"""What every small HTTP server here does the same: answer with JSON, and mind nobody who has hung up."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler


class JsonHandler(BaseHTTPRequestHandler):
    """A handler that answers with JSON and logs nothing."""

    protocol_version = "HTTP/1.1"

    def send(self, status: int, body: object) -> None:
        """Answer with a document; text is sent as it is."""
        raw = (body if isinstance(body, str) else json.dumps(body)).encode()
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)
        except (BrokenPipeError, ConnectionResetError):
            # Whoever asked was killed meanwhile, or has waited long enough.
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Say nothing."""
