"""The OpenAPI document and a page to read it and try it; both are public, for they say nothing about anybody."""

from __future__ import annotations

from flask import Blueprint, Flask, Response, current_app, jsonify, redirect
from flask_swagger_ui import get_swaggerui_blueprint
from werkzeug.wrappers import Response as BaseResponse

from api.auth import needs
from api.openapi import document

reference = Blueprint("reference", __name__)
_DOCUMENT = "/openapi.json"
_PAGE = "/docs"
# The page brings an inline script of its own and nothing from elsewhere.
_POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)


@reference.get(_DOCUMENT)
@needs()
def openapi() -> Response:
    """What this service takes and answers."""
    return jsonify(current_app.extensions["poco_openapi"])


@reference.get(_PAGE)
@needs()
def page() -> BaseResponse:
    """The page, with the slash that its own links need."""
    return redirect(f"{_PAGE}/")


def publish(app: Flask) -> None:
    """Add the document of all endpoints that there are now, and the page."""
    app.register_blueprint(reference)
    config = {"app_name": "Poco Memory API", "oauth2RedirectUrl": "", "persistAuthorization": False}
    pages = get_swaggerui_blueprint(_PAGE, _DOCUMENT, config=config, blueprint_name="docs")
    pages.after_request(_guard)
    app.register_blueprint(pages)
    needs()(app.view_functions["docs.show"])
    app.extensions["poco_openapi"] = document(app)


def _guard(response: Response) -> Response:
    response.headers["Content-Security-Policy"] = _POLICY
    return response
