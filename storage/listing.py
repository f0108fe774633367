"""Memories as their user looks at them: pages, figures, topics and what is near. SQL only, so no model need be up."""

from __future__ import annotations

import base64
import binascii
import json
import re
import unicodedata
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import Connection, DateTime, Text, and_, case, cast, func, literal, select, text, tuple_
from sqlalchemy.exc import DataError

from domain.errors import InvalidField
from domain.lifecycle import ItemFilter, ItemPage, Overview, Topic
from domain.memory import Neighbour
from domain.scope import Scope
from storage.database import Database
from storage.entities import entity_key
from storage.memories import neighbours, visible
from storage.rows import memory_item
from storage.tables import EntityRow, MemoryRow, text_at
from storage.traces import of_scope

ACTIVE = "active"
_PAYLOAD = MemoryRow.payload
_UNKNOWN_VALUE = "22023"
_SECONDS = re.compile(r"-?\d{1,15}(?:\.\d{1,6})?", re.ASCII)
_STATUS = func.coalesce(text_at(_PAYLOAD, "status"), ACTIVE)


class SqlMemoryListing:
    """domain.ports.MemoryListing on mem0's table."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def page(self, scope: Scope, wanted: ItemFilter, *, limit: int, cursor: str | None = None) -> ItemPage:
        """Up to `limit` memories, the latest first; what is written meanwhile shifts no later page."""
        age = func.coalesce(func.extract("epoch", _instant("created_at")), 0)
        statement = select(MemoryRow.id, _PAYLOAD, age.label("age")).where(of_scope(scope.key), *_conditions(wanted))
        if cursor is not None:
            created, key = _place(cursor)
            statement = statement.where(tuple_(age, MemoryRow.id) < tuple_(literal(created), literal(key)))
        statement = statement.order_by(age.desc(), MemoryRow.id.desc()).limit(limit + 1)
        with self._database.transaction() as connection:
            rows = connection.execute(statement).all()
        more = _cursor(rows[limit - 1]) if len(rows) > limit else None
        return ItemPage(tuple(memory_item(row) for row in rows[:limit]), more)

    def overview(self, scope: Scope, *, time_zone: str, days: int) -> Overview:
        """Totals and, for each of the last days of the user's time zone, how many were added."""
        local = func.timezone(time_zone, _instant("created_at"))
        day = func.to_char(local, "YYYY-MM-DD")
        since = func.date_trunc("day", func.timezone(time_zone, func.now())) - func.make_interval(0, 0, 0, days - 1)
        with self._database.transaction() as connection, _known_zone():
            by_status = _counted(connection, scope, _STATUS)
            by_type, by_source = (
                _counted(connection, scope, func.coalesce(text_at(_PAYLOAD, key), "none"), _STATUS == ACTIVE)
                for key in ("type", "source")
            )
            trend = _counted(connection, scope, day, _STATUS == ACTIVE, local >= since)
            latest = connection.execute(
                select(func.max(_instant("updated_at"))).where(of_scope(scope.key))
            ).scalar_one()
        return Overview(by_status, by_type, by_source, dict(sorted(trend.items())), latest and latest.isoformat())

    def topics(self, scope: Scope, *, limit: int) -> list[Topic]:
        """The names that the user's active memories mention most, merged by spelling, with the latest mention."""
        ids = EntityRow.payload["linked_memory_ids"]
        linked = func.jsonb_array_elements_text(case((func.jsonb_typeof(ids) == "array", ids))).table_valued("value")
        name, kind = text_at(EntityRow.payload, "data"), text_at(EntityRow.payload, "entity_type")
        statement = (
            select(name, kind, cast(MemoryRow.id, Text), _instant("created_at"))
            .select_from(EntityRow)
            .join(linked, text("true"))
            .join(MemoryRow, cast(MemoryRow.id, Text) == linked.c.value)
            .where(text_at(EntityRow.payload, "user_id") == scope.key, *visible(scope))
        )
        with self._database.transaction() as connection:
            rows = connection.execute(statement).all()
        return _merged(rows)[:limit]

    def related(self, scope: Scope, memory_id: str, *, limit: int) -> list[Neighbour] | None:
        """The memories nearest to one of the scope, without itself; None when the scope has none of this id."""
        key = uuid.UUID(memory_id)
        own = select(MemoryRow.vector).where(MemoryRow.id == key, of_scope(scope.key))
        with self._database.transaction() as connection:
            row = connection.execute(own).one_or_none()
            if row is None:
                return None
            distance = MemoryRow.vector.cosine_distance(row.vector)
            near = connection.execute(
                select(MemoryRow.id, _PAYLOAD, (1 - distance).label("similarity"))
                .where(*visible(scope), MemoryRow.id != key)
                .order_by(distance)
                .limit(limit)
            )
            return neighbours(near)


@contextmanager
def _known_zone() -> Iterator[None]:
    """PostgreSQL has a list of time zones of its own, which may lack one that Python knows."""
    try:
        yield
    except DataError as exc:
        if getattr(exc.orig, "sqlstate", None) != _UNKNOWN_VALUE:
            raise
        raise InvalidField("time_zone", "time_zone", "is not a time zone that the database knows") from None


def _conditions(wanted: ItemFilter) -> list[Any]:
    found: list[Any] = [_STATUS.in_(wanted.statuses or (ACTIVE,)), text_at(_PAYLOAD, "data").is_not(None)]
    created = _instant("created_at")
    for column, values in ((text_at(_PAYLOAD, "type"), wanted.types), (text_at(_PAYLOAD, "source"), wanted.sources)):
        if values:
            found.append(column.in_(values))
    if wanted.since is not None:
        found.append(created >= wanted.since)
    if wanted.until is not None:
        found.append(created < wanted.until)
    if wanted.text is not None:
        # autoescape: a percent sign that a user types is a percent sign.
        found.append(text_at(_PAYLOAD, "data").icontains(wanted.text, autoescape=True))
    return found


def _instant(key: str) -> Any:
    """A stored time as an instant; NULL for what another program wrote and is none, such as `now` or `infinity`."""
    column = text_at(_PAYLOAD, key)
    is_time = and_(column.regexp_match(r"^\d"), func.pg_input_is_valid(column, "timestamptz"))
    return case((is_time, cast(column, DateTime(timezone=True))))


def _counted(connection: Connection, scope: Scope, column: Any, *where: Any) -> dict[str, int]:
    label = column.label("name")
    statement = select(label, func.count()).where(of_scope(scope.key), *where).group_by(label)
    return {str(name): int(count) for name, count in connection.execute(statement)}


def _merged(rows: Sequence[Any]) -> list[Topic]:
    names: dict[str, tuple[str, str]] = {}
    mentions: dict[str, dict[str, datetime | None]] = {}
    for name, kind, memory_id, created in rows:
        key = entity_key(unicodedata.normalize("NFKC", name or ""))
        names.setdefault(key, (name, kind or ""))
        mentions.setdefault(key, {})[memory_id] = created
    most = max((len(found) for found in mentions.values()), default=1)
    topics = [
        Topic(*names[key], count=len(found), weight=round(len(found) / most, 4), last_seen=_latest(found.values()))
        for key, found in mentions.items()
    ]
    return sorted(topics, key=lambda topic: (-topic.count, topic.last_seen or "", topic.name))


def _latest(times: Iterable[datetime | None]) -> str | None:
    latest = max((time for time in times if time is not None), default=None)
    return latest.isoformat() if latest else None


def _cursor(row: Any) -> str:
    place = json.dumps([str(row.age), str(row.id)])
    return base64.urlsafe_b64encode(place.encode()).decode().rstrip("=")


def _place(cursor: str) -> tuple[Decimal, uuid.UUID]:
    try:
        seconds, key = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        return _age(seconds), uuid.UUID(key)
    except (binascii.Error, ValueError, TypeError, AttributeError):
        raise InvalidField("cursor", "cursor", "must be the next_cursor of an earlier page") from None


def _age(seconds: object) -> Decimal:
    # Whoever makes a cursor of their own can put into it what no database holds.
    if not isinstance(seconds, str) or not _SECONDS.fullmatch(seconds):
        raise ValueError
    return Decimal(seconds)
