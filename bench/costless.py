"""What a model and an embedder answer that cost nothing; ours and the peers' alike."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence

import numpy as np

from domain.candidate import Role
from domain.facts import Vector
from domain.ports import ExtractionPrompt, Purpose

DIMS = 384
MODEL = "bench"


def zero_vector(text: str) -> list[float]:
    """A unit vector that depends on the text alone."""
    numbers = np.random.default_rng(zlib.crc32(text.encode())).standard_normal(DIMS)
    return [float(number) for number in numbers / np.linalg.norm(numbers)]


def zero_answer(said: Sequence[str]) -> str:
    """A model's answer with one fact for each line the user said: the line, told of the user."""
    told = [
        line.replace("I prefer", "User prefers").replace("我", "用户") for text in said for line in text.splitlines()
    ]
    rows = [{"id": str(place), "text": fact, "attributed_to": "user"} for place, fact in enumerate(told)]
    return json.dumps({"memory": rows}, ensure_ascii=False)


class ZeroModel:
    """domain.ports.ExtractionModel at no cost."""

    model = MODEL

    def answer(self, prompt: ExtractionPrompt) -> str:
        """One fact for each line of the user."""
        return zero_answer([turn.content for turn in prompt.conversation if turn.role is Role.USER])


class ZeroEmbedder:
    """domain.ports.Embedder at no cost."""

    model = MODEL
    dims = DIMS

    def embed(self, texts: Sequence[str], purpose: Purpose) -> list[Vector]:  # noqa: ARG002
        """One vector for each text."""
        return [tuple(zero_vector(text)) for text in texts]

    def ping(self) -> None:
        """Always there."""
