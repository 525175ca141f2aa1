"""A user's own base in memory: finds the entry that a picture shows, and ranks passages (own_pictures.md).

A passage's score is `λ · s_e + (1 − λ) · t`: s_e is the score of its entry for the picture, standardised by the base's
calibration (`recognition.py`); t is the mean of the text systems' scores, each standardised over the passages that are
compared for this question.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from trivium.core.errors import BadInput
from trivium.core.folding import fold
from trivium.core.matrices import read_matrix
from trivium.core.reading import LARGEST_IMAGE, read_bytes, signature_of
from trivium.core.tables import read_json, read_table
from trivium.kvqae.asking import building
from trivium.kvqae.asking.answer import NO_READER, QUERY, PictureView, RecognisedEntry
from trivium.kvqae.asking.asker import Base, Reader
from trivium.kvqae.asking.encoding import LIMITS, TOKENS, Foreign, Vectors, models_of
from trivium.kvqae.asking.recognition import Calibration, Cosines, Pictured, find_entries, rank
from trivium.kvqae.asking.systems import Bm25, Dense, Fused, fuse, scores_of
from trivium.kvqae.knowledge_base.passage_texts import ARTICLES, ArticlePassages, read_passage_texts
from trivium.kvqae.retrieval.bm25 import Searcher
from trivium.kvqae.retrieval.image_search import passages_of
from trivium.measures.fusion import Scale, scale_of
from trivium.measures.runs import Run
from trivium.vision.image_encoder import Route

ANEW = "was made anew after the page or the command had loaded it: start it again, when `trivium kb` has ended"
PICTURE_SHARE = 0.6  # λ, the weight of the picture in a passage's score
FALSE_ACCEPTS = 0.05  # share of pictures of things outside the base that may be called sure
BROUGHT_BEST = 4.0  # score of the best given entry, in deviations: about that of a recognised picture
BROUGHT = "search results"  # name of the system of given search results
NAMED, READ = 3, 5  # entries that an answer names, passages that the reader reads
NOISE = 1e-3  # texts' scores with a smaller deviation count as equal
DEPTH = 1000  # passages that a text system returns, and entries that are scored for a picture


class OwnBase(Base):
    """The base in a folder that `trivium kb` made.

    `foreign` makes models that are in no registry; instead of a `reader` may stand why there is none. `BadInput`: no
    base, or its models are missing, or differ from those that it was made with.
    """

    def __init__(self, folder: Path, foreign: Foreign, reader: Reader | str = NO_READER) -> None:
        self._folder, self._signature = folder, signature_of(folder)
        described, settings = building.read_base(folder)
        self.limits, self.passages = LIMITS, READ
        self._titles: list[str] = read_table(folder / ARTICLES, ["title"])["title"].to_pylist()
        self._entries_of = defaultdict[str, list[int]](list)  # by folded titles
        for entry, title in enumerate(self._titles):
            self._entries_of[fold(title)].append(entry)
        self.article_of = ArticlePassages(folder).article_of
        self._starts = np.searchsorted(self.article_of, np.arange(len(self._titles) + 1))
        numbers = np.arange(len(self.article_of))
        self.texts = read_passage_texts(folder, numbers)
        models, texts = models_of(settings, foreign)
        for model in (*models, *texts):
            if described["digests"].get(model.name) != model.digest:
                problem = "the model differs from the one that the base was made with: make the base again"
                raise BadInput(problem, file=folder, field=model.name)
        self._calibrations = {
            name: Calibration(**values) for name, values in read_json(folder / building.CALIBRATION).items()
        }
        self._systems: dict[Route, list[Pictured]] = {"face": [], "whole": []}
        encoders = {}
        for model in models:
            pictured = building.read_pictured(folder, model.name)
            if len(pictured.pictures):
                self._systems[model.route].append(pictured)
                encoders[model.name] = model.load()
        self.encoders = encoders
        self._first_picture = {row["article"]: row for row in reversed(read_table(folder / building.SHOWN).to_pylist())}
        depth, searcher = min(DEPTH, len(numbers)), Searcher(folder / building.BM25, threads=1, heap_gib=1)
        self.text_systems: dict[str, Bm25 | Dense] = {"bm25": Bm25(searcher, depth, len(numbers))}
        for text in texts:
            matrix = read_matrix(folder / "texts" / f"{text.name}.npy")
            self.text_systems[text.name] = Dense(text.name, text.load("question"), TOKENS, matrix, numbers, depth)
        self.reader, self.invented = reader, settings.invented or getattr(reader, "invented", False)

    def check(self) -> None:
        """Check that the folder has not changed, by times, sizes and inodes; `BadInput` otherwise."""
        if signature_of(self._folder) != self._signature:
            raise BadInput(ANEW, file=self._folder)

    def search(self, view: PictureView, vectors: Mapping[str, Vectors]) -> PictureView:
        """Search by a face among entries with faces, or by the whole picture among all entries without one."""
        route: Route = "face" if view.face else "whole"
        notes = [*view.notes]
        if route not in self._calibrations:
            notes.append("The base has no picture to compare with: the answer comes from the texts alone.")
            return replace(view, notes=notes)
        cosines = find_entries(self._systems[route], vectors, DEPTH)
        entries = self._name(cosines, route)
        if entries and not entries[0].sure:
            why = f"pictures of other things score as high in more than {100 * FALSE_ACCEPTS:g} % of cases"
            if np.isinf(self._calibrations[route].threshold(FALSE_ACCEPTS)):
                why = "the base has too few pictures to tell"
            notes.append(f"Not sure that the picture shows anything of this base: {why}.")
        runs = {name: self._run(of_entries, name) for name, of_entries in cosines.items()}
        return replace(view, runs=runs, entries=entries, notes=notes)

    def use_entries(self, scores: Mapping[str, float]) -> PictureView:
        """Use entries by their folded titles; titles that are not in the base are counted in a note."""
        best: dict[int, float] = {}
        for title, score in scores.items():
            best |= {entry: max(score, best.get(entry, score)) for entry in self._entries_of.get(fold(title), ())}
        lost = sum(fold(title) not in self._entries_of for title in scores)
        notes = [f"{lost} of {len(scores)} entries that were given are not in the base."] if lost else []
        if not best:
            return PictureView(notes=[*notes, "No entry is given: the answer comes from the texts alone."])
        highest, lowest = max(best.values()), min(best.values())
        floor = 2 * lowest - highest if highest > lowest else highest - 1
        # These scores have no calibration: the best one becomes `BROUGHT_BEST`, entries without score get 0.
        scaled = {entry: BROUGHT_BEST * (score - floor) / (highest - floor) for entry, score in best.items()}
        scaled = dict.fromkeys(range(min(DEPTH, len(self._titles))), 0.0) | scaled
        ranked = dict(sorted(scaled.items(), key=lambda item: -item[1]))
        return PictureView(runs={BROUGHT: self._run(ranked, BROUGHT)}, notes=notes)

    def _run(self, entries: Mapping[int, float], name: str) -> Run:
        """Convert ranked entries to ranked passages."""
        return Run.from_dict({QUERY: passages_of(dict(entries), self._starts, len(self.article_of))}, name=name)

    def _name(self, cosines: Cosines, route: Route) -> list[RecognisedEntry]:
        """Return the best entries, as an answer shows them."""
        calibration = self._calibrations[route]
        entries, scores = rank(cosines, calibration)
        probabilities = calibration.probabilities(scores)
        sure = bool((scores[:1] > calibration.threshold(FALSE_ACCEPTS)).any())
        return [
            RecognisedEntry(
                self._titles[entry],
                float(scores[place]),
                None if probabilities is None else float(probabilities[place]),
                place == 0 and sure,
            )
            for place, entry in enumerate(entries[:NAMED].tolist())
        ]

    def fuse(self, runs: Mapping[str, Run]) -> Fused:
        """Fuse pictures with weight λ and their calibration, texts with the rest and the scales of this question."""
        texts, images = list(self.text_systems), [name for name in runs if name not in self.text_systems]
        share = PICTURE_SHARE if images else 0.0
        weights = dict.fromkeys(texts, (1 - share) / len(texts)) | dict.fromkeys(images, share / max(1, len(images)))
        by = {BROUGHT: Scale(0.0, 1.0)}
        for name in texts:
            scale = scale_of(np.array(list(scores_of(runs[name]).values())))
            # Lucene separates ties by a millionth: such scores count as equal.
            by[name] = Scale(scale.mean, scale.deviation if scale.deviation > NOISE else np.inf)
        for calibration in self._calibrations.values():
            by |= {name: Scale(*scale) for name, scale in calibration.scales.items()}
        return fuse(runs, weights, by, DEPTH)

    def picture_of(self, passage: int) -> bytes | None:
        """Read the first picture of the passage's entry; None if its file has changed or is missing."""
        if (shown := self._first_picture.get(int(self.article_of[passage]))) is None:
            return None
        path = Path(shown["path"])
        try:
            return read_bytes(path, LARGEST_IMAGE) if building.hash_of(path) == shown["sha256"] else None
        except BadInput:
            return None
