"""The Celery app, its thin tasks, the relay, and `enqueue` for producers that share the database.

A task carries a job id and nothing else; content never travels through the broker.
"""

from __future__ import annotations

from tasks.enqueue import enqueue, enqueue_event

__all__ = ["enqueue", "enqueue_event"]
