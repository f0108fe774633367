from __future__ import annotations

from tests.contract.newest import BESIDE, CODE, ROWS, locked_without_mem0, outcomes, report

JUNIT = """<testsuites><testsuite>
<testcase name="one[history.memory_id]"><properties><property name="row" value="history.memory_id"/></properties>
  <failure message="AssertionError: no such column&#10;more">trace</failure></testcase>
<testcase name="two[history.memory_id]"><properties><property name="row" value="history.memory_id"/></properties>
</testcase>
<testcase name="three[_upsert_entity]"><properties><property name="row" value="_upsert_entity"/></properties></testcase>
<testcase name="four"><error message="collection failed"/></testcase>
</testsuite></testsuites>"""


def test_the_report_names_every_row_and_what_differs_in_it() -> None:
    lines = list(report(list(outcomes(JUNIT)), {"memory.main:Memory._upsert_entity", *CODE["get().attributed_to"]}))
    words = {line[:34].strip(): line[34:].strip() for line in lines if not line.startswith(" ")}
    expected = dict.fromkeys(ROWS, "not tested")
    assert words == {**expected, "history.memory_id": "differs", "_upsert_entity": "passes", BESIDE: "differs"}
    place = next(number for number, line in enumerate(lines) if line.startswith("history.memory_id"))
    assert [line.strip() for line in lines[place + 1 : place + 3]] == [
        "one[history.memory_id]",
        "AssertionError: no such column",
    ]
    place = lines.index(f"{'_upsert_entity':<34} passes")
    assert lines[place + 1].strip() == "other code: memory.main:Memory._upsert_entity"


def test_another_mem0_is_tried_beside_all_our_other_locked_dependencies() -> None:
    names = {line.partition("==")[0] for line in locked_without_mem0().splitlines() if not line.startswith(" ")}
    assert "mem0ai" not in names
    assert {"celery", "sqlalchemy", "pytest"} <= names
