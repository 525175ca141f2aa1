"""How much of the server one client may have: of its disk and of its queue."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from trivium.commands.page_server.connections import REQUEST

if TYPE_CHECKING:  # seconds to import
    from gradio.queueing import Queue

STORED_A_CLIENT, STORED = 256 * 2**20, 2**30  # bytes of uploads
SMALLEST = 64 * 2**10  # bytes that an upload counts for at least: files are no cheaper than that
WAITING = 256  # questions in the queue, of all clients
OF_A_SESSION, OF_AN_ADDRESS = WAITING // 4, WAITING * 3 // 4
FIRST = WAITING // 4  # places of an address that are for sessions that have none
UNHEARD = 600.0  # seconds that an answer is kept for a client that does not come for it


class Uploads:
    """Who holds which files in gradio's folder.

    Args:
        folder: where they lie.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._owners: dict[Path, str] = {}
        self._coming: Counter[str] = Counter()  # bytes that each client is sending

    def admit(self, client: str, size: int) -> bool:
        """Whether a client may send so many bytes now; it is then sending them, until `done`."""
        self._sweep()
        held = Counter(self._coming)
        for path, owner in self._owners.items():
            held[owner] += _size(path)
        if held[client] + size > STORED_A_CLIENT or held.total() + size > STORED:
            return False
        self._coming[client] += size
        return True

    def done(self, client: str, size: int, paths: list[str]) -> None:
        """A client has sent what `admit` let it send; `paths` came of it."""
        self._coming[client] -= size
        if not self._coming[client]:
            del self._coming[client]
        for path in map(Path, paths):
            self._owners.setdefault(path, client)

    def _sweep(self) -> None:
        """Forget what gradio has removed, and remove what it leaves of an upload that was broken off."""
        self._owners = {path: owner for path, owner in self._owners.items() if path.exists()}
        for part in self._folder.iterdir():
            if part.is_file() and time.time() - part.stat().st_mtime > REQUEST:
                part.unlink()


def _size(path: Path) -> int:
    try:
        return max(SMALLEST, path.stat().st_size)
    except FileNotFoundError:
        return 0


class Waiting:
    """Who waits for answers in gradio's queue, or has not come for one.

    Args:
        queue: gradio's. Its own records are read, and those that it forgets to drop are dropped: a session that nobody
            listens to would keep its answers for good.
    """

    def __init__(self, queue: "Queue") -> None:
        self._queue = queue
        self._asked: dict[str, tuple[str, str, float]] = {}  # event → address, session and time
        self._coming: Counter[tuple[str, str]] = Counter()  # questions on their way into the queue
        self._heard: Counter[str] = Counter()  # sessions and events that somebody listens to

    def admit(self, address: str, session: str) -> bool:
        """Whether a client may ask now, and is asking until `asked`; `session` is whatever name it gives itself.

        Every program of this machine has the same address: where its places are taken, the oldest question that nobody
        listens for goes.
        """
        self._tidy()
        waiting = self._coming + Counter((at, name) for at, name, _ in self._asked.values())
        of_the_address = sum(count for (at, _), count in waiting.items() if at == address)
        most = OF_AN_ADDRESS - (FIRST if waiting[address, session] else 0)
        if waiting[address, session] >= OF_A_SESSION or (of_the_address >= most and not self._drop_unheard(address)):
            return False
        self._coming[address, session] += 1
        return True

    def asked(self, address: str, session: str, event: str | None) -> None:
        """A client's question stands in the queue as this event; None where it came to nothing."""
        self._coming[address, session] -= 1
        if not self._coming[address, session]:
            del self._coming[address, session]
        if event is not None:
            self._asked[event] = address, session, time.monotonic()

    @contextmanager
    def listening(self, name: str) -> Iterator[None]:
        """A client listens for the answers to a session, or to one event."""
        self._heard[name] += 1
        try:
            yield
        finally:
            self._heard[name] -= 1
            if not self._heard[name]:
                del self._heard[name]

    def _drop_unheard(self, address: str) -> bool:
        """Drop the oldest question of an address that nobody listens for, unless it runs; whether there is one."""
        queue = self._queue
        for event, (at, session, _) in self._asked.items():
            if at != address or self._heard.keys() & {session or event, event}:
                continue
            if (found := queue.event_ids_to_events.get(event)) is not None:
                waiting = queue.event_queue_per_concurrency_id[found.concurrency_id].queue
                if found not in waiting:  # it runs
                    continue
                waiting.remove(found)
                del queue.event_ids_to_events[event]
            self._forget(event)
            return True
        return False

    def _tidy(self) -> None:
        queue, now = self._queue, time.monotonic()
        for event, (_, name, asked) in list(self._asked.items()):
            unheard = event in queue.pending_event_ids_session.get(name or event, ())
            if event not in queue.event_ids_to_events and not (unheard and now - asked < UNHEARD):
                self._forget(event)

    def _forget(self, event: str) -> None:
        """Drop an event that is not in the queue, and its answer."""
        queue = self._queue
        session = self._asked.pop(event)[1] or event  # as gradio calls a session without a name
        queue.pending_event_ids_session.get(session, set()).discard(event)
        if not queue.pending_event_ids_session.get(session):
            queue.pending_event_ids_session.pop(session, None)
            queue.pending_messages_per_session.pop(session, None)
