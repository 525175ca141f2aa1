"""What an answer to a question of one's own consists of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trivium.kvqae.asking.systems import FaceFound


@dataclass(frozen=True)
class Support:
    """A passage that the answer was read in.

    Attributes:
        passage: its number.
        title, text: its own.
        score: of the last ranking stage used.
        contributions: α · z of each first-stage system of the row; 0 for one that has no list for this question.
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
class Answer:
    """What the pipeline says.

    Attributes:
        text: the answer; empty when no passage was found.
        score: P(start)·P(end) of the reader; None of a reader that has none, or where nobody reads.
        supports: the passages that were read, best first.
        face: the face that was searched for, if any.
        notes: what the asker should know: no picture, a question cut short, several faces.
        seconds: of each step.
        picture: the asked one as it was looked at, an upright and small picture's file; None without one.
        entries: of a base of one's own: what the picture may show, best first; empty where nothing was looked for.
        faces: of the picture, from left to right, where one may be chosen.
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
