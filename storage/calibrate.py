"""Maps a model's cosine to the common score: 0.45 is the cut for every model (Poco note, section 5).

Embedding models differ in what a cosine means; comparing `min_score` with a raw cosine keeps everything or
drops nearly all (stack study, section C). Each model's map is data, measured once.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from domain.errors import ConfigurationError

SHIPPED = Path(__file__).parent / "calibration"


@dataclass(frozen=True, slots=True)
class PiecewiseCalibration:
    """domain.ports.Calibration through measured points (cosine, score), both rising, straight between them."""

    points: tuple[tuple[float, float], ...]

    def score(self, cosine: float) -> float:
        """A score in 0..1."""
        cosines = [point[0] for point in self.points]
        place = bisect_right(cosines, cosine)
        if place == 0:
            return self.points[0][1]
        if place == len(self.points):
            return self.points[-1][1]
        (left, low), (right, high) = self.points[place - 1], self.points[place]
        return low + (high - low) * (cosine - left) / (right - left)


UNCALIBRATED = PiecewiseCalibration(((0.0, 0.0), (1.0, 1.0)))


def load_calibration(model: str, path: Path | None) -> PiecewiseCalibration:
    """The map of a model: from the file given, else the shipped one, else the cosine itself.

    Raises:
        ConfigurationError: when the file cannot be read or its points do not rise.
    """
    file = path or SHIPPED / f"{model.replace('/', '_')}.json"
    if path is None and not file.exists():
        return UNCALIBRATED
    try:
        stored = json.loads(file.read_text(encoding="utf-8"))
        points = tuple((float(cosine), float(score)) for cosine, score in stored["points"])
    except (OSError, ValueError, KeyError, TypeError) as exc:
        raise ConfigurationError(
            f"POCO_EMBEDDING_CALIBRATION: {file} is not a calibration file ({type(exc).__name__})"
        ) from exc
    rising = all(a[0] < b[0] and a[1] <= b[1] for a, b in pairwise(points))
    if len(points) < 2 or not rising or not all(0 <= score <= 1 for _, score in points):
        raise ConfigurationError(f"POCO_EMBEDDING_CALIBRATION: the points of {file} must rise, with scores in 0..1")
    return PiecewiseCalibration(points)


def is_calibrated(model: str, path: Path | None) -> bool:
    """Whether a measured map exists for the model."""
    return load_calibration(model, path) is not UNCALIBRATED
