from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import redis

from runtime.checks import postgres_answers, valkey_answers
from runtime.children import Child, spawn
from runtime.embedded import EmbeddedServerError, launch
from runtime.embedded.launch import nobody_launch
from runtime.embedded.postgres import postgres_spec
from runtime.embedded.servers import Servers, embedded_servers
from runtime.embedded.valkey import valkey_spec
from runtime.home import Home, HomeInUse
from runtime.procfs import working_in
from runtime.spec import PROJECT_ROOT


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("embedded") / "home"


@pytest.fixture(scope="module")
def servers(home: Path) -> Iterator[Servers]:
    with embedded_servers(home) as servers:
        yield servers


def with_password(url: str, password: str) -> str:
    scheme, _, rest = url.partition("://")
    user = rest.partition(":")[0]
    return f"{scheme}://{user}:{password}@{rest.rpartition('@')[2]}"


def remember(url: str, number: int) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS kept (number int)")
        connection.execute("INSERT INTO kept VALUES (%s)", [number])


def remembered(url: str) -> list[int]:
    with psycopg.connect(url) as connection:
        return [row[0] for row in connection.execute("SELECT number FROM kept ORDER BY number")]


def test_postgres_has_pgvector_with_iterative_scan(servers: Servers) -> None:
    with psycopg.connect(servers.database_url, options="-c hnsw.iterative_scan=strict_order") as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute("CREATE TEMP TABLE v (e vector(3))")
        connection.execute("CREATE INDEX ON v USING hnsw (e vector_cosine_ops)")
        connection.execute("INSERT INTO v VALUES ('[1,2,3]'), ('[3,2,1]')")
        nearest = connection.execute("SELECT e::text FROM v ORDER BY e <=> '[3,2,2]' LIMIT 1").fetchone()
        assert nearest == ("[3,2,1]",)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("fsync", "on"),
        ("synchronous_commit", "on"),
        ("shared_buffers", "128MB"),
        ("max_connections", "200"),
        ("listen_addresses", "127.0.0.1"),
        ("password_encryption", "scram-sha-256"),
        ("server_encoding", "UTF8"),
        ("data_checksums", "on"),
    ],
)
def test_postgres_is_set_up_for_keeping_data(servers: Servers, name: str, value: str) -> None:
    with psycopg.connect(servers.database_url) as connection:
        assert connection.execute("SELECT current_setting(%s)", [name]).fetchone() == (value,)


def test_postgres_sorts_the_same_on_every_machine(servers: Servers) -> None:
    with psycopg.connect(servers.database_url) as connection:
        found = connection.execute(
            "SELECT datlocprovider, datlocale FROM pg_database WHERE datname = current_database()"
        ).fetchone()
    assert found == ("b", "C.UTF-8")


def test_both_servers_want_the_password(servers: Servers) -> None:
    assert postgres_answers(servers.database_url)
    assert valkey_answers(servers.broker_url)
    assert not postgres_answers(with_password(servers.database_url, "wrong"))
    assert not valkey_answers(with_password(servers.broker_url, "wrong"))
    assert not valkey_answers("redis://" + servers.broker_url.rpartition("@")[2])


def test_valkey_keeps_messages_and_never_drops_one(servers: Servers) -> None:
    with redis.Redis.from_url(servers.broker_url) as client:
        wanted = {"appendonly": "yes", "appendfsync": "everysec", "maxmemory-policy": "noeviction", "save": ""}
        assert {name: client.config_get(name)[name] for name in wanted} == wanted


def test_no_password_is_on_a_command_line(servers: Servers, home: Path) -> None:
    secrets = Home(home).known_secrets()
    assert secrets is not None
    # The command as given: Valkey overwrites what /proc shows of it, but only once it runs.
    commands = [*postgres_spec(Home(home), 1).command, *valkey_spec(Home(home), 1).command]
    assert not [part for part in commands if secrets.postgres_password in part or secrets.valkey_password in part]


def test_what_users_say_stays_out_of_the_server_log(servers: Servers, home: Path) -> None:
    with psycopg.connect(servers.database_url) as connection, pytest.raises(psycopg.errors.DataError):
        connection.execute("SELECT %s::uuid", ["I live in Lisbon"])
    assert "Lisbon" not in Home(home).log_tail("postgres", 50)


def test_a_home_is_used_by_one_at_a_time(servers: Servers, home: Path) -> None:
    with pytest.raises(HomeInUse), embedded_servers(home):
        pass


def test_everything_is_there_after_all_processes_were_killed(tmp_path: Path) -> None:
    with embedded_servers(tmp_path / "home") as servers:
        remember(servers.database_url, 1)
        with redis.Redis.from_url(servers.broker_url) as client:
            client.lpush("queue", "message")
            # appendfsync everysec writes before it answers; only a power cut may lose the last second.
        cluster, valkey = tmp_path / "home/postgres/data", tmp_path / "home/valkey"
        for pid in [*working_in(cluster, "postgres"), *working_in(valkey, "valkey-server")]:
            os.kill(pid, signal.SIGKILL)
    with embedded_servers(tmp_path / "home") as servers:
        assert remembered(servers.database_url) == [1]
        with redis.Redis.from_url(servers.broker_url) as client:
            assert client.lrange("queue", 0, -1) == [b"message"]


def test_a_stale_pid_file_is_no_problem(tmp_path: Path) -> None:
    with embedded_servers(tmp_path / "home") as servers:
        remember(servers.database_url, 1)
        pid_file = tmp_path / "home/postgres/data/postmaster.pid"
        stale = pid_file.read_text()
    with subprocess.Popen(["/bin/sleep", "60"]) as stranger:
        # After a crash the kernel may have given the old id to anybody.
        pid_file.write_text(f"{stranger.pid}\n{stale.partition(chr(10))[2]}")
        with embedded_servers(tmp_path / "home") as servers:
            assert remembered(servers.database_url) == [1]
        assert stranger.poll() is None
        stranger.kill()


def test_a_half_made_cluster_is_made_again(tmp_path: Path) -> None:
    half = tmp_path / "home/postgres/data.new"
    Home.open(tmp_path / "home")
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")
    with embedded_servers(tmp_path / "home") as servers:
        assert postgres_answers(servers.database_url)
    assert not half.exists()


def test_both_servers_end_when_their_supervisor_is_killed(tmp_path: Path) -> None:
    program = textwrap.dedent(f"""
        import os
        from pathlib import Path
        from runtime.embedded.servers import embedded_servers
        with embedded_servers(Path({str(tmp_path / "home")!r})):
            os.kill(os.getpid(), 9)
    """)
    done = subprocess.run([sys.executable, "-c", program], cwd=PROJECT_ROOT, check=False)
    assert done.returncode == -signal.SIGKILL
    # At once: the old ones may still be on their way out.
    with embedded_servers(tmp_path / "home") as servers:
        assert postgres_answers(servers.database_url)


def test_servers_that_were_left_behind_are_ended_before_others_open_their_data(tmp_path: Path) -> None:
    home = Home.open(tmp_path / "home")
    ports = home.claim_ports({"postgres": 0, "valkey": 0})
    left = [spawn(postgres_spec(home, ports["postgres"]), home), spawn(valkey_spec(home, ports["valkey"]), home)]
    assert all(wait_for(child) for child in left)
    with embedded_servers(home.path) as servers:
        assert [child.exit_code() for child in left] == [0, 0]
        assert postgres_answers(servers.database_url)
        assert valkey_answers(servers.broker_url)


@pytest.fixture
def open_home() -> Iterator[Home]:
    """A home that other users can reach, unlike pytest's folders."""
    folder = Path(tempfile.mkdtemp(prefix="poco-test-"))
    try:
        yield Home.open(folder)
    finally:
        shutil.rmtree(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs PostgreSQL as somebody else")
def test_root_without_user_namespaces_runs_postgres_as_nobody(open_home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "_NAMESPACE", ("/bin/false",))
    port = open_home.claim_ports({"postgres": 0})["postgres"]
    spec = postgres_spec(open_home, port)
    assert spec.account is not None
    child = spawn(spec, open_home)
    try:
        assert wait_for(child)
        assert Path(f"/proc/{child.pid}").stat().st_uid == spec.account.uid
    finally:
        assert child.stop() == 0
    assert Home.open(open_home.path).path.stat().st_mode & 0o777 == 0o711


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs PostgreSQL as somebody else")
def test_a_home_that_nobody_can_reach_is_told_in_a_sentence(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    home = Home.open(tmp_path / "home")
    home.postgres.mkdir()
    with pytest.raises(EmbeddedServerError, match="POCO_HOME to a folder that all users may enter"):
        nobody_launch(home.postgres)


def wait_for(child: Child) -> bool:
    for _ in range(200):
        if child.spec.health():
            return True
        if child.exit_code() is not None:
            return False
        signal.sigtimedwait([], 0.05)
    return False
