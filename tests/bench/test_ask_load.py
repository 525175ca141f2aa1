"""The bench of the page under load, against a stand-in that loses every tenth question."""

import io
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from itertools import count

import psutil
import pytest
import uvicorn
from PIL import Image
from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route

from bench import ask_load
from trivium.vision.decoding import JPEG_PIXELS, PIXELS, WEBP_PIXELS


@pytest.fixture
def page():
    """A server that answers as the page does."""
    numbers = count(1)

    async def upload(request):
        await request.form()
        return JSONResponse(["/uploads/picture.jpg"])

    async def join(request):
        assert (await request.json())["data"][1]["path"] == "/uploads/picture.jpg"
        return JSONResponse({"event_id": str(next(numbers))})

    async def answer(request):
        text = "ask-problem" if int(request.path_params["event"]) % 10 == 0 else "ask-text"
        return PlainTextResponse(f'event: complete\ndata: ["<p class={text}>"]\n\n')

    routes = [
        Route("/gradio_api/upload", upload, methods=["POST"]),
        Route("/gradio_api/call/ask", join, methods=["POST"]),
        Route("/gradio_api/call/ask/{event}", answer),
    ]
    server = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), port=0, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/"
    server.should_exit = True
    thread.join()


def test_every_question_counts_once_and_a_lost_one_is_lost(page, figures, monkeypatch):
    @contextmanager
    def running(root):
        yield page, psutil.Process()

    monkeypatch.setattr(ask_load, "running", running)
    monkeypatch.setattr(ask_load, "used_values", lambda *_: "raw")
    monkeypatch.setattr(ask_load, "questions_and_pictures", lambda *_: [("who?", b"picture"), ("where?", b"another")])
    monkeypatch.setattr(ask_load, "large_pictures", lambda: [b"huge"])
    for name, value in (("CLIENTS", 4), ("QUESTIONS", 60), ("MEMORY_QUESTIONS", 100), ("WARM_UP", 20), ("EVERY", 10)):
        monkeypatch.setattr(ask_load, name, value)
    ask_load.main()
    found = figures("ask_load")
    assert (found["questions_lost"], found["memory_questions_lost"]) == (6, 4)
    assert 0 < found["median_seconds_a_question"] <= found["ninety_ninth_percentile_seconds_a_question"]
    after, later = found["after_the_first_questions_mib"], found["most_later_mib"]
    assert 0 < after < later * 1.5
    assert found["memory_growth_percent"] == pytest.approx(100 * (later / after - 1))
    assert 0 < found["large_pictures_seconds"] < 60
    assert found["large_pictures_lost"] == 0
    assert found["large_pictures_mib"] > after / 1.5


def test_memory_is_that_of_the_server_and_of_what_it_started():
    own = psutil.Process()
    before = ask_load.resident(own)
    forked = os.fork()  # until it runs something else, all that it shows is the server's
    if not forked:
        signal.pause()
    assert ask_load.resident(own) < 1.2 * before
    os.kill(forked, signal.SIGKILL)
    os.waitpid(forked, 0)
    code = "held = b'1' * 300_000_000; print(flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        other.stdout.readline()
        assert ask_load.resident(own) > before + 250
        other.kill()


def test_large_pictures_are_as_large_as_they_may_be():
    sizes = [Image.open(io.BytesIO(data)).size for data in ask_load.large_pictures()]
    assert [across * down for across, down in sizes] == [JPEG_PIXELS, JPEG_PIXELS, PIXELS, WEBP_PIXELS]


def test_a_project_that_is_not_built_is_not_measured(figures, tmp_path, monkeypatch, capsys):
    (tmp_path / "params.yaml").write_bytes((ask_load.Path(ask_load.__file__).parents[1] / "params.yaml").read_bytes())
    monkeypatch.chdir(tmp_path)
    ask_load.main()
    said = capsys.readouterr().err
    assert said.startswith("ask_load: not measured and nothing written: ")
    assert said.endswith("not there: run `make repro` first\n")
    with pytest.raises(FileNotFoundError):
        figures("ask_load")
