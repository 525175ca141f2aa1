"""The page: what it answers and refuses, who comes in, and what stays behind."""

import os
import subprocess
import sys
import threading
from types import SimpleNamespace

import httpx
import pyarrow as pa
import pytest

from tests.kvqae.asking.test_html import EVIL, jpeg
from trivium.commands import cli
from trivium.commands.ask_page import (
    MAX_BYTES,
    PREFIX,
    TOKEN,
    build,
    listen,
    make_server,
    take_token,
    temporary_folder,
)
from trivium.core.errors import BadInput
from trivium.core.image_shards import write_images
from trivium.core.tables import write_json_lines, write_table
from trivium.kvqae.asking.answer import Answer
from trivium.page.asking import Samples, read_samples, respond
from trivium.page.html import render


def test_other_machines_need_one(monkeypatch):
    monkeypatch.delenv(TOKEN, raising=False)
    assert take_token("127.0.0.1") is take_token("::1") is take_token("localhost") is None
    message = f"other machines could reach the page, and there is no token, or a short one; got .*at least 16 characters.*{TOKEN}"
    for host in ("0.0.0.0", "::", "192.0.2.1", "photos.example"):
        with pytest.raises(BadInput, match=message):
            take_token(host)
        monkeypatch.setenv(TOKEN, "correct horse battery")
        assert take_token(host) == "correct horse battery"
        assert TOKEN not in os.environ


@pytest.mark.parametrize(
    ("token", "message"),
    [
        ("hunter2", "there is no token, or a short one"),
        ("correct horse battery", "ask: warning: other machines reach 0.0.0.0, and nothing is encrypted\n"),
    ],
)
def test_other_machines_are_warned_of(monkeypatch, capsys, tmp_path, token, message):
    monkeypatch.setenv(TOKEN, token)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # put back afterwards
    monkeypatch.setattr("signal.signal", lambda *_: None)
    monkeypatch.chdir(tmp_path)  # no project
    with pytest.raises(SystemExit) as ended:
        cli.run("ask-page", ["--host", "0.0.0.0", "--port", "0"])
    assert ended.value.code == 1
    told = capsys.readouterr().err
    assert message in told
    assert token not in told


class Own:
    """A base of one's own that says back what it was asked."""

    base = SimpleNamespace(invented=True)

    def ask(self, question, image, *, rerank=True, face=None):
        if question == "bad":
            raise BadInput(f"no {EVIL}")
        text = f"{question} {len(image or b'')} {face} {rerank}"
        return Answer(text, 0.5, [], None, ["A note."], 0.1, picture=image)


BAD = render("ask_problem.html", problem=f"no {EVIL}")


def said(folder, question, picture=None, base="museum", face=None, known=None):
    return respond({"museum": Own()}, folder, known or Samples([], {}), question, picture, base, face, True)


@pytest.fixture
def address(request, monkeypatch, tmp_path):
    """That of a served page with two bases, with a token where the test names one."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    page = build({"museum": Own(), "garden": Own()}, tmp_path, Samples([], {}))
    with listen("127.0.0.1", 0) as listener:
        server = make_server(page, "127.0.0.1", getattr(request, "param", None))
        thread = threading.Thread(target=server.run, args=[[listener]])
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
        server.should_exit = True
        thread.join()


def upload(address, data):
    return httpx.post(f"{address}gradio_api/upload", files={"files": ("a.jpg", data)}, timeout=60)


def reply(address, picture):
    told = {"data": ["who?", picture, "garden", "", True]}
    event = httpx.post(f"{address}gradio_api/call/ask", json=told).json()["event_id"]
    return httpx.get(f"{address}gradio_api/call/ask/{event}", timeout=60).text


def test_the_page_is_served_under_its_own_name_only(address, tmp_path):
    told = httpx.get(f"{address}config").text
    assert all(name in told for name in ('"museum"', '"garden"', "invented world"))
    assert httpx.get(address, headers={"host": "evil.example"}).status_code == 400
    assert "fonts.googleapis.com" not in httpx.get(address).text
    data = jpeg()
    assert upload(address, bytes(MAX_BYTES + 1)).status_code == 413
    (path,) = upload(address, data).json()
    assert f"who? {len(data)} None" in reply(address, {"path": path, "meta": {"_type": "gradio.FileData"}})
    secret = tmp_path.parent / f"{tmp_path.name}.png"
    secret.write_bytes(data)
    for forged in ({"path": str(secret)}, {"path": "/etc/hostname"}, {"url": f"file://{secret}"}):
        for meta in ({}, {"meta": {"_type": "gradio.FileData"}}):
            assert "ask-answer" not in reply(address, forged | meta)
    assert httpx.get(f"{address}gradio_api/file={secret}").status_code in (403, 404)


@pytest.mark.parametrize("address", ["correct horse battery"], indirect=True)
def test_with_a_token_nobody_asks_or_uploads_without_it(address):
    for sent in (upload(address, jpeg()), httpx.post(f"{address}gradio_api/call/ask", json={"data": []})):
        assert sent.status_code == 401
    wrong = httpx.post(f"{address}login", data={"username": "me", "password": "correct horse"})
    assert wrong.status_code == 400
    with httpx.Client(base_url=address) as client:
        assert client.post("login", data={"username": "me", "password": "correct horse battery"}).status_code == 200
        assert client.post("gradio_api/upload", files={"files": ("a.jpg", jpeg())}).status_code == 200


def test_what_a_killed_server_left_goes_and_what_a_living_one_has_stays(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    for name in ("GRADIO_TEMP_DIR", "GRADIO_ANALYTICS_ENABLED"):
        monkeypatch.setenv(name, "")
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    dead, living = (tmp_path / f"{PREFIX}{number}-abc" for number in (ended.pid, os.getppid()))
    dead.mkdir()
    living.mkdir()
    with temporary_folder() as folder:
        assert sorted(tmp_path.iterdir()) == sorted([folder, living])
        assert folder.stat().st_mode & 0o077 == 0
    assert list(tmp_path.iterdir()) == [living]


def test_half_a_character_and_no_text_at_all_reach_the_base_as_text(tmp_path):
    said(tmp_path, "who \ud800 is this?").encode()  # what the page sends
    assert "who ? is this? 0" in said(tmp_path, "who \ud800 is this?")
    assert " 0 None True" in said(tmp_path, None)


@pytest.mark.parametrize(("typed", "face"), [("", None), (None, None), (" 2 ", 2), ("0", 0)])
def test_no_number_of_a_face_is_the_most_probable_one(tmp_path, typed, face):
    assert f" 0 {face} True" in said(tmp_path, "who?", face=typed)


@pytest.mark.parametrize("typed", ["left", "-1", "1.5", "9" * 5000])
def test_what_is_no_number_of_a_face_is_said(tmp_path, typed):
    html = said(tmp_path, "who?", face=typed)
    assert "not the number of a face" in html
    assert "1 for the leftmost face" in html


@pytest.mark.parametrize("path", ["secret.jpg", "uploads/../secret.jpg", "uploads/link.jpg", "uploads2/secret.jpg", ""])
def test_what_lies_outside_the_uploads_is_no_upload(tmp_path, path):
    uploads = tmp_path / "uploads"
    for folder in (uploads, tmp_path / "uploads2"):
        folder.mkdir()
        (folder / "secret.jpg").write_bytes(b"secret")
    (tmp_path / "secret.jpg").write_bytes(b"secret")
    (uploads / "link.jpg").symlink_to(tmp_path / "secret.jpg")
    assert "choose it again" in said(uploads, "bad", str(tmp_path / path))
    assert "choose it again" in said(uploads, "bad", str(uploads / "gone.jpg"))
    assert said(uploads, "bad", str(uploads / "secret.jpg")) == BAD


def test_a_sample_is_known_by_its_question_and_its_picture(tmp_path):
    data = tmp_path / "data/kvqae"
    pictures = {f"{number}.jpg": jpeg(colour=colour) for number, colour in enumerate(("red", "blue"))}
    (data / "raw/viquae").mkdir(parents=True)
    records = [
        {"id": f"q{number}", "input": "Who is this?", "image": f"{number}.jpg", "wikidata_id": f"Q{number}",
         "kilt_id": str(number), "url": "", "original_question": "?", "meta": {},
         "output": {"original_answer": name, "answer": [name], "provenance": []}}
        for number, name in enumerate(("Ada", "Bob", "Cyd"))
    ]  # fmt: skip
    write_json_lines(data / "raw/viquae/test.jsonl", records)
    write_images(data / "raw/images/questions", pictures.items())
    write_table(data / "kb/articles.parquet", pa.table({"wikidata_id": ["Q0"], "title": ["Ada L."]}))
    known = read_samples(tmp_path, "raw", tmp_path / "uploads")
    assert [question for _, question in known.examples] == ["Who is this?"] * 2, "the third has no picture"
    (ada, _), (bob, _) = known.examples
    shown = said(tmp_path / "uploads", " Who is this? ", ada, known=known)
    assert "The picture shows <strong>Ada L.</strong>" in shown
    shown = said(tmp_path / "uploads", "Who is this?", bob, known=known)
    assert "✗ expected:</span> <strong>Bob" in shown
    assert "The picture shows" not in shown, "no article is about it"
    for question, picture in (("Who else is this?", ada), ("Who is this?", None)):
        assert "ask-expected" not in said(tmp_path / "uploads", question, picture, known=known)


def test_a_port_that_is_taken_or_impossible_is_said_before_anything_is_loaded():
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(BadInput, match=f"cannot be served there: .*in use.*; got .*{port}"):
            listen("127.0.0.1", port)
    for host, number in (("127.0.0.1", 70_000), ("192.0.2.1", 7860)):
        with pytest.raises(BadInput, match="cannot be served there"):
            listen(host, number)
