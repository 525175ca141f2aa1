"""One question's way through a knowledge base in memory: search, fusion, re-ranking, reading."""

import io
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, Self

from trivium.core.errors import BadInput
from trivium.formats.pictures import unread_picture
from trivium.kvqae.asking.answer import IMAGE, PROBLEMS, Answer, Read, Seen, Support
from trivium.kvqae.asking.systems import Bm25, Dense, Fused
from trivium.kvqae.knowledge_base.passage_texts import PassageTexts
from trivium.measures.runs import PADDING, Run
from trivium.vision.decoding import Unreadable
from trivium.vision.isolated_decoding import Decoders

if TYPE_CHECKING:
    from trivium.kvqae.asking.reranking import Rerankers

MAX_CHARACTERS = 1000  # of a question
MAX_BYTES = 32 * 2**20  # of a picture's file
NO_PICTURE = "No picture was given: the answer comes from the text systems alone."
NO_READER = "Nobody reads: name a reader to get an answer in words. The passages stand below."


class Reader(Protocol):
    """Reads the answer in the passages that were found."""

    def read(self, question: str, ranked: Mapping[int, float], texts: PassageTexts, entry: str | None) -> Read:
        """The answer.

        Args:
            question: its text.
            ranked: passage → score, best first.
            texts: of the passages.
            entry: the title of what the picture shows, where that is sure.
        """
        ...


class Base(ABC):
    """A knowledge base in memory; not to be shared by threads."""

    texts: PassageTexts
    text_systems: Mapping[str, Bm25 | Dense]  # by name
    reader: Reader | None  # None: the best passages have to do
    passages: int  # how many are read
    limits: dict[str, int]  # of pictures, see `decode_picture`
    rerankers: "Rerankers | None" = None
    why_not_reranked: str = ""  # a note for who wants it all the same
    invented: bool = False  # see `INVENTED`

    @abstractmethod
    def check(self) -> None:
        """Raise `BadInput` where what was loaded is no longer what lies there."""

    @abstractmethod
    def look(self, image: bytes, face: int | None) -> Seen:
        """Search with the picture.

        Args:
            image: an upright, small picture's file.
            face: which one is meant, from 1, from left to right; 0: the whole picture; None: the most probable one.

        Raises:
            BadInput: there is no such face.
        """

    @abstractmethod
    def fuse(self, runs: Mapping[str, Run]) -> Fused:
        """The fused list of one question's lists, by system."""

    @abstractmethod
    def picture_of(self, passage: int) -> bytes | None:
        """The picture of a passage's article."""

    def check_question(self, question: str) -> list[str]:
        """Notes on a question; `BadInput` where no model can read it."""
        return []


class Asker:
    """Answers questions of any number of threads in turn.

    The networks and the Java machine live in one thread of their own: they are not safe to share. Pictures are decoded
    before, in processes of their own.

    Args:
        open_base: makes the base, in that thread.

    Raises:
        BadInput: the base cannot be opened.
    """

    def __init__(self, open_base: Callable[[], Base]) -> None:
        self._thread = ThreadPoolExecutor(1, "asking")
        try:
            self.base = self._thread.submit(open_base).result()
        except BaseException:
            self._thread.shutdown()
            raise
        self._decoders = Decoders(**self.base.limits)

    def ask(self, question: str, image: bytes | None, *, rerank: bool = True, face: int | None = None) -> Answer:
        """Answer a question about a picture.

        Args:
            question: any text.
            image: the picture's file.
            rerank: whether the re-rankers reorder what was retrieved before it is read, where there are any.
            face: see `Base.look`.

        Raises:
            BadInput: no question, a picture that cannot be read, no such face, or the base was made anew since.
        """
        if not question.strip():
            raise BadInput("the question is empty")
        if image is not None and len(image) > MAX_BYTES:
            raise BadInput("the image file is too large", got=f"{len(image)} bytes", expected=f"at most {MAX_BYTES}")
        picture = None if image is None else self._decode(image)
        return self._thread.submit(self._answer, question, picture, rerank, face).result()

    def _decode(self, image: bytes) -> bytes:
        """The picture as the image systems get it: its pixels are those that they would decode, without loss."""
        try:
            picture = self._decoders.decode(image)
        except Unreadable as problem:
            raise BadInput(unread_picture("", image[:32]) or PROBLEMS[problem.reason], field=IMAGE) from None
        out = io.BytesIO()
        picture.save(out, "BMP")
        return out.getvalue()

    def _answer(self, question: str, picture: bytes | None, rerank: bool, face: int | None) -> Answer:
        base, seconds = self.base, dict[str, float]()
        base.check()
        question, notes = _cut(question)
        notes += base.check_question(question)
        with _measured(seconds, "image"):
            seen = Seen(notes=[NO_PICTURE]) if picture is None else base.look(picture, face)
        notes += seen.notes
        with _measured(seconds, "text"):
            runs = {name: system.search(question) for name, system in base.text_systems.items()}
        with _measured(seconds, "fusion"):
            fused = base.fuse({**runs, **seen.runs})
        run, reranking = fused.run, dict[int, dict[str, float]]()
        if rerank and base.rerankers is not None:
            notes += base.rerankers.notes(seen)
            with _measured(seconds, "re-ranking"):
                run, reranking = base.rerankers.rerank(question, seen, run, base.texts)
        elif rerank and base.why_not_reranked:
            notes.append(base.why_not_reranked)
        documents, scores = (row[0, : base.passages].tolist() for row in (run.documents, run.scores))
        ranked = {passage: score for passage, score in zip(documents, scores, strict=True) if passage != PADDING}
        entry = seen.entries[0].title if seen.entries and seen.entries[0].sure else None
        with _measured(seconds, "reading"):
            read = Read() if base.reader is None else base.reader.read(question, ranked, base.texts, entry)
        notes += [NO_READER] if base.reader is None else []
        notes += [] if ranked else ["Nothing in the knowledge base matches."]
        supports = [
            Support(
                passage,
                *base.texts[passage],
                score,
                fused.of(passage),
                read.span if passage == read.passage else None,
                base.picture_of(passage),
                reranking.get(passage),
            )
            for passage, score in ranked.items()
        ]
        alike = None if seen.entries else fused.first_by(list(seen.runs))
        title = "" if alike is None else base.texts[alike][0]
        shown = (picture, seen.entries, seen.faces, title, base.invented)
        return Answer(read.text, read.score, supports, seen.face, notes, seconds, *shown)

    def close(self) -> None:
        """End the thread and the decoders."""
        self._thread.shutdown()
        self._decoders.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _cut(question: str) -> tuple[str, list[str]]:
    """A question of bounded length, and a note that says what was cut."""
    question = question.encode("utf-8", "replace").decode()  # lone halves of surrogate pairs, from a terminal
    if len(question) <= MAX_CHARACTERS:
        return question, []
    note = f"The question is too long: only its first {MAX_CHARACTERS} of {len(question)} characters count."
    return question[:MAX_CHARACTERS], [note]


@contextmanager
def _measured(seconds: dict[str, float], step: str) -> Iterator[None]:
    started = time.perf_counter()
    yield
    seconds[step] = time.perf_counter() - started
