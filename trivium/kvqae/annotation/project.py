"""The Label Studio project: its interface, and tasks in its import format (kvqae.md §2).

Every text reaches the interface as task data that is shown without interpreting markup. Pictures are markup made here:
a `span` with the picture behind it. Of an `img`, Label Studio removes an address that holds the picture itself, and its
`Image` shows no picture of a server that does not allow other sites to read it.
"""

import base64
import io
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from itertools import cycle, islice
from typing import Any
from urllib.parse import quote
from xml.sax.saxutils import quoteattr

import numpy as np

from trivium.core.image_shards import Images
from trivium.kvqae.construction.generation import GeneratedQuestion
from trivium.vision.decoding import Unreadable, decode_picture

PROJECT = "viquae-annotation-1"  # in every task: an export of another project is told by it
DECISION, QUESTION, IMAGE = "decision", "question", "image"
CONTROLS = {DECISION: "choices", QUESTION: "text", IMAGE: "choices"}  # and where their results lie
KEEP = "keep"
DISCARD_REASONS = ("overspecified", "without a relevant image", "otherwise unfit")

# The labelling interface, in Label Studio's XML (`config.xml`), and the rules that annotators follow.
TEMPLATES = files("trivium.kvqae.annotation") / "templates"


def annotation_task(
    question: GeneratedQuestion, annotators: Sequence[str], address: Callable[[str], str], reference: str
) -> dict[str, Any]:
    """Make a question's task for annotators, by their codes.

    `address` gives a candidate image's address for a browser, `reference` is that of the knowledge base's image; they
    hold no quotation marks, see `AnnotationTasksParameters`.
    """
    images = [
        {"value": name, "html": _picture(address(name)), "selected": number == 0}
        for number, name in enumerate(question.images)
    ]
    return {
        "data": {
            "project": PROJECT,
            "id": question.id,
            "annotators": " ".join(annotators),
            "original_question": question.original_question,
            "answer": question.original_answer,
            "mentions": " · ".join(question.other_mentions) or "none",
            "reference": _picture(reference),
            "question": question.text,
            "images": images,
        }
    }


def _picture(address: str) -> str:
    style = f'background-image: url("{address}")'
    return f'<span class="trivium-picture" style={quoteattr(style)}></span>'


NO_PICTURE = "data:,"  # what stands for an image that is not there or cannot be read: nothing is shown
_MAX_PIXELS = 200_000_000


def address_of(name: str, address: str) -> str:
    """Put an image's name into `address`, in the place of `{name}`."""
    return address.replace("{name}", quote(name, safe=""))


def embedder(images: Images, side: int, counts: Counter[str]) -> Callable[[str], str]:
    """Make a function of an image's name: an address that holds the picture, its longer side at most `side` pixels.

    `counts` counts `unreadable` pictures, which show nothing, and those with a flaw (`decoding.FLAWS`).
    """

    @cache
    def embedded(name: str) -> str:
        try:
            picture = decode_picture(images.read(name), max_side=side, max_pixels=_MAX_PIXELS)
        except Unreadable:
            counts["unreadable"] += 1
            return NO_PICTURE
        counts.update(picture.flaws)
        out = io.BytesIO()
        picture.image.save(out, "JPEG", quality=80)
        return "data:image/jpeg;base64," + base64.b64encode(out.getvalue()).decode()

    return embedded


def balanced_sample(
    questions: Sequence[GeneratedQuestion], most: int, largest_share: float, rng: np.random.Generator
) -> list[GeneratedQuestion]:
    """Draw the largest random sample, in random order, of which neither persons nor others exceed `largest_share`.

    With m questions of the smaller kind, n ≤ m / (1 - largest_share). Within what the share allows, both kinds keep
    the proportion that they have among all.
    """
    shuffled = [questions[place] for place in rng.permutation(len(questions))]
    persons = [question for question in shuffled if question.human]
    others = [question for question in shuffled if not question.human]
    fewer, more = sorted((persons, others), key=len)
    number = min(most, len(shuffled))
    if largest_share < 1:
        number = min(number, int(len(fewer) / (1 - largest_share) + 1e-9))
    allowed = min(len(more), int(largest_share * number + 1e-9))
    of_more = min(allowed, round(number * len(more) / len(shuffled)))
    of_more = max(of_more, number - len(fewer))
    chosen = more[:of_more] + fewer[: number - of_more]
    return [chosen[place] for place in rng.permutation(len(chosen))]


def share_out(tasks: int, overlapping: int, several: int, annotators: int) -> list[list[str]]:
    """Share tasks out to annotators, who take turns, by their codes: `several` have each of the first `overlapping`."""
    codes = cycle([f"A{number:02d}" for number in range(1, annotators + 1)])
    return [list(islice(codes, several if task < overlapping else 1)) for task in range(tasks)]
