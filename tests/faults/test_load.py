"""The load by itself, against an address where nobody listens."""

from __future__ import annotations

import threading
from random import Random

from chaos.load import Load
from tests.stack import free_port


def test_a_load_that_gives_up_leaves_no_thread_behind() -> None:
    load = Load(free_port(), "token", Random(1), lambda: 0)
    before = threading.active_count()
    threads = [threading.Thread(target=load.submit_one_of_each, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    load.give_up()
    for thread in threads:
        thread.join(20)
    assert threading.active_count() == before
    assert load.accepted == {}
