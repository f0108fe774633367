"""Our top-level names are plain words; each must load from this repository and from nowhere else."""

from __future__ import annotations

import importlib
import importlib.util
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
NAMES = [Path(name).stem for name in PROJECT["tool"]["hatch"]["build"]["only-include"]]


@pytest.mark.parametrize("name", [name for name in NAMES if name != "celeryconfig"])
def test_each_of_our_names_loads_from_this_repository(name: str) -> None:
    module = importlib.import_module(name)
    assert module.__file__ is not None
    assert Path(module.__file__).is_relative_to(ROOT)


def test_the_celery_settings_load_from_this_repository() -> None:
    spec = importlib.util.find_spec("celeryconfig")
    assert spec is not None
    assert spec.origin == str(ROOT / "celeryconfig.py")


def test_every_package_of_the_repository_is_distributed() -> None:
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests", "bench"}
    assert packages == set(NAMES) - {"celeryconfig"}


def test_the_distribution_is_never_uploaded() -> None:
    assert "Private :: Do Not Upload" in PROJECT["project"]["classifiers"]
    assert PROJECT["project"]["license"] == "Apache-2.0"
