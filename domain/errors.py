"""Everything that can go wrong, by what has to be done about it.

    PocoError
    |-- InvalidField        the caller sent something wrong; nothing was written
    |-- ConfigurationError  the operator has to change a setting; the process does not start
    |-- TransientError      try again later: model, embedding, database
    |-- PermanentError      trying again cannot help; the job is buried at once
    `-- Fenced              another worker owns the job now; whatever was done is thrown away

No message of these carries user content, a secret or a token: they end up in the ledger, in logs and in Flower.
"""

from __future__ import annotations

from enum import StrEnum


class Backend(StrEnum):
    """What a transient failure came from; stored as the job's reason when it ends dead."""

    LLM_UNAVAILABLE = "llm_unavailable"
    LLM_RATE_LIMITED = "llm_rate_limited"
    LLM_TIMEOUT = "llm_timeout"
    LLM_UNPARSEABLE = "llm_unparseable"
    EMBEDDING_UNAVAILABLE = "embedding_unavailable"
    DATABASE_UNAVAILABLE = "database_unavailable"
    INTERNAL = "internal_error"


# A dead job's reason when its workers died again and again.
POISON = "poison"


class PocoError(Exception):
    """Base of all errors this service raises on purpose."""


class InvalidField(PocoError):
    """A field of a request breaks a rule: names the field, the rule's short name and a sentence."""

    def __init__(self, field: str, rule: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.rule = rule
        self.message = message


class ConfigurationError(PocoError):
    """A setting is missing, wrong, or does not fit the database it points at."""


class TransientError(PocoError):
    """A backend failed in a way that may pass."""

    def __init__(self, backend: Backend, detail: str) -> None:
        super().__init__(f"{backend}: {detail}")
        self.backend = backend
        self.detail = detail


class PermanentError(PocoError):
    """The job can never succeed as it is."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class Fenced(PocoError):
    """The lease was lost to another worker before this one could complete."""
