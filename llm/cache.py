"""The vectors of the texts used last; keyed by hash, so that it holds no text."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from typing import TypeAlias

from domain.facts import Vector
from domain.ports import Purpose

CACHED_VECTORS = 4096
Key: TypeAlias = tuple[Purpose, bytes]


class VectorCache:
    """A thread-safe LRU of one model's vectors."""

    def __init__(self, size: int = CACHED_VECTORS) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._vectors: OrderedDict[Key, Vector] = OrderedDict()

    def get(self, key: Key) -> Vector | None:
        """The vector kept for the key, or None."""
        with self._lock:
            if key in self._vectors:
                self._vectors.move_to_end(key)
            return self._vectors.get(key)

    def put(self, key: Key, vector: Vector) -> None:
        """Keep a vector, and forget the one used longest ago when there are too many."""
        with self._lock:
            self._vectors[key] = vector
            if len(self._vectors) > self._size:
                self._vectors.popitem(last=False)


def cache_key(text: str, purpose: Purpose) -> Key:
    """What a text is cached by."""
    return purpose, hashlib.sha256(text.encode()).digest()
