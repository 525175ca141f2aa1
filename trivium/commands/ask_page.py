"""`make ask`: ask about a picture in the browser; the models stay in memory (gradio, on this machine only).

    trivium ask-page --port 7860

The page needs no network: no fonts, scripts or statistics from elsewhere. What is uploaded lies in a temporary folder,
for an hour at most, and goes with the server.
"""

import argparse
import os
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trivium.commands.ask import one_thread, read_image
from trivium.errors import BadInput

if TYPE_CHECKING:
    import gradio

    from trivium.kvqae.asking.pipeline import Asker

SAMPLES = 8  # test questions to pick from
HOUR = 3600
WAITING = 256  # questions in the queue; more are turned away
TITLE = "Ask about a picture"


def respond(asker: "Asker", question: str | None, picture: str | None, rerank: bool, uploads: Path) -> str:
    """HTML of the answer, or of why there is none.

    Args:
        asker: the pipeline.
        question: as typed; anything.
        picture: path of the upload, None without one.
        rerank: whether the re-rankers have their say.
        uploads: where uploads lie; a path outside, as a forged request may bring, is no upload.
    """
    from trivium.kvqae.asking.pipeline import MAX_CHARACTERS
    from trivium.page.asking import answer_html, problem_html

    question = (question or "").encode("utf-8", "replace").decode()  # half surrogate pairs have no JSON
    try:
        try:
            image = None if picture is None else _read_upload(Path(picture), uploads)
        except BadInput:
            raise BadInput("the picture is no longer there: choose it again") from None
        answer = asker.ask(question, image, rerank=rerank)
    except BadInput as problem:
        return problem_html(str(problem))
    return answer_html(question[:MAX_CHARACTERS], answer.picture, answer)


def _read_upload(path: Path, uploads: Path) -> bytes:
    if not path.resolve().is_relative_to(uploads.resolve()):
        raise BadInput("not an upload", file=path)
    return read_image(path)


def samples(root: Path, dataset: str, folder: Path) -> list[list[str]]:
    """[path, question] of the first test questions with a picture; the pictures are written to `folder`."""
    from trivium.files.image_shards import Images
    from trivium.formats.questions import read_questions
    from trivium.kvqae.asking.project import made

    images = Images(made(root, f"data/kvqae/{dataset}/images/questions"))
    picked: list[list[str]] = []
    for question in read_questions(made(root, f"data/kvqae/{dataset}/viquae/test.jsonl")):
        if len(picked) < SAMPLES and question.image is not None and question.image in images:
            path = folder / f"{len(picked)}.jpg"
            path.write_bytes(images.read(question.image))
            picked.append([str(path), question.text])
    return picked


def _path(payload: Any) -> str | None:
    return None if payload is None else str(payload.path)


def build(asker: "Asker", examples: list[list[str]], uploads: Path) -> "gradio.Blocks":
    """The page: a picture, a question, the answer; `uploads` is gradio's temporary folder."""
    import gradio

    with gradio.Blocks(title=TITLE, analytics_enabled=False, delete_cache=(HOUR // 4, HOUR)) as page:
        gradio.Markdown(
            f"# {TITLE}\nThe picture shows a person, a place or a thing that the question does not name. "
            "The answer is read in the passages below it."
        )
        with gradio.Row():
            picture = gradio.Image(
                label="Picture", sources=["upload", "clipboard"], type="filepath", height=280, elem_id="picture"
            )
            # The pipeline decodes pictures itself, with its own limits and messages.
            picture.preprocess = _path  # type: ignore[method-assign]
            with gradio.Column():
                question = gradio.Textbox(
                    label="Question", lines=2, placeholder="Which constituency did this man represent?"
                )
                rerank = gradio.Checkbox(label="Re-rank (slower, better)", value=True, elem_id="rerank")
                ask = gradio.Button("Ask", variant="primary", elem_id="ask")
        answer = gradio.HTML(elem_id="answer")
        gradio.Examples(examples, [picture, question], label="Questions of the test set", examples_per_page=SAMPLES)
        gradio.on(
            [ask.click, question.submit],
            lambda question, picture, rerank: respond(asker, question, picture, rerank, uploads),
            [question, picture, rerank],
            answer,
            api_name="ask",
            concurrency_limit=2,  # one is answered while another is decoded, drawn or sent
        )
    return page.queue(max_size=WAITING)


def check_port(host: str, port: int) -> None:
    """Raise `BadInput` when no server can listen there; asked before anything is loaded."""
    try:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except (OSError, OverflowError) as error:
        raise BadInput(f"the page cannot be served there: {error}", field="--host, --port", got=(host, port)) from None


@contextmanager
def serving(root: Path, *, row: str, host: str, port: int) -> Iterator[str]:
    """Load everything, answer one question to warm up, serve; yields the page's address.

    Raises:
        BadInput: as `Asker`, or the port is taken.
    """
    check_port(host, port)
    with tempfile.TemporaryDirectory(prefix="trivium-ask-") as folder:
        os.environ |= {"GRADIO_ANALYTICS_ENABLED": "False", "GRADIO_TEMP_DIR": folder}  # read when gradio is imported
        import gradio

        from trivium.kvqae.asking.pipeline import MAX_BYTES, Asker
        from trivium.page.asking import style

        with Asker(root, row) as asker:
            (Path(folder) / "samples").mkdir()
            examples = samples(root, asker.dataset, Path(folder) / "samples")
            for path, question in examples[:2]:  # a network's first look at a new shape is slow
                asker.ask(question, Path(path).read_bytes())
            page = build(asker, examples, Path(folder))
            _, address, _ = page.launch(
                server_name=host,
                server_port=port,
                share=False,
                quiet=True,
                prevent_thread_lock=True,
                max_file_size=MAX_BYTES,
                footer_links=[],
                ssr_mode=False,
                theme=gradio.themes.Default(font=["system-ui", "sans-serif"], font_mono=["monospace"]),
                css=style(),
            )
            try:
                yield address
            finally:
                page.close(verbose=False)


def main(argv: Sequence[str] | None = None) -> None:
    """Serve until Ctrl-C."""
    parser = argparse.ArgumentParser(prog="trivium ask-page", description="Ask about a picture, a page")
    parser.add_argument("--port", type=int, default=7860, help="of the page (%(default)s)")
    parser.add_argument("--host", default="127.0.0.1", help="address to bind; only this machine sees %(default)s")
    parser.add_argument("--row", default="dpr_few_shot_image", help="row of kvqae.fuse.weights (%(default)s)")
    arguments = parser.parse_args(argv)
    one_thread()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: the temporary folder goes too
    try:
        with serving(Path.cwd(), row=arguments.row, host=arguments.host, port=arguments.port) as address:
            print(f"ask at {address} (Ctrl-C ends it)", flush=True)
            threading.Event().wait()
    except KeyboardInterrupt:
        pass
    except BadInput as error:
        print(f"ask: {error}", file=sys.stderr)
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
