"""`make ask`: ask about a picture in the browser; the models stay in memory (Gradio, on this machine only).

    trivium ask-page --port 7860
    trivium ask-page --kb museum --kb garden

The page loads no fonts, scripts or statistics from elsewhere. What is uploaded lies in a temporary folder, for an hour
at most; the folder goes with the server, or at the next start if the server was killed. With `--host`, other machines
reach the page: they must log in with the token of `TRIVIUM_ASK_TOKEN`.
"""

import hmac
import os
import shutil
import signal
import socket
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from trivium.commands.ask import add_models, open_base, open_graph, prepare_arithmetic
from trivium.core.errors import BadInput
from trivium.core.parameters import used_values

if TYPE_CHECKING:  # seconds to import
    import gradio
    import uvicorn

    from trivium.kvqae.asking.asker import Asker
    from trivium.page.asking import Samples

WAITING = 64  # questions in the queue
MAX_BYTES = 32 * 2**20  # of an upload
HOUR = 3600  # seconds that an upload is kept
PREFIX = "trivium-ask-"  # of the temporary folder; the number of the server's process follows, and letters
TOKEN = "TRIVIUM_ASK_TOKEN"  # never an argument, which every user of the machine can read
SHORTEST_TOKEN = 16  # characters
LOOPBACK = ("localhost", "127.0.0.1", "::1")  # what only this machine reaches
TITLE = "Ask about a picture"
ABOUT = (
    "The picture shows a person, a place or a thing that the question does not name. "
    "The answer is read in the passages below it."
)
FACE = "Face, from the left (empty: the most probable one; 0: the whole picture)"
KNOWN = "Questions of the test set, whose answers are known"
FONTS = ["system-ui", "sans-serif"]  # Gradio's own come from elsewhere
SAY = "() => document.body.classList.contains('dark') ? 'Switch to light' : 'Switch to dark'"
TURN = f"""() => {{
  document.body.classList.toggle("dark");
  document.body.style.background = "var(--body-background-fill)";  // Gradio has set it to a colour
  return ({SAY})();
}}"""


def build(bases: "Mapping[str, Asker]", uploads: Path, samples: "Samples") -> "gradio.Blocks":
    """Build the page: a picture, a question, which face, the answer; with bases of one's own which one.

    `bases` are by name, without one where it is the graph's; uploads lie in `uploads`.
    """
    import gradio

    from trivium.kvqae.asking.answer import INVENTED
    from trivium.page.asking import respond

    async def stay(path: str) -> str:  # Gradio would copy a file here, and fetch an address
        return path

    names = list(bases)
    own = names != [""]
    with gradio.Blocks(title=TITLE, analytics_enabled=False, delete_cache=(HOUR // 4, HOUR)) as page:
        with gradio.Row():
            gradio.Markdown(f"# {TITLE}")
            turn = gradio.Button("Switch to dark", size="sm", scale=0, min_width=140, elem_id="theme")
        turn.click(None, outputs=turn, js=TURN, api_visibility="private")
        page.load(None, outputs=turn, js=SAY, api_visibility="private")
        gradio.Markdown(ABOUT)
        if any(asker.base.invented for asker in bases.values()):
            gradio.Markdown(f"**{INVENTED.capitalize()}.** Nothing that is answered is true of the real one.")
        with gradio.Row():
            image = gradio.Image(
                label="Picture", sources=["upload", "clipboard"], type="filepath", height=280, elem_id="picture"
            )
            # Whoever answers decodes it, with limits and messages of its own.
            image.preprocess = lambda payload: str(payload.path) if payload else None  # type: ignore[method-assign]
            image.async_move_resource_to_block_cache = stay  # type: ignore[method-assign, assignment]
            with gradio.Column():
                base = gradio.Dropdown(names, value=names[0], label="Base", elem_id="base", visible=own)
                question = gradio.Textbox(label="Question", lines=2, placeholder="Who is this?")
                # Not a number: Gradio's would send 0, the whole picture, where nothing is typed.
                face = gradio.Textbox("", label=FACE, elem_id="face")
                rerank = gradio.Checkbox(True, label="Re-rank (slower, better)", elem_id="rerank", visible=not own)
                ask = gradio.Button("Ask", variant="primary", elem_id="ask")
        shown = gradio.HTML(elem_id="answer")
        if samples.examples:
            gradio.Examples(samples.examples, [image, question], label=KNOWN)
        answer = partial(respond, bases, uploads, samples)
        gradio.on([ask.click, question.submit], answer, [question, image, base, face, rerank], shown, api_name="ask")
    # One question is answered while another picture is decoded, drawn or sent.
    return page.queue(max_size=WAITING, default_concurrency_limit=2)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Make Gradio's folder, and remove it at the end; folders that killed servers of this user have left go, too."""
    for left in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        if not Path("/proc", left.name.removeprefix(PREFIX).partition("-")[0]).exists():
            shutil.rmtree(left, ignore_errors=True)  # neither through a link nor of another user
    with tempfile.TemporaryDirectory(prefix=f"{PREFIX}{os.getpid()}-", ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve()
        os.environ |= {"GRADIO_TEMP_DIR": str(folder), "GRADIO_ANALYTICS_ENABLED": "False"}
        yield folder


def take_token(host: str) -> str | None:
    """Take the token out of the environment, so that no other process inherits it.

    `BadInput`: it is short, or there is none, and other machines reach the host.
    """
    token = os.environ.pop(TOKEN, "")
    if len(token) < SHORTEST_TOKEN and (token or host not in LOOPBACK):
        problem = "other machines could reach the page, and there is no token, or a short one"
        expected = f"a token of at least {SHORTEST_TOKEN} characters in the environment, as {TOKEN}"
        raise BadInput(problem, field="--host", got=host, expected=expected)
    return token or None


def listen(host: str, port: int) -> socket.socket:
    """Open a socket, before anything is loaded; `BadInput` where no server can listen."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except (OSError, OverflowError) as error:
        raise BadInput(f"the page cannot be served there: {error}", field="--host, --port", got=(host, port)) from None


def make_server(page: "gradio.Blocks", host: str, token: str | None) -> "uvicorn.Server":
    """Make the server of a page, which runs on the sockets that it is given."""
    import gradio
    import uvicorn
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.middleware.trustedhost import TrustedHostMiddleware

    from trivium.page.html import source

    # A page elsewhere reaches this machine by a name of its own that it points here (DNS rebinding).
    hosts = [*LOOPBACK, "[::1]"] if host in LOOPBACK else ["*"]
    app = gradio.mount_gradio_app(
        Starlette(middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=hosts)]),
        page,
        "/",
        auth=None if token is None else lambda _, password: hmac.compare_digest(password.encode(), token.encode()),
        max_file_size=MAX_BYTES,
        footer_links=[],
        run_history=False,
        show_error=False,
        ssr_mode=False,
        enable_monitoring=False,
        theme=gradio.themes.Default(text_size="lg", font=FONTS, font_mono=["monospace"]),
        css=source("ask.css"),
    )
    return uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=2))


def options(parser: ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--port", type=int, default=7860, help="port of the page (%(default)s)")
    address = f"address of the page; only this machine reaches %(default)s; any other address needs a token in {TOKEN}"
    parser.add_argument("--host", default="127.0.0.1", help=address)
    own = parser.add_argument_group("bases of your own, made by `trivium kb`")
    own.add_argument(
        "--kb", type=Path, action="append", default=[], metavar="FOLDER", help="offered by the page; may be repeated"
    )
    add_models(parser, own)


def run(arguments: Namespace) -> None:
    """Load the named bases of one's own, or what the graph has made, and serve until Ctrl-C."""
    from trivium.kvqae.asking.answer import INVENTED
    from trivium.page.asking import Samples, read_samples

    prepare_arithmetic()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: the temporary folder goes too
    root, token = Path.cwd(), take_token(arguments.host)
    if arguments.host not in LOOPBACK:
        print(f"ask: warning: other machines reach {arguments.host}, and nothing is encrypted", file=sys.stderr)
    with (
        suppress(KeyboardInterrupt),
        listen(arguments.host, arguments.port) as listener,
        temporary_folder() as folder,
        ExitStack() as stack,
    ):
        askers = {str(base): stack.enter_context(open_base(base, arguments)) for base in dict.fromkeys(arguments.kb)}
        samples = Samples([], {})
        if not askers:
            askers = {"": stack.enter_context(open_graph(root, arguments))}
            samples = read_samples(root, str(used_values(root / "params.yaml", "kvqae.dataset")), folder / "samples")
        if any(asker.base.invented for asker in askers.values()):
            print(f"ask: {INVENTED}", flush=True)
        host, port = listener.getsockname()[:2]
        server = make_server(build(askers, folder, samples), host, token)
        print(f"ask at http://{f'[{host}]' if ':' in host else host}:{port}/ (Ctrl-C ends it)", flush=True)
        server.run([listener])
