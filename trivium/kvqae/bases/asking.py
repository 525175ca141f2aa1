"""A question about a picture, asked of a base of one's own: which entry it shows, which passages say more, the answer.

A passage's score is `λ · s_e + (1 − λ) · t`: s_e is what the picture says of its entry (`recognition.py`), t the
weighted mean of the text systems' scores, each standardised over all passages of the base.
"""

import io
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self, cast

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from trivium.core.errors import BadInput
from trivium.core.matrices import read_matrix
from trivium.core.reading import LARGEST_IMAGE, read_bytes
from trivium.core.signatures import signature_of
from trivium.core.tables import read_json, read_table
from trivium.kvqae.asking.answered_question import Answer, Recognised, Support
from trivium.kvqae.asking.systems import IMAGE, PROBLEMS, FaceFound
from trivium.kvqae.bases.building import BM25, CALIBRATION, read_base, read_pictured
from trivium.kvqae.bases.calibration import Calibration, Ranking
from trivium.kvqae.bases.gathering import ARTICLES, PASSAGES, SHOWN, hash_of
from trivium.kvqae.bases.models import Foreign, models_of
from trivium.kvqae.bases.readers import Read, Reader
from trivium.kvqae.bases.recognition import Recogniser
from trivium.kvqae.bases.settings import BaseSettings
from trivium.kvqae.bases.vector_store import Vectors
from trivium.kvqae.knowledge_base.passage_texts import ArticlePassages, knowledge_base_size, read_passage_texts
from trivium.kvqae.retrieval.lucene import Searcher
from trivium.vision.align import align
from trivium.vision.decoding import Unreadable
from trivium.vision.image_encoder import Route
from trivium.vision.isolated_decoding import Decoders

if TYPE_CHECKING:  # the library of the detector is needed where there are faces alone
    from trivium.kvqae.bases.faces import EveryFace

ANEW = "was made anew after the page or the command had loaded it: start it again, when `trivium kb` has ended"
MAX_CHARACTERS = 1000  # of a question
MAX_BYTES = 32 * 2**20  # of a picture's file
ReaderMaker = Callable[[BaseSettings], Reader | None]
NAMED = 3  # entries that an answer names
NOISE = 1e-3  # scores of texts that deviate less are equal
FOUND = 1000  # passages that BM25 returns, and entries of a picture that have a say


@dataclass(frozen=True)
class Looked:
    """What a picture told.

    Attributes:
        ranking: entries by the chosen route; None without any.
        given: encoder → entry → its part of the score.
        route: the chosen one.
        sure: whether the best entry passes the threshold.
        face: the one that was looked at.
        faces: all of them, from left to right.
    """

    ranking: Ranking | None = None
    given: Mapping[str, Mapping[int, float]] | None = None
    route: Route | None = None
    sure: bool = False
    face: FaceFound | None = None
    faces: Sequence[FaceFound] = ()


class OpenBase:
    """A base in memory; not to be shared by threads.

    Args:
        folder: of the base.
        foreign: makes models that no registry knows.

    Attributes:
        settings: of the base.
        titles: of its entries.
        article_of: the entry of each passage.
        texts: of all passages.

    Raises:
        BadInput: no base, or its models are not there, or are others than it was made with.
    """

    def __init__(self, folder: Path, foreign: Foreign) -> None:
        self._folder, self._signature = folder, signature_of(folder)
        described, self.settings = read_base(folder)
        self.titles: list[str] = read_table(folder / ARTICLES, ["title"])["title"].to_pylist()
        passages = folder / PASSAGES
        self.article_of = ArticlePassages(passages).article_of
        self.texts = read_passage_texts(passages, folder / ARTICLES, np.arange(knowledge_base_size(passages)))
        models, texts = models_of(self.settings, foreign)
        digests = {each.name: each.digest for each in models} | {each.name: each.digest for each in texts}
        for name, digest in digests.items():
            if described["digests"].get(name) != digest:
                problem = "the model is another one than the base was made with: make the base again"
                raise BadInput(problem, file=folder, field=name)
        calibration = folder / CALIBRATION
        self._recognisers: dict[Route, Recogniser] = {}
        for route, values in read_json(calibration).items():
            weights = {each.name: self.settings.image_encoders[each.name].weight for each in models}
            systems = [read_pictured(folder, each.name, each.route, weights[each.name]) for each in models
                       if each.route == route]  # fmt: skip
            there = [each for each in systems if len(each.search)]
            self._recognisers[route] = Recogniser(there, Calibration.of_json(values, calibration))
        self._encoders = {each.name: each.load() for each in models if each.route in self._recognisers}
        self._routes = {each.name: each.route for each in models}
        self._dense = {each.name: (each.load("question"), read_matrix(folder / "texts" / f"{each.name}.npy"))
                       for each in texts}  # fmt: skip
        self._shown = read_table(folder / SHOWN)
        self._bm25 = Searcher(folder / BM25, threads=1, heap_gib=1) if self.settings.bm25_weight else None

    def check(self) -> None:
        """See whether the folder holds what was loaded; nothing is read but times, sizes and inodes.

        Raises:
            BadInput: it does not.
        """
        if signature_of(self._folder) != self._signature:
            raise BadInput(ANEW, file=self._folder)

    def recognise(self, picture: Image.Image, face: int | None = None) -> Looked:
        """Look for a face among the entries with one, or for the whole picture among all where there is no face.

        Args:
            picture: RGB.
            face: which one, from 1, from left to right; 0: the whole picture; None: the most probable face, if any.

        Raises:
            BadInput: there is no such face.
        """
        pixels = np.asarray(picture)
        found, boxes = self._faces(pixels)
        if face is not None and not 0 <= face <= len(found):
            expected = f"0, the whole picture{f', or 1 to {len(found)}, from left to right' if found else ''}"
            raise BadInput("no such face", field="--face", got=face, expected=expected)
        chosen = None
        if found and face != 0:
            best = max(range(len(found)), key=lambda place: (found[place].probability, -place))
            chosen = best if face is None else face - 1
        vectors: dict[Route, dict[str, Vectors]] = {"face": {}, "whole": {}}
        for name, encoder in self._encoders.items():
            if self._routes[name] == "whole":
                vectors["whole"][name] = encoder.embed([picture])[0]
            elif self._routes[name] == "face" and chosen is not None:
                vectors["face"][name] = encoder.embed([align(pixels, boxes[chosen])])[0]
        route: Route = "face" if vectors["face"] and "face" in self._recognisers else "whole"
        looked = Looked(face=None if chosen is None else found[chosen], faces=found)
        if route not in self._recognisers:
            return looked
        recogniser = self._recognisers[route]
        ranking, given = recogniser.rank(vectors[route])
        sure = bool(len(ranking.scores)) and ranking.scores[0] > self.threshold(route)
        return replace(looked, ranking=ranking, given=given, route=route, sure=bool(sure))

    def threshold(self, route: Route) -> float:
        """The score from which on a route is sure; infinite where the base has too few pictures to tell."""
        return self._recognisers[route].calibration.threshold(self.settings.false_accepts)

    def _faces(self, pixels: NDArray[np.uint8]) -> tuple[list[FaceFound], list[NDArray[np.float32]]]:
        """The faces from left to right, and their landmarks."""
        detectors = [cast("EveryFace", each.detector) for each in self._encoders.values() if each.detector is not None]
        every = detectors[0].every(pixels) if detectors else []
        height, width = pixels.shape[:2]
        found = []
        for each in every:
            left, top, right, bottom = (each.box / [width, height, width, height]).tolist()
            found.append(FaceFound((left, top, right, bottom), each.probability, len(every)))
        return found, [each.landmarks for each in every]

    def named(self, looked: Looked) -> list[Recognised]:
        """The best entries for an answer."""
        if looked.ranking is None or looked.route is None:
            return []
        calibration, scores = self._recognisers[looked.route].calibration, looked.ranking.scores
        probabilities = calibration.probabilities(scores)
        return [
            Recognised(
                self.titles[entry],
                float(scores[place]),
                None if probabilities is None else float(probabilities[place]),
                looked.sure and place == 0,
            )
            for place, entry in enumerate(looked.ranking.entries[:NAMED].tolist())
        ]

    def retrieve(
        self, question: str, looked: Looked, depth: int
    ) -> tuple[list[int], list[float], list[dict[str, float]]]:
        """The best passages, their scores, and what each system gave to each."""
        count = len(self.article_of)
        shares: dict[str, NDArray[np.float64]] = {}
        share = self.settings.picture_share if looked.ranking is not None and len(looked.ranking.entries) else 0.0
        weights = {"bm25": self.settings.bm25_weight} | {
            name: each.weight for name, each in self.settings.text_encoders.items()
        }
        for name, scores in self._texts(question).items():
            spread = scores.std()
            # Equal scores tell no passages apart: Lucene sets ties apart by a millionth, which is no reason.
            z = (scores - scores.mean()) / (spread if spread > NOISE else np.inf)
            shares[name] = (1 - share) * weights[name] / sum(weights.values()) * z
        if share and looked.given is not None:
            for name, given in looked.given.items():
                by_entry = np.full(len(self.titles), min(given.values()))
                by_entry[list(given)] = list(given.values())
                shares[name] = share * by_entry[self.article_of]
        total = np.sum(list(shares.values()), axis=0) if shares else np.zeros(count)
        best = np.lexsort((np.arange(count), -total))[:depth].tolist()
        return best, total[best].tolist(), [{name: float(each[row]) for name, each in shares.items()} for row in best]

    def _texts(self, question: str) -> dict[str, NDArray[np.float64]]:
        """Scores of all passages by each text system that finds any."""
        found = {}
        if self._bm25 is not None:
            run = self._bm25.search([("q", question)], k1=self.settings.k1, b=self.settings.b, depth=FOUND)
            scores = np.zeros(len(self.article_of))
            there = run.documents[0] >= 0
            scores[run.documents[0][there]] = run.scores[0][there]
            if there.any():
                found["bm25"] = scores
        for name, (encoder, matrix) in self._dense.items():
            ids = encoder.tokenize([question], self.settings.text_tokens)
            found[name] = (matrix @ encoder.encode(ids, 1)[0]).astype(np.float64)
        return found

    def picture_of(self, entry: int) -> bytes | None:
        """The first picture of an entry, where it still lies where it was, unchanged."""
        table = self._shown
        row = int(np.searchsorted(table["article"].to_numpy(), entry))
        if row == len(table) or table["article"][row].as_py() != entry:
            return None
        path = Path(table["path"][row].as_py())
        try:
            return read_bytes(path, LARGEST_IMAGE) if hash_of(path) == table["sha256"][row].as_py() else None
        except BadInput:
            return None


class BaseAsker:
    """Answers questions of any number of threads in turn; models and Java live in one thread of their own.

    Args:
        folder: of the base.
        foreign: makes models that no registry knows.
        reader: made in that thread; None: nobody reads, and the best passage has to do.

    Raises:
        BadInput: as `OpenBase`, or the reader cannot be loaded.
    """

    def __init__(self, folder: Path, foreign: Foreign, reader: ReaderMaker | None = None) -> None:
        self._thread = ThreadPoolExecutor(1, "asking")
        try:
            self._base = self._thread.submit(OpenBase, folder, foreign).result()
            self._reader: Reader | None = None
            if reader is not None:
                self._reader = self._thread.submit(reader, self._base.settings).result()
        except BaseException:
            self._thread.shutdown()
            raise
        settings = self._base.settings
        self._decoders = Decoders(max_side=settings.max_side, max_pixels=settings.max_pixels)

    def ask(self, question: str, image: bytes | None, *, rerank: bool = True, face: int | None = None) -> Answer:
        """Answer a question about a picture.

        Args:
            question: any text.
            image: the picture's file.
            rerank: plays no role: a base of one's own has no re-rankers.
            face: which one is meant, from 1, from left to right; None: the most probable.

        Raises:
            BadInput: no question, a picture that cannot be read, no such face, or a base that was made anew since.
        """
        if not question.strip():
            raise BadInput("the question is empty")
        if image is not None and len(image) > MAX_BYTES:
            raise BadInput("the image file is too large", got=f"{len(image)} bytes", expected=f"at most {MAX_BYTES}")
        picture = None
        if image is not None:
            try:
                picture = self._decoders.decode(image)
            except Unreadable as problem:
                raise BadInput(PROBLEMS[problem.reason], field=IMAGE) from None
        return self._thread.submit(self._answer, question, picture, face).result()

    def _answer(self, question: str, picture: Image.Image | None, face: int | None) -> Answer:
        base = self._base
        base.check()
        seconds: dict[str, float] = {}
        notes: list[str] = []
        question = question.encode("utf-8", "replace").decode()[:MAX_CHARACTERS]
        with _measured(seconds, "image"):
            looked = Looked() if picture is None else base.recognise(picture, face)
        named = base.named(looked)
        notes += _notes(picture is not None, looked, named, base)
        with _measured(seconds, "text"):
            passages, scores, given = base.retrieve(question, looked, base.settings.passages)
        read = Read()
        with _measured(seconds, "reading"):
            if self._reader is not None:
                entry = named[0].title if named and named[0].sure else None
                read = self._reader.read(question, passages, base.texts, entry)
            else:
                notes.append("Nobody reads: name a reader to get an answer in words. The passages stand below.")
        supports = []
        for passage, score, parts in zip(passages, scores, given, strict=True):
            title, text = base.texts[passage]
            mark = read.span if passage == read.passage else None
            shown = base.picture_of(int(base.article_of[passage]))
            supports.append(Support(passage, title, text, score, parts, mark, shown))
        out = io.BytesIO()
        if picture is not None:
            picture.save(out, "BMP")
        return Answer(
            read.text,
            read.score,
            supports,
            looked.face if looked.route == "face" else None,
            notes,
            seconds,
            out.getvalue() or None,
            named,
            looked.faces,
            base.settings.invented,
        )

    @property
    def invented(self) -> bool:
        """Whether the models know the sample's invented world only."""
        return self._base.settings.invented

    def close(self) -> None:
        """End the thread and the decoders."""
        self._thread.shutdown()
        self._decoders.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _notes(shown: bool, looked: Looked, named: Sequence[Recognised], base: OpenBase) -> list[str]:
    """What the asker should know."""
    notes = []
    if not shown:
        notes.append("No picture was given: the answer comes from the texts alone.")
    elif looked.route is None:
        notes.append("The base has no picture to compare with: the answer comes from the texts alone.")
    if len(looked.faces) > 1:
        number = looked.faces.index(looked.face) + 1 if looked.face is not None else 0
        which = f"number {number} from the left" if number else "none of them"
        notes.append(f"{len(looked.faces)} faces were found; {which} was looked at. Another one may be chosen.")
    if looked.route is not None and named and not named[0].sure:
        share = base.settings.false_accepts
        why = f"pictures of other things score as high in more than {100 * share:g} % of cases"
        if np.isinf(base.threshold(looked.route)):
            why = "the base has too few pictures to tell"
        notes.append(f"Not sure that the picture shows anything of this base: {why}.")
    if base.settings.invented:
        notes.append("The models know the sample's invented world only: nothing here is true of the real one.")
    return notes


@contextmanager
def _measured(seconds: dict[str, float], step: str) -> Iterator[None]:
    started = time.perf_counter()
    yield
    seconds[step] = time.perf_counter() - started
