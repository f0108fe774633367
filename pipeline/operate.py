"""Do the same thing to many jobs. They are chosen once, so that one which fails again meanwhile is not met again."""

from __future__ import annotations

from collections.abc import Iterator

from domain.operations import Act, Acted, JobFilter, Operator
from domain.ports import JobDesk


def act_on_all(
    desk: JobDesk, wanted: JobFilter, act: Act, operator: Operator, *, limit: int | None = None
) -> tuple[int, Iterator[Acted]]:
    """How many jobs are meant, and what becomes of each as it is done, in the order of acceptance.

    Raises:
        TransientError: the database is away; what was yielded before is done.
    """
    chosen = desk.ids(wanted, limit=limit)
    return len(chosen), (desk.act(job_id, act, operator) for job_id in chosen)
