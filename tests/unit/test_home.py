from __future__ import annotations

import json
import os
import socket
import stat
from pathlib import Path

import pytest

from domain.errors import ConfigurationError
from runtime.home import MAX_LOG_BYTES, Home, HomeInUse, free_port


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home.open(tmp_path / "home")


def test_a_home_is_closed_to_other_users(tmp_path: Path) -> None:
    (tmp_path / "wide").mkdir(mode=0o755)
    home = Home.open(tmp_path / "wide")
    assert [mode(path) for path in (home.path, home.logs, home.run)] == [0o700, 0o700, 0o700]


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").touch()
    tmp_path.chmod(0o755)
    with pytest.raises(ConfigurationError, match="other files"):
        Home.open(tmp_path)
    assert mode(tmp_path) == 0o755


def test_a_home_below_a_file_is_refused_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigurationError, match="POCO_HOME"):
        Home.open(tmp_path / "file" / "home")


def test_secrets_are_made_once_kept_and_private(home: Home) -> None:
    assert home.known_secrets() is None
    first = home.secrets()
    assert Home.open(home.path).secrets() == first
    assert mode(home.path / "secrets.json") == 0o600
    values = set(json.loads((home.path / "secrets.json").read_text()).values())
    assert len(values) == 6
    assert all(len(value) >= 32 for value in values)


def test_a_home_from_before_operators_had_a_token_comes_to_one_and_the_same(home: Home) -> None:
    home.secrets()
    stored = json.loads((home.path / "secrets.json").read_text())
    del stored["operator_token"]
    (home.path / "secrets.json").write_text(json.dumps(stored))
    first = home.secrets().operator_token
    assert home.known_secrets() == home.secrets()
    assert len(first) >= 32
    assert first not in stored.values()


def test_secrets_do_not_show_themselves(home: Home) -> None:
    assert home.secrets().service_token not in repr(home.secrets())


@pytest.mark.parametrize("damaged", ["", "{", "[]", '{"postgres_password": "x"}'])
def test_damaged_secrets_are_never_replaced(home: Home, damaged: str) -> None:
    (home.path / "secrets.json").write_text(damaged)
    with pytest.raises(ConfigurationError, match=r"secrets\.json"):
        home.secrets()
    assert (home.path / "secrets.json").read_text() == damaged


def test_ports_are_kept_while_they_are_free(home: Home) -> None:
    first = home.claim_ports({"api": 0, "flower": 0})
    assert first["api"] != first["flower"]
    assert home.claim_ports({"flower": 0, "api": 0}) == first
    assert home.known_ports() == first


def test_a_port_that_was_taken_meanwhile_is_replaced(home: Home) -> None:
    first = home.claim_ports({"api": 0})
    with socket.socket() as other:
        other.bind(("127.0.0.1", first["api"]))
        other.listen()
        assert home.claim_ports({"api": 0})["api"] != first["api"]


def test_a_wanted_port_is_used_and_refused_when_taken(home: Home) -> None:
    port = free_port()
    assert home.claim_ports({"api": port}) == {"api": port}
    with socket.socket() as other:
        other.bind(("127.0.0.1", port))
        other.listen()
        with pytest.raises(ConfigurationError, match=f"POCO_API_PORT: port {port} is in use"):
            home.claim_ports({"api": port})


def test_one_lock_at_a_time(home: Home) -> None:
    with home.lock():
        assert home.is_locked()
        with pytest.raises(HomeInUse), home.lock():
            pass
    assert not home.is_locked()


def append(home: Home, text: str) -> None:
    log = home.open_log("api")
    os.write(log, text.encode())
    os.close(log)


def test_a_large_log_is_put_aside_and_a_small_one_continued(home: Home) -> None:
    for size in (5, MAX_LOG_BYTES + 1):
        home.log_file("api").write_bytes(b"x" * size)
        append(home, "new")
        assert home.log_file("api").read_bytes().startswith(b"xxxxx") == (size == 5)
        assert home.log_file("api").read_bytes().endswith(b"new")
    assert (home.logs / "api.log.1").stat().st_size == MAX_LOG_BYTES + 1


def test_a_log_is_private_and_its_tail_can_be_read(home: Home) -> None:
    append(home, "\n".join(f"line {n}" for n in range(5000)))
    assert mode(home.log_file("api")) == 0o600
    assert home.log_tail("api", 2) == "line 4998\nline 4999"
    assert home.log_tail("never started") == ""


def test_the_tail_of_a_log_begins_at_the_last_start(home: Home) -> None:
    append(home, "an old fault\n")
    append(home, "a new fault\n")
    tail = home.log_tail("api")
    assert "an old fault" not in tail
    assert tail.endswith("a new fault")
