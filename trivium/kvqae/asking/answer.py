"""What one question leads to: what the image systems see, and what an answer consists of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from trivium.formats.picture_files import KINDS
from trivium.kvqae.retrieval.systems import system_of
from trivium.kvqae.retrieval.text_encoders import TEXT_ENCODERS
from trivium.measures.runs import Run
from trivium.vision.decoding import Reason
from trivium.vision.encoder_registry import ENCODERS

QUERY = "question"  # the only query of a run
IMAGE = "the picture"  # what messages call it: a file name may hold anything
PROBLEMS: dict[Reason, str] = {
    "not_an_image": f"this is not an image that can be read ({KINDS})",
    "corrupt": "the image is broken",
    "too_large": "the image has too many pixels",
}
LABELS = {
    "bm25": "text, BM25",
    "reranked_text": "re-ranked, text",
    "reranked_arcface": "re-ranked, face",
    "reranked_rrt": "re-ranked, picture",
    "reranked_image": "re-ranked, face and picture",
}
NAMED_BY = {system_of(name): name for name in ENCODERS}  # searches by names → who looks at the picture
WHAT = {"face": "face", "whole": "picture"}


def label_of(system: str) -> str:
    """What an answer calls a system or a re-ranker."""
    if system in LABELS:
        return LABELS[system]
    if system in TEXT_ENCODERS:
        return f"text, {TEXT_ENCODERS[system].label}"
    if system in NAMED_BY:
        return f"names, {ENCODERS[NAMED_BY[system]].label}"
    if system not in ENCODERS:  # a model that a base of one's own names
        return f"picture, {system}"
    encoder = ENCODERS[system]
    return f"{WHAT[encoder.route]}, {encoder.label}"


@dataclass(frozen=True)
class FaceFound:
    """A face of the picture.

    Attributes:
        box: left, top, right, bottom as shares of the upright picture's width and height; may reach out of [0, 1].
        probability: the detector's.
        faces: how many were found.
    """

    box: tuple[float, float, float, float]
    probability: float
    faces: int


@dataclass(frozen=True)
class Recognised:
    """An entry that the picture may show.

    Attributes:
        title: what it is called.
        score: of the picture, in deviations of pictures of other entries.
        probability: that the picture shows it, if it shows one of the base; None where that was not calibrated.
        sure: whether a picture of something outside the base would hardly score so high.
    """

    title: str
    score: float
    probability: float | None
    sure: bool


@dataclass(frozen=True)
class Seen:
    """What the image systems make of a picture; nothing at all without one.

    Attributes:
        image: the picture's file.
        runs: passages ranked by the systems that serve the picture.
        face: the face that was searched for, if any.
        faces: from left to right, where one may be chosen.
        vector: ArcFace's, (1, dimension); None without a face.
        entries: of a base of one's own: what the picture may show, best first.
        notes: what the asker should know.
    """

    image: bytes | None = None
    runs: Mapping[str, Run] = field(default_factory=dict)
    face: FaceFound | None = None
    faces: Sequence[FaceFound] = ()
    vector: NDArray[np.float16] | None = None
    entries: Sequence[Recognised] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Support:
    """A passage that the answer was read in.

    Attributes:
        passage: its number.
        title, text: its own.
        score: of the last ranking stage used.
        contributions: α · z of each first-stage system; 0 for one that has no list for this question.
        mark: (start, end) characters of the answer in `text`; None when it stands elsewhere.
        picture: the article's image as encoded bytes, if there is one.
        reranking: what each re-ranker gave, its sum is the score; None without re-ranking, when the contributions' is.
    """

    passage: int
    title: str
    text: str
    score: float
    contributions: Mapping[str, float]
    mark: tuple[int, int] | None
    picture: bytes | None
    reranking: Mapping[str, float] | None = None


@dataclass(frozen=True)
class Answer:
    """What a base says to a question.

    Attributes:
        text: the answer; empty when there is none.
        score: P(start)·P(end) of the reader; None of a reader that has none, or where nobody reads.
        supports: the passages that were read, best first.
        face: the face that was searched for, if any.
        notes: what the asker should know: no picture, a question cut short, several faces.
        seconds: of each step.
        picture: the asked one as it was looked at, an upright and small picture's file; None without one.
        entries, faces: see `Seen`.
        invented: whether the models know the sample's invented world alone.
        alike: title of the article whose picture the image systems put first; empty where none looked.
    """

    text: str
    score: float | None
    supports: Sequence[Support]
    face: FaceFound | None
    notes: Sequence[str]
    seconds: Mapping[str, float]
    picture: bytes | None = None
    entries: Sequence[Recognised] = ()
    faces: Sequence[FaceFound] = ()
    invented: bool = False
    alike: str = ""
