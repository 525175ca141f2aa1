"""Parts of one question and its answer: the picture, results of the image systems, the reader's answer, passages."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trivium.core.errors import BadInput
from trivium.formats.pictures import KINDS, unread_picture
from trivium.kvqae.retrieval.text_encoders import TEXT_ENCODERS
from trivium.measures.runs import Run
from trivium.vision.decoding import Unreadable, decode
from trivium.vision.encoder_registry import ENCODERS

QUERY = "question"  # id of the only query of a run
IMAGE = "the picture"  # name in messages of a picture without a file
LABELS = {"bm25": "text, BM25", "reranked_text": "re-ranked, text", "reranked_image": "re-ranked, face and picture"}
INVENTED = "these models know an invented world only"  # of the sample's stand-ins: every answer says so
WOULD_READ = (
    "What reads: an endpoint, or a local GGUF file behind llama-cpp-python's server "
    "(--reader http://localhost:8000/v1 --reader-model NAME), or a BERT reader (--reader FOLDER)."
)
NO_READER = f"Nobody reads: the best passages stand below. {WOULD_READ}"


def label_of(system: str) -> str:
    """Return the displayed name of a system or re-ranker."""
    if system in TEXT_ENCODERS:
        return f"text, {TEXT_ENCODERS[system].label}"
    if system in ENCODERS:
        return f"{'face' if ENCODERS[system].route == 'face' else 'picture'}, {ENCODERS[system].label}"
    return LABELS.get(system, system)  # else a model of a user's own base


def decode_given(image: bytes, file: Path | None, limits: Mapping[str, int]) -> bytes:
    """Decode a question's picture and encode it as BMP, without loss: what the image systems would decode.

    `BadInput`: it cannot be decoded, or is too large; `file` is its name in messages.
    """
    name = file or IMAGE
    try:
        picture = decode(image, **limits)
    except Unreadable as problem:
        other = f"this is not an image that can be read ({KINDS}): {problem}"
        raise BadInput(unread_picture(name, image[:32]) or other, file=name) from None
    out = io.BytesIO()
    picture.save(out, "BMP")
    return out.getvalue()


@dataclass(frozen=True)
class FaceFound:
    """A detected face of the picture."""

    box: tuple[float, float, float, float]  # left, top, right, bottom as shares of the sides; may reach out of [0, 1]
    probability: float  # the detector's


@dataclass(frozen=True)
class RecognisedEntry:
    """An entry of a user's own base that the picture may show."""

    title: str
    score: float  # of the picture, in deviations of pictures of other entries
    probability: float | None  # that the picture shows it, if it shows one of the base; None where not calibrated
    sure: bool  # whether a picture of something outside the base would hardly score so high


@dataclass(frozen=True)
class PictureView:
    """Results of the image systems for a picture; empty without one."""

    image: bytes | None = None
    runs: Mapping[str, Run] = field(default_factory=dict)  # passages ranked by the systems that serve the picture
    face: FaceFound | None = None  # the one that was searched for
    faces: Sequence[FaceFound] = ()  # all of them, from left to right
    vector: NDArray[np.float16] | None = None  # ArcFace's, (1, dimension); None without a face
    entries: Sequence[RecognisedEntry] = ()  # best first
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class ReaderAnswer:
    """A reader's answer; its text is empty if there is none."""

    text: str = ""
    score: float | None = None  # P(start)·P(end); None if the reader has no score
    passage: int = -1  # that contains it; -1 for none
    span: tuple[int, int] | None = None  # its characters in the passage's text; None if it is not in the text
    note: str = ""  # why there is no text


@dataclass(frozen=True)
class Support:
    """A passage that the reader read."""

    passage: int
    title: str
    text: str
    score: float  # of the last ranking stage used
    contributions: Mapping[str, float]  # α · z of each first-stage system; 0 for one without a list for this question
    mark: tuple[int, int] | None  # characters of the answer in `text`
    picture: bytes | None  # the article's, encoded
    reranking: Mapping[str, float] | None = None  # each re-ranker's part of the score; None without re-ranking


@dataclass(frozen=True)
class Answer:
    """Answer to a question."""

    text: str  # empty where there is no answer
    score: float | None  # see `ReaderAnswer`
    supports: Sequence[Support]  # best first
    face: FaceFound | None
    notes: Sequence[str]  # no picture, a question cut short, several faces …
    seconds: float  # time taken
    picture: bytes | None = None  # as the image systems got it, upright and reduced
    entries: Sequence[RecognisedEntry] = ()
    faces: Sequence[FaceFound] = ()
    alike: str = ""  # title of the article whose picture the image systems put first; empty if none searched
    invented: bool = False  # see `INVENTED`
