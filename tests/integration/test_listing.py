"""A user's memories to look at: pages that stay put, filters, figures by day, topics, neighbours."""

from __future__ import annotations

import base64
import json
import unicodedata
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import insert, text

from domain.errors import InvalidField
from domain.lifecycle import Details, ItemFilter
from domain.scope import Scope
from runtime.embedded.servers import Servers
from storage.database import Database
from storage.listing import SqlMemoryListing
from storage.migrate import upgrade
from storage.tables import EntityRow, MemoryRow
from tests.conftest import new_database
from tests.fakes import DIMS, FakeEmbedder, fake_vector, unique_scope
from tests.lifecycles import Life


@pytest.fixture
def listing(database: Database) -> SqlMemoryListing:
    return SqlMemoryListing(database)


def stored(database: Database, scope: Scope, content: str, **payload: Any) -> str:
    """A row as any writer of the table leaves it."""
    key = uuid.uuid4()
    known = {"data": content, "user_id": scope.key, "created_at": datetime.now(UTC).isoformat()}
    with database.transaction() as connection:
        row = {"id": key, "vector": list(fake_vector(content)), "payload": {**known, **payload}}
        connection.execute(insert(MemoryRow).values(row))
    return str(key)


def names(listing: SqlMemoryListing, scope: Scope, **wanted: Any) -> list[str]:
    return [item.content for item in listing.page(scope, ItemFilter(**wanted), limit=50).items]


def test_pages_stay_put_while_memories_come_and_go(listing: SqlMemoryListing, database: Database, scope: Scope) -> None:
    times = [f"2026-11-0{day}T00:00:00+00:00" for day in (1, 2, 2, 2, 3)]
    made = [stored(database, scope, f"m{at}", created_at=time) for at, time in enumerate(times)]
    first = listing.page(scope, ItemFilter(), limit=2)
    stored(database, scope, "late", created_at="2026-12-01T00:00:00+00:00")
    second = listing.page(scope, ItemFilter(), limit=2, cursor=first.next_cursor)
    third = listing.page(scope, ItemFilter(), limit=2, cursor=second.next_cursor)
    seen = [item.id for page in (first, second, third) for item in page.items]
    assert sorted(seen) == sorted(made)
    assert third.next_cursor is None
    assert [item.created_at for item in first.items] == ["2026-11-03T00:00:00+00:00", "2026-11-02T00:00:00+00:00"]


def test_each_filter_narrows(listing: SqlMemoryListing, database: Database, scope: Scope) -> None:
    stored(database, scope, "tea", type="preference", source="manage", created_at="2026-03-01T00:30:00+08:00")
    stored(database, scope, "Tea 100%_sure", type="fact", source="task_completed", status="archived")
    stored(database, scope, "rice", type="fact", source="task_completed", created_at="nonsense")
    stored(database, unique_scope(), "tea of somebody else", type="preference")
    assert sorted(names(listing, scope)) == ["rice", "tea"]
    assert names(listing, scope, types=("preference",)) == ["tea"]
    assert names(listing, scope, sources=("task_completed",)) == ["rice"]
    assert names(listing, scope, statuses=("archived",)) == ["Tea 100%_sure"]
    assert names(listing, scope, statuses=("archived", "active"), text="TEA 1") == ["Tea 100%_sure"]
    assert names(listing, scope, text="%") == []
    assert names(listing, scope, statuses=("archived",), text="0%_s") == ["Tea 100%_sure"]
    assert names(listing, scope, statuses=("archived",), text="0%xs") == []


# Kind: mem0ai/mem0#4402.
def test_times_are_compared_as_instants_and_days_are_the_users(
    listing: SqlMemoryListing, database: Database, scope: Scope
) -> None:
    now = datetime.now(UTC)
    today = datetime(now.year, now.month, now.day, 16, 30, tzinfo=UTC) - timedelta(days=2)
    stored(database, scope, "tea", created_at=today.isoformat())
    stored(database, scope, "rice", created_at=today.astimezone().replace(microsecond=1).isoformat())
    moment = today.replace(minute=0)
    assert len(names(listing, scope, since=moment, until=moment + timedelta(hours=1))) == 2
    assert names(listing, scope, until=moment) == []
    shanghai = listing.overview(scope, time_zone="Asia/Shanghai", days=5).added_by_day
    assert shanghai == {(today + timedelta(days=1)).date().isoformat(): 2}
    assert listing.overview(scope, time_zone="UTC", days=5).added_by_day == {today.date().isoformat(): 2}
    assert listing.overview(scope, time_zone="UTC", days=2).added_by_day == {}


# Kind: mem0ai/mem0#4402.
@pytest.mark.parametrize(
    "written",
    ["2026-03-01T00:30:00+08:00", "2026-02-28T16:30:00+00:00", "2026-02-28T08:30:00-08:00", "2026-02-28T16:30:00Z"],
)
def test_a_day_is_that_of_who_asks(listing: SqlMemoryListing, database: Database, scope: Scope, written: str) -> None:
    stored(database, scope, "tea", created_at=written)
    for zone, day in (("Asia/Shanghai", (2026, 3, 1)), ("UTC", (2026, 2, 28))):
        since = datetime(*day, tzinfo=ZoneInfo(zone))
        assert names(listing, scope, since=since, until=since + timedelta(days=1)) == ["tea"]
        assert names(listing, scope, since=since - timedelta(days=1), until=since) == []
        assert names(listing, scope, since=since + timedelta(days=1)) == []


def test_the_latest_comes_first_whatever_zone_a_time_was_written_in(
    listing: SqlMemoryListing, database: Database, scope: Scope
) -> None:
    # As text, each of these comes before the one that follows it here.
    times = ["2026-03-01T09:00:00-08:00", "2026-03-01T16:00:00+00:00", "2026-03-01T23:30:00+08:00", "nonsense"]
    for place, time in enumerate(times):
        stored(database, scope, f"m{place}", created_at=time, updated_at=time)
    seen, cursor = [], None
    for _ in times:
        page = listing.page(scope, ItemFilter(), limit=1, cursor=cursor)
        seen += [item.content for item in page.items]
        cursor = page.next_cursor
    assert (seen, cursor) == (["m0", "m1", "m2", "m3"], None)
    assert listing.overview(scope, time_zone="UTC", days=1).last_changed == "2026-03-01T17:00:00+00:00"


def test_a_time_without_a_zone_is_utc_wherever_the_server_is(servers: Servers, scope: Scope) -> None:
    url = new_database(servers, f"zone_{uuid.uuid4().hex[:8]}")
    upgrade(url, embedding_model="fake", dims=DIMS)
    elsewhere = Database(url)
    with elsewhere.transaction() as connection:
        connection.execute(text(f"ALTER DATABASE {url.rsplit('/', 1)[1]} SET timezone TO 'Asia/Shanghai'"))
    elsewhere.dispose()
    stored(elsewhere, scope, "tea", created_at="2026-03-01T00:30:00")
    moment = datetime(2026, 3, 1, tzinfo=UTC)
    assert names(SqlMemoryListing(elsewhere), scope, since=moment, until=moment + timedelta(hours=1)) == ["tea"]
    assert names(SqlMemoryListing(elsewhere), scope, until=moment) == []
    elsewhere.dispose()


def test_the_overview_counts_by_status_type_and_source(
    listing: SqlMemoryListing, database: Database, scope: Scope
) -> None:
    stored(database, scope, "a", type="fact", source="manage")
    stored(database, scope, "b", type="fact", source="task_completed", updated_at="2026-11-01T00:00:00+00:00")
    stored(database, scope, "c", status="archived")
    found = listing.overview(scope, time_zone="UTC", days=1)
    assert (found.by_status, found.by_type) == ({"active": 2, "archived": 1}, {"fact": 2})
    assert found.by_source == {"manage": 1, "task_completed": 1}
    assert found.last_changed == "2026-11-01T00:00:00+00:00"


def test_topics_are_merged_by_spelling_and_count_what_can_be_seen(
    listing: SqlMemoryListing, database: Database, scope: Scope
) -> None:
    first = stored(database, scope, "a", created_at="2026-11-01T00:00:00+00:00")
    second = stored(database, scope, "b", created_at="2026-11-02T00:00:00+00:00")
    hidden = stored(database, scope, "c", status="archived")
    foreign = stored(database, unique_scope(), "d")
    for name, linked in (("Poco  Memory", [first, hidden]), ("ｐｏｃｏ memory", [second, foreign]), ("Tea", [first])):
        entity = {"data": name, "entity_type": "PROPER", "user_id": scope.key, "linked_memory_ids": linked}
        with database.transaction() as connection:
            connection.execute(insert(EntityRow).values(id=uuid.uuid4(), payload=entity))
    top, tea = listing.topics(scope, limit=5)
    assert (unicodedata.normalize("NFKC", top.name).lower().split(), top.count, top.weight) == (
        ["poco", "memory"],
        2,
        1.0,
    )
    assert top.last_seen == "2026-11-02T00:00:00+00:00"
    assert (tea.name, tea.count, tea.weight) == ("Tea", 1, 0.5)
    assert len(listing.topics(scope, limit=1)) == 1


def test_related_is_of_the_same_scope_and_not_itself(
    listing: SqlMemoryListing, database: Database, scope: Scope
) -> None:
    life, other = Life(database, scope, FakeEmbedder()), Life(database, unique_scope(), FakeEmbedder())
    own = life.add("用户喜欢红茶", Details(metadata={"category": "food"}))
    near, foreign = life.add("用户喜欢绿茶"), other.add("用户喜欢红茶")
    found = listing.related(scope, own, limit=5)
    assert found is not None
    assert [memory.id for memory in found] == [near]
    assert "vector" not in found[0].metadata
    assert listing.related(scope, foreign, limit=5) is None
    assert listing.related(scope, str(uuid.uuid4()), limit=5) is None


@pytest.mark.parametrize("cursor", ["x", "", "W10", "WyJhIiwgImIiXQ", "é", "eyJhIjogMX0", "////"])
def test_a_cursor_that_is_none_is_refused(listing: SqlMemoryListing, scope: Scope, cursor: str) -> None:
    with pytest.raises(InvalidField, match="cursor"):
        listing.page(scope, ItemFilter(), limit=5, cursor=cursor)


@pytest.mark.parametrize("place", ["\x00\ud800", "Infinity", "NaN", "1e400", "9" * 400, 5, None, "٣"])
def test_a_cursor_with_what_no_database_holds_is_refused(listing: SqlMemoryListing, scope: Scope, place: Any) -> None:
    cursor = base64.urlsafe_b64encode(json.dumps([place, str(uuid.uuid4())]).encode()).decode()
    with pytest.raises(InvalidField, match="cursor"):
        listing.page(scope, ItemFilter(), limit=5, cursor=cursor)


def test_a_time_zone_that_only_python_knows_is_refused(listing: SqlMemoryListing, scope: Scope) -> None:
    with pytest.raises(InvalidField, match="time_zone"):
        listing.overview(scope, time_zone="Nowhere/Land", days=5)
