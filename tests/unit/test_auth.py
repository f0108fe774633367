"""Who may call what, and what is answered, is said at each endpoint, or the application does not start."""

from __future__ import annotations

import pytest
from flask import Flask

from api.auth import needs, protect
from api.openapi import document
from domain.access import TokenScope


def test_an_endpoint_that_does_not_say_who_may_call_it_stops_the_start() -> None:
    app = Flask(__name__, static_folder=None)
    app.add_url_rule("/new", "new", lambda: "hello")
    with pytest.raises(LookupError, match="new does not say who may call it"):
        protect(app)


def test_an_endpoint_that_does_not_say_what_it_answers_stops_the_start() -> None:
    def silent() -> str:
        return "hello"

    app = Flask(__name__, static_folder=None)
    app.add_url_rule("/new", "new", needs(TokenScope.SEARCH)(silent))
    with pytest.raises(LookupError, match="new does not say what it answers"):
        document(app)
