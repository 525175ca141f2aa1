"""Answer one question from a knowledge base in memory: search, fusion, re-ranking, reading."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from trivium.core.errors import BadInput
from trivium.kvqae.asking.answer import Answer, FaceFound, PictureView, ReaderAnswer, Support, decode_given
from trivium.kvqae.asking.endpoints import ENTITIES, EndpointIdentifier, EndpointReader
from trivium.kvqae.asking.systems import Bm25, Dense, FolderReader, Fused, scores_of
from trivium.kvqae.knowledge_base.passage_texts import PassageTexts
from trivium.kvqae.reader.identification import Candidate
from trivium.measures.runs import Run
from trivium.vision.align import align
from trivium.vision.decoding import open_picture
from trivium.vision.image_encoding import LoadedEncoder

Reader = FolderReader | EndpointReader
MAX_CHARACTERS = 1000  # of a question
NO_PICTURE = "No picture was given: the answer comes from the text systems alone."


class Base(ABC):
    """A knowledge base in memory; only one thread may use it."""

    texts: PassageTexts
    article_of: NDArray[np.int64]  # of each passage
    text_systems: Mapping[str, Bm25 | Dense]  # by name
    reader: Reader | str  # or why there is none: then passages are shown alone
    passages: int  # number of passages that are read
    limits: dict[str, int]  # of pictures, see `decode_picture`
    encoders: Mapping[str, LoadedEncoder]  # of pictures, by name
    rerankers: Any = None  # the graph's `Rerankers`, which ranks anew; None: not re-ranked
    why_not_reranked: str = ""  # a note if re-ranking is asked for
    invented: bool = False  # see `INVENTED`

    @abstractmethod
    def check(self) -> None:
        """Check that the files are those that were loaded; `BadInput` if they have changed."""

    def look(self, image: bytes, face: int | None) -> PictureView:
        """Search with an upright picture of bounded size.

        `face` is the number of a face, from 1, from left to right; 0: the whole picture; None: the most probable face,
        or the whole picture without one. `BadInput`: no such face.
        """
        shown = open_picture(image)
        pixels, sides = np.asarray(shown), np.tile(shown.size, 2)
        detector = next(filter(None, (encoder.detector for encoder in self.encoders.values())), None)
        places = [] if detector is None else detector.detect_all(pixels)
        faces = [FaceFound(tuple((at.box / sides).tolist()), at.probability) for at in places]
        if face is not None and not 0 <= face <= len(faces):
            expected = f"0, the whole picture{f', or 1 to {len(faces)}, from left to right' if faces else ''}"
            raise BadInput("no such face", field="--face", got=face, expected=expected)
        if face is None and faces:  # as the stages choose: of equal probability the largest
            sizes = [(at.probability, np.prod(at.box[2:] - at.box[:2])) for at in places]
            face = 1 + max(range(len(sizes)), key=lambda number: sizes[number])
        which = f"number {face} from the left" if face else "none of them"
        several = f"{len(faces)} faces were found; {which} was looked at. Another one may be chosen."
        looked_at = align(pixels, places[face - 1].landmarks) if face else shown
        routed = {name: one for name, one in self.encoders.items() if (one.detector is not None) == bool(face)}
        vectors = {name: one.embed([looked_at])[0] for name, one in routed.items()}
        notes, chosen = [several] if len(faces) > 1 else [], faces[face - 1] if face else None
        return self.search(PictureView(image, face=chosen, faces=faces, notes=notes), vectors)

    @abstractmethod
    def search(self, view: PictureView, vectors: Mapping[str, NDArray[np.float32]]) -> PictureView:
        """Search with each encoder's vector of a face, or of the whole picture; adds the results to the view."""

    def use_entries(self, scores: Mapping[str, float]) -> PictureView:
        """Use given search results, {title of an entry: score}, instead of searching with the picture."""
        raise BadInput("this base takes no search results", field="--entries")

    @abstractmethod
    def fuse(self, runs: Mapping[str, Run]) -> Fused:
        """Fuse one question's lists, given by system."""

    @abstractmethod
    def picture_of(self, passage: int) -> bytes | None:
        """Return the picture of a passage's article; None without one."""


class Asker:
    """Answer questions from any number of threads, one at a time, from the base that `open_base` makes.

    Networks and Java are not thread-safe and run in one thread. Pictures are decoded in the caller's thread. An
    `identifier` chooses the entity among the best ones, so that only its passages are ranked and read.
    """

    def __init__(self, open_base: Callable[[], Base], identifier: EndpointIdentifier | None = None) -> None:
        self._identifier = identifier
        self._thread = ThreadPoolExecutor(1, "asking")
        self.base = self._thread.submit(open_base).result()

    def ask(
        self, question: str, image: bytes | None, *, rerank: bool = True, face: int | None = None,
        entries: Mapping[str, float] | None = None, file: Path | None = None,
    ) -> Answer:  # fmt: skip
        """Answer a question about a picture; `file` is its name in messages; see `Base.look` and `Base.use_entries`.

        Raises:
            BadInput: no question, a picture that cannot be read, no such face, or the base has changed since.
        """
        if not "".join(filter(str.isprintable, question)).strip():
            raise BadInput("the question is empty")
        picture = None if image is None else decode_given(image, file, self.base.limits)
        if entries is not None:
            look = partial(self.base.use_entries, entries)
        elif picture is not None:
            look = partial(self.base.look, picture, face)
        else:
            look = partial(PictureView, notes=[NO_PICTURE])
        return self._thread.submit(self._answer, question, picture, look, rerank).result()

    def _answer(self, question: str, picture: bytes | None, look: Callable[[], PictureView], rerank: bool) -> Answer:
        base, started = self.base, time.perf_counter()
        base.check()
        question, length = question.encode("utf-8", "replace").decode(), len(question)  # without lone surrogates
        notes = [f"The question is too long: only its first {MAX_CHARACTERS} of {length} characters count."]
        question, notes = question[:MAX_CHARACTERS], notes if length > MAX_CHARACTERS else []
        systems = [system for system in base.text_systems.values() if isinstance(system, Dense)]
        if cut := [system.tokens for system in systems if system.cuts(question)]:
            notes.append(f"The question is long: its first {min(cut)} word pieces are read.")
        view = look()
        notes += view.notes
        runs = {name: system.search(question) for name, system in base.text_systems.items()}
        fused = base.fuse({**runs, **view.runs})
        chosen = None
        if self._identifier is not None and picture is not None:
            chosen, note = self._identify(self._identifier, question, picture, fused.run)
            notes.append(note)
        if chosen is not None:
            own = np.flatnonzero(base.article_of == base.article_of[chosen])
            fused = base.fuse({name: system.search(question, own) for name, system in base.text_systems.items()})
            rerank = False  # re-rankers rank entities, and the entity is chosen
        reranked = None
        if rerank and base.rerankers is not None:
            notes += [base.rerankers.note] if view.image is not None and base.rerankers.note else []
            reranked = base.rerankers.rerank(question, view, fused.run, base.texts)
        elif rerank and base.why_not_reranked:
            notes.append(base.why_not_reranked)
        ranked = dict(islice(scores_of((reranked or fused).run).items(), base.passages))
        sure = (entry.title for entry in view.entries[:1] if entry.sure)
        entry = next(sure, None) if chosen is None else base.texts[chosen][0]
        if isinstance(base.reader, str):
            read = ReaderAnswer(note=base.reader)
        else:
            read = base.reader.read(question, ranked, base.texts, entry)
        notes += [read.note] if read.note else []
        notes += [] if ranked else ["Nothing in the knowledge base matches."]
        supports = [
            Support(
                passage,
                *base.texts[passage],
                score,
                fused.contributions(passage),
                read.span if passage == read.passage else None,
                base.picture_of(passage),
                None if reranked is None else reranked.contributions(passage),
            )
            for passage, score in ranked.items()
        ]
        alike = None if view.entries else fused.first_by(list(view.runs))
        title, seconds = "" if alike is None else base.texts[alike][0], time.perf_counter() - started
        shown = (view.entries, view.faces, title, base.invented)
        return Answer(read.text, read.score, supports, view.face, notes, seconds, picture, *shown)

    def _identify(
        self, identifier: EndpointIdentifier, question: str, picture: bytes, run: Run
    ) -> tuple[int | None, str]:
        """Choose the entity; returns a passage of it, None without a choice, and a note about the choice."""
        base, best = self.base, dict[int, int]()  # entity → its first passage
        for passage in scores_of(run):
            best.setdefault(int(base.article_of[passage]), passage)
        passages = list(best.values())[:ENTITIES]
        pictures = map(base.picture_of, passages)
        candidates = [
            Candidate(base.texts[passage][0], None if shown is None else partial(bytes, shown))
            for passage, shown in zip(passages, pictures, strict=True)
        ]
        number, why = identifier.choose(question, picture, candidates) if candidates else (0, "none of them")
        chose = f"{identifier.settings.label} chose among {len(candidates)} entities"
        if number:
            return passages[number - 1], f"{chose}: {candidates[number - 1].title}."
        return None, f"{chose}: {why}. The best passages of all stand below."

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown()
