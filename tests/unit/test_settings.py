from __future__ import annotations

from pathlib import Path

import pytest

from domain.errors import ConfigurationError
from runtime.settings import Settings, load_settings, required_secret
from runtime.settings_table import table

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(f"POCO_{name.upper()}", raising=False)


def test_the_docs_list_every_setting_as_the_code_has_it() -> None:
    assert table() in (DOCS / "settings.md").read_text(encoding="utf-8")


def test_without_any_variable_everything_is_local_and_offline() -> None:
    settings = load_settings()
    assert settings.llm_is_offline
    assert settings.embedding_is_local
    assert settings.dims == 384
    assert settings.retry_delays == (1.0, 2.0, 4.0)


@pytest.mark.parametrize(
    ("variable", "value", "sentence"),
    [
        ("POCO_API_PORT", "http", "POCO_API_PORT: Input should be a valid integer"),
        ("POCO_API_PORT", "70000", "POCO_API_PORT: Input should be less than or equal to 65535"),
        ("POCO_SERVICE_TOKEN", "short", "POCO_SERVICE_TOKEN: "),
        ("POCO_DATABASE_URL", "mysql://u@h/d", "POCO_DATABASE_URL: must begin with postgresql://"),
        ("POCO_BROKER_URL", "amqp://h", "POCO_BROKER_URL: must begin with redis://"),
        ("POCO_MIN_SCORE", "1.5", "POCO_MIN_SCORE: Input should be less than or equal to 1"),
        ("POCO_RETRY_DELAYS", "1,0,4", "POCO_RETRY_DELAYS: each delay must be more than 0"),
        ("POCO_RETRY_DELAYS", "1,soon", "POCO_RETRY_DELAYS: Input should be a valid number"),
        ("POCO_LLM_MODEL", "qwen-plus", "POCO_LLM_BASE_URL is needed"),
        ("POCO_LLM_BASE_URL", "localhost:8000", "POCO_LLM_BASE_URL: String should match pattern"),
        ("POCO_EMBEDDING_MODEL", "bge-m3", "POCO_EMBEDDING_BASE_URL is needed"),
        ("POCO_EMBEDDING_DIMS", "512", "POCO_EMBEDDING_DIMS must be 384"),
        ("POCO_EMBEDDING_DIMS", "3072", "POCO_EMBEDDING_DIMS: Input should be less than or equal to 2000"),
        ("POCO_LOG_LEVEL", "loud", "POCO_LOG_LEVEL: "),
    ],
)
def test_a_wrong_value_is_told_by_the_variables_name(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, sentence: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigurationError) as caught:
        load_settings()
    assert sentence in str(caught.value)


def test_a_wrong_secret_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POCO_DATABASE_URL", "mysql://user:hunter-two@host/db")
    with pytest.raises(ConfigurationError) as caught:
        load_settings()
    assert "hunter-two" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_all_wrong_values_are_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POCO_API_PORT", "x")
    monkeypatch.setenv("POCO_LOG_FORMAT", "xml")
    with pytest.raises(ConfigurationError) as caught:
        load_settings()
    assert [line.split(":")[0] for line in str(caught.value).splitlines()] == ["POCO_API_PORT", "POCO_LOG_FORMAT"]


def test_a_missing_secret_says_which_variable_to_set() -> None:
    with pytest.raises(ConfigurationError, match="POCO_BROKER_URL is not set"):
        required_secret(load_settings(), "broker_url")


def test_a_remote_embedding_model_has_1536_dimensions_unless_said_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POCO_EMBEDDING_MODEL", "bge-m3")
    monkeypatch.setenv("POCO_EMBEDDING_BASE_URL", "http://127.0.0.1:1/v1")
    assert load_settings().dims == 1536
    monkeypatch.setenv("POCO_EMBEDDING_DIMS", "1024")
    assert load_settings().dims == 1024


def test_an_empty_variable_counts_as_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POCO_LLM_BASE_URL", "")
    assert load_settings().llm_base_url is None
