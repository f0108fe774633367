"""A gap in kombu's Redis transport: a worker whose broker goes away while a message is out must not stop working.

kombu puts unacknowledged messages back when it closes a connection, and acknowledges late ones on the channel they came
by. When the connection is gone already, both look for an address that is no longer there, and the error ends Celery's
main loop without ending its process. Here both do nothing then: the ledger knows what was out, and sends it again.
"""

from __future__ import annotations

from typing import Any

import structlog
from kombu.transport import redis

log = structlog.get_logger(__name__)


class ForgivingQoS(redis.QoS):
    """kombu's book of unacknowledged messages, for connections that may be gone."""

    def restore_unacked(self, client: Any = None) -> Any:
        """Put every message back, if there is somewhere to put it."""
        if self._is_gone():
            log.warning("memory_messages_left_out", count=len(self._delivered))
            self._delivered.clear()
            return None
        return super().restore_unacked(client)

    def ack(self, delivery_tag: Any) -> None:
        """Acknowledge a message, if there is somebody to tell."""
        if self._is_gone():
            log.warning("memory_message_not_acknowledged")
            return
        super().ack(delivery_tag)

    def _is_gone(self) -> bool:
        transport = self.channel.connection
        return transport is None or transport.client is None


def install() -> None:
    """Let every connection of this process use it."""
    redis.Channel.QoS = ForgivingQoS
