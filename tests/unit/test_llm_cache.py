from __future__ import annotations

from domain.ports import Purpose
from llm.cache import VectorCache, cache_key


def test_the_vector_used_longest_ago_is_forgotten_first() -> None:
    cache = VectorCache(size=2)
    first, second, third = (cache_key(text, Purpose.STORE) for text in "abc")
    cache.put(first, (1.0,))
    cache.put(second, (2.0,))
    assert cache.get(first) == (1.0,)
    cache.put(third, (3.0,))
    assert [cache.get(key) for key in (first, second, third)] == [(1.0,), None, (3.0,)]


def test_a_query_and_a_stored_text_are_cached_apart() -> None:
    assert cache_key("tea", Purpose.QUERY) != cache_key("tea", Purpose.STORE)


def test_a_key_holds_no_text() -> None:
    assert b"tea" not in cache_key("tea", Purpose.STORE)[1]
