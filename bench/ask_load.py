"""Many clients at once, and many questions one after the other, of the page that answers: `python -m bench.ask_load`.

`CLIENTS` clients share `QUESTIONS` test questions with their pictures: each uploads, asks, waits and asks again; the
seconds from upload to answer count. Then one client after the other goes on until `MEMORY_QUESTIONS` were asked, and
the resident memory of the server and its decoders is read on the way. It needs what `make repro` made in the current
folder: without that it says so, and measures and writes nothing.
"""

import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path

import httpx
import numpy as np
import psutil

from bench import harness
from bench.ask import questions_and_pictures
from trivium.errors import BadInput
from trivium.harness.parameters import used_values

CLIENTS, QUESTIONS = 32, 1000
MEMORY_QUESTIONS, WARM_UP = 5000, 500  # memory is compared with what it was after so many
EVERY = 50  # questions between two looks at the memory
SECONDS = 300.0  # to start, and for an answer
ANSWERED = re.compile(r"^event: complete\ndata: .*ask-text", re.MULTILINE)


@contextmanager
def running(root: Path) -> Iterator[tuple[str, psutil.Process]]:
    """The page of a project in a process of its own: its address, and the process.

    Raises:
        BadInput: it does not start.
    """
    with tempfile.TemporaryFile("w+") as log:
        command = [sys.executable, "-m", "trivium", "ask-page", "--port", str(_free_port())]
        server = subprocess.Popen(command, cwd=root, stdout=log, stderr=subprocess.STDOUT)
        try:
            end = time.monotonic() + SECONDS
            while (found := re.search(r"ask at (http://\S+)", _text(log))) is None:
                if server.poll() is not None or time.monotonic() > end:
                    raise BadInput(f"the page does not start: {_text(log).strip()}", file=root)
                time.sleep(0.2)
            yield found[1], psutil.Process(server.pid)
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _text(log: object) -> str:
    log.seek(0)  # type: ignore[attr-defined]
    return str(log.read())  # type: ignore[attr-defined]


def ask(client: httpx.Client, question: str, picture: bytes) -> float | None:
    """Seconds from the upload to the answer; None when there is none."""
    started = time.monotonic()
    try:
        sent = client.post("gradio_api/upload", files={"files": ("picture.jpg", picture)}).raise_for_status()
        upload = {"path": sent.json()[0], "meta": {"_type": "gradio.FileData"}}
        asked = client.post("gradio_api/call/ask", json={"data": [question, upload, True]}).raise_for_status()
        answer = client.get(f"gradio_api/call/ask/{asked.json()['event_id']}").raise_for_status()
    except httpx.HTTPError:
        return None
    return time.monotonic() - started if ANSWERED.search(answer.text) else None


def resident(server: psutil.Process) -> float:
    """MiB of the server and its decoders."""
    return sum(each.memory_info().rss for each in (server, *server.children(recursive=True))) / 2**20


def load(
    address: str, server: psutil.Process, asked: list[tuple[str, bytes]], *, clients: int, questions: int
) -> tuple[list[float | None], list[float]]:
    """Seconds of each question, asked by so many clients at once, and the memory every `EVERY` questions."""
    memory: list[float] = []
    limits = httpx.Limits(max_connections=clients)
    with httpx.Client(base_url=address, timeout=SECONDS, limits=limits) as client, ThreadPoolExecutor(clients) as pool:
        seconds: list[float | None] = []
        for one in pool.map(lambda pair: ask(client, *pair), islice(cycle(asked), questions)):
            seconds.append(one)
            if len(seconds) % EVERY == 0:
                memory.append(resident(server))
    return seconds, memory


def main() -> None:
    """Measure the load, then the memory."""
    root = Path.cwd()
    try:
        asked = questions_and_pictures(root, str(used_values(root / "params.yaml", "kvqae.dataset")))
        with running(root) as (address, server):
            seconds, early = load(address, server, asked, clients=CLIENTS, questions=QUESTIONS)
            more, late = load(address, server, asked, clients=2, questions=MEMORY_QUESTIONS - QUESTIONS)
    except BadInput as error:
        print(f"ask_load: not measured and nothing written: {error}", file=sys.stderr)
        return
    answered = [each for each in seconds if each is not None]
    memory = early + late
    after = memory[WARM_UP // EVERY - 1]
    figures = {
        "clients": CLIENTS,
        "questions": QUESTIONS,
        "questions_lost": len(seconds) - len(answered),
        "median_seconds_a_question": float(np.median(answered)),
        "ninety_ninth_percentile_seconds_a_question": float(np.percentile(answered, 99)),
        "memory_questions": MEMORY_QUESTIONS,
        "memory_questions_lost": sum(each is None for each in more),
        "mib_after_the_first_questions": after,
        "mib_most_later": max(memory[WARM_UP // EVERY :]),
        "growth_percent": 100 * (max(memory[WARM_UP // EVERY :]) / after - 1),
    }
    harness.write("ask_load", figures | {"versions": harness.versions("gradio", "uvicorn")})


if __name__ == "__main__":
    main()
