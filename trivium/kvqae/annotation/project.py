"""The Label Studio project: what its interface asks, and tasks in its import format (kvqae.md §2).

Every text reaches the interface as task data that is shown without interpreting markup. Pictures are markup made here:
a `span` with the picture behind it. Of an `img`, Label Studio removes an address that holds the picture itself, and its
`Image` shows no picture of a server that does not allow other sites to read it.
"""

from collections.abc import Callable, Sequence
from importlib.resources import files
from typing import Any
from xml.sax.saxutils import quoteattr

from trivium.kvqae.annotation.generated_questions import GeneratedQuestion

PROJECT = "viquae-annotation-1"  # in every task: an export of another project is told by it
DECISION, QUESTION, IMAGE = "decision", "question", "image"
CONTROLS = {DECISION: "choices", QUESTION: "text", IMAGE: "choices"}  # and where their results lie
KEEP = "keep"
DISCARD_REASONS = ("overspecified", "without a relevant image", "otherwise unfit")

_TEMPLATES = files("trivium.kvqae.annotation") / "templates"


def labelling_config() -> str:
    """The labelling interface, in Label Studio's XML."""
    return (_TEMPLATES / "annotation_config.xml").read_text("utf-8")


def instructions() -> str:
    """The rules that annotators follow (Markdown)."""
    return (_TEMPLATES / "annotation_instructions.md").read_text("utf-8")


def annotation_task(
    question: GeneratedQuestion, annotators: Sequence[str], address: Callable[[str], str], reference: str
) -> dict[str, Any]:
    """One task.

    Args:
        question: to annotate; the task has its id.
        annotators: codes of those who should annotate it.
        address: of a candidate image, for a browser; without quotation marks.
        reference: address of the knowledge base's image.
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
    """Addresses hold no quotation mark, see `AnnotationTasksParameters`."""
    style = f'background-image: url("{address}")'
    return f'<span class="trivium-picture" style={quoteattr(style)}></span>'
