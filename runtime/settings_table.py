"""The settings as a table, for docs/settings.md: `python -m runtime.settings_table` prints it."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic.fields import FieldInfo

from runtime.settings import Settings

_HEAD = ("| variable | default | limits | what it is |", "| --- | --- | --- | --- |")
_BOUNDS = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<", "min_length": "length >=", "max_length": "length <="}


def table() -> str:
    """One Markdown row for each setting, in the order of the code."""
    return "\n".join([*_HEAD, *_rows()])


def _rows() -> Iterator[str]:
    for name, field in Settings.model_fields.items():
        yield f"| `POCO_{name.upper()}` | {_default(field)} | {_limits(field)} | {field.description} |"


def _default(field: FieldInfo) -> str:
    value = field.default
    if value is None:
        return "unset"
    if isinstance(value, tuple):
        return "`" + ",".join(f"{number:g}" for number in value) + "`"
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


def _limits(field: FieldInfo) -> str:
    bounds = [
        f"{sign} {bound:g}"
        for rule in field.metadata
        for name, sign in _BOUNDS.items()
        if (bound := getattr(rule, name, None)) is not None
    ]
    return ", ".join(bounds)


if __name__ == "__main__":
    print(table())  # noqa: T201
