"""The operators' side of the ledger: find jobs, and retry, restart or cancel them. Everything done is audited."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, Text, cast, delete, exists, func, insert, select, text, update

from domain.jobs import OPEN_STATUSES, Outcome, Status, Step
from domain.operations import Act, Acted, AuditEntry, JobFilter, JobPage, Operator, Refusal
from storage import outbox
from storage.database import Database, lock_scope
from storage.ledger import end_job
from storage.rows import job_view
from storage.tables import AuditRow, JobRow, StagedRow, is_open

CANCELLED = "cancelled"
_FORGOTTEN: dict[str, Any] = {"messages": None, "counts": {}, "trace": [], "attempts": {}}


class SqlJobDesk:
    """domain.ports.JobDesk on PostgreSQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def page(self, wanted: JobFilter, *, limit: int, cursor: int | None = None) -> JobPage:
        """Up to `limit` jobs accepted before the cursor, the latest first."""
        statement = _matching(select(JobRow.__table__), wanted).order_by(JobRow.seq.desc()).limit(limit + 1)
        if cursor is not None:
            statement = statement.where(JobRow.seq < cursor)
        with self._database.transaction() as connection:
            rows = connection.execute(statement).all()
        more = rows[limit - 1].seq if len(rows) > limit else None
        return JobPage(tuple(job_view(row) for row in rows[:limit]), more)

    def ids(self, wanted: JobFilter, *, limit: int | None = None) -> list[str]:
        """The jobs' ids in the order of their acceptance."""
        statement = _matching(select(cast(JobRow.id, Text)), wanted).order_by(JobRow.seq).limit(limit)
        with self._database.transaction() as connection:
            return list(connection.execute(statement).scalars())

    def audit(self, job_id: str) -> list[AuditEntry]:
        """What operators did to a job, oldest first."""
        statement = select(AuditRow.__table__).where(AuditRow.job_id == job_id, AuditRow.memory_id.is_(None))
        with self._database.transaction() as connection:
            rows = connection.execute(statement.order_by(AuditRow.id)).all()
        return [AuditEntry(row.operation, row.operator, row.reason, row.created_at) for row in rows]

    def act(self, job_id: str, act: Act, operator: Operator) -> Acted:
        """Do it, in one transaction with the line in the audit; or say why not."""
        with self._database.transaction() as connection:
            scope = connection.execute(select(JobRow.scope).where(JobRow.id == job_id)).scalar_one_or_none()
            if scope is None:
                return Acted(job_id, None, Refusal.NOT_FOUND)
            lock_scope(connection, scope)
            row = connection.execute(select(JobRow.__table__).where(JobRow.id == job_id).with_for_update()).one()
            refusal = _refusal(row, act)
            if refusal is not None:
                return Acted(job_id, Status(row.status), refusal)
            status = _cancel(connection, row) if act is Act.CANCEL else _revive(connection, row, act)
            _note(connection, row, act, operator)
        return Acted(job_id, status)


def _matching(statement: Select[Any], wanted: JobFilter) -> Select[Any]:
    conditions: list[ColumnElement[bool]] = [
        column.in_(values)
        for column, values in (
            (JobRow.status, wanted.statuses),
            (JobRow.outcome, wanted.outcomes),
            (JobRow.reason, wanted.reason_names),
            (JobRow.step, wanted.steps),
        )
        if values
    ]
    if wanted.scope is not None:
        conditions.append(JobRow.scope == wanted.scope)
    if wanted.since is not None:
        conditions.append(JobRow.updated_at >= wanted.since)
    if wanted.before is not None:
        conditions.append(JobRow.updated_at < wanted.before)
    return statement.where(*conditions)


def _refusal(row: Any, act: Act) -> Refusal | None:
    if act is Act.CANCEL:
        return None if row.status in OPEN_STATUSES else Refusal.NOT_OPEN
    allowed = (Status.DEAD, Status.FAILED) if act is Act.RETRY else (Status.DEAD,)
    if row.status not in allowed:
        return Refusal.NOT_DEAD
    return Refusal.CONTENT_GONE if row.payload is None else None


def _revive(connection: Connection, row: Any, act: Act) -> Status:
    """Queue the job behind the others of its scope; one that only waits for its retry keeps its place."""
    values: dict[str, Any] = {"next_retry_at": None, "dispatch_count": 0, "updated_at": func.now()}
    if row.status == Status.FAILED:
        values["next_retry_at"] = func.now()
        is_head = True
    else:
        values |= {
            "status": Status.PENDING,
            "outcome": None,
            "reason": None,
            "rule": None,
            "retry_count": 0,
            "lost_count": 0,
            "finished_at": None,
            "dispatched_at": None,
            # A younger job may be running: this one must not become older than it again.
            "seq": text("DEFAULT"),
        }
        others = exists().where(JobRow.scope == row.scope, is_open())
        is_head = not connection.execute(select(others)).scalar_one()
    if act is Act.RESTART:
        connection.execute(delete(StagedRow).where(StagedRow.job_id == row.id))
        values |= {"step": Step.ADMIT, **_FORGOTTEN}
    revived = update(JobRow).where(JobRow.id == row.id).values(values).returning(JobRow.status)
    status = Status(connection.execute(revived).scalar_one())
    outbox.forget(connection, row.id)
    outbox.add(connection, row.id, ready=is_head)
    return status


def _cancel(connection: Connection, row: Any) -> Status:
    # Whoever runs it now finds it ended, and can complete nothing.
    values = {"status": Status.DEAD, "outcome": Outcome.CANCELLED, "reason": CANCELLED}
    end_job(connection, row.id, values)
    return Status.DEAD


def _note(connection: Connection, row: Any, act: Act, operator: Operator) -> None:
    connection.execute(
        insert(AuditRow).values(
            scope=row.scope,
            operation=f"job_{act}",
            operator_type="operator",
            operator=operator.name,
            reason=operator.why,
            job_id=row.id,
            trace_id=row.trace_id,
        )
    )
