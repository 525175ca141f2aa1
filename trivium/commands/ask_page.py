"""`make ask`: ask about a picture in the browser; the models stay in memory (gradio, on this machine only).

    trivium ask-page --port 7860
    trivium ask-page --kb museum --kb garden

The page needs no network: no fonts, scripts or statistics from elsewhere. What is uploaded lies in a temporary folder,
for an hour at most, and goes with the server, or at the next start if the server was killed. `page_server/` says who
may ask and how much. With `--host`, other machines may: they must bring the token of `TRIVIUM_ASK_TOKEN`.
"""

import argparse
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from trivium.commands.ask import add_reader, prepare_arithmetic
from trivium.commands.page_server.doors import is_loopback
from trivium.commands.page_server.folders import temporary_folder
from trivium.commands.page_server.uploads import HOUR, picture_field, read_upload
from trivium.core.errors import BadInput

if TYPE_CHECKING:
    import gradio

    from trivium.kvqae.asking.pipeline import Asker
    from trivium.page.asking import Expected

SAMPLES = 8  # test questions to pick from
SESSIONS = 256  # of which gradio remembers something
# What gradio's import reads. Beside what it would send away, it keeps 10 000 events, and after each it counts them all.
GRADIO = {
    "GRADIO_ANALYTICS_ENABLED": "False",
    "GRADIO_ANALYTICS_MAX_EVENTS": "1",
    "GRADIO_ANALYTICS_CACHE_FREQUENCY": str(10**9),
}
TOKEN = "TRIVIUM_ASK_TOKEN"  # never an argument, which every user of the machine can read
SHORTEST_TOKEN = 16  # characters
TITLE = "Ask about a picture"


@dataclass(frozen=True)
class Samples:
    """Questions of the test set.

    Attributes:
        examples: [path of the picture, question].
        expected: what is known of them, by the question and the digest of its picture.
    """

    examples: list[list[str]] = field(default_factory=list)
    expected: "dict[tuple[str, str], Expected]" = field(default_factory=dict)


def respond(
    asker: "Asker",
    question: str | None,
    picture: str | None,
    rerank: bool,
    uploads: Path,
    expected: "Mapping[tuple[str, str], Expected] | None" = None,
) -> str:
    """HTML of the answer, or of why there is none.

    Args:
        asker: the pipeline.
        question: as typed; anything.
        picture: path of the upload, None without one.
        rerank: whether the re-rankers have their say.
        uploads: where uploads lie; a path outside, as a forged request may bring, is no upload.
        expected: what is known of questions of the test set, as `Samples` has it.
    """
    from trivium.kvqae.asking.pipeline import MAX_CHARACTERS
    from trivium.page.asking import answer_html, problem_html

    question = (question or "").encode("utf-8", "replace").decode()  # half surrogate pairs have no JSON
    try:
        image = None if picture is None else read_upload(Path(picture), uploads)
        answer = asker.ask(question, image, rerank=rerank)
    except BadInput as problem:
        return problem_html(str(problem))
    known = None if image is None else (expected or {}).get((question.strip(), sha256(image).hexdigest()))
    return answer_html(question[:MAX_CHARACTERS], answer.picture, answer, known)


def samples(root: Path, dataset: str, folder: Path) -> Samples:
    """The first test questions with a picture; the pictures are written to `folder`."""
    from trivium.core.image_shards import Images
    from trivium.core.tables import read_table
    from trivium.formats.questions import read_questions
    from trivium.kvqae.asking.project import made
    from trivium.page.asking import Expected

    images = Images(made(root, f"data/kvqae/{dataset}/images/questions"))
    questions = read_questions(made(root, f"data/kvqae/{dataset}/viquae/test.jsonl"))
    picked = [each for each in questions if each.image is not None and each.image in images][:SAMPLES]
    articles = read_table(made(root, "data/kvqae/kb/articles.parquet"), ["wikipedia_id", "title"]).to_pydict()
    titles = dict(zip(articles["wikipedia_id"], articles["title"], strict=True))
    found = Samples()
    for number, question in enumerate(picked):
        image = images.read(str(question.image))
        path = folder / f"{number}.jpg"
        path.write_bytes(image)
        found.examples.append([str(path), question.text])
        entity = titles.get(question.wikipedia_id, "")
        found.expected[question.text.strip(), sha256(image).hexdigest()] = Expected(question.answers, entity)
    return found


def build(asker: "Asker", known: Samples, uploads: Path) -> "gradio.Blocks":
    """The page: a picture, a question, the answer; `uploads` is gradio's temporary folder."""
    import gradio

    from trivium.commands.page_server.look import heading
    from trivium.commands.page_server.quotas import WAITING

    with gradio.Blocks(title=TITLE, analytics_enabled=False, delete_cache=(HOUR // 4, HOUR)) as page:
        heading(
            TITLE,
            "The picture shows a person, a place or a thing that the question does not name. "
            "The answer is read in the passages below it.",
        )
        with gradio.Row():
            picture = picture_field()
            with gradio.Column():
                question = gradio.Textbox(
                    label="Question", lines=2, placeholder="Which constituency did this man represent?"
                )
                rerank = gradio.Checkbox(label="Re-rank (slower, better)", value=True, elem_id="rerank")
                ask = gradio.Button("Ask", variant="primary", elem_id="ask")
        answer = gradio.HTML(elem_id="answer")
        gradio.Examples(
            known.examples,
            [picture, question],
            label="Questions of the test set, whose answers are known",
            examples_per_page=SAMPLES,
        )
        gradio.on(
            [ask.click, question.submit],
            lambda question, picture, rerank: respond(asker, question, picture, rerank, uploads, known.expected),
            [question, picture, rerank],
            answer,
            api_name="ask",
            concurrency_limit=2,  # one is answered while another is decoded, drawn or sent
        )
        for called in page.fns.values():  # a chosen example, too: `Doors` lets no call past the queue
            called.queue = True
    return page.queue(max_size=WAITING)


def check_port(host: str, port: int) -> None:
    """Raise `BadInput` when no server can listen there; asked before anything is loaded."""
    try:
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except (OSError, OverflowError) as error:
        raise BadInput(f"the page cannot be served there: {error}", field="--host, --port", got=(host, port)) from None


def take_token(host: str) -> str | None:
    """The token of the environment, which forgets it: no other process inherits it.

    Raises:
        BadInput: there is none, and other machines reach the host; or it is short.
    """
    token = os.environ.pop(TOKEN, "")
    if not token and not is_loopback(host):
        expected = f"a token of at least {SHORTEST_TOKEN} characters in the environment, as {TOKEN}"
        raise BadInput(
            "other machines could reach the page, and there is no token", field="--host", got=host, expected=expected
        )
    if token and len(token) < SHORTEST_TOKEN:
        raise BadInput("the token is too short", field=TOKEN, expected=f"at least {SHORTEST_TOKEN} characters")
    return token or None


@contextmanager
def serving(root: Path, *, row: str, host: str, port: int, token: str | None) -> Iterator[str]:
    """Load everything, answer one question to warm up, serve; yields the page's address.

    Raises:
        BadInput: as `Asker`, or the port is taken.
    """
    check_port(host, port)
    with temporary_folder() as folder:
        os.environ |= GRADIO | {"GRADIO_TEMP_DIR": str(folder)}
        from trivium.kvqae.asking.pipeline import Asker

        with Asker(root, row) as asker:
            (folder / "samples").mkdir()
            known = samples(root, asker.dataset, folder / "samples")
            for path, question in known.examples[:2]:  # a network's first look at a new shape is slow
                asker.ask(question, Path(path).read_bytes())
            with listening(build(asker, known, folder), folder, host=host, port=port, token=token):
                yield address_of(host, port)


def address_of(host: str, port: int) -> str:
    """The page's address."""
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


@contextmanager
def serving_bases(
    folders: Sequence[Path], reader: Sequence[str | None], *, host: str, port: int, token: str | None
) -> Iterator[str]:
    """Load bases of one's own, serve them with a choice; yields the page's address.

    Args:
        folders: of the bases.
        reader: its folder or address, model, and variable with its key, as `trivium ask` takes them.
        host, port, token: of the server.

    Raises:
        BadInput: no base, or the port is taken.
    """
    check_port(host, port)
    with temporary_folder() as folder:
        os.environ |= GRADIO | {"GRADIO_TEMP_DIR": str(folder)}
        from trivium.commands import own_base_page

        with (
            own_base_page.opened(folders, *reader) as bases,
            listening(own_base_page.build(bases, folder), folder, host=host, port=port, token=token),
        ):
            yield address_of(host, port)


@contextmanager
def listening(page: "gradio.Blocks", uploads: Path, *, host: str, port: int, token: str | None) -> Iterator[None]:
    """Serve a page behind its guard, in a thread."""
    import gradio
    import uvicorn
    from starlette.applications import Starlette

    from trivium.commands.page_server.connections import Connection
    from trivium.commands.page_server.doors import Doors
    from trivium.commands.page_server.guard import Guard
    from trivium.commands.page_server.look import theme
    from trivium.kvqae.asking.pipeline import MAX_BYTES
    from trivium.page.asking import style

    page.state_session_capacity = SESSIONS
    app = gradio.mount_gradio_app(
        Starlette(),  # all that is used of a FastAPI
        page,
        "/",
        max_file_size=MAX_BYTES,
        footer_links=[],
        run_history=False,
        show_error=False,
        ssr_mode=False,
        enable_monitoring=False,
        theme=theme(),
        css=style(),
    )
    config = uvicorn.Config(
        Guard(app, Doors(host, token), page._queue, uploads, MAX_BYTES),
        host=host,
        port=port,
        http=Connection,
        ws="none",
        log_level="warning",
        proxy_headers=False,  # a client would choose its address
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        while not server.started:
            if not thread.is_alive():
                raise BadInput("the page cannot be served there", field="--host, --port", got=(host, port))
            time.sleep(0.01)
        yield
    finally:
        server.should_exit = True
        thread.join()


def parser() -> argparse.ArgumentParser:
    """What the command takes."""
    made = argparse.ArgumentParser(
        prog="trivium ask-page", description="Open a page that answers questions about pictures."
    )
    made.add_argument("--port", type=int, default=7860, help="port of the page (%(default)s)")
    made.add_argument(
        "--host",
        default="127.0.0.1",
        help=f"address of the page; only this machine reaches %(default)s; any other address needs a token in {TOKEN}",
    )
    made.add_argument("--row", default="dpr_few_shot_image", help="row of kvqae.fuse.weights (%(default)s)")
    own = made.add_argument_group("bases of your own, made by `trivium kb`")
    own.add_argument(
        "--kb", type=Path, action="append", metavar="FOLDER", help="a base that the page offers; may be repeated"
    )
    add_reader(own)
    return made


def main(argv: Sequence[str] | None = None) -> None:
    """Serve until Ctrl-C."""
    arguments = parser().parse_args(argv)
    prepare_arithmetic()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: the temporary folder goes too
    host, port = arguments.host, arguments.port
    try:
        token = take_token(host)
        if not is_loopback(host):
            print(f"ask: warning: other machines reach {host}, and nothing is encrypted", file=sys.stderr)
        reader = (arguments.reader, arguments.reader_model, arguments.key_variable)
        served = (
            serving_bases(arguments.kb, reader, host=host, port=port, token=token)
            if arguments.kb
            else serving(Path.cwd(), row=arguments.row, host=host, port=port, token=token)
        )
        with served as address:
            print(f"ask at {address} (Ctrl-C ends it)", flush=True)
            threading.Event().wait()
    except KeyboardInterrupt:
        pass
    except BadInput as error:
        print(f"ask: {error}", file=sys.stderr)
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
