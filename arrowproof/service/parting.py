"""The parting: how a connection is closed while the client still sends, so that it can read why.

A socket that is closed while bytes for it are under way is reset, and the client may lose the answer with it. So the
service says that it sends no more, reads on for a moment into nothing, and then closes: RFC 9112 section 9.6.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

PARTING_SECONDS: Final = 2.0
PARTING_BYTES: Final = 1_048_576
"""What a client may still send until it is cut off: more than the largest body."""


class Partings:
    """The connections of a server that are parting, in the order in which they began to."""

    def __init__(self) -> None:
        # A dict, for a set keeps no order.
        self._all: dict[PartingTransport, None] = {}

    def add(self, transport: PartingTransport) -> None:
        """One begins to."""
        self._all[transport] = None

    def discard(self, transport: PartingTransport) -> None:
        """One is gone."""
        self._all.pop(transport, None)

    def end_oldest(self) -> None:
        """Make room: the one that has had the most time has had enough."""
        if self._all:
            oldest = next(iter(self._all))
            self.discard(oldest)
            oldest.abort()


class PartingTransport(asyncio.Transport):
    """A transport that is closed by a parting while ``still_sends`` says that the client is not done, else at once."""

    def __init__(
        self,
        transport: asyncio.Transport,
        loop: asyncio.AbstractEventLoop,
        still_sends: Callable[[], bool],
        partings: Partings,
    ) -> None:
        super().__init__()
        self._transport = transport
        self._loop = loop
        self._still_sends = still_sends
        self._partings = partings
        self._bytes_left = PARTING_BYTES
        self._end: asyncio.TimerHandle | None = None

    def part(self) -> None:
        """Close once the client has had the time to read what it was sent."""
        if self.is_closing():
            return
        self._end = self._loop.call_later(PARTING_SECONDS, self._transport.abort)
        self._partings.add(self)
        try:
            self._transport.write_eof()
        except OSError:
            # The client is gone already.
            self._transport.abort()
        self._transport.resume_reading()

    def discard(self, size: int) -> None:
        """Count what came after the parting, and cut off who goes on and on."""
        self._bytes_left -= size
        if self._bytes_left < 0:
            self._transport.abort()

    def forget(self) -> None:
        """The connection is gone."""
        self._partings.discard(self)
        if self._end is not None:
            self._end.cancel()

    def is_closing(self) -> bool:
        """Whether it was closed in either way; nothing more is sent then."""
        return self._end is not None or self._transport.is_closing()

    def close(self) -> None:
        """Close as soon as all that was written has gone out, or by a parting."""
        if self._still_sends():
            self.part()
        elif not self.is_closing():
            self._transport.close()

    def abort(self) -> None:
        """Close at once and drop what was written."""
        self._transport.abort()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send, unless that is over."""
        if self._end is None:
            self._transport.write(data)

    def pause_reading(self) -> None:
        """Take nothing more from the client for now."""
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Take from the client again."""
        self._transport.resume_reading()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """What the transport knows of itself, such as its addresses."""
        return self._transport.get_extra_info(name, default)
