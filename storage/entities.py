"""mem0's entity index: which memories mention a name. Whoever writes here holds the scope's lock."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.dialects.postgresql import array

from domain.facts import Entity, StagedFact
from storage.tables import EntityRow


def link(connection: Connection, scope: str, facts: Sequence[StagedFact]) -> None:
    """Note which facts mention what; the caller holds the scope's lock."""
    links = _links_by_name(facts)
    known = _known_entities(connection, scope) if links else {}
    for name, (entity, memory_ids) in links.items():
        row = known.get(name)
        if row is None:
            payload = {
                "data": entity.text,
                "entity_type": entity.type.value,
                "linked_memory_ids": sorted(memory_ids),
                "user_id": scope,
            }
            connection.execute(insert(EntityRow).values(id=uuid.uuid4(), vector=list(entity.vector), payload=payload))
        else:
            linked = sorted({*row.payload.get("linked_memory_ids", []), *memory_ids})
            payload = {**row.payload, "linked_memory_ids": linked}
            connection.execute(update(EntityRow).where(EntityRow.id == row.id).values(payload=payload))


def _links_by_name(facts: Sequence[StagedFact]) -> dict[str, tuple[Entity, set[str]]]:
    links: dict[str, tuple[Entity, set[str]]] = {}
    for fact in facts:
        for entity in fact.entities:
            links.setdefault(entity_key(entity.text), (entity, set()))[1].add(fact.id)
    return links


def _known_entities(connection: Connection, scope: str) -> dict[str, Any]:
    statement = select(EntityRow.id, EntityRow.payload).where(EntityRow.payload["user_id"].astext == scope)
    return {entity_key(str(row.payload.get("data", ""))): row for row in connection.execute(statement)}


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
        rest = [other for other in row.payload["linked_memory_ids"] if other not in gone]
        change = (
            update(EntityRow).values(payload={**row.payload, "linked_memory_ids": rest}) if rest else delete(EntityRow)
        )
        connection.execute(change.where(EntityRow.id == row.id))
