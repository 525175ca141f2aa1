"""A question of one's own about a picture: the pipeline's systems, fusion, re-rankers and reader, kept in memory.

The z-normalisation takes each system's mean and deviation from the test questions' lists (one question alone has
none), so a question of the test set gets the passages and the answer that the stages gave it.
"""

import ctypes
import io
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Self

import numpy as np
import torch

from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.core.tables import read_json, read_table
from trivium.kvqae.asking.answered_question import Answer, Support
from trivium.kvqae.asking.project import Project
from trivium.kvqae.asking.reranking import Rerankers
from trivium.kvqae.asking.systems import IMAGE, PROBLEMS, QUERY, Bm25, Dense, ImageSystems, Seen, as_written
from trivium.kvqae.knowledge_base.passage_texts import (
    SEPARATOR,
    ArticlePassages,
    knowledge_base_size,
    read_passage_texts,
)
from trivium.kvqae.reader.reading import Answer as Span
from trivium.kvqae.reader.reading import answer, load_reader, passage_weights, read_pairs
from trivium.kvqae.retrieval.fusion import RECORD, read_split
from trivium.kvqae.retrieval.systems import is_brought
from trivium.kvqae.retrieval.text_encoders import TEXT
from trivium.measures.fusion import gather, gather_blocks, scales, standardize, unit_sum, weighted_sum
from trivium.measures.runs import PADDING, Run
from trivium.nets.device import pick_device
from trivium.vision.decoding import Unreadable
from trivium.vision.encoder_registry import ENCODERS
from trivium.vision.isolated_decoding import Decoders

ROW = "dpr_few_shot_image"  # of kvqae.fuse.weights: the one that the report's gallery shows
SPLIT = "test"  # whose lists the scales come from
MAX_CHARACTERS = 1000  # of a question
MAX_BYTES = 32 * 2**20  # of a picture's file


class Asker:
    """Everything that `dvc repro` made, loaded once; questions of any number of threads are answered in turn.

    The networks and the Java machine live in one thread of their own: they are not safe to share. Pictures are decoded
    before, in processes of their own.

    Args:
        root: folder of the project.
        row: row of `kvqae.fuse.weights` to rank passages by.

    Raises:
        BadInput: no such row, bad parameters, or something is not there yet: run `make repro` first.
    """

    def __init__(self, root: Path, row: str = ROW) -> None:
        self._thread = ThreadPoolExecutor(1, "asking")
        try:
            self._pipeline = self._thread.submit(_Pipeline, root, row).result()
        except BaseException:
            self._thread.shutdown()
            raise
        self._decoders = Decoders(**self._pipeline.picture_limits)

    def ask(self, question: str, image: bytes | None, *, rerank: bool = True) -> Answer:
        """Answer a question about a picture.

        Args:
            question: any text.
            image: the picture's file.
            rerank: whether the re-rankers reorder what was retrieved before it is read.

        Raises:
            BadInput: no question, a picture that cannot be read, or artifacts that were made anew since.
        """
        if not question.strip():
            raise BadInput("the question is empty")
        if image is not None and len(image) > MAX_BYTES:
            raise BadInput("the image file is too large", got=f"{len(image)} bytes", expected=f"at most {MAX_BYTES}")
        picture = None if image is None else self._decoded(image)
        answer = self._thread.submit(self._pipeline.ask, question, picture, rerank).result()
        if picture is not None:
            _give_back()
        return replace(answer, picture=picture)

    def _decoded(self, image: bytes) -> bytes:
        """The picture as the image systems get it: its pixels are those that they would decode, without loss."""
        try:
            picture = self._decoders.decode(image)
        except Unreadable as problem:
            raise BadInput(PROBLEMS[problem.reason], field=IMAGE) from None
        out = io.BytesIO()
        picture.save(out, "BMP")
        return out.getvalue()

    @property
    def dataset(self) -> str:
        """Folder of the questions in use, below `data/kvqae`."""
        return self._pipeline.dataset

    def close(self) -> None:
        """End the thread and the decoders."""
        self._thread.shutdown()
        self._decoders.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Pipeline:
    """One thread's work."""

    def __init__(self, root: Path, row: str) -> None:
        self._project = project = Project.open(root)
        every_row = project.fuse.passage_rows
        if row not in every_row:
            raise BadInput("no such row of kvqae.fuse.weights", got=row, choices=every_row)
        self.dataset, self.picture_limits = project.dataset, project.picture_limits
        weights = project.fuse.weights[row]
        self._systems = tuple(weights)
        if theirs := list(filter(is_brought, weights)):
            raise BadInput("a row with a brought run, which cannot search for a new question", field=row, got=theirs)
        record = read_json(project.made(f"data/kvqae/runs/fused/{row}/{RECORD}"))
        if record != {"depth": project.fuse.depth, "weights": weights}:
            raise BadInput("kvqae.fuse has changed since the last run: run `make repro` first", field=row)
        self._shares = unit_sum(list(weights.values()))
        every = [name for name in project.fuse.systems(every_row) if not is_brought(name)]
        folders = [project.made(f"data/kvqae/runs/{'image' if name in ENCODERS else 'text'}/{name}") for name in every]
        lists = read_split(folders, SPLIT, every, articles=False)
        self._scales = scales(gather_blocks([lists[system] for system in self._systems]))

        articles, passages = (project.made(f"data/kvqae/kb/{name}.parquet") for name in ("articles", "passages"))
        self._texts = read_passage_texts(passages, articles, np.arange(knowledge_base_size(passages)))
        self._article_of = ArticlePassages(passages).article_of
        self._picture_of = read_table(articles, ["image"])["image"]
        self._pictures = Images(project.made("data/kvqae/raw/images/kb"))
        self._reader, self._tokenizer = load_reader(
            project.made(f"models/kvqae/reader/few_shot/seed-{project.read.seeds[0]}"), project.read.max_tokens
        )
        torch.nn.Module.to(self._reader, pick_device())
        self._row = project.read.rows[project.read.asked_row]
        self._depth = self._row.passages
        if self._depth == "validation":
            self._depth = int(read_json(project.made("metrics/kvqae/read.json"))[f"{project.read.asked_row}_passages"])
        self._text_systems = {
            system: Bm25(project) if system == "bm25" else Dense(project, system)
            for system in self._systems
            if system in TEXT
        }
        self._image_systems = ImageSystems(project) if set(self._systems) - set(TEXT) else None
        self._rerankers = Rerankers(project) if row == project.reranked_row else None

    def ask(self, question: str, image: bytes | None, rerank: bool) -> Answer:
        self._project.artifacts.check()
        seconds: dict[str, float] = {}
        notes: list[str] = []
        question = self._cut(question, notes)
        with _measured(seconds, "image"):
            seen = self._look(image, notes)
        with _measured(seconds, "text"):
            found = {name: system.search(question) for name, system in self._text_systems.items()}
        with _measured(seconds, "fusion"):
            empty = Run.from_dict({QUERY: {}})
            found |= seen.runs
            ranked, contributions = self._fuse([found.get(system, empty) for system in self._systems])
        reranking: dict[int, dict[str, float]] = {}
        if rerank and self._rerankers is None:
            notes.append(f"Only the row {self._project.reranked_row} is re-ranked.")
        elif rerank and self._rerankers is not None:
            if seen.image is not None and self._rerankers.why_blind is not None:
                notes.append(self._rerankers.why_blind)
            with _measured(seconds, "re-ranking"):
                ranked, reranking = self._rerankers.rerank(question, seen, ranked, self._texts)
        with _measured(seconds, "reading"):
            given, passages, scores = self._read(question, ranked)
        supports = []
        for passage, score in zip(passages, scores, strict=True):
            title, text = self._texts[passage]
            before = len(title) + len(SEPARATOR)
            here = passage == given.passage and given.start >= before
            mark = (given.start - before, given.end - before) if here else None
            first, again, picture = contributions[passage], reranking.get(passage), self._picture(passage)
            supports.append(Support(passage, title, text, score, first, mark, picture, again))
        if not passages:
            notes.append("Nothing in the knowledge base matches.")
        alike = self._alike(seen, contributions)
        return Answer(given.prediction, given.score, supports, seen.face, notes, seconds, alike=alike)

    def _alike(self, seen: Seen, contributions: Mapping[int, Mapping[str, float]]) -> str:
        """The article that the row's image systems together give most to."""
        looked = [system for system in self._systems if system in seen.runs]
        if not looked or not contributions:
            return ""
        return self._texts[max(contributions, key=lambda passage: sum(contributions[passage][s] for s in looked))][0]

    def _look(self, image: bytes | None, notes: list[str]) -> Seen:
        """What the image systems find; notes say what they could not do."""
        if image is None:
            notes.append("No picture was given: the answer comes from the text systems alone.")
            return Seen()
        if self._image_systems is None:
            notes.append("This row does not look at the picture: the answer comes from the text systems alone.")
            return Seen()
        seen = self._image_systems.search(image)
        if seen.face is None:
            notes.append("No face was found: the whole picture was searched for among things and places.")
        elif seen.face.faces > 1:
            notes.append(f"{seen.face.faces} faces were found; the most probable one was searched for.")
        return seen

    def _read(self, question: str, ranked: Run) -> tuple[Span, list[int], list[float]]:
        """The answer, and the passages read with their scores."""
        passages = [int(passage) for passage in ranked.documents[0, : self._depth] if passage != PADDING]
        readings = read_pairs(
            self._reader,
            self._tokenizer,
            [(question, passage) for passage in passages],
            self._texts,
            max_tokens=self._project.read.max_tokens,
            longest=self._project.read.answer_tokens,
            batch=self._project.read.batch,
        )
        scores = ranked.scores[0, : len(passages)]
        weights = passage_weights(scores) if self._row.weighted and len(passages) else None
        return answer(question, passages, readings, weights), passages, scores.tolist()

    def _cut(self, question: str, notes: list[str]) -> str:
        """A question of bounded length that a tokenizer takes; a note says what was cut."""
        question = question.encode("utf-8", "replace").decode()  # lone halves of surrogate pairs, from a terminal
        if len(question) > MAX_CHARACTERS:
            notes.append(
                f"The question is too long: only its first {MAX_CHARACTERS} of {len(question)} characters count."
            )
            question = question[:MAX_CHARACTERS]
        tokens = len(self._tokenizer.tokenize(question))
        if not tokens:
            raise BadInput("the question is empty", got=question, expected="some words")
        longest = min(self._project.text_tokens, self._project.read.max_tokens) - 2
        if tokens > longest:
            notes.append(f"The models read about the first {longest} of the question's {tokens} word pieces.")
        return question

    def _fuse(self, runs: Sequence[Run]) -> tuple[Run, dict[int, dict[str, float]]]:
        """The fused run, and what each system gave to each passage."""
        candidates = gather([as_written(run) for run in runs])
        normalized = standardize(candidates, self._scales)
        fused = weighted_sum(normalized, self._shares)
        ranked = Run.from_scores(candidates.queries, candidates.documents, fused, depth=self._project.fuse.depth)
        given = self._shares[:, None] * normalized[:, 0]
        return as_written(ranked), {
            passage: dict(zip(self._systems, given[:, place].tolist(), strict=True))
            for place, passage in enumerate(candidates.documents[0].tolist())
        }

    def _picture(self, passage: int) -> bytes | None:
        name = self._picture_of[int(self._article_of[passage])].as_py()
        return self._pictures.read(name) if name in self._pictures else None


def _give_back() -> None:
    """Have glibc's allocator give back what is free in it: pictures leave some 100 MiB, which it would keep."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


@contextmanager
def _measured(seconds: dict[str, float], step: str) -> Iterator[None]:
    started = time.perf_counter()
    yield
    seconds[step] = time.perf_counter() - started
