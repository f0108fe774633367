"""The OpenAPI 3.1 document, made from the application itself: its routes, who may call them and what they speak."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import version
from typing import Any

from flask import Flask
from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaMode
from werkzeug.routing import Rule

from api.auth import EVERYBODY, needed_by
from api.endpoints import Spoken, spoken
from api.shapes import Problem

JsonObject = dict[str, Any]
_Named = tuple[type[Any], JsonSchemaMode]
_REF = "#/components/schemas/{model}"
_JSON = "application/json"
_PROBLEM_JSON = "application/problem+json"
_ALIKE = {"HEAD", "OPTIONS"}
_TAGS = {
    "memories": "Hand candidates in and search.",
    "lifecycle": "Manage memories on purpose, for services.",
    "gateway": "What users do with their own memories.",
    "jobs": "What became of candidates, for producers and operators.",
    "health": "Liveness and readiness.",
}
_MEANINGS = {
    200: "Done.",
    202: "Accepted.",
    401: "There is no valid token.",
    403: "The token is not for this.",
    404: "There is no such thing, or it is somebody else's.",
    409: "It is not in a state for this.",
    414: "The request line has more than 8190 bytes; the server answers this before the service sees it.",
    413: "The body is too large.",
    422: "A field breaks a rule; nothing was written.",
    429: "Too many requests, or too many candidates wait; Retry-After says for how long.",
    503: "A backend is not available; try again.",
}


def document(app: Flask) -> JsonObject:
    """The whole document.

    Raises:
        LookupError: an endpoint that needs a token does not say what it answers.
    """
    rules = [
        rule for rule in app.url_map.iter_rules() if _is_published(rule.endpoint, app.view_functions[rule.endpoint])
    ]
    schemas, definitions = _schemas(_named(spoken(app.view_functions[rule.endpoint]) for rule in rules))
    paths: dict[str, JsonObject] = {}
    for rule in sorted(rules, key=lambda rule: rule.rule):
        for path, values in _paths(rule):
            operations = paths.setdefault(path, {})
            for method in sorted((rule.methods or set()) - _ALIKE):
                operations[method.lower()] = _operation(app, rule, values, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Poco Memory",
            "version": version("poco-memory"),
            "description": "Long-term memory for AI agents: candidates go in, a few trustworthy facts come out.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": name, "description": what} for name, what in _TAGS.items()],
        "paths": paths,
        "components": {
            "schemas": definitions,
            "securitySchemes": {
                "service_token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A service's or operator's token.",
                },
                "user_token": {
                    "type": "http",
                    "scheme": "bearer",
                    "bearerFormat": "JWT",
                    "description": "A user's own.",
                },
            },
        },
    }


def _is_published(endpoint: str, view: Callable[..., Any]) -> bool:
    if spoken(view).answer:
        return True
    if needed_by(view) == EVERYBODY:
        return False
    raise LookupError(f"{endpoint} does not say what it answers")


def _named(all_spoken: Iterable[Spoken]) -> Iterator[_Named]:
    yield Problem, "serialization"
    for said in all_spoken:
        yield said.problem, "serialization"
        if said.answer:
            yield said.answer, "serialization"
        for taken in (said.body, said.query):
            if taken:
                yield taken, "validation"


def _schemas(named: Iterable[_Named]) -> tuple[dict[_Named, JsonObject], JsonObject]:
    """The schema of each class, and the definitions they refer to."""
    inputs = [(one, one[1], TypeAdapter(one[0])) for one in dict.fromkeys(named)]
    found, together = TypeAdapter.json_schemas(inputs, ref_template=_REF)
    definitions: JsonObject = together.get("$defs", {})
    for name, schema in definitions.items():
        if "properties" in schema:
            # Dataclasses do not say it of themselves.
            schema.setdefault("additionalProperties", False)
        schema.setdefault("title", name)
    return {one: schema for (one, _), schema in found.items()}, definitions


def _paths(rule: Rule) -> Iterator[tuple[str, dict[str, str]]]:
    """The rule's path in OpenAPI's form; one for each choice where the rule gives a choice."""
    choice = re.search(r"<any\(([^)]*)\):(\w+)>", rule.rule)
    if choice:
        for value in choice[1].split(","):
            yield re.sub(r"<(\w+)>", r"{\1}", rule.rule.replace(choice[0], value.strip())), {choice[2]: value.strip()}
    else:
        yield re.sub(r"<(\w+)>", r"{\1}", rule.rule), {}


def _operation(app: Flask, rule: Rule, values: dict[str, str], schemas: dict[_Named, JsonObject]) -> JsonObject:
    view = app.view_functions[rule.endpoint]
    said = spoken(view)
    needed = needed_by(view)
    operation: JsonObject = {
        "operationId": "_".join([rule.endpoint.replace(".", "_"), *values.values()]),
        "tags": [rule.endpoint.split(".")[0]],
        "summary": inspect.getdoc(view),
        "parameters": [*_path_parameters(rule, values), *_query_parameters(said)],
        "responses": _responses(said, schemas, is_open=needed == EVERYBODY),
        "security": [],
    }
    if needed != EVERYBODY:
        operation["security"] = [{"service_token": []} if isinstance(needed, frozenset) else {"user_token": []}]
    if isinstance(needed, frozenset) and needed:
        operation["description"] = f"Needs a token with the scope {' or '.join(sorted(needed))}."
    if said.body:
        content = {_JSON: {"schema": schemas[said.body, "validation"]}}
        operation["requestBody"] = {"required": not said.is_body_optional, "content": content}
    return operation


def _path_parameters(rule: Rule, values: dict[str, str]) -> list[JsonObject]:
    names = sorted(rule.arguments - values.keys())
    return [{"name": name, "in": "path", "required": True, "schema": _ID} for name in names]


_ID: JsonObject = {"type": "string", "format": "uuid"}


def _query_parameters(said: Spoken) -> list[JsonObject]:
    if said.query is None:
        return []
    fields = said.query.model_json_schema(ref_template=_REF)
    required = fields.get("required", [])
    return [
        {
            "name": name,
            "in": "query",
            "required": name in required,
            "description": schema.get("description", ""),
            "schema": _without_null(schema),
        }
        for name, schema in fields["properties"].items()
    ]


def _without_null(schema: JsonObject) -> JsonObject:
    """What a query can say: a parameter is there or not, it is never null."""
    choices = [choice for choice in schema.get("anyOf", []) if choice != {"type": "null"}]
    rest = {key: value for key, value in schema.items() if key not in ("anyOf", "description", "title")}
    if rest.get("default", ...) is None:
        del rest["default"]
    if len(choices) == 1:
        return {**rest, **choices[0]}
    return {**rest, "anyOf": choices} if choices else rest


def _responses(said: Spoken, schemas: dict[_Named, JsonObject], *, is_open: bool) -> JsonObject:
    answer = {_JSON: {"schema": schemas[said.answer, "serialization"]}} if said.answer else {}
    found = dict.fromkeys(said.statuses, answer)
    failures: set[int] = set(said.failures)
    if not is_open:
        failures |= {401, 403, 429, 503}
    if said.body or said.query:
        failures |= {413, 422} if said.body else {422}
    for status in sorted(failures):
        shape = said.problem if status in (404, 422, 503) else Problem
        found[status] = {_PROBLEM_JSON: {"schema": schemas[shape, "serialization"]}}
    if said.query:
        found[414] = {"text/html": {"schema": {"type": "string"}}}
    headers = {"X-Request-Id": {"schema": {"type": "string"}, "description": "Also in every log line of the request."}}
    return {
        str(status): {"description": _MEANINGS[status], "headers": headers, "content": content}
        for status, content in found.items()
    }
