"""HTTP connections that end when whoever asks goes silent, and of which nobody has too many."""

from asyncio import BaseTransport, Transport
from collections import Counter
from typing import ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

SILENCE = 20.0  # seconds without a byte, while it is the client's turn to send or to read
REQUEST = 120.0  # seconds until a whole request is there: 32 MiB at 2.2 Mbit/s
A_CLIENT, IN_ALL = 256, 512  # connections; a window of the page has three
_LOOK = 0.25  # seconds between two looks at a connection


class Connection(H11Protocol):
    """uvicorn's own, watched: it waits forever for a first request, for the rest of one, and for a reader."""

    _of_client: ClassVar[Counter[str]] = Counter()

    def connection_made(self, transport: BaseTransport) -> None:
        """Close at once what is one too many."""
        assert isinstance(transport, Transport)
        super().connection_made(transport)
        self._address = self.client[0] if self.client else ""
        self._of_client[self._address] += 1
        self._progress = self._begun = self.loop.time()
        self._unread = 0  # bytes
        if self._of_client[self._address] > A_CLIENT or self._of_client.total() > IN_ALL:
            transport.abort()
        else:
            self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._of_client[self._address] -= 1
        if not self._of_client[self._address]:
            del self._of_client[self._address]
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Something was sent; that is no progress while something is to be read."""
        if not self.flow.write_paused:
            self._progress = self.loop.time()
        super().data_received(data)

    def _look(self) -> None:
        now, cycle, unread = self.loop.time(), self.cycle, self.transport.get_write_buffer_size()
        if self.transport.is_closing() and not unread:
            return
        sending = cycle is None or cycle.response_complete or cycle.more_body
        if unread or not sending:
            self._begun = now
        if unread < self._unread or not (sending or unread):
            self._progress = now  # something was read, or it is our turn
        self._unread = unread
        if now - self._progress > SILENCE or now - self._begun > REQUEST:
            self.transport.abort()
        else:
            self.loop.call_later(_LOOK, self._look)
