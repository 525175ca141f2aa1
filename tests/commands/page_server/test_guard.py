"""Limits on bodies, quotas and doors in front of an application that stands in for gradio."""

import asyncio
import json
from types import SimpleNamespace

import httpx
import pytest
from starlette.requests import ClientDisconnect

from trivium.commands.page_server import quotas
from trivium.commands.page_server.doors import Doors
from trivium.commands.page_server.guard import BODY, Guard
from trivium.commands.page_server.quotas import OF_A_SESSION, SMALLEST

LARGEST = 1000


class App:
    """Takes everything and says what it saw."""

    def __init__(self, folder):
        self.folder, self.seen = folder, []
        self.queue = SimpleNamespace(
            event_ids_to_events={}, pending_event_ids_session={}, pending_messages_per_session={}
        )

    async def __call__(self, scope, receive, send):
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        self.seen.append((scope["path"], body, dict(scope["headers"])))
        answer = {}
        if scope["path"].endswith("upload"):
            path = self.folder / "sha" / str(len(self.seen))
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(body)
            answer = [str(path)]
        elif scope["path"].endswith(("join", "ask")):
            answer = {"event_id": f"event{len(self.seen)}"}
            self.queue.event_ids_to_events[answer["event_id"]] = object()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": json.dumps(answer).encode()})


@pytest.fixture
def app(tmp_path):
    return App(tmp_path)


@pytest.fixture
def ask(app, tmp_path):
    """One request from an address, answered."""
    guarded = Guard(app, Doors("localhost", None), app.queue, tmp_path, LARGEST)

    def send(method, path, *, client="127.0.0.1", **options):
        async def one():
            transport = httpx.ASGITransport(guarded, client=(client, 1))
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as opened:
                return await opened.request(method, path, **options)

        return asyncio.run(one())

    return send


def test_a_refused_request_never_arrives(app, ask):
    assert ask("GET", "/config", headers={"host": "evil.example"}).status_code == 421
    assert ask("POST", "/gradio_api/upload", headers={"origin": "http://evil.example"}).status_code == 403
    assert ask("GET", "/monitoring").status_code == 404
    assert app.seen == []


def test_what_passes_is_not_framed_and_is_what_it_says_it_is(app, ask):
    answer = ask("GET", "/", headers={"range": "bytes=0-1"})
    assert (answer.status_code, answer.headers["x-frame-options"]) == (200, "DENY")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert b"range" not in app.seen[0][2]


def test_a_websocket_is_closed(app, tmp_path):
    sent = []

    async def send(message):
        sent.append(message)

    asyncio.run(Guard(app, Doors("localhost", None), app.queue, tmp_path, 1)({"type": "websocket"}, None, send))
    assert sent == [{"type": "websocket.close"}]
    assert app.seen == []


def test_a_question_arrives_as_it_was_sent(app, ask):
    said = {"data": ["who? 🦆", None, True], "session_hash": "tab"}
    assert ask("POST", "/gradio_api/queue/join", json=said).status_code == 200
    assert json.loads(app.seen[0][1]) == said


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ({"content": b"{}", "headers": {"content-type": "text/plain"}}, 415),
        ({"content": b"{}"}, 415),
        ({"json": {"data": "x" * BODY}}, 413),
        ({"json": [1]}, 400),
        ({"content": b"{", "headers": {"content-type": "application/json"}}, 400),
        ({"content": b"[" * (BODY - 1), "headers": {"content-type": "application/json"}}, 400),
        ({"content": b"\xff", "headers": {"content-type": "application/json"}}, 400),
    ],
)
@pytest.mark.parametrize("path", ["queue/join", "call/ask", "cancel", "reset"])
def test_no_question_at_all(app, ask, options, status, path):
    assert ask("POST", f"/gradio_api/{path}", **options).status_code == status
    assert app.seen == []


def test_one_client_does_not_fill_the_queue(app, ask):
    def join(session, client="127.0.0.1"):
        return ask("POST", "/gradio_api/queue/join", client=client, json={"session_hash": session}).status_code

    assert [join("flood") for _ in range(OF_A_SESSION + 1)] == [200] * OF_A_SESSION + [429]
    assert join("another") == join("flood", "127.0.0.2") == 200
    assert ask("POST", "/gradio_api/call/ask", json={"data": []}).status_code == 200
    app.queue.event_ids_to_events.clear()  # all are answered
    assert join("flood") == 200


def test_questions_that_come_at_once_are_counted_before_they_stand_in_the_queue(app, tmp_path):
    async def slow(scope, receive, send):
        await asyncio.sleep(0.2)
        await app(scope, receive, send)

    guarded = Guard(slow, Doors("localhost", None), app.queue, tmp_path, LARGEST)

    async def flood():
        transport = httpx.ASGITransport(guarded, client=("127.0.0.1", 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as opened:
            said = {"session_hash": "flood"}
            sent = [opened.post("/gradio_api/queue/join", json=said) for _ in range(OF_A_SESSION + 40)]
            return [answer.status_code for answer in await asyncio.gather(*sent)]

    assert sorted(asyncio.run(flood())) == [200] * OF_A_SESSION + [429] * 40


@pytest.mark.parametrize("path", ["queue/data?session_hash=tab", "call/ask/tab"])
def test_who_waits_for_an_answer_is_known_to_listen(app, tmp_path, path):
    heard = []

    async def listened(scope, receive, send):
        heard.extend(guarded._waiting._heard)
        await app(scope, receive, send)

    guarded = Guard(listened, Doors("localhost", None), app.queue, tmp_path, LARGEST)

    async def one():
        transport = httpx.ASGITransport(guarded)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as opened:
            await opened.get(f"/gradio_api/{path}")

    asyncio.run(one())
    assert heard == ["tab"]
    assert not guarded._waiting._heard


def test_a_question_that_breaks_off_frees_its_place(tmp_path):
    async def broken(scope, receive, send):
        raise ClientDisconnect

    queue = App(tmp_path).queue
    guarded = Guard(broken, Doors("localhost", None), queue, tmp_path, LARGEST)
    transport = httpx.ASGITransport(guarded)

    async def one():
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as opened:
            with pytest.raises(ClientDisconnect):
                await opened.post("/gradio_api/queue/join", json={"session_hash": "tab"})

    for _ in range(OF_A_SESSION + 1):
        asyncio.run(one())
    assert not guarded._waiting._coming


def test_an_upload_says_how_long_it_is_and_is_short(app, ask):
    for length in (0, LARGEST + BODY):
        assert ask("POST", "/gradio_api/upload", content=bytes(length)).status_code == 200
    assert ask("POST", "/gradio_api/upload", content=bytes(LARGEST + BODY + 1)).status_code == 413

    async def chunks():
        yield b"1"

    assert ask("POST", "/gradio_api/upload", content=chunks()).status_code == 411
    for length in ("-1", "1e3", "9" * 5000, "１"):
        headers = {"content-length": length.encode()}
        assert ask("POST", "/gradio_api/upload", content=b"1", headers=headers).status_code in (411, 413)
    assert len(app.seen) == 2


def test_uploads_have_a_quota(app, ask, monkeypatch):
    monkeypatch.setattr(quotas, "STORED_A_CLIENT", 2 * SMALLEST + 1)
    assert [ask("POST", "/gradio_api/upload", content=b"x").status_code for _ in range(4)] == [200, 200, 200, 429]
    assert ask("POST", "/gradio_api/upload", client="127.0.0.2", content=b"x").status_code == 200
