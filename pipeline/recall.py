"""Search: find the memories of one scope that answer a query, or say that the service cannot.

`min_score` gates the calibrated vector score; "nothing found" and "cannot search" are different answers
(Poco note, section 5).
"""

from __future__ import annotations

from admission.secrets import find_secret, find_secret_in
from domain.errors import TransientError
from domain.memory import Hit, RecallResult
from domain.ports import Calibration, Embedder, MemoryIndex, Purpose
from domain.scope import Scope
from domain.text import ending


def search(
    scope: Scope,
    query: str,
    *,
    top_k: int,
    min_score: float,
    embedder: Embedder,
    index: MemoryIndex,
    calibration: Calibration,
    max_query_chars: int,
) -> RecallResult:
    """The best `top_k` memories with a score of at least `min_score` (0..1), best first.

    Of a query longer than `max_query_chars`, what the embedding model can take, the end is looked up.
    """
    try:
        vector = embedder.embed([ending(query, max_query_chars)], Purpose.QUERY)[0]
        near = index.nearest(scope, vector, top_k)
    except TransientError as exc:
        return RecallResult(available=False, error_reason=exc.backend)
    scored = (Hit(memory.id, memory.text, calibration.score(memory.similarity), memory.metadata) for memory in near)
    found = [hit for hit in scored if hit.score >= min_score]
    # Rows that are older than a rule, or that another program wrote, must not carry a secret into a prompt.
    shown = tuple(hit for hit in found if not (find_secret(hit.text) or find_secret_in(hit.metadata)))
    return RecallResult(hits=shown, withheld=len(found) - len(shown))
