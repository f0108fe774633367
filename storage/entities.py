"""mem0's entity index: which memories mention a name. Whoever writes here holds the scope's lock."""

from __future__ import annotations

import uuid
from collections.abc import Sequence, Set
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.dialects.postgresql import array

from domain.facts import Entity, StagedFact
from storage.tables import EntityRow


def link(connection: Connection, scope: str, facts: Sequence[StagedFact]) -> None:
    """Note which facts mention what; the caller holds the scope's lock."""
    links = _links_by_name(facts)
    known = _known_entities(connection, scope, set(links)) if links else {}
    new = [
        {
            "id": uuid.uuid4(),
            "vector": list(entity.vector),
            "payload": {
                "data": entity.text,
                "entity_type": entity.type.value,
                "linked_memory_ids": sorted(memory_ids),
                "user_id": scope,
            },
        }
        for name, (entity, memory_ids) in links.items()
        if name not in known
    ]
    if new:
        connection.execute(insert(EntityRow), new)
    for name, row in known.items():
        linked = sorted({*_linked(row), *links[name][1]})
        payload = {**row.payload, "linked_memory_ids": linked}
        connection.execute(update(EntityRow).where(EntityRow.id == row.id).values(payload=payload))


def _links_by_name(facts: Sequence[StagedFact]) -> dict[str, tuple[Entity, set[str]]]:
    links: dict[str, tuple[Entity, set[str]]] = {}
    for fact in facts:
        for entity in fact.entities:
            links.setdefault(entity_key(entity.text), (entity, set()))[1].add(fact.id)
    return links


def _known_entities(connection: Connection, scope: str, wanted: Set[str]) -> dict[str, Any]:
    """The scope's entities of these names. Of all the others, which may be many, only the names are read."""
    ours = EntityRow.payload["user_id"].astext == scope
    names = connection.execute(select(EntityRow.id, EntityRow.payload["data"].astext.label("name")).where(ours))
    known = {key: row.id for row in names if (key := entity_key(row.name or "")) in wanted}
    if not known:
        return {}
    found = connection.execute(select(EntityRow.id, EntityRow.payload).where(EntityRow.id.in_(known.values())))
    rows = {row.id: row for row in found}
    return {key: rows[entity_id] for key, entity_id in known.items()}


def _linked(row: Any) -> list[str]:
    """The memories that an entity is said to be in, whoever said so."""
    linked = row.payload.get("linked_memory_ids")
    return [other for other in linked if isinstance(other, str)] if isinstance(linked, list) else []


def entity_key(text: str) -> str:
    """The spelling by which mem0 tells entities apart: lower case, single spaces."""
    return " ".join(text.lower().split())


def unlink(connection: Connection, scope: str, memory_ids: Sequence[str]) -> None:
    """Take memories out of the index; an entity that nothing mentions any more goes as well."""
    gone = set(memory_ids)
    linked = EntityRow.payload["linked_memory_ids"]
    statement = select(EntityRow.id, EntityRow.payload).where(
        EntityRow.payload["user_id"].astext == scope, linked.has_any(array(memory_ids))
    )
    for row in connection.execute(statement).all():
        rest = [other for other in _linked(row) if other not in gone]
        change = (
            update(EntityRow).values(payload={**row.payload, "linked_memory_ids": rest}) if rest else delete(EntityRow)
        )
        connection.execute(change.where(EntityRow.id == row.id))
