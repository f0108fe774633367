"""mem0's entity index: which memories mention a name. Whoever writes here holds the scope's lock."""

from __future__ import annotations

import uuid
from collections.abc import Sequence, Set
from typing import Any

from sqlalchemy import Connection, Text, Uuid, any_, bindparam, delete, func, insert, select, true, update
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from domain.facts import Entity, StagedFact
from storage.tables import EntityRow, text_at, word

_LINKED = EntityRow.payload["linked_memory_ids"]
_OURS = text_at(EntityRow.payload, "user_id") == bindparam("scope")
_THESE = EntityRow.id == any_(bindparam("ids", type_=ARRAY(Uuid)))
_NAMES = select(EntityRow.id, text_at(EntityRow.payload, "data").label("name")).where(_OURS)
_KNOWN = select(EntityRow.id, EntityRow.payload).where(_THESE)
_INSERT = insert(EntityRow)
_RELINK = update(EntityRow).where(EntityRow.id == bindparam("this_entity")).values(payload=bindparam("changed"))
_gone = bindparam("gone", type_=ARRAY(Text))
# Another program's links may be no array, and hold more than texts.
_names = func.jsonb_path_query_array(_LINKED, word('strict $[*] ? (@.type() == "string")'), word("{}"), true())
_left = _names.op("-", return_type=JSONB())(_gone)
_UNLINK = (
    update(EntityRow)
    .where(_OURS, _LINKED.has_any(_gone))
    .values(payload=EntityRow.payload.op("||")(func.jsonb_build_object(word("linked_memory_ids"), _left)))
    .returning(EntityRow.id, func.jsonb_array_length(_LINKED).label("links"))
)
_DELETE = delete(EntityRow).where(_THESE)


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
        connection.execute(_INSERT, new)
    changed = [
        {
            "this_entity": row.id,
            "changed": {**row.payload, "linked_memory_ids": sorted({*_linked(row), *links[name][1]})},
        }
        for name, row in known.items()
    ]
    if changed:
        connection.execute(_RELINK, changed)


def _links_by_name(facts: Sequence[StagedFact]) -> dict[str, tuple[Entity, set[str]]]:
    links: dict[str, tuple[Entity, set[str]]] = {}
    for fact in facts:
        for entity in fact.entities:
            links.setdefault(entity_key(entity.text), (entity, set()))[1].add(fact.id)
    return links


def _known_entities(connection: Connection, scope: str, wanted: Set[str]) -> dict[str, Any]:
    """The scope's entities of these names. Of all the others, which may be many, only the names are read."""
    names = connection.execute(_NAMES, {"scope": scope})
    known = {key: row.id for row in names if (key := entity_key(row.name or "")) in wanted}
    if not known:
        return {}
    rows = {row.id: row for row in connection.execute(_KNOWN, {"ids": list(known.values())})}
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
    changed = connection.execute(_UNLINK, {"scope": scope, "gone": list(memory_ids)}).all()
    lonely = [row.id for row in changed if not row.links]
    if lonely:
        connection.execute(_DELETE, {"ids": lonely})
