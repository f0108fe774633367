"""Service tokens: kept as hashes, found by the id they begin with.

A token has 256 random bits, so a plain SHA-256 cannot be searched; a password hash would only make requests slow.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import threading
import time
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from domain.access import Caller, TokenScope, TokenView, checked_token_name
from domain.errors import InvalidField
from storage.database import Database
from storage.tables import TokenRow

# How long a revoked token may still be taken by a process that has just seen it.
FRESH_SECONDS = 5.0
_FORM = re.compile(r"poco_([0-9a-f]{16})_[A-Za-z0-9_-]{43}")


class SqlTokens:
    """domain.ports.TokenStore on PostgreSQL."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._seen: dict[str, tuple[float, Caller]] = {}

    def create(self, name: str, scopes: Sequence[TokenScope], expires_at: datetime | None = None) -> str:
        """Make a token and return it; this is the only time it can be read."""
        public = secrets.token_hex(8)
        token = f"poco_{public}_{secrets.token_urlsafe(32)}"
        row = {
            "id": public,
            "name": checked_token_name(name),
            "digest": _digest(token),
            "scopes": sorted(set(scopes)),
            "expires_at": expires_at,
        }
        try:
            with self._database.transaction() as connection:
                connection.execute(insert(TokenRow).values(row))
        except IntegrityError:
            raise InvalidField("name", "unique", "belongs to another token; revoke that one first") from None
        return token

    def known(self) -> list[TokenView]:
        """Every token there was, the oldest first."""
        with self._database.transaction() as connection:
            rows = connection.execute(select(TokenRow.__table__).order_by(TokenRow.created_at)).all()
        return [TokenView(row.name, _scopes(row), row.created_at, row.expires_at, row.revoked_at) for row in rows]

    def revoke(self, name: str) -> bool:
        """End a token; False when there is no live one of this name."""
        statement = update(TokenRow).where(TokenRow.name == name, TokenRow.revoked_at.is_(None))
        with self._database.transaction() as connection:
            return connection.execute(statement.values(revoked_at=func.now())).rowcount == 1

    def caller(self, token: str) -> Caller | None:
        """Whose live token this is, or None."""
        digest = _digest(token)
        with self._lock:
            seen = self._seen.get(digest)
        if seen is not None and time.monotonic() - seen[0] < FRESH_SECONDS:
            return seen[1]
        caller = self._look_up(token, digest)
        with self._lock:
            # Only tokens that exist are remembered, so this holds no more than the table.
            self._seen.pop(digest, None)
            if caller is not None:
                self._seen[digest] = (time.monotonic(), caller)
        return caller

    def _look_up(self, token: str, digest: str) -> Caller | None:
        match = _FORM.fullmatch(token)
        if match is None:
            return None
        live = select(TokenRow.name, TokenRow.scopes, TokenRow.digest).where(
            TokenRow.id == match[1],
            TokenRow.revoked_at.is_(None),
            or_(TokenRow.expires_at.is_(None), TokenRow.expires_at > func.now()),
        )
        with self._database.transaction() as connection:
            row = connection.execute(live).one_or_none()
        if row is None or not hmac.compare_digest(row.digest, digest):
            return None
        return Caller(row.name, frozenset(_scopes(row)))


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _scopes(row: Any) -> tuple[TokenScope, ...]:
    return tuple(TokenScope(scope) for scope in row.scopes)
