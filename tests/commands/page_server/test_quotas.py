"""What one client may have of the disk and of the queue, and that it comes back."""

import os
import time
import uuid
from contextlib import ExitStack
from types import SimpleNamespace

import pytest

from trivium.commands.page_server import quotas
from trivium.commands.page_server.connections import REQUEST
from trivium.commands.page_server.quotas import (
    OF_A_SESSION,
    OF_AN_ADDRESS,
    SMALLEST,
    STORED,
    STORED_A_CLIENT,
    WAITING,
    Uploads,
    Waiting,
)


def store(uploads, folder, client, size, name):
    """An upload of so many bytes, as gradio stores it."""
    if not uploads.admit(client, size):
        return False
    path = folder / "sha" / name
    path.parent.mkdir(exist_ok=True)
    path.touch()
    os.truncate(path, size)  # takes no room
    uploads.done(client, size, [str(path)])
    return True


def test_a_client_has_a_quota_and_others_still_have_theirs(tmp_path):
    uploads, half = Uploads(tmp_path), STORED_A_CLIENT // 2
    assert [store(uploads, tmp_path, "a", half, name) for name in "123"] == [True, True, False]
    assert store(uploads, tmp_path, "b", half, "4")
    (tmp_path / "sha/1").unlink()  # after an hour
    assert store(uploads, tmp_path, "a", half, "5")


def test_all_together_have_one_too(tmp_path):
    uploads = Uploads(tmp_path)
    stored = [store(uploads, tmp_path, str(client), STORED_A_CLIENT, str(client)) for client in range(6)]
    assert stored == [True] * (STORED // STORED_A_CLIENT) + [False] * (6 - STORED // STORED_A_CLIENT)


def test_what_is_on_its_way_counts(tmp_path):
    uploads, half = Uploads(tmp_path), STORED_A_CLIENT // 2
    assert [uploads.admit("a", half) for _ in range(3)] == [True, True, False]
    uploads.done("a", half, [])  # it failed
    assert uploads.admit("a", half)


def test_the_same_picture_again_counts_once_and_a_small_one_counts_for_more(tmp_path, monkeypatch):
    uploads, fit = Uploads(tmp_path), 50
    monkeypatch.setattr(quotas, "STORED_A_CLIENT", fit * SMALLEST)
    for _ in range(3 * fit):
        assert store(uploads, tmp_path, "a", 10, "same")
    stored = 1
    while store(uploads, tmp_path, "a", 10, str(stored)):
        stored += 1
        assert stored <= fit
    assert stored == fit


def test_what_a_broken_upload_left_goes(tmp_path):
    uploads = Uploads(tmp_path)
    for name, age in (("tmpold", REQUEST + 1), ("tmpnew", 0)):
        (tmp_path / name).write_text("part")
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    uploads.admit("a", 1)
    assert [path.name for path in tmp_path.iterdir()] == ["tmpnew"]


@pytest.fixture
def queue():
    """Of gradio's queue what is read: events that wait or run, and answers that nobody has taken yet."""
    return SimpleNamespace(
        event_ids_to_events={},
        pending_event_ids_session={},
        pending_messages_per_session={},
        event_queue_per_concurrency_id={"ask": SimpleNamespace(queue=[])},
    )


class Event:
    concurrency_id = "ask"


def ask(waiting, queue, address, session="", *, event=None):
    if not waiting.admit(address, session):
        return None
    event = event or f"event {uuid.uuid4()}"
    queue.event_ids_to_events[event] = Event()
    queue.event_queue_per_concurrency_id["ask"].queue.append(queue.event_ids_to_events[event])
    queue.pending_event_ids_session.setdefault(session or event, set()).add(event)
    queue.pending_messages_per_session.setdefault(session or event, [])
    waiting.asked(address, session, event)
    return event


def test_no_session_and_no_address_fills_the_queue(queue):
    waiting = Waiting(queue)
    assert sum(ask(waiting, queue, "a", "flood") is not None for _ in range(WAITING)) == OF_A_SESSION
    assert ask(waiting, queue, "a", "another window")
    with ExitStack() as listening:
        for number in range(WAITING):
            listening.enter_context(waiting.listening(f"invented {number}"))
        listening.enter_context(waiting.listening("flood"))
        listening.enter_context(waiting.listening("another window"))
        names = [ask(waiting, queue, "a", f"invented {number}") for number in range(WAITING)]
        assert len(queue.event_ids_to_events) == OF_AN_ADDRESS < WAITING
        assert names[-1] is None
        assert ask(waiting, queue, "b", "flood")


def test_sessions_that_ask_for_more_leave_places_for_those_that_have_none(queue):
    waiting, tabs = Waiting(queue), ("one", "two", "three")
    with ExitStack() as listening:
        for name in tabs:
            listening.enter_context(waiting.listening(name))
        asked = {name: sum(bool(ask(waiting, queue, "a", name)) for _ in range(WAITING)) for name in tabs}
        assert asked == {"one": OF_A_SESSION, "two": OF_A_SESSION, "three": 1}
        assert ask(waiting, queue, "a", "new")


def test_the_oldest_question_that_nobody_listens_for_makes_room(queue):
    waiting, stands = Waiting(queue), queue.event_queue_per_concurrency_id["ask"].queue
    events = [ask(waiting, queue, "a", f"invented {number}") for number in range(OF_AN_ADDRESS - 1)]
    own = ask(waiting, queue, "b", "invented 0 of another address")
    stands.pop(0)  # the first one runs
    stands.remove(queue.event_ids_to_events.pop(events[3]))  # this one is answered
    with waiting.listening("invented 1"), waiting.listening(events[2]):
        new = [ask(waiting, queue, "a", f"new {number}") for number in range(3)]
    assert all(new)
    assert [event for event in [own, *events] if event not in queue.event_ids_to_events] == events[3:5]
    assert "invented 4" not in queue.pending_event_ids_session.keys() | queue.pending_messages_per_session.keys()
    assert len(stands) == len(events) + len([own, *new]) - len(events[:1] + events[3:5])


def test_who_has_listened_listens_no_more(queue):
    waiting = Waiting(queue)
    with waiting.listening("tab"), waiting.listening("tab"):
        pass
    assert not waiting._heard


def test_what_is_on_its_way_into_the_queue_counts_too(queue):
    waiting = Waiting(queue)
    assert sum(waiting.admit("a", "flood") for _ in range(WAITING)) == OF_A_SESSION
    assert sum(waiting.admit("a", f"invented {number}") for number in range(WAITING)) == OF_AN_ADDRESS - OF_A_SESSION
    assert waiting.admit("b", "flood")
    waiting.asked("a", "invented 0", None)  # it was refused
    assert waiting.admit("a", "invented 0")
    assert not waiting.admit("a", "invented 0")


def test_what_is_answered_and_taken_frees_its_place(queue):
    waiting = Waiting(queue)
    events = [ask(waiting, queue, "a") for _ in range(OF_A_SESSION)]
    assert ask(waiting, queue, "a") is None
    del queue.event_ids_to_events[events[0]]  # answered
    assert ask(waiting, queue, "a") is None
    queue.pending_event_ids_session[events[0]].clear()  # and taken
    assert ask(waiting, queue, "a", event="new")
    assert events[0] not in queue.pending_event_ids_session
    assert events[0] not in queue.pending_messages_per_session


def test_an_answer_that_nobody_takes_is_dropped(queue, monkeypatch):
    waiting = Waiting(queue)
    first, second = (ask(waiting, queue, "a", "tab") for _ in range(2))
    del queue.event_ids_to_events[first]
    later = time.monotonic() + quotas.UNHEARD + 1
    monkeypatch.setattr(time, "monotonic", lambda: later)
    assert waiting.admit("a", "tab")
    assert queue.pending_event_ids_session == {"tab": {second}}  # this one still waits for its answer
    del queue.event_ids_to_events[second]
    assert waiting.admit("a", "tab")
    assert queue.pending_event_ids_session == queue.pending_messages_per_session == {}
