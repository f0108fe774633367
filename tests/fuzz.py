"""Look for text that the gates or the reader of model answers cannot take: `make fuzz`, or `python -m tests.fuzz 600`.

atheris steers the text by what the code covers and hypothesis builds it; without atheris hypothesis goes on alone.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, given, seed, settings

from tests.unit.test_admission_gate import TEXTS, check_cleaning
from tests.unit.test_llm_answers import check_answer, values

_ROUND = settings(max_examples=300, deadline=None, database=None, suppress_health_check=list(HealthCheck))


@given(TEXTS, values)
@settings(deadline=None, database=None)
def one_input(text: str, value: Any) -> None:
    """What must hold for any text and any answer."""
    check_cleaning(text)
    check_answer(value, len(text), text)


def main(seconds: int) -> None:
    """Run for so many seconds; the first failure ends the run with its smallest input and exit code 1."""
    if importlib.util.find_spec("atheris"):
        _steered(one_input.hypothesis.fuzz_one_input, seconds)  # type: ignore[attr-defined]
    else:
        _unsteered(seconds)


def _steered(target: Callable[[bytes], bytes | None], seconds: int) -> None:
    import atheris

    atheris.instrument_all()
    atheris.Setup([sys.argv[0], f"-max_total_time={seconds}", "-max_len=4096", "-print_final_stats=1"], target)
    atheris.Fuzz()


def _unsteered(seconds: int) -> None:
    end, rounds = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        seed(rounds)(_ROUND(given(TEXTS, values)(one_input.hypothesis.inner_test)))()  # type: ignore[attr-defined]
        rounds += 1
    print(f"{rounds * _ROUND.max_examples} texts in {seconds} s, none failed")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
