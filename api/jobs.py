"""What became of a candidate: states, counts and times, never content."""

from __future__ import annotations

import uuid
from dataclasses import asdict
from datetime import datetime

from flask import Blueprint, Response, jsonify
from werkzeug.exceptions import NotFound

from api.requests import wired

jobs = Blueprint("jobs", __name__, url_prefix="/v1/jobs")


@jobs.get("/<job_id>")
def show(job_id: str) -> Response:
    """One job."""
    try:
        known_id = str(uuid.UUID(job_id))
    except ValueError:
        raise NotFound("There is no job with this id.") from None
    view = wired().ledger.view(known_id)
    if view is None:
        raise NotFound("There is no job with this id.")
    fields = asdict(view)
    fields["job_id"] = fields.pop("id")
    return jsonify({key: value.isoformat() if isinstance(value, datetime) else value for key, value in fields.items()})
