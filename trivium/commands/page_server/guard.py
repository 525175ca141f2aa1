"""What every request passes before gradio sees it: the doors, limits on its body, and the quotas (ASGI middleware)."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trivium.commands.page_server.doors import Doors
from trivium.commands.page_server.quotas import Uploads, Waiting

if TYPE_CHECKING:  # seconds to import
    from gradio.queueing import Queue

BODY = 64 * 2**10  # bytes of a question, and of what stands around the file in an upload
UPLOAD, JOIN, DATA, CALL = (f"/gradio_api/{name}" for name in ("upload", "queue/join", "queue/data", "call/ask"))
HEADERS = [(b"x-frame-options", b"DENY"), (b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"same-origin")]


class Guard:
    """An application behind the doors.

    Args:
        app: gradio's.
        doors: who comes in.
        queue: gradio's.
        uploads: the folder where they lie.
        largest: bytes of an uploaded file.
    """

    def __init__(self, app: ASGIApp, doors: Doors, queue: "Queue", uploads: Path, largest: int) -> None:
        self._app, self._doors, self._largest = app, doors, largest + BODY
        self._uploads, self._waiting = Uploads(uploads), Waiting(queue)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "lifespan":
            return await self._app(scope, receive, send)
        if scope["type"] != "http":  # a WebSocket: gradio has none
            return await send({"type": "websocket.close"})

        async def send_more(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *HEADERS]
            await send(message)

        refusal = self._doors.refusal(scope["method"], scope["path"], scope["headers"])
        if refusal is not None:
            wanted = {"www-authenticate": 'Basic realm="Trivium"'} if refusal.status == 401 else None
            return await _refuse(refusal.status, refusal.reason, wanted)(scope, receive, send_more)
        # gradio splits a range before it checks it, and nothing here is so long that a part of it is wanted.
        scope["headers"] = [(name, value) for name, value in scope["headers"] if name != b"range"]
        if scope["method"] == "POST" and scope["path"] == UPLOAD:
            return await self._upload(scope, receive, send_more)
        if scope["method"] == "POST":
            return await self._short(scope, receive, send_more)
        with self._waiting.listening(_listens_to(scope)):
            return await self._app(scope, receive, send_more)

    async def _upload(self, scope: Scope, receive: Receive, send: Send) -> None:
        """An upload within the quotas, of as many bytes as it says."""
        client, length = _address(scope), dict(scope["headers"]).get(b"content-length", b"")
        if not length.isdigit():
            return await _refuse(411, "how long is it?")(scope, receive, send)
        if len(length) > 12 or int(length) > self._largest:
            return await _refuse(413, "the file is too large")(scope, receive, send)
        if not self._uploads.admit(client, int(length)):
            return await _refuse(429, "too many uploads lie here: they go after an hour")(scope, receive, send)
        answer = _Answer(send)
        try:
            await self._app(scope, receive, answer.send)
        except ClientDisconnect:
            pass
        finally:
            paths = answer.json() if answer.status == 200 else []
            self._uploads.done(client, int(length), paths if isinstance(paths, list) else [])
        return None

    async def _short(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A request with a short body in JSON; a question only while the client may ask."""
        request, body = Request(scope, receive), b""
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return await _refuse(415, "JSON is wanted")(scope, receive, send)
        try:
            async for part in request.stream():
                body += part
                if len(body) > BODY:
                    return await _refuse(413, "the question is too large")(scope, receive, send)
            said = json.loads(body)
        except ClientDisconnect:
            return None
        except (ValueError, RecursionError):
            said = None
        if not isinstance(said, dict):
            return await _refuse(400, "an object in JSON is wanted")(scope, receive, send)
        again = _Again(body, receive)
        if scope["path"] not in (JOIN, CALL):
            return await self._app(scope, again.receive, send)
        address, session = _address(scope), str(said.get("session_hash") or "")
        if not self._waiting.admit(address, session):
            return await _refuse(429, "too many questions of yours wait for an answer")(scope, receive, send)
        answer = _Answer(send)
        try:
            await self._app(scope, again.receive, answer.send)
        finally:
            found = answer.json()
            self._waiting.asked(address, session, found.get("event_id") if isinstance(found, dict) else None)
        return None


class _Again:
    """A body that was read, to be read again."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def receive(self) -> Message:
        if self._body is None:
            return await self._receive()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}


class _Answer:
    """A short answer on its way out, overheard."""

    def __init__(self, send: Send) -> None:
        self._send, self._body, self.status = send, b"", 0

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        else:
            self._body += message.get("body", b"")
        await self._send(message)

    def json(self) -> Any:
        try:
            return json.loads(self._body)
        except ValueError:
            return None


def _refuse(status: int, reason: str, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"detail": reason}, status, headers)


def _listens_to(scope: Scope) -> str:
    """The session, or the event, whose answers are asked for; empty where none are."""
    if scope["path"] == DATA:
        return Request(scope).query_params.get("session_hash", "")
    place, _, event = scope["path"].rpartition("/")
    return event if place == CALL else ""


def _address(scope: Scope) -> str:
    return scope["client"][0] if scope["client"] else ""
