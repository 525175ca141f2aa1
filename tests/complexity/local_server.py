"""A real OpenAI-compatible server of this machine, `transformers serve`, for tests and for the bench."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from transformers import AutoTokenizer

TEMPLATE = "{% for turn in messages %}{{ turn['role'] }} : {{ turn['content'] }}\n{% endfor %}assistant :"


def write_chat_template(model: Path) -> None:
    """Give a saved model's tokenizer a chat template, without which the server cannot answer."""
    tokenizer = AutoTokenizer.from_pretrained(model)
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(model)


@contextmanager
def serving(model: Path) -> Iterator[str]:
    """The address of a server that answers with a saved model; it is gone afterwards."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(Path(sys.executable).with_name("transformers")), "serve", str(model), "--device", "cpu"]
    log = model.parent / "serve.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", str(port)],
            env=os.environ | {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        for _ in range(600):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=1):
                    break
            except OSError:
                assert process.poll() is None, log.read_text()
                time.sleep(0.1)
        else:
            raise TimeoutError(f"no server after a minute: {log.read_text()}")
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(timeout=20)
