"""Who comes in, by which name, from which page, to what, and with which token."""

import base64
import socket

import pytest

from trivium.commands.page_server.doors import Doors, is_loopback

HERE, THERE = Doors("127.0.0.1", None), Doors("0.0.0.0", "correct horse battery")


def status(doors, path="/config", method="GET", **headers):
    named = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    refusal = doors.refusal(method, path, named)
    return 200 if refusal is None else refusal.status


def basic(password, user="anybody"):
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


@pytest.mark.parametrize("host", ["127.0.0.1:7860", "localhost:7860", "LOCALHOST", "[::1]:7860", "127.0.0.1"])
def test_this_machine_has_these_names(host):
    assert status(HERE, host=host) == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:7860", "evil.example:7860", "192.0.2.1:7860", "",
     "localhost:7860@evil.example", "127.0.0.1:7860:1", "2130706433", "0x7f.1", "localhost:", "[evil]:1", " localhost"],
)  # fmt: skip
def test_a_name_that_was_pointed_here_is_refused(host):
    assert status(HERE, host=host) == 421


def test_one_host_is_wanted():
    assert HERE.refusal("GET", "/", []).status == 421
    assert HERE.refusal("GET", "/", [(b"host", b"localhost"), (b"host", b"evil.example")]).status == 421


def test_other_machines_name_an_address_or_this_machine():
    told = {"authorization": basic("correct horse battery")}
    for host in ("192.0.2.1:7860", "[2001:db8::1]:7860", socket.gethostname(), "localhost:7860"):
        assert status(THERE, host=host, **told) == 200
    assert status(THERE, host="evil.example", **told) == 421
    assert status(Doors("photos.example", None), host="photos.example:7860") == 200


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "https://localhost:7860", "http://localhost:7861", "http://127.0.0.1:7860"],
)
def test_another_page_is_refused(origin):
    assert status(HERE, "/gradio_api/upload", "POST", host="localhost:7860", origin=origin) == 403
    assert status(HERE, "/", host="localhost:7860", origin=origin) == 403


def test_this_page_and_no_page_come_in():
    assert status(HERE, "/gradio_api/upload", "POST", host="localhost:7860", origin="http://localhost:7860") == 200
    for site in ("same-origin", "none"):
        assert status(HERE, host="localhost", sec_fetch_site=site) == 200
    assert status(HERE, "/", host="localhost", sec_fetch_site="cross-site") == 200  # a link to the page
    for site in ("cross-site", "same-site", "what?"):
        assert status(HERE, "/gradio_api/file=/x", host="localhost", sec_fetch_site=site) == 403


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/"), ("HEAD", "/"), ("GET", "/assets/index.js"), ("GET", "/gradio_api/info"), ("GET", "/theme.css"),
        ("GET", "/gradio_api/call/ask/0af"), ("GET", "/gradio_api/file=/tmp/x"), ("POST", "/gradio_api/queue/join"),
    ],
)  # fmt: skip
def test_what_the_page_uses_is_there(method, path):
    assert status(HERE, path, method, host="localhost") == 200


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/gradio_api/proxy=http://evil.example/"), ("GET", "/gradio_api/file=http://evil.example/"),
        ("GET", "/gradio_api/file=file:///etc/passwd"), ("POST", "/gradio_api/run/ask"), ("POST", "/gradio_api/api/ask"),
        ("POST", "/gradio_api/vibe-edit"), ("GET", "/monitoring"), ("GET", "/monitoring/summary"), ("GET", "/docs"),
        ("POST", "/gradio_api/component_server"), ("GET", "/gradio_api/dev/reload"), ("GET", "/gradio_api/stream/a/b/1/p"),
        ("POST", "/login"), ("PUT", "/"), ("OPTIONS", "/gradio_api/upload"), ("GET", "/gradio_api/queue/status"),
        ("GET", "http://evil.example/"), ("POST", "/gradio_api/upload/"), ("GET", "/gradio_api/runs"),
    ],
)  # fmt: skip
def test_the_rest_of_gradio_is_not(method, path):
    assert status(HERE, path, method, host="localhost") == 404


@pytest.mark.parametrize(
    "said",
    [
        basic("wrong"),
        basic(""),
        "Basic",
        "Basic !",
        "Bearer correct horse battery",
        basic("correct horse battery "),
        "",
    ],
)
def test_a_wrong_token_is_refused(said):
    assert status(THERE, host="192.0.2.1", authorization=said) == 401


def test_the_token_opens_for_any_user():
    assert status(THERE, host="192.0.2.1") == 401
    assert status(THERE, host="192.0.2.1", authorization=basic("correct horse battery", "")) == 200
    assert (
        THERE.refusal("GET", "/nowhere", [(b"host", b"192.0.2.1")]).status == 401
    )  # what is there is no secret's hint


def test_loopback():
    assert all(map(is_loopback, ("127.0.0.1", "127.8.8.8", "::1", "localhost", "LocalHost")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "192.0.2.1", "example.org", "")))
