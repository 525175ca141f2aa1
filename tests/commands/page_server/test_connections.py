"""A real server: silence ends a connection, an answer on its way does not, and nobody has too many."""

import asyncio
import contextlib
import socket
import threading
import time

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from trivium.commands.page_server import connections
from trivium.commands.page_server.connections import Connection

SILENCE = 1.0


async def slow(request: Request) -> Response:
    await asyncio.sleep(2 * SILENCE)
    return PlainTextResponse("at last")


async def swallow(request: Request) -> Response:
    return PlainTextResponse(str(len(await request.body())))


async def large(request: Request) -> Response:
    return Response(bytes(50_000_000))


@pytest.fixture(scope="module")
def port():
    app = Starlette(routes=[Route("/slow", slow), Route("/swallow", swallow, methods=["POST"]), Route("/large", large)])
    server = uvicorn.Server(uvicorn.Config(app, port=0, http=Connection, ws="none", log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    thread.join()


@pytest.fixture(autouse=True)
def limits(monkeypatch):
    assert connections.SILENCE == 20
    for name, value in (("SILENCE", SILENCE), ("REQUEST", 3.0), ("A_CLIENT", 5), ("_LOOK", 0.05)):
        monkeypatch.setattr(connections, name, value)


@pytest.fixture
def connect(port):
    made = []

    def open_one():
        made.append(socket.create_connection(("127.0.0.1", port), timeout=10))
        return made[-1]

    yield open_one
    for each in made:
        each.close()
    end = time.monotonic() + 5
    while Connection._of_client:
        assert time.monotonic() < end
        time.sleep(0.02)


def seconds_until_closed(connection):
    started = time.monotonic()
    try:
        while connection.recv(2**16):
            pass
    except ConnectionResetError:
        pass
    return time.monotonic() - started


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"G",
        b"GET /slow HTTP/1.1\r\nHost: x\r\nX-",
        b"POST /swallow HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc",
    ],
)
def test_silence_ends_a_connection(connect, sent):
    connection = connect()
    connection.sendall(sent)
    assert SILENCE * 0.9 < seconds_until_closed(connection) < SILENCE + 2


def test_a_byte_now_and_then_is_not_enough_for_ever(connect):
    connection, started = connect(), time.monotonic()
    with pytest.raises(OSError):  # noqa: PT012
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ")
        while True:
            connection.sendall(b"a")
            time.sleep(SILENCE / 4)
            assert time.monotonic() - started < 8
    assert time.monotonic() - started > 2.5


def test_an_answer_that_takes_longer_than_the_silence_arrives(connect):
    connection = connect()
    connection.sendall(b"GET /slow HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    time.sleep(2 * SILENCE)
    assert b"at last" in connection.recv(2**16) + connection.recv(2**16)


def test_who_does_not_read_is_cut_off_and_who_reads_slowly_is_not(connect):
    deaf, slow_reader = connect(), connect()
    for each in (deaf, slow_reader):
        each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**16)
        each.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    started, read = time.monotonic(), 0
    while part := slow_reader.recv(2**20):
        read += len(part)
        time.sleep(0.02 if time.monotonic() - started < 3 * SILENCE else 0)
    assert read > 50_000_000
    assert time.monotonic() - started > SILENCE
    rest = 0
    with contextlib.suppress(ConnectionResetError):
        while part := deaf.recv(2**20):
            rest += len(part)
    assert rest < 50_000_000


def test_a_client_has_so_many_connections(connect):
    several = [connect() for _ in range(5)]
    assert seconds_until_closed(connect()) < SILENCE / 2
    several[0].close()
    time.sleep(0.2)
    assert seconds_until_closed(connect()) > SILENCE / 2
