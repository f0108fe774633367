"""Look for text that the gates or the reader of model answers cannot take: `make fuzz`, or `python -m tests.fuzz 600`.

atheris steers the bytes by what the code covers and hypothesis makes text of them. Where there is no atheris,
hypothesis goes on alone.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from typing import Any, Protocol, cast

from hypothesis import HealthCheck, given, seed, settings

_HOUSE = ["admission", "llm", "domain"]
_QUIET = settings(max_examples=300, deadline=None, database=None, suppress_health_check=list(HealthCheck))


class Fuzzed(Protocol):
    """What hypothesis adds to a test and its types leave out."""

    class Handle(Protocol):
        """The door for other fuzzers."""

        def fuzz_one_input(self, data: bytes, /) -> bytes | None:
            """Make one example of the bytes and run the test on it."""

    hypothesis: Handle

    def __call__(self) -> None:
        """Run the test on examples of hypothesis's own."""


def checks() -> Fuzzed:
    """What must hold for any text and any answer; the house is imported here, so that atheris can watch it."""
    from tests.unit.test_admission_gate import TEXTS, check_cleaning
    from tests.unit.test_llm_answers import check_answer, values

    def hold(text: str, value: Any) -> None:
        check_cleaning(text)
        check_answer(value, len(text), text)

    return cast("Fuzzed", _QUIET(given(TEXTS, values)(hold)))


def main(seconds: int) -> None:
    """Run for so many seconds; the first failure ends the run with its traceback and a code that is not 0."""
    if importlib.util.find_spec("atheris"):
        _steered(seconds)
    else:
        _unsteered(seconds)


def _steered(seconds: int) -> None:
    import atheris

    with atheris.instrument_imports(include=_HOUSE):
        target = checks()
    options = [f"-max_total_time={seconds}", "-max_len=4096", "-print_final_stats=1"]
    atheris.Setup([sys.argv[0], *options], target.hypothesis.fuzz_one_input)
    atheris.Fuzz()


def _unsteered(seconds: int) -> None:
    end, rounds = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        seed(rounds)(checks())()
        rounds += 1
    print(f"{rounds * _QUIET.max_examples} texts in {seconds} s, none failed")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
