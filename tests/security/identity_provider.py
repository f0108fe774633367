"""A login of somebody else's, which publishes the keys that users' tokens are checked with."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import ECAlgorithm, HMACAlgorithm, RSAAlgorithm


def part(value: object) -> str:
    """A part of a token."""
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@dataclass
class Published:
    """An identity provider: two keys, the document with their public halves, and how often it was fetched."""

    rsa_key: Any = field(default_factory=lambda: rsa.generate_private_key(public_exponent=65537, key_size=2048))
    ec_key: Any = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    fetched: int = 0
    broken: bytes | None = None
    url: str = ""

    def document(self) -> dict[str, Any]:
        one = json.loads(RSAAlgorithm.to_jwk(self.rsa_key.public_key()))
        two = json.loads(ECAlgorithm.to_jwk(self.ec_key.public_key()))
        return {"keys": [{**one, "kid": "rsa", "use": "sig"}, {**two, "kid": "ec", "use": "sig"}]}

    def confused(self, claims: dict[str, Any]) -> str:
        """A token signed with the text of the public key as if it were a secret."""
        message = f"{part({'alg': 'HS256', 'typ': 'JWT', 'kid': 'rsa'})}.{part(claims)}"
        pem = self.rsa_key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        signature = HMACAlgorithm(HMACAlgorithm.SHA256).sign(message.encode(), pem)
        return f"{message}.{base64.urlsafe_b64encode(signature).decode().rstrip('=')}"


@contextmanager
def publishing() -> Iterator[Published]:
    """Answer at `url` until the block ends."""
    provider = Published()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            provider.fetched += 1
            body = provider.broken or json.dumps(provider.document()).encode()
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        provider.url = f"http://127.0.0.1:{server.server_address[1]}/keys"
        yield provider
        server.shutdown()
