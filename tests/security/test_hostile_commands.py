"""Hostile arguments to every verb of the command: a sentence and an exit code, never a traceback, nothing touched.

Whoever may run a verb may read the whole database; what is tried here is that a scope or an id means one user's only.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from cli.main import app, main
from cli.output import DONE, FAILED, WRONG_USAGE
from domain.scope import Scope
from tests.planted import PLANTED
from tests.security.conftest import SECRET_WORD, World
from tests.security.doors import BANK, STRANGER
from tests.security.test_hostile_requests import LOOKALIKES

# Each verb leaves its connections to the end of its process, which is none of its own here.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
# What a shell cannot pass on is left out: NUL. What it can is bytes that are no UTF-8.
NO_UTF8 = os.fsdecode(b"\xff\xfe")
HUGE, LONG = "9" * 40, 100_000
BAD_SCOPES = ["*", "*:*", "bank:*", "", " ", "bank", "bank:", ":alice", "bank:al ice", f"bank:{NO_UTF8}", "x" * LONG]
BAD_IDS = ["*", "", " ", "7", "%", "' OR 1=1--", NO_UTF8, "x" * LONG, "../../etc/passwd", "[red]x[/]"]
BAD_SPANS = ["", "*", "-1h", "1", "1y", "9999999d", "\uff11h", NO_UTF8]
BAD_NAMES = ["", " ", "*", "a b", "-x", "../x", "x" * 65, "\u0430dmin", NO_UTF8, "%", "' OR 1=1--"]
BAD_URLS = [
    "x",
    "file:///etc/passwd",
    "http://",
    "http://[::1",
    "ftp://127.0.0.1:1/",
    "http://127.0.0.1:99999",
    NO_UTF8,
]
BAD_URLS += ["http://127.0.0.1:1", "http://a b/", "http://x\r\nX-Evil: 1/"]
BAD_FILES = ["{rows}", "/", "/nowhere", "", "x" * 5000, NO_UTF8, "/dev/null", "file:x?mode=rwc", "|true"]
BOMB = b"[" * LONG
ROWS = b"\n".join(
    [
        *(b"null", b"[]", b"{", BOMB, b'{"id": ' + b"9" * 5000 + b"}", b"\xff\xfe", b'{"id": {"$ne": 1}}'),
        b'{"id": 1, "kind": "*", "messages": [], "raw": 7}',
        b'{"id": 1, "messages": [{"role": "*", "content": "x"}], "raw": []}',
        json.dumps(dict.fromkeys(map(str, range(LONG)))).encode(),
    ]
)


def each(verb: str, option: str, values: list[str], code: int = WRONG_USAGE) -> list[tuple[list[str], int]]:
    """One row for each value of an option, or of the argument when there is no option."""
    return [([*verb.split(), *([f"{option}={value}"] if option else ["--", value])], code) for value in values]


def filters(verb: str) -> list[tuple[list[str], int]]:
    """The filters that several verbs for jobs have."""
    return [
        *each(verb, "--scope", BAD_SCOPES),
        *each(verb, "--step", ["*", "", "admit,extract", NO_UTF8]),
        *each(verb, "--since", BAD_SPANS),
        *each(verb, "--older-than", BAD_SPANS),
        *each(verb, "--reason", ["*", "%", "' OR 1=1--", "backend_error'--"], DONE),
        *each(verb, "--reason", ["", NO_UTF8, "x" * 257]),
        *each(verb, "--limit", ["0", "-1", "x"]),
    ]


# For each verb what it is given, and how it ends.
VERBS: dict[str, list[tuple[list[str], int]]] = {
    **{verb: each(verb, "", ["x", NO_UTF8]) for verb in ("down", "links", "migrate", "relay", "api", "flower")},
    "maintain": each("maintain", "", ["x", NO_UTF8]),
    "up": each("up", "--timeout", ["0", "-1", "x"]),
    "status": each("status", "", ["*"]),
    "chaos": [*each("chaos", "--seconds", ["0", "-1", "x"]), *each("chaos", "--seed", ["x", ""])],
    "worker": [*each("worker", "--pool", ["*", ""]), *each("worker", "--concurrency", ["0", "257", HUGE, "x"])],
    "token": each("token", "--user", BAD_SCOPES[:3] + BAD_SCOPES[4:]),
    "demo": [
        *each("demo", "--url", BAD_URLS, FAILED),
        *each("demo", "--timeout", ["0", "x"]),
    ],
    "scrub": each("scrub", "", ["*"]),
    "verify-forgotten": [
        *each("verify-forgotten", "--scope", BAD_SCOPES),
        *each(f"verify-forgotten --scope={STRANGER.key}", "--memory", BAD_IDS[:1] + BAD_IDS[2:]),
        # Another tenant's memory is none of this scope's.
        (["verify-forgotten", f"--scope={STRANGER.key}", "--memory={memory}", "--json"], DONE),
        *((["verify-forgotten", f"--scope={BANK.tenant_id}:{name}", "--memory={memory}"], DONE) for name in LOOKALIKES),
    ],
    **{
        f"dry-run {gate}": [
            *each(f"dry-run {gate}", "--in", ["/", "/nowhere", "", "x" * 5000, NO_UTF8]),
            ([*f"dry-run {gate}".split(), "--in={rows}", "--out={out}"], FAILED),
        ]
        for gate in ("admission", "extraction", "postcheck")
    },
    "history import": each("history import", "", BAD_FILES),
    "history scrub": [*each("history scrub", "", BAD_FILES), *each("history scrub --delete", "", BAD_FILES)],
    "jobs list": [
        *filters("jobs list"),
        *each("jobs list", "--after", [HUGE, "-1", "x", ""]),
        *each("jobs list", "--limit", ["1001", HUGE]),
        *each("jobs list", "--status", ["*", "dead,success", ""]),
        *each("jobs list", "--outcome", ["*", ""]),
        *((["jobs", "list", f"--scope={BANK.tenant_id}:{name}"], DONE) for name in LOOKALIKES),
    ],
    "jobs show": each("jobs show", "", BAD_IDS),
    "jobs cancel": [
        *each("jobs cancel", "", BAD_IDS),
        (["jobs", "cancel", str(uuid.UUID(int=7)), f"--why={NO_UTF8}"], WRONG_USAGE),
        (["jobs", "cancel", str(uuid.UUID(int=7)), "--why="], WRONG_USAGE),
        (["jobs", "cancel", str(uuid.UUID(int=7)), f"--why={'x' * 501}"], WRONG_USAGE),
    ],
    "jobs stats": each("jobs stats", "", ["*"]),
    "jobs watch": [
        *each("jobs watch", "--scope", BAD_SCOPES),
        *each("jobs watch", "--every", ["0", "-1", "x", "nan", "inf"]),
        *each("jobs watch", "--times", ["0", "x"]),
    ],
    **{
        f"jobs {act}": [
            *filters(f"jobs {act} --all"),
            *each(f"jobs {act} --all", "--limit", [HUGE]),
            *each(f"jobs {act}", "", BAD_IDS),
            *((["jobs", act, "--all", f"--scope={BANK.tenant_id}:{name}"], DONE) for name in LOOKALIKES[:5]),
        ]
        for act in ("retry", "restart")
    },
    "tokens create": [
        *each("tokens create", "", BAD_NAMES),
        *each("tokens create x", "--scope", ["*", "", "operate,manage"]),
        *each("tokens create x", "--expires", BAD_SPANS[1:]),
    ],
    "tokens list": each("tokens list", "", ["*"]),
    "tokens revoke": [*each("tokens revoke", "", BAD_NAMES), *each("tokens revoke", "", ["nobody"], FAILED)],
}


def verbs(group: typer.core.TyperGroup, before: tuple[str, ...] = ()) -> Iterator[str]:
    for name, command in group.commands.items():
        if isinstance(command, typer.core.TyperGroup):
            yield from verbs(command, (*before, name))
        else:
            yield " ".join((*before, name))


def test_every_verb_has_rows() -> None:
    """A new verb is written into the table above, with what it says to arguments that were made to harm."""
    group = typer.main.get_command(app)
    assert isinstance(group, typer.core.TyperGroup)
    assert set(verbs(group)) == set(VERBS)


@pytest.fixture
def environment(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The settings of the service, and files for the verbs that read some."""
    settings = world.services.settings
    for name in ("database_url", "broker_url", "service_token", "operator_token", "user_jwt_secret"):
        monkeypatch.setenv(f"POCO_{name.upper()}", getattr(settings, name).get_secret_value())
    for name in ("embedding_model", "embedding_base_url", "embedding_dims"):
        monkeypatch.setenv(f"POCO_{name.upper()}", str(getattr(settings, name)))
    monkeypatch.setenv("POCO_HOME", str(tmp_path / "home"))
    # Set by the command itself for its own process.
    for name in ("MEM0_DIR", "MEM0_TELEMETRY", "OMP_NUM_THREADS"):
        monkeypatch.setenv(name, os.environ.get(name, ""))
    (tmp_path / "rows").write_bytes(ROWS)
    return {**world.ids, "rows": str(tmp_path / "rows"), "out": str(tmp_path / "out")}


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """What a verb leaves is gone with its own test."""
    yield
    gc.collect()


def ended(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> int | str:
    """The exit code, or the exception that a person would see as a traceback."""
    monkeypatch.setattr(sys, "argv", ["poco-memory", *arguments])
    try:
        main()
    except SystemExit as exc:
        return int(exc.code or 0)
    except Exception as exc:  # noqa: BLE001 - whatever it is, it is the finding
        return f"{type(exc).__name__}: {exc}"[:200]
    return DONE


@pytest.mark.parametrize("verb", VERBS)
def test_hostile_arguments_end_in_a_sentence(
    world: World,
    verb: str,
    environment: dict[str, str],
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    faults = []
    with world.untouched():
        for arguments, code in VERBS[verb]:
            filled = [_filled(argument, environment) for argument in arguments]
            found = ended(filled, monkeypatch)
            said = "".join(capfd.readouterr())
            if found != code or "Traceback" in said or SECRET_WORD in said.casefold():
                faults.append(f"{[ascii(argument)[:60] for argument in arguments]}: {found}, not {code}: {said[:300]}")
    assert faults == [], "\n".join(faults)


def _filled(argument: str, known: dict[str, str]) -> str:
    for name, value in known.items():
        argument = argument.replace(f"{{{name}}}", value)
    return argument


def test_what_is_forgotten_of_one_user_is_looked_for_there_only(
    world: World, environment: dict[str, str], capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    whose = Scope("shop", uuid.uuid4().hex)
    world.add(whose, f"用户喜欢 {PLANTED} 乌龙茶")
    assert ended(["verify-forgotten", f"--scope={whose.key}", "--json"], monkeypatch) == FAILED
    assert json.loads(capfd.readouterr().out)["left"]["memories"] == 1
    assert PLANTED not in capfd.readouterr().err
