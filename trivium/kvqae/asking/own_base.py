"""A base of one's own in memory: which entry a picture shows, which passages say more (own_pictures.md).

A passage's score is `λ · s_e + (1 − λ) · t`: s_e is what the picture says of its entry, standardised by the base's
calibration (`recognition.py`); t is the weighted mean of the text systems' scores, each standardised over the passages
that are compared for this question.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trivium.core.errors import BadInput
from trivium.core.folding import fold
from trivium.core.matrices import read_matrix
from trivium.core.reading import LARGEST_IMAGE, read_bytes
from trivium.core.signatures import signature_of
from trivium.core.tables import read_json, read_table
from trivium.kvqae.asking.answer import QUERY, FaceFound, PictureView, Recognised
from trivium.kvqae.asking.asker import NO_READER, Base, Reader
from trivium.kvqae.asking.building import (
    ARTICLES,
    BM25,
    CALIBRATION,
    PASSAGES,
    SHOWN,
    hash_of,
    read_base,
    read_pictured,
)
from trivium.kvqae.asking.models import LIMITS, BaseSettings, Foreign, models_of
from trivium.kvqae.asking.recognition import Calibration, Cosines, Pictured, find_entries, rank
from trivium.kvqae.asking.systems import Bm25, Dense, Fused, fuse
from trivium.kvqae.knowledge_base.passage_texts import ArticlePassages, knowledge_base_size, read_passage_texts
from trivium.kvqae.retrieval.image_search import passages_of
from trivium.kvqae.retrieval.lucene import Searcher
from trivium.measures.fusion import Scale, gather, scales
from trivium.measures.runs import Run
from trivium.vision.align import align
from trivium.vision.decoding import open_picture
from trivium.vision.image_encoder import Route

if TYPE_CHECKING:  # it needs facenet-pytorch, which no extra can have
    from trivium.vision.faces import Face

ANEW = "was made anew after the page or the command had loaded it: start it again, when `trivium kb` has ended"
ReaderMaker = Callable[[BaseSettings], Reader | str | None]  # the reader, or why there is none
PICTURE_SHARE = 0.6  # λ: of the picture in a passage's score
FALSE_ACCEPTS = 0.05  # share of pictures of things outside the base that may pass as sure
BROUGHT_BEST = 4.0  # deviations, about those of a picture that is recognised
BROUGHT = "search results"  # the system of search results that somebody else made
NAMED = 3  # entries that an answer names
NOISE = 1e-3  # scores of texts that deviate less are equal
DEPTH = 1000  # passages that a text system returns, and entries of a picture that have a say


class OwnBase(Base):
    """A base that `trivium kb` made.

    Args:
        folder: of the base.
        foreign: makes models that no registry knows.
        reader: makes the reader, or says why there is none; None: the best passages have to do.

    Raises:
        BadInput: no base, or its models are not there, or are others than it was made with.
    """

    def __init__(self, folder: Path, foreign: Foreign, reader: ReaderMaker | None = None) -> None:
        self._folder, self._signature = folder, signature_of(folder)
        described, self._settings = read_base(folder)
        settings = self._settings
        self.limits, self.passages = LIMITS, settings.passages
        self._titles: list[str] = read_table(folder / ARTICLES, ["title"])["title"].to_pylist()
        passages = folder / PASSAGES
        self.article_of = ArticlePassages(passages).article_of
        self._starts = np.searchsorted(self.article_of, np.arange(len(self._titles) + 1))
        count = len(self.article_of)
        self.texts = read_passage_texts(passages, folder / ARTICLES, np.arange(knowledge_base_size(passages)))
        models, texts = models_of(settings, foreign)
        digests = {model.name: model.digest for model in models} | {text.name: text.digest for text in texts}
        for name, digest in digests.items():
            if described["digests"].get(name) != digest:
                problem = "the model is another one than the base was made with: make the base again"
                raise BadInput(problem, file=folder, field=name)
        self._calibrations = {name: Calibration(**values) for name, values in read_json(folder / CALIBRATION).items()}
        self._systems: dict[Route, list[Pictured]] = {"face": [], "whole": []}
        self._encoders = {}
        for model in models:
            pictured = read_pictured(folder, model.name, settings.image_encoders[model.name].weight)
            if len(pictured.pictures):
                self._systems[model.route].append(pictured)
                self._encoders[model.name] = model.load()
        self._shown = read_table(folder / SHOWN)
        tokens, depth = settings.text_tokens, min(DEPTH, count)
        self.text_systems: dict[str, Bm25 | Dense] = {}
        for text in texts:
            matrix = read_matrix(folder / "texts" / f"{text.name}.npy")
            self.text_systems[text.name] = Dense(
                text.name, text.load("question"), tokens, matrix, np.arange(count), depth
            )
        if settings.bm25_weight:
            searcher = Searcher(folder / BM25, threads=1, heap_gib=1)
            self.text_systems["bm25"] = Bm25(searcher, settings.k1, settings.b, depth, complete=count)
        made = None if reader is None else reader(settings)
        self.reader: Reader | None = None if isinstance(made, str) else made
        self.unread = made if isinstance(made, str) else NO_READER
        self.invented = settings.invented or getattr(made, "invented", False)

    def check(self) -> None:
        """Check that the folder holds what was loaded; nothing is read but times, sizes and inodes."""
        if signature_of(self._folder) != self._signature:
            raise BadInput(ANEW, file=self._folder)

    def look(self, image: bytes, face: int | None) -> PictureView:
        """Look for a face among the entries with one, or for the whole picture among all where there is no face."""
        picture = open_picture(image)
        pixels = np.asarray(picture)
        faces, places = self._faces(pixels)
        if face is not None and not 0 <= face <= len(faces):
            expected = f"0, the whole picture{f', or 1 to {len(faces)}, from left to right' if faces else ''}"
            raise BadInput("no such face", field="--face", got=face, expected=expected)
        chosen = None
        if faces and face != 0:
            best = max(range(len(faces)), key=lambda place: (faces[place].probability, -place))
            chosen = best if face is None else face - 1
        route: Route = "whole" if chosen is None else "face"
        shown = picture if chosen is None else align(pixels, places[chosen].landmarks)
        view = PictureView(image, faces=faces, face=None if chosen is None else faces[chosen])
        notes = [] if len(faces) < 2 else [_which_face(faces, chosen)]
        if route not in self._calibrations:
            notes.append("The base has no picture to compare with: the answer comes from the texts alone.")
            return replace(view, notes=notes)
        systems = self._systems[route]
        vectors = {system.name: self._encoders[system.name].embed([shown])[0] for system in systems}
        cosines = find_entries(systems, vectors, DEPTH)
        entries = self._name(cosines, route)
        if entries and not entries[0].sure:
            why = f"pictures of other things score as high in more than {100 * FALSE_ACCEPTS:g} % of cases"
            if np.isinf(self._calibrations[route].threshold(FALSE_ACCEPTS)):
                why = "the base has too few pictures to tell"
            notes.append(f"Not sure that the picture shows anything of this base: {why}.")
        runs = {
            name: Run.from_dict({QUERY: passages_of(of_entries, self._starts, len(self.article_of))}, name=name)
            for name, of_entries in cosines.items()
        }
        return replace(view, runs=runs, entries=entries, notes=notes)

    def use_entries(self, scores: Mapping[str, float]) -> PictureView:
        """Take entries by their titles, as they look; a title that the base lacks is counted in a note."""
        best: dict[int, float] = {}
        for title, score in scores.items():
            best |= {entry: max(score, best.get(entry, score)) for entry in self._entries_of.get(fold(title), ())}
        lost = sum(fold(title) not in self._entries_of for title in scores)
        notes = [f"{lost} of {len(scores)} entries that were given are not in the base."] if lost else []
        if not best:
            return PictureView(notes=[*notes, "No entry is given: the answer comes from the texts alone."])
        best = dict(sorted(best.items(), key=lambda item: -item[1]))
        highest, lowest = max(best.values()), min(best.values())
        floor = 2 * lowest - highest if highest > lowest else highest - 1
        best |= {entry: floor for entry in range(min(DEPTH, len(self._titles))) if entry not in best}
        passages = passages_of(best, self._starts, len(self.article_of))
        return PictureView(runs={BROUGHT: Run.from_dict({QUERY: passages}, name=BROUGHT)}, notes=notes)

    @cached_property
    def _entries_of(self) -> dict[str, list[int]]:
        """Entries by their folded titles."""
        entries: dict[str, list[int]] = {}
        for entry, title in enumerate(self._titles):
            entries.setdefault(fold(title), []).append(entry)
        return entries

    def _faces(self, pixels: NDArray[np.uint8]) -> tuple[list[FaceFound], list["Face"]]:
        """The faces from left to right, where the base has any; and where they are."""
        detectors = [encoder.detector for encoder in self._encoders.values() if encoder.detector is not None]
        faces = detectors[0].every(pixels) if detectors else []
        sides = np.tile(pixels.shape[1::-1], 2)
        return [FaceFound(tuple((face.box / sides).tolist()), face.probability, len(faces)) for face in faces], faces

    def _name(self, cosines: Cosines, route: Route) -> list[Recognised]:
        """The best entries, for an answer."""
        calibration = self._calibrations[route]
        entries, scores = rank(cosines, self._systems[route], calibration)
        threshold = calibration.threshold(FALSE_ACCEPTS)
        probabilities = calibration.probabilities(scores)
        return [
            Recognised(
                self._titles[entry],
                float(scores[place]),
                None if probabilities is None else float(probabilities[place]),
                place == 0 and bool(scores[0] > threshold),
            )
            for place, entry in enumerate(entries[:NAMED].tolist())
        ]

    def fuse(self, runs: Mapping[str, Run]) -> Fused:
        """Fuse pictures with the share λ and their calibration, texts with the rest and the scales of this question."""
        settings = self._settings
        texts = {"bm25": settings.bm25_weight} | {
            name: encoder.weight for name, encoder in settings.text_encoders.items()
        }
        texts = {name: weight for name, weight in texts.items() if name in self.text_systems}
        images = {name: encoder.weight for name, encoder in settings.image_encoders.items() if name in runs}
        images |= {BROUGHT: 1.0} if BROUGHT in runs else {}
        share = PICTURE_SHARE if images else 0.0
        weights = {name: (1 - share) * weight / sum(texts.values()) for name, weight in texts.items()}
        weights |= {name: share * weight / sum(images.values()) for name, weight in images.items()}
        by = {name: _scale_of_texts(runs[name]) for name in texts}
        if BROUGHT in images:  # no calibration says what these scores mean: what is not given has 0, the best one this
            highest, floor = np.nanmax(runs[BROUGHT].scores), np.nanmin(runs[BROUGHT].scores)
            by[BROUGHT] = Scale(float(floor), float(highest - floor) / BROUGHT_BEST)
        for calibration in self._calibrations.values():
            names = set(images) & set(calibration.means)
            by |= {name: Scale(calibration.means[name], calibration.deviations[name]) for name in names}
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
