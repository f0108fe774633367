"""Celery's settings, each with its reason. Redis is transport only: truth and recovery are in the ledger."""

from __future__ import annotations

from domain.jobs import Step
from runtime.settings import load_settings, required_secret

_settings = load_settings()

broker_url = required_secret(_settings, "broker_url")
# Chains need no results, and a result backend that is down blocks every send for 19 s.
result_backend = None
task_ignore_result = True

# A worker whose main process dies leaves its message to another one.
task_acks_late = True
# A task that kills its child would be delivered for ever; the ledger counts lost workers instead.
task_reject_on_worker_lost = False
# A long extraction must not hold other messages back in one worker's memory.
worker_prefetch_multiplier = 1
# Two model calls with their time limits, and some margin; the ledger's lease is renewed meanwhile.
task_soft_time_limit = 2 * _settings.llm_timeout_seconds + 80
task_time_limit = task_soft_time_limit + 10

_longest_wait = max(_settings.retry_delays)
broker_transport_options = {
    # A message that is out longer is delivered twice: more than two of the longest steps with the back-off between.
    "visibility_timeout": max(900, round(2 * (task_time_limit + _longest_wait) + 60)),
    # The default sweep for unacknowledged messages takes 100 s.
    "unacked_restore_interval": 10,
    "unacked_restore_throttle": 3,
    # A hung Redis would block a sender for ever.
    "socket_timeout": 10,
    "socket_connect_timeout": 3,
    "health_check_interval": 10,
}
# A hand-off outlives a short broker outage; after that the ledger's sweep sends the job again.
task_publish_retry_policy = {"max_retries": 8, "interval_start": 0.2, "interval_step": 0.5, "interval_max": 3}
# Workers may start before the broker does.
broker_connection_retry_on_startup = True
broker_connection_max_retries = None
# A task whose connection was lost is acknowledged by nobody; let it run to its end.
worker_cancel_long_running_tasks_on_connection_loss = False

# Bound what a leak can cost: a fresh child after this many tasks or KiB.
worker_max_tasks_per_child = 2000
worker_max_memory_per_child = 1_000_000
# A stopping worker gives its running step this long, then hands it back.
worker_soft_shutdown_timeout = _settings.shutdown_seconds

# Flower needs events; the sent event would make each producer's process id a metric label.
worker_send_task_events = True
task_send_sent_event = False
task_track_started = False

task_serializer = "json"
accept_content = ["json"]
timezone = "UTC"
worker_hijack_root_logger = False

# Model calls wait, the other steps compute: separate queues, so that they can have separate workers.
_LLM_STEPS = (Step.EXTRACT, Step.CHECK_LANGUAGE)
task_routes = {step.task_name: {"queue": "ingest.llm" if step in _LLM_STEPS else "ingest.fast"} for step in Step}
task_default_queue = "ingest.fast"
