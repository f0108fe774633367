"""What every endpoint needs of a request: its JSON body, checked, and the wired services."""

from __future__ import annotations

import json
from typing import TypeVar, get_origin

from flask import current_app, request
from gunicorn.http.errors import ParseException
from werkzeug.exceptions import RequestEntityTooLarge

from runtime.wiring import Services
from tasks.contracts import Contract

C = TypeVar("C", bound=Contract)
# No contract has a tenth of it; to name each field that is none takes longer than the request is worth.
_MOST_FIELDS = 200


class BadBody(Exception):
    """The body is no JSON object."""

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(message)
        self.rule = rule
        self.message = message


def wired() -> Services:
    """The services of this application."""
    services: Services = current_app.extensions["poco"]
    return services


def body_as(contract: type[C]) -> C:
    """The request's JSON body as a checked contract, whatever its content type says.

    Raises:
        BadBody: no JSON object.
        pydantic.ValidationError: a field breaks a rule.
    """
    return contract.model_validate(_json_object(_body()))


def optional_body_as(contract: type[C]) -> C:
    """As `body_as`; no body at all is an empty object."""
    raw = _body()
    return contract.model_validate(_json_object(raw) if raw.strip() else {})


def query_as(contract: type[C]) -> C:
    """The request's query as a checked contract; a field that is a list may be repeated.

    Raises:
        pydantic.ValidationError: a field breaks a rule.
    """
    several = {name for name, field in contract.model_fields.items() if get_origin(field.annotation) is list}
    given = request.args.to_dict(flat=False)
    return contract.model_validate({name: values if name in several else values[-1] for name, values in given.items()})


def _body() -> bytes:
    """The body as it was sent, which the server reads only now, so that a broken chunk is met here."""
    try:
        raw = request.get_data()
    except (OSError, ParseException):
        raise BadBody("encoding", "ended early or is not encoded as its headers say") from None
    if request.content_length is None and len(raw) >= (request.max_content_length or 0):
        # A body in chunks does not say how long it is, and is read up to the limit only.
        raise RequestEntityTooLarge
    return raw


def _json_object(raw: bytes) -> dict[str, object]:
    try:
        value = json.loads(raw, parse_constant=_refuse_constant)
    except RecursionError:
        raise BadBody("json", "is nested too deeply") from None
    except ValueError:
        # Covers broken JSON, wrong encodings, NaN and numbers of thousands of digits.
        raise BadBody("json", "must be valid JSON in UTF-8") from None
    if not isinstance(value, dict):
        raise BadBody("object", "must be a JSON object")
    if len(value) > _MOST_FIELDS:
        raise BadBody("max_fields", f"must not have more than {_MOST_FIELDS} fields")
    return value


def _refuse_constant(name: str) -> float:
    raise ValueError(name)
