"""Search systems, fusion and reader in memory, for one question at a time (kvqae.md §3, §5).

They search, normalise, fuse and read with the stages' functions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trivium.kvqae.asking.answer import QUERY, ReaderAnswer
from trivium.kvqae.knowledge_base.passage_texts import SEPARATOR, PassageTexts
from trivium.kvqae.reader.reading import answer, load_reader, passage_weights, read_pairs
from trivium.kvqae.retrieval.bm25 import Searcher
from trivium.kvqae.retrieval.text_encoder import TextEncoder
from trivium.measures.fusion import Candidates, Scale, gather, standardize, unit_sum
from trivium.measures.reorder import untie
from trivium.measures.runs import PADDING, Run
from trivium.vision.neighbours import Index, exact_search, ivf_search

K1, B = 0.9, 0.4  # of BM25, as Pyserini has them for passages
NOBODY = Run.from_dict({QUERY: {}})  # empty list, of a system without results for this question


def scores_of(run: Run) -> dict[int, float]:
    """Return document → score of one question's list, best first."""
    kept = run.documents[0] != PADDING
    return dict(zip(run.documents[0, kept].tolist(), run.scores[0, kept].tolist(), strict=True))


@dataclass(frozen=True)
class Bm25:
    """BM25 on a Lucene index; passages without a word of the question follow with score 0."""

    searcher: Searcher
    depth: int
    passages: int  # number of all

    def search(self, question: str, within: NDArray[np.int64] | None = None) -> Run:
        """Rank all passages for a question, or those `within`."""
        depth = self.depth if within is None else self.passages
        run = self.searcher.search([(QUERY, question)], k1=K1, b=B, depth=depth, name="bm25")
        scores = scores_of(run)
        if within is not None:
            scores = {passage: scores.get(passage, 0.0) for passage in within.tolist()}
        elif scores:
            others = (passage for passage in range(self.passages) if passage not in scores)
            scores |= dict.fromkeys(islice(others, depth - len(scores)), 0.0)
        return Run.from_dict({QUERY: scores}, depth, "bm25")


@dataclass(frozen=True)
class Dense:
    """Dense search: a text encoder of questions, and the passages' vectors."""

    name: str
    encoder: TextEncoder
    tokens: int  # most tokens of a question
    matrix: NDArray  # (passages, width), memory-mapped
    ids: NDArray[np.int64]  # passage of each row
    depth: int
    index: Index | None = None  # an inverted file; None: exact search
    probes: int = 0  # lists of the inverted file that are searched

    def cuts(self, question: str) -> bool:
        """Return whether a question reaches the most tokens that are read."""
        return len(self.encoder.tokenize([question], self.tokens)[0]) >= self.tokens

    def search(self, question: str, within: NDArray[np.int64] | None = None) -> Run:
        """Rank all passages, or those `within`, by the inner product of their vectors and the question's."""
        query = self.encoder.encode(self.encoder.tokenize([question], self.tokens), 1).astype(self.matrix.dtype)
        if within is None and self.index is not None:
            scores, rows = ivf_search(query, self.index, self.matrix, self.depth, probes=self.probes)
        else:
            own = None if within is None else np.searchsorted(self.ids, within)
            scores, rows = exact_search(query, self.matrix, self.depth if own is None else len(own), rows=own)
        return Run.from_scores((QUERY,), np.where(rows >= 0, self.ids[rows], PADDING), scores, name=self.name)


def round_as_file(run: Run) -> Run:
    """Round a run as writing and reading its file does: 32-bit scores, ties separated in their order.

    Where a system's scores hardly differ, z-scores amplify the last bits, and fusions by position depend on the order.
    """
    return replace(run, scores=untie(run.scores))


@dataclass(frozen=True)
class Fused:
    """One question's fused list."""

    run: Run
    systems: Sequence[str]
    documents: NDArray[np.int64]  # (n,) candidates
    parts: NDArray[np.float64]  # (systems, n) contributions of the systems to their scores

    @classmethod
    def of(
        cls, candidates: Candidates, systems: Sequence[str], parts: NDArray[np.float64], depth: int | None = None
    ) -> "Fused":
        """Rank candidates by the sum of the systems' parts, (systems, 1, n); keeps `depth` of them, or all."""
        # Added in the systems' order, as in the stages; NumPy's sum over an axis may use another order.
        run = Run.from_scores(candidates.queries, candidates.documents, reduce(np.add, parts), depth=depth)
        return cls(round_as_file(run), systems, candidates.documents[0], parts[:, 0])

    def contributions(self, document: int) -> dict[str, float]:
        """Return the contribution of each system to a document's score."""
        [place] = np.flatnonzero(self.documents == document)
        return dict(zip(self.systems, self.parts[:, place].tolist(), strict=True))

    def first_by(self, systems: Sequence[str]) -> int | None:
        """Return the document with the largest sum of these systems' contributions; None if they have no list."""
        rows = [self.systems.index(system) for system in systems if system in self.systems]
        if not rows or not len(self.documents):
            return None
        return int(self.documents[self.parts[rows].sum(axis=0).argmax()])


def fuse(
    runs: Mapping[str, Run], weights: Mapping[str, float], by: Mapping[str, Scale], depth: int | None = None
) -> Fused:
    """Fuse one question's lists by `Σ_s α_s · (x_s − μ_s) / σ_s`, as `linear_fusion` fuses the stages' lists.

    `weights` are the systems' α, of which only the proportions matter; a system without a list contributes nothing;
    `by` are their μ and σ; `depth` documents are kept.
    """
    candidates = gather([round_as_file(runs.get(system, NOBODY)) for system in weights])
    normalized = standardize(candidates, [by[system] for system in weights])
    return Fused.of(candidates, list(weights), unit_sum(list(weights.values()))[:, None, None] * normalized, depth)


class FolderReader:
    """A multi-passage BERT reader from a Hugging Face folder, such as the graph's few-shot one.

    It reads `tokens` of question and passage, `batch` pairs at once; an answer has at most `longest` tokens.
    `weighted`: a passage's score weighs its answers. `invented`: it was trained on an invented world.
    """

    def __init__(
        self, folder: Path, tokens: int, longest: int, batch: int = 16, weighted: bool = False, invented: bool = False
    ) -> None:
        self._model, self.tokenizer = load_reader(folder, tokens)
        self._limits = {"max_tokens": tokens, "longest": longest, "batch": batch}
        self._weighted, self.invented = weighted, invented

    def read(self, question: str, ranked: Mapping[int, float], texts: PassageTexts, entry: str | None) -> ReaderAnswer:
        """Find the span of the largest probability over all passages; `entry` is not used, as in the graph."""
        pairs = [(question, passage) for passage in ranked]
        readings = read_pairs(self._model, self.tokenizer, pairs, texts, **self._limits)
        weights = passage_weights(np.array(list(ranked.values()))) if self._weighted and ranked else None
        best = answer(question, list(ranked), readings, weights)
        if best.passage < 0:
            return ReaderAnswer()
        before = len(texts[best.passage][0]) + len(SEPARATOR)
        span = (best.start - before, best.end - before) if best.start >= before else None
        return ReaderAnswer(best.prediction, best.score, best.passage, span)
