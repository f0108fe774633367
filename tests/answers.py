"""Holds every answer that a test sees against the published OpenAPI document."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from jsonschema import Draft202012Validator, FormatChecker

JsonObject = dict[str, Any]


class PublishedAnswers:
    """What the document says of each operation's answers."""

    def __init__(self, document: JsonObject) -> None:
        self._components = document["components"]
        self._paths = document["paths"]
        self._operations = [
            (_pattern(path), method.upper(), operation["responses"])
            for path, operations in sorted(document["paths"].items(), key=lambda pair: "{" in pair[0])
            for method, operation in operations.items()
        ]

    def operations(self) -> list[tuple[str, str]]:
        """Each method with its path, as the document writes it."""
        return [(method.upper(), path) for path, operations in self._paths.items() for method in operations]

    def check(self, method: str, url: str, status: int, content_type: str, body: object) -> None:
        """Fail when this answer is not one that the document promises; an unknown operation promises nothing."""
        path = urlsplit(url).path
        responses = next(
            (said for pattern, m, said in self._operations if m == method and pattern.fullmatch(path)), None
        )
        if responses is None:
            assert status in (401, 404, 405), f"{method} {path} is not in the document and answered {status}"
            return
        assert str(status) in responses, f"{method} {path} answered {status}, which the document does not say"
        content = responses[str(status)]["content"]
        assert content_type in content, f"{method} {path} answered {status} as {content_type}"
        schema = {**content[content_type]["schema"], "components": self._components}
        faults = list(Draft202012Validator(schema, format_checker=FormatChecker()).iter_errors(body))
        assert not faults, f"{method} {path} {status}: {[(fault.json_path, fault.message) for fault in faults]}"


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\{\w+\}", "[^/]+", path))
