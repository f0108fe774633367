"""What operators may start from Flower."""

from __future__ import annotations

import uuid

from domain.operations import Act, Operator
from runtime.wiring import process_services
from tasks.app import app

_FLOWER = Operator("flower")


@app.task(name="ops.retry")
def retry(job_id: str) -> str:
    """Run a dead job again from the step that failed; gives its new status, or why nothing was done."""
    try:
        known = str(uuid.UUID(job_id))
    except (ValueError, AttributeError, TypeError):
        return "not_found"
    acted = process_services().desk.act(known, Act.RETRY, _FLOWER)
    return str(acted.refusal or acted.status)
