"""Many clients at once, many questions, and large pictures, of the page that answers: `python -m bench.ask_load`.

`CLIENTS` clients share `QUESTIONS` test questions with their pictures: each uploads, asks, waits and asks again; the
seconds from upload to answer count. Then two clients go on until `MEMORY_QUESTIONS` were asked, and the resident memory
of the server and its decoders is read on the way. At last `LARGE` pictures come at once, as large as they may be or
larger. It needs what `make repro` made in the current folder: without that it says so, and measures and writes nothing.
"""

import io
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import cycle, islice
from pathlib import Path

import httpx
import numpy as np
import psutil
from PIL import Image

from bench import harness
from bench.ask import questions_and_pictures
from trivium.core.errors import BadInput
from trivium.core.parameters import used_values

CLIENTS, QUESTIONS = 32, 1000
MEMORY_QUESTIONS, WARM_UP = 5000, 500  # memory is compared with what it was after so many
EVERY = 50  # questions between two looks at the memory
LARGE = 8
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


def reply(client: httpx.Client, question: str, picture: bytes) -> str:
    """What the page says to a question about a picture; empty when it says nothing."""
    try:
        sent = client.post("gradio_api/upload", files={"files": ("picture.jpg", picture)}).raise_for_status()
        upload = {"path": sent.json()[0], "meta": {"_type": "gradio.FileData"}}
        asked = client.post("gradio_api/call/ask", json={"data": [question, upload, True]}).raise_for_status()
        return client.get(f"gradio_api/call/ask/{asked.json()['event_id']}").raise_for_status().text
    except httpx.HTTPError:
        return ""


def ask(client: httpx.Client, question: str, picture: bytes) -> float | None:
    """Seconds from the upload to the answer; None when there is none."""
    started = time.monotonic()
    said = reply(client, question, picture)
    return time.monotonic() - started if ANSWERED.search(said) else None


def resident(server: psutil.Process) -> float:
    """MiB of the server and its decoders; a child that is just being started still shows the server's own memory."""
    size, command = server.memory_info().rss, server.cmdline()
    for child in server.children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            size += child.memory_info().rss if child.cmdline() != command else 0
    return float(size) / 2**20


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
                print(f"{len(seconds)} of {questions} questions, {memory[-1]:.0f} MiB", file=sys.stderr)
    return seconds, memory


def large_pictures() -> list[bytes]:
    """A PNG of 100 million pixels, which is refused; a JPEG of as many, a PNG of 40 million, a WebP of 20 million."""
    kinds: list[tuple[str, str, tuple[int, int], dict[str, object]]] = [
        ("PNG", "1", (10_000, 10_000), {}),
        ("JPEG", "RGB", (10_000, 10_000), {"progressive": True}),
        ("PNG", "RGBA", (8_000, 5_000), {"compress_level": 1}),
        ("WEBP", "RGB", (5_000, 4_000), {"method": 0}),
    ]
    pictures = []
    for kind, mode, size, options in kinds:
        out = io.BytesIO()
        Image.new(mode, size).save(out, kind, **options)
        pictures.append(out.getvalue())
    return pictures


def at_once(address: str, server: psutil.Process, pictures: list[bytes]) -> tuple[float, float, int]:
    """Seconds until each picture has an answer or a refusal, the most memory meanwhile, how many have neither."""
    most, done = resident(server), threading.Event()

    def watch() -> None:
        nonlocal most
        while not done.wait(0.05):
            most = max(most, resident(server))

    watcher = threading.Thread(target=watch)
    watcher.start()
    started = time.monotonic()
    with httpx.Client(base_url=address, timeout=SECONDS) as client, ThreadPoolExecutor(len(pictures)) as pool:
        said = list(pool.map(lambda picture: reply(client, "Who is this?", picture), pictures))
    seconds = time.monotonic() - started
    done.set()
    watcher.join()
    return seconds, most, sum("event: complete" not in each for each in said)


def main() -> None:
    """Measure the load, then the memory, then large pictures."""
    root = Path.cwd()
    try:
        asked = questions_and_pictures(root, str(used_values(root / "params.yaml", "kvqae.dataset")))
        with running(root) as (address, server):
            seconds, early = load(address, server, asked, clients=CLIENTS, questions=QUESTIONS)
            answered = [each for each in seconds if each is not None]
            figures = {
                "clients": CLIENTS,
                "questions": QUESTIONS,
                "questions_lost": len(seconds) - len(answered),
                "median_seconds_a_question": float(np.median(answered)),
                "ninety_ninth_percentile_seconds_a_question": float(np.percentile(answered, 99)),
            }
            print(figures, file=sys.stderr)  # the rest takes four times as long
            more, late = load(address, server, asked, clients=2, questions=MEMORY_QUESTIONS - QUESTIONS)
            large_seconds, large_mib, large_lost = at_once(
                address, server, list(islice(cycle(large_pictures()), LARGE))
            )
    except BadInput as error:
        print(f"ask_load: not measured and nothing written: {error}", file=sys.stderr)
        return
    memory = early + late
    after, most = memory[WARM_UP // EVERY - 1], max(memory[WARM_UP // EVERY :])
    figures |= {
        "memory_questions": MEMORY_QUESTIONS,
        "memory_questions_lost": sum(each is None for each in more),
        "after_the_first_questions_mib": after,
        "most_later_mib": most,
        "memory_growth_percent": 100 * (most / after - 1),
        "large_pictures": LARGE,
        "large_pictures_seconds": large_seconds,
        "large_pictures_lost": large_lost,
        "large_pictures_mib": large_mib,
    }
    harness.write("ask_load", figures | {"versions": harness.versions("gradio", "uvicorn")})


if __name__ == "__main__":
    main()
