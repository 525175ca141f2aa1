"""An answer as HTML: the picture with its face framed, passages with pictures, a bar for each system's contribution."""

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from PIL import ImageDraw

from trivium.core.errors import BadInput
from trivium.core.folding import fold
from trivium.core.image_shards import Images
from trivium.core.reading import LARGEST_IMAGE, read_bytes
from trivium.core.tables import read_table
from trivium.formats.questions import read_questions
from trivium.kvqae.asking.answer import INVENTED, Answer, FaceFound, label_of
from trivium.kvqae.asking.asker import MAX_CHARACTERS, Asker
from trivium.kvqae.asking.graph import require
from trivium.measures.answers import exact_match
from trivium.page.html import render
from trivium.page.inline_pictures import thumbnail
from trivium.vision.decoding import PIXELS, data_address, decode

SAMPLES = 8  # test questions to pick from
SIDE, THUMBNAIL = 480, 96  # pixels of the asked picture's longer side, and of an article's picture
FRAME, OTHER = "#ff9500", "#ffffff"  # colours that show on light and dark pictures: the chosen face, other faces


class Expected(NamedTuple):
    """The right answer to a question of the test set."""

    answers: Sequence[str]  # the valid ones, the original one first
    entity: str  # title of the article about what the picture shows; empty where the knowledge base has none


class Samples(NamedTuple):
    """Questions of the test set: [path of the picture, question], and what is expected of them."""

    examples: list[list[str]]
    expected: dict[tuple[str, str], Expected]  # (question, its picture's digest) →


def read_samples(root: Path, dataset: str, folder: Path) -> Samples:
    """Read the first test questions with a picture; the pictures are written to `folder`."""
    images = Images(require(root, f"data/kvqae/{dataset}/images/questions"))
    questions = read_questions(require(root, f"data/kvqae/{dataset}/viquae/test.jsonl"))
    articles = read_table(require(root, "data/kvqae/kb/articles.parquet"), ["wikidata_id", "title"]).to_pydict()
    titles = dict(zip(articles["wikidata_id"], articles["title"], strict=True))
    samples = Samples([], {})
    folder.mkdir(exist_ok=True)
    shown = [question for question in questions if question.image is not None and question.image in images]
    for number, question in enumerate(shown[:SAMPLES]):
        path, image = folder / f"{number}.jpg", images.read(str(question.image))
        path.write_bytes(image)
        samples.examples.append([str(path), question.text])
        expected = Expected(question.answers, titles.get(question.wikidata_id or "", ""))
        samples.expected[question.text.strip(), sha256(image).hexdigest()] = expected
    return samples


def respond(
    bases: Mapping[str, Asker], uploads: Path, samples: Samples, question: str | None, picture: str | None,
    base: str | None, face: str | None, rerank: bool,
) -> str:  # fmt: skip
    """Return the HTML of the answer, or of why there is none, whatever the browser sends.

    Args:
        bases: by name.
        uploads: folder of uploads; a path outside, as a forged request may bring, is no upload.
        samples: questions of the test set.
        question, picture, base: as typed, the path of an upload, the name of the chosen base.
        face: a number as typed, or nothing; see `Asker.ask`, also for `rerank`.
    """
    question = (question or "").encode("utf-8", "replace").decode()  # half surrogate pairs have no JSON
    try:
        if base is None or base not in bases:
            raise BadInput("no such base", got=base, choices=bases)
        if (face := (face or "").strip()) and not re.fullmatch("[0-9]{1,3}", face):
            expected = "0 for the whole picture, 1 for the leftmost face"
            raise BadInput("this is not the number of a face", got=face, expected=expected)
        image = None if picture is None else _read_upload(Path(picture), uploads)
        answer = bases[base].ask(question, image, rerank=rerank, face=int(face) if face else None)
    except BadInput as problem:
        return render("ask_problem.html", problem=str(problem))
    sample = None if image is None else samples.expected.get((question.strip(), sha256(image).hexdigest()))
    return answer_html(question[:MAX_CHARACTERS], answer, sample)


def _read_upload(path: Path, uploads: Path) -> bytes:
    try:
        if not path.resolve().is_relative_to(uploads.resolve()):
            raise BadInput("not an upload", file=path)
        return read_bytes(path, LARGEST_IMAGE)
    except BadInput:
        raise BadInput("the picture is no longer there: choose it again") from None


def answer_html(question: str, answer: Answer, expected: Expected | None = None) -> str:
    """Render an answer, all texts escaped, all pictures inside; with what is expected, where that is known."""
    supports = answer.supports
    groups = {
        "re-ranking": [support.reranking for support in supports if support.reranking is not None],
        "retrieval": [support.contributions for support in supports],
    }
    bars = {title: _bars(several) for title, several in groups.items() if several}
    return render(
        "ask.html", question=question, answer=answer, invented=INVENTED, expected=expected,
        right=expected is not None and bool(exact_match(fold(answer.text), map(fold, expected.answers))),
        place=answer.face and answer.faces.index(answer.face) + 1,
        picture=None if answer.picture is None else frame_faces(answer.picture, answer.face, answer.faces),
        supports=[(support, support.mark or (len(support.text), len(support.text))) for support in supports],
        bars=[[{"title": title, **rows[place]} for title, rows in bars.items()] for place in range(len(supports))],
        thumbnail=lambda data: None if data is None else thumbnail(data, THUMBNAIL),
    )  # fmt: skip


def frame_faces(image: bytes, face: FaceFound | None, faces: Sequence[FaceFound]) -> str:
    """Return a `data:` address of the question's picture, small, faces framed; several have their numbers."""
    picture = decode(image, max_side=SIDE, max_pixels=PIXELS)
    drawing, width = ImageDraw.Draw(picture), max(2, max(picture.size) // 120)
    for number, other in enumerate(faces, 1):
        left, top, right, bottom = other.box
        corners = (left * picture.width, top * picture.height, right * picture.width, bottom * picture.height)
        colour = FRAME if other == face else OTHER
        drawing.rectangle(corners, outline=colour, width=width)
        if len(faces) > 1:
            at, stroke = (max(corners[0], 0) + 2 * width, max(corners[1], 0) + width), width // 2
            drawing.text(at, str(number), colour, font_size=6 * width, stroke_width=stroke, stroke_fill="black")
    return data_address(picture)


def _bars(several: Sequence[Mapping[str, float]]) -> list[dict[str, Any]]:
    """Return sum and bars of each passage; the largest contribution to any passage fills half the track."""
    largest = max((abs(value) for parts in several for value in parts.values()), default=0) or 1.0
    return [
        {"sum": sum(parts.values()),
         "bars": [(label_of(system), value, 50 * abs(value) / largest) for system, value in parts.items() if value]}
        for parts in several
    ]  # fmt: skip
