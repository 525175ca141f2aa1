"""A base of one's own in memory: which entry a picture shows, which passages say more (own_pictures.md).

A passage's score is `λ · s_e + (1 − λ) · t`: s_e is what the picture says of its entry, standardised by the base's
calibration (`recognition.py`); t is the weighted mean of the text systems' scores, each standardised over the passages
that are compared for this question.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from trivium.core.errors import BadInput
from trivium.core.matrices import read_matrix
from trivium.core.reading import LARGEST_IMAGE, read_bytes
from trivium.core.signatures import signature_of
from trivium.core.tables import read_json, read_table
from trivium.kvqae.asking.answer import QUERY, FaceFound, Recognised, Seen
from trivium.kvqae.asking.asker import Base
from trivium.kvqae.asking.building import BM25, CALIBRATION, read_base, read_pictured
from trivium.kvqae.asking.gathering import ARTICLES, PASSAGES, SHOWN, hash_of
from trivium.kvqae.asking.models import BaseSettings, Foreign, models_of
from trivium.kvqae.asking.readers import Reader
from trivium.kvqae.asking.recognition import Calibration, Recogniser
from trivium.kvqae.asking.systems import Bm25, Dense, Fused, TextSystem, fuse
from trivium.kvqae.asking.vector_store import Vectors
from trivium.kvqae.knowledge_base.passage_texts import ArticlePassages, knowledge_base_size, read_passage_texts
from trivium.kvqae.retrieval.image_search import passages_of
from trivium.kvqae.retrieval.lucene import Searcher
from trivium.measures.fusion import Scale, gather, scales
from trivium.measures.runs import Run
from trivium.vision.align import align
from trivium.vision.decoding import open_picture
from trivium.vision.image_encoder import Route

if TYPE_CHECKING:  # the library of the detector is needed where there are faces alone
    from trivium.kvqae.asking.faces import EveryFace

ANEW = "was made anew after the page or the command had loaded it: start it again, when `trivium kb` has ended"
ReaderMaker = Callable[[BaseSettings], Reader | None]
NAMED = 3  # entries that an answer names
NOISE = 1e-3  # scores of texts that deviate less are equal
DEPTH = 1000  # passages that a text system returns, and entries of a picture that have a say
Found = tuple[list[FaceFound], list[NDArray[np.float32]]]  # faces from left to right, and their landmarks


class OwnBase(Base):
    """What `trivium kb` made.

    Args:
        folder: of the base.
        foreign: makes models that no registry knows.
        reader: makes who reads; None: nobody reads, and the best passages have to do.

    Attributes:
        settings: of the base.
        titles: of its entries.
        article_of: the entry of each passage.

    Raises:
        BadInput: no base, or its models are not there, or are others than it was made with.
    """

    def __init__(self, folder: Path, foreign: Foreign, reader: ReaderMaker | None = None) -> None:
        self._folder, self._signature = folder, signature_of(folder)
        described, self.settings = read_base(folder)
        settings = self.settings
        self.limits = {"max_side": settings.max_side, "max_pixels": settings.max_pixels}
        self.passages, self.invented = settings.passages, settings.invented
        self.titles: list[str] = read_table(folder / ARTICLES, ["title"])["title"].to_pylist()
        passages = folder / PASSAGES
        self.article_of = ArticlePassages(passages).article_of
        self._starts = np.searchsorted(self.article_of, np.arange(len(self.titles) + 1))
        self.texts = read_passage_texts(passages, folder / ARTICLES, np.arange(knowledge_base_size(passages)))
        models, texts = models_of(settings, foreign)
        digests = {each.name: each.digest for each in models} | {each.name: each.digest for each in texts}
        for name, digest in digests.items():
            if described["digests"].get(name) != digest:
                problem = "the model is another one than the base was made with: make the base again"
                raise BadInput(problem, file=folder, field=name)
        calibration = folder / CALIBRATION
        self._recognisers: dict[Route, Recogniser] = {}
        for route, values in read_json(calibration).items():
            weights = {each.name: settings.image_encoders[each.name].weight for each in models if each.route == route}
            systems = [read_pictured(folder, name, route, weight) for name, weight in weights.items()]
            there = [system for system in systems if len(system.search)]
            self._recognisers[route] = Recogniser(there, Calibration.of_json(values, calibration))
        self._encoders = {each.name: each.load() for each in models if each.route in self._recognisers}
        self._routes = {each.name: each.route for each in models}
        count = len(self.article_of)
        self.text_systems: dict[str, TextSystem] = {
            each.name: Dense(
                each.name,
                each.load("question"),
                settings.text_tokens,
                read_matrix(folder / "texts" / f"{each.name}.npy"),
                np.arange(count),
                min(DEPTH, count),
                dtype=np.float32,
            )
            for each in texts
        }
        self._shown = read_table(folder / SHOWN)
        if settings.bm25_weight:
            searcher = Searcher(folder / BM25, threads=1, heap_gib=1)
            self.text_systems["bm25"] = Bm25(searcher, settings.k1, settings.b, min(DEPTH, count), complete=count)
        self.reader: Reader | None = None if reader is None else reader(settings)

    def check(self) -> None:
        """See whether the folder holds what was loaded; nothing is read but times, sizes and inodes.

        Raises:
            BadInput: it does not.
        """
        if signature_of(self._folder) != self._signature:
            raise BadInput(ANEW, file=self._folder)

    def look(self, image: bytes, face: int | None) -> Seen:
        """Look for a face among the entries with one, or for the whole picture among all where there is no face.

        Raises:
            BadInput: there is no such face.
        """
        picture = open_picture(image)
        pixels = np.asarray(picture)
        found, landmarks = self._faces(pixels)
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
            elif chosen is not None:
                vectors["face"][name] = encoder.embed([align(pixels, landmarks[chosen])])[0]
        route: Route = "face" if vectors["face"] and "face" in self._recognisers else "whole"
        seen = Seen(image, faces=found, face=found[chosen] if chosen is not None and route == "face" else None)
        notes = [] if len(found) < 2 else [_which_face(found, chosen)]
        if route not in self._recognisers:
            notes.append("The base has no picture to compare with: the answer comes from the texts alone.")
            return replace(seen, notes=notes)
        recogniser = self._recognisers[route]
        cosines = recogniser.cosines(vectors[route], DEPTH)
        entries = self._named(recogniser, cosines)
        if entries and not entries[0].sure:
            notes.append(self._not_sure(recogniser.calibration))
        runs = {
            name: Run.from_dict({QUERY: passages_of(of_entries, self._starts, len(self.article_of))}, name=name)
            for name, of_entries in cosines.items()
        }
        return replace(seen, runs=runs, entries=entries, notes=notes)

    def check_question(self, question: str) -> list[str]:
        """A note where the models are the sample's stand-ins."""
        note = "The models know the sample's invented world only: nothing here is true of the real one."
        return [note] if self.invented else []

    def _faces(self, pixels: NDArray[np.uint8]) -> Found:
        detectors = [cast("EveryFace", each.detector) for each in self._encoders.values() if each.detector is not None]
        every = detectors[0].every(pixels) if detectors else []
        height, width = pixels.shape[:2]
        faces = []
        for face in every:
            left, top, right, bottom = (face.box / [width, height, width, height]).tolist()
            faces.append(FaceFound((left, top, right, bottom), face.probability, len(every)))
        return faces, [face.landmarks for face in every]

    def _named(self, recogniser: Recogniser, cosines: Mapping[str, Mapping[int, float]]) -> list[Recognised]:
        """The best entries for an answer."""
        ranking, calibration = recogniser.rank(cosines), recogniser.calibration
        threshold = calibration.threshold(self.settings.false_accepts)
        probabilities = calibration.probabilities(ranking.scores)
        return [
            Recognised(
                self.titles[entry],
                float(ranking.scores[place]),
                None if probabilities is None else float(probabilities[place]),
                place == 0 and bool(ranking.scores[0] > threshold),
            )
            for place, entry in enumerate(ranking.entries[:NAMED].tolist())
        ]

    def _not_sure(self, calibration: Calibration) -> str:
        share = self.settings.false_accepts
        why = f"pictures of other things score as high in more than {100 * share:g} % of cases"
        if np.isinf(calibration.threshold(share)):
            why = "the base has too few pictures to tell"
        return f"Not sure that the picture shows anything of this base: {why}."

    def fuse(self, runs: Mapping[str, Run]) -> Fused:
        """Pictures with the share λ and their calibration, texts with the rest and the scales of this question."""
        settings = self.settings
        texts = {"bm25": settings.bm25_weight} | {name: each.weight for name, each in settings.text_encoders.items()}
        texts = {name: weight for name, weight in texts.items() if name in self.text_systems}
        pictured = [name for name in settings.image_encoders if name in runs]
        images = {name: settings.image_encoders[name].weight for name in pictured}
        share = settings.picture_share if images else 0.0
        by = {name: _scale_of_texts(runs[name]) for name in texts}
        if images:
            calibration = self._recognisers[self._routes[pictured[0]]].calibration
            by |= {name: Scale(calibration.means[name], calibration.deviations[name]) for name in images}
        weights = {name: (1 - share) * weight / sum(texts.values()) for name, weight in texts.items()}
        weights |= {name: share * weight / sum(images.values()) for name, weight in images.items()}
        return fuse(runs, weights, by, DEPTH)

    def picture_of(self, passage: int) -> bytes | None:
        """The first picture of the passage's entry, where it still lies where it was, unchanged."""
        entry, table = int(self.article_of[passage]), self._shown
        row = int(np.searchsorted(table["article"].to_numpy(), entry))
        if row == len(table) or table["article"][row].as_py() != entry:
            return None
        path = Path(table["path"][row].as_py())
        try:
            return read_bytes(path, LARGEST_IMAGE) if hash_of(path) == table["sha256"][row].as_py() else None
        except BadInput:
            return None


def _which_face(faces: Sequence[FaceFound], chosen: int | None) -> str:
    which = "none of them" if chosen is None else f"number {chosen + 1} from the left"
    return f"{len(faces)} faces were found; {which} was looked at. Another one may be chosen."


def _scale_of_texts(run: Run) -> Scale:
    """Mean and deviation of one question's scores."""
    [scale] = scales([gather([run])])
    # Equal scores tell no passages apart: Lucene sets ties apart by a millionth, which is no reason.
    return Scale(scale.mean, scale.deviation if scale.deviation > NOISE else np.inf)
