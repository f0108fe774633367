"""The rules, the dashboard and the documents for operators name only what the code has, and leave nothing out."""

from __future__ import annotations

import ast
import itertools
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import yaml
from typer.main import get_command

from cli.main import app
from domain.jobs import Outcome, Status, Step
from domain.operations import BACKEND_ERROR, JobCounts
from runtime import metrics
from runtime.ledger_metrics import LedgerCollector
from runtime.settings import Settings

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = ("runbook.md", "flower.md", "metrics.md")
COUNTS = JobCounts({(Status.DEAD, Outcome.DEAD): 1}, {"poison": 1}, {Step.ADMIT: 1}, 1.0, 1, 1.0)
GROUPS = {
    name: [
        rule
        for group in yaml.safe_load((ROOT / f"deploy/prometheus/{name}.yml").read_text())["groups"]
        for rule in group["rules"]
    ]
    for name in ("records", "alerts")
}
ALERTS = [rule["alert"] for rule in GROUPS["alerts"]]
RECORDED: dict[str, set[str]] = {"memory_decision_distribution": {"decision"}}
# The words a label may hold where a rule compares it with one.
WORDS: dict[str, set[str]] = {
    "job": {"poco-memory"},
    "outcome": {*Outcome},
    "status": {"2xx", "4xx", "5xx", *Status},
    "result": {"ok", "failed", "found", "nothing", "unavailable", "accepted", "known", "refused"},
    "backend": {*metrics.WAITED_FOR},
    "how": {*metrics.RECOVERIES},
    "endpoint": {"memories.search"},
}


def samples() -> dict[str, set[str]]:
    """Every sample a scrape can hold, with its labels."""
    endings = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count")}
    known: dict[str, set[str]] = {"up": {"job", "instance"}}
    for family in metrics.REGISTRY.collect():
        for ending in endings[family.type]:
            bucket = {"le"} if ending == "_bucket" else set()
            known[family.name + ending] = {*metrics.LABELS[family.name], *bucket}
    for family in ledger_families():
        known[family.name] = set(family.samples[0].labels)
    return known | {rule["record"]: RECORDED.get(rule["record"], set()) for rule in GROUPS["records"]}


def ledger_families() -> list[Any]:
    class Stats:
        def counts(self) -> JobCounts:
            return COUNTS

        def open_jobs(self) -> int:
            return 1

    return list(LedgerCollector(Stats(), backlog_warning=1).collect())


def queries() -> Iterator[tuple[str, str]]:
    for rules in GROUPS.values():
        for rule in rules:
            yield rule.get("alert") or rule["record"], rule["expr"]
    for panel in json.loads((ROOT / "deploy/grafana/poco-memory.json").read_text(encoding="utf-8"))["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"].replace("$__rate_interval", "5m")


QUERIES = list(queries())


def selectors(expression: str) -> tuple[list[Any], set[str]]:
    """The series an expression reads, and the labels it groups by."""
    found: list[Any] = []
    grouped: set[str] = set()

    def visit(node: Any) -> None:
        if isinstance(node, promql_parser.VectorSelector):
            found.append(node)
        if isinstance(node, promql_parser.AggregateExpr) and node.modifier:
            grouped.update(node.modifier.labels)

    promql_parser.walk(promql_parser.parse(expression), visit)
    return found, grouped


@pytest.mark.parametrize(("title", "expression"), QUERIES, ids=[title for title, _ in QUERIES])
def test_a_query_reads_series_labels_and_words_that_the_code_has(title: str, expression: str) -> None:
    known = samples()
    found, grouped = selectors(expression)
    assert found
    for selector in found:
        assert selector.name in known
        for matcher in selector.matchers.matchers:
            assert matcher.name in known[selector.name]
            assert set(matcher.value.split("|")) <= WORDS[matcher.name]
        assert grouped <= known[selector.name]


def test_each_alert_has_a_section_in_the_runbook_and_points_to_it() -> None:
    headings = re.findall(r"^### (Poco\w+)$", (DOCS / "runbook.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(headings) == sorted(ALERTS)
    for rule in GROUPS["alerts"]:
        assert rule["annotations"]["runbook"] == f"docs/runbook.md#{rule['alert'].lower()}"
        assert rule["labels"]["severity"] in ("warning", "critical")


def test_each_reason_for_which_a_job_can_be_dead_has_a_section() -> None:
    headings = re.findall(r"^### `(\w+)`$", (DOCS / "runbook.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(headings) == metrics.LEDGER_DEAD_REASONS | set(permanent_reasons())


def permanent_reasons() -> Iterator[str]:
    """Every reason with which our code buries a job at once; a reason that is not written there cannot be checked."""
    packages = ("domain", "admission", "pipeline", "storage", "llm", "nlp", "runtime", "tasks", "api", "cli")
    for path in (path for package in packages for path in (ROOT / package).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "PermanentError":
                assert isinstance(node.args[0], ast.Constant), path
                yield str(node.args[0].value)


def test_the_metrics_page_lists_each_metric_with_its_labels() -> None:
    page = (DOCS / "metrics.md").read_text(encoding="utf-8")
    listed = {
        name: set(re.findall(r"`(\w+)`", labels))
        for name, labels in re.findall(
            r"^\| `(memory_\w+)`(?: \(histogram\))? \| ((?:`\w+`(?:, )?)*) ?\|", page, re.MULTILINE
        )
    }
    families = {
        f"{family.name}_total" if family.type == "counter" else family.name: set(metrics.LABELS[family.name])
        for family in metrics.REGISTRY.collect()
    }
    families |= {family.name: set(family.samples[0].labels) for family in ledger_families()}
    assert listed == families
    assert all(f"`{rule['record']}` | recorded" in page for rule in GROUPS["records"])


def commands() -> Iterator[str]:
    for page in PAGES:
        text = (DOCS / page).read_text(encoding="utf-8")
        yield from re.findall(r"(?:^|`)(?:POCO_\w+=\S+ )?(poco-memory [^`\n]+)", text, re.MULTILINE)


@pytest.mark.parametrize("line", sorted(set(commands())))
def test_each_command_in_these_pages_can_be_given(line: str) -> None:
    _, *words = shlex.split(line)
    command: Any = get_command(app)
    while words and hasattr(command, "commands"):
        command = command.commands[words.pop(0)]
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= known
    for before, word in itertools.pairwise(words):
        if before == "--reason":
            assert word in metrics.LEDGER_DEAD_REASONS | {BACKEND_ERROR}
        if before == "--status":
            assert word in set(Status)


@pytest.mark.parametrize("page", PAGES)
def test_each_variable_in_these_pages_is_a_setting(page: str) -> None:
    known = {f"POCO_{name.upper()}" for name in Settings.model_fields}
    assert set(re.findall(r"POCO_[A-Z_]+", (DOCS / page).read_text(encoding="utf-8"))) <= known


@pytest.mark.parametrize("page", PAGES)
def test_each_event_in_these_pages_is_logged(page: str) -> None:
    code = "".join(
        path.read_text(encoding="utf-8")
        for folder in ("tasks", "api", "runtime")
        for path in (ROOT / folder).glob("*.py")
    )
    text = (DOCS / page).read_text(encoding="utf-8")
    events = set(re.findall(r"`(memory_\w+)`", text)) - set(samples()) - set(metrics.LABELS)
    not_there = {"memory_wrong_mention_rate", "memory_user_correction_rate", "memory_history"}
    assert all(f'"{event}"' in code for event in events - not_there)


@pytest.mark.parametrize("page", PAGES)
def test_each_link_in_these_pages_leads_somewhere(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    for target, anchor in re.findall(r"\]\(([\w./-]*)(?:#([\w-]+))?\)", text):
        linked = (DOCS / target).resolve() if target else DOCS / page
        assert linked.is_file()
        if anchor:
            headings = re.findall(r"^#+ (.+)$", linked.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in {heading.lower().replace(" ", "-") for heading in headings}


def test_the_scrape_example_looks_where_the_containers_show_their_metrics() -> None:
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]
    jobs = yaml.safe_load((ROOT / "deploy/prometheus/prometheus.yml").read_text(encoding="utf-8"))["scrape_configs"]
    for job in jobs:
        (target,) = job["dns_sd_configs"]
        for name in target["names"]:
            variable = "POCO_FLOWER_PORT" if name == "flower" else "POCO_METRICS_PORT"
            assert compose[name]["environment"][variable] == target["port"]
