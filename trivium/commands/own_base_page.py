"""The page of `trivium ask-page --kb`: a base of one's own, a picture, a question, which face; and the answer."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from trivium.commands.ask import open_base
from trivium.commands.page_server.uploads import HOUR, picture_field, read_upload
from trivium.core.errors import BadInput

if TYPE_CHECKING:
    import gradio

    from trivium.kvqae.bases.asking import BaseAsker

TITLE = "Ask about a picture of your own"
INVENTED = "**These models know the sample's invented world only.** Nothing that is answered is true of the real one."


@contextmanager
def opened(
    folders: Sequence[Path], reader: str | None, model: str | None, key: str | None
) -> Iterator[dict[str, "BaseAsker"]]:
    """The bases by their names, loaded; closed at the end.

    Raises:
        BadInput: two of one name, or see `open_base`.
    """
    names = [folder.resolve().name for folder in folders]
    if len(set(names)) < len(names):
        raise BadInput("two bases have the same name", field="--kb", got=names)
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(open_base(folder, reader, model, key))
            for name, folder in zip(names, folders, strict=True)
        }


def respond(
    bases: Mapping[str, "BaseAsker"],
    base: str | None,
    question: str | None,
    picture: str | None,
    face: float | None,
    uploads: Path,
) -> str:
    """HTML of the answer, or of why there is none.

    Args:
        bases: by their names.
        base: the chosen one; anything.
        question: as typed; anything.
        picture: path of the upload, None without one.
        face: its number from the left, 0 for the whole picture, None for the most probable one.
        uploads: where uploads lie.
    """
    from trivium.kvqae.bases.asking import MAX_CHARACTERS
    from trivium.page.asking import answer_html, entries_html, problem_html

    question = (question or "").encode("utf-8", "replace").decode()
    try:
        if base is None or base not in bases:
            raise BadInput("no such base", got=base, choices=bases)
        if face is not None and not math.isfinite(face):
            raise BadInput(
                "this is not the number of a face",
                got=face,
                expected="0 for the whole picture, 1 for the leftmost face",
            )
        image = None if picture is None else read_upload(Path(picture), uploads)
        answer = bases[base].ask(question, image, face=None if face is None else round(face))
    except BadInput as problem:
        return problem_html(str(problem))
    return entries_html(answer) + answer_html(question[:MAX_CHARACTERS], answer.picture, answer)


def build(bases: Mapping[str, "BaseAsker"], uploads: Path) -> "gradio.Blocks":
    """The page; `uploads` is gradio's temporary folder."""
    import gradio

    from trivium.commands.page_server.look import heading
    from trivium.commands.page_server.quotas import WAITING

    with gradio.Blocks(title=TITLE, analytics_enabled=False, delete_cache=(HOUR // 4, HOUR)) as page:
        heading(TITLE, "The answer is read in the passages below it.")
        if any(base.invented for base in bases.values()):
            gradio.Markdown(INVENTED)
        with gradio.Row():
            picture = picture_field()
            with gradio.Column():
                base = gradio.Dropdown(list(bases), value=next(iter(bases)), label="Base", elem_id="base")
                question = gradio.Textbox(label="Question", lines=2, placeholder="Who painted this?")
                face = gradio.Number(
                    label="Face, from the left (empty: the most probable one; 0: the whole picture)",
                    value=None, precision=0, minimum=0, elem_id="face",
                )  # fmt: skip
                ask = gradio.Button("Ask", variant="primary", elem_id="ask")
        answer = gradio.HTML(elem_id="answer")
        gradio.on(
            [ask.click, question.submit],
            lambda base, question, picture, face: respond(bases, base, question, picture, face, uploads),
            [base, question, picture, face],
            answer,
            api_name="ask",
            concurrency_limit=2,
        )
        for called in page.fns.values():  # `Doors` lets no call past the queue
            called.queue = True
    return page.queue(max_size=WAITING)
