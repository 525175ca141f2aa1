"""The page of bases of one's own: what it answers, and that it is served behind the same doors."""

import socket
import threading
from contextlib import contextmanager

import httpx
import pytest

from trivium.commands import own_base_page
from trivium.commands.ask_page import serving_bases
from trivium.commands.own_base_page import opened, respond
from trivium.commands.page_server.quotas import WAITING
from trivium.core.errors import BadInput
from trivium.kvqae.asking.answered_question import Answer, Recognised, Support


class Base:
    """Answers with what it was asked."""

    invented = True
    let_go = threading.Event()

    def ask(self, question, image, *, face=None):
        if question == "wait":
            self.let_go.wait(60)
        if question == "bad":
            raise BadInput("the question is empty")
        support = Support(1, "<b>Mill</b>", "It stands in Bern.", 1.0, {"my-clip": 1.0}, (13, 17), None)
        seen = [Recognised("<i>Ada</i>", 3.0, 0.875, True), Recognised("Bob", 1.0, None, False)]
        return Answer(f"{question} {image} {face}", 0.5, [support], None, ["A note."], {"image": 0.1}, entries=seen)


def test_an_answer_with_entries_face_and_mark(tmp_path):
    (tmp_path / "a.jpg").write_bytes(b"picture")
    page = respond({"museum": Base()}, "museum", "who?", str(tmp_path / "a.jpg"), 2.0, tmp_path)
    assert "<strong>&lt;i&gt;Ada&lt;/i&gt;</strong>:\n88 %</li>" in page
    assert "<strong>Bob</strong>:\ntoo few pictures for a probability, not sure</li>" in page
    assert "who? b&#39;picture&#39; 2" in page
    assert "<mark>Bern</mark>" in page
    assert "picture, my-clip" in page


@pytest.mark.parametrize(
    ("base", "question", "picture", "message"),
    [
        ("nowhere", "who?", None, "no such base"),
        (None, "who?", None, "no such base"),
        ("museum", "bad", None, "the question is empty"),
        ("museum", "who?", "/etc/hostname", "the picture is no longer there"),
    ],
)
def test_why_there_is_none(tmp_path, base, question, picture, message):
    assert message in respond({"museum": Base()}, base, question, picture, None, tmp_path)


@pytest.mark.parametrize("face", [float("inf"), float("nan")])
def test_what_is_no_number_of_a_face(tmp_path, face):
    assert "not the number of a face" in respond({"museum": Base()}, "museum", "who?", None, face, tmp_path)


def test_two_bases_of_one_name(tmp_path):
    with (
        pytest.raises(BadInput, match="two bases have the same name"),
        opened([tmp_path / "a", tmp_path / "b/a"], None, None, None),
    ):
        pass


@pytest.fixture
def address(monkeypatch, tmp_path):
    """That of a served page with two bases."""

    @contextmanager
    def two(folders, *reader):
        yield {folder.name: Base() for folder in folders}

    monkeypatch.setattr(own_base_page, "opened", two)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    folders = [tmp_path / "museum", tmp_path / "garden"]
    with serving_bases(folders, (None, None, None), host="127.0.0.1", port=port, token=None) as address:
        yield address


def test_the_page_is_served_and_says_that_its_world_is_invented(address):
    told = httpx.get(f"{address}config").text
    event = httpx.post(f"{address}gradio_api/call/ask", json={"data": ["garden", "who?", None, None]}).json()[
        "event_id"
    ]
    answered = httpx.get(f"{address}gradio_api/call/ask/{event}", timeout=60).text
    assert httpx.get(address, headers={"host": "evil.example"}).status_code == 421
    assert '"museum"' in told
    assert '"garden"' in told
    assert "invented world" in told
    assert "who? None None" in answered


def test_questions_that_nobody_listens_for_keep_no_browser_of_the_same_machine_out(address):
    with httpx.Client(base_url=f"{address}gradio_api/queue/", timeout=60) as client:
        asking = next(
            each["id"] for each in client.get(f"{address}config").json()["dependencies"] if each["api_name"] == "ask"
        )

        def join(session, question):
            said = {"data": ["garden", question, None, None], "fn_index": asking, "session_hash": session}
            return client.post("join", json=said).status_code

        flood = [join(f"invented{number}", "wait") for number in range(WAITING)]
        assert join("tab", "who?") == 200
        with client.stream("GET", "data", params={"session_hash": "tab"}) as stream:
            flood += [join(f"more{number}", "wait") for number in range(WAITING)]
            Base.let_go.set()
            assert "who? None None" in "".join(stream.iter_text())
    assert set(flood) == {200}
