"""The graph's knowledge base in memory: systems, scales, re-rankers and reader of a row.

z-scores use each system's mean and deviation over the test questions' lists, since one question has too few scores.
"""

import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.core.matrices import read_matrix
from trivium.core.parameters import used_values
from trivium.core.tables import read_json, read_table
from trivium.kvqae.asking.answer import IMAGE, PROBLEMS, QUERY, FaceFound, PictureView
from trivium.kvqae.asking.asker import Base
from trivium.kvqae.asking.project import Project
from trivium.kvqae.asking.reranking import SPLIT, Rerankers
from trivium.kvqae.asking.systems import Bm25, Dense, FolderReader, Fused, fuse
from trivium.kvqae.knowledge_base.illustrated_base import FACES_BY, read_illustrated_base
from trivium.kvqae.knowledge_base.passage_texts import ArticlePassages, knowledge_base_size, read_passage_texts
from trivium.kvqae.reader.inputs import ReadParameters
from trivium.kvqae.retrieval.bm25 import Bm25SearchParameters, Searcher
from trivium.kvqae.retrieval.dense_search import INDEX, DenseSearchParameters
from trivium.kvqae.retrieval.fusion import ARTICLE_ROWS, RECORD, TUNED, FuseAndTuneParameters, read_split, systems_of
from trivium.kvqae.retrieval.image_search import ImageIndex, ImageSearchParameters
from trivium.kvqae.retrieval.systems import is_brought, system_of
from trivium.kvqae.retrieval.text_encoder import TextEncoder
from trivium.kvqae.retrieval.text_encoders import TEXT, text_encoder_parameters
from trivium.measures.fusion import gather_blocks, scales
from trivium.measures.runs import Run
from trivium.vision.encoder_registry import ENCODERS, by_route, encoder_parameters
from trivium.vision.image_encoding import Features, encode_images, load_encoder
from trivium.vision.neighbours import read_ivf


class GraphBase(Base):
    """Outputs of `dvc repro`, loaded once; passages are ranked by a row of `kvqae.fuse.weights`.

    `BadInput`: no such row, bad parameters, or an output is missing.
    """

    def __init__(self, root: Path, row: str) -> None:
        self._project = project = Project(root)
        self.invented = used_values(root / "params.yaml", "world.kvqae") == "sample"
        self._fuse = section = project.section("fuse", FuseAndTuneParameters)
        rows = {name: systems for name, systems in section.rows.items() if name not in ARTICLE_ROWS}
        if row not in rows:
            raise BadInput("no such row of kvqae.fuse.weights", field="--row", got=row, choices=rows)
        self.limits = project.value("pictures")
        if theirs := list(filter(is_brought, rows[row])):
            raise BadInput("a row with a brought run, which cannot search for a new question", field=row, got=theirs)
        record = read_json(project.require(f"data/kvqae/runs/fused/{row}/{RECORD}"))
        self._weights = weights = record["weights"] if section.weights == TUNED else section.weights[row]
        if record != {"depth": section.depth, "weights": weights} or set(weights) != set(rows[row]):
            raise BadInput("kvqae.fuse has changed since the last run: run `make repro` first", field=row)
        # All systems' lists are read: they have all questions of the stage, while one row's may have fewer.
        every = [name for name in systems_of(rows, articles=False) if not is_brought(name)]
        kinds = {name: "image" if name in ENCODERS else "text" for name in every}
        folders = [project.require(f"data/kvqae/runs/{kind}/{name}") for name, kind in kinds.items()]
        lists = read_split(folders, SPLIT, every, articles=False)
        by = scales(gather_blocks([lists[system] for system in weights]))
        self._scales = dict(zip(weights, by, strict=True))

        articles, passages = (project.require(f"data/kvqae/kb/{name}.parquet") for name in ("articles", "passages"))
        self.texts = read_passage_texts(passages, articles, np.arange(knowledge_base_size(passages)))
        self.article_of = ArticlePassages(passages).article_of
        self._picture_of = read_table(articles, ["image"])["image"]
        self._pictures = Images(project.require("data/kvqae/raw/images/kb"))
        settings = project.section("read", ReadParameters)
        read = settings.rows[settings.asked_row]
        folder = project.require(f"models/kvqae/reader/few_shot/seed-{settings.seeds[0]}")
        limits = settings.max_tokens, settings.answer_tokens, settings.batch
        self.reader: FolderReader = FolderReader(folder, *limits, weighted=read.weighted)
        self._tokens = int(project.value("texts.tokens"))
        self._longest = min(self._tokens, settings.max_tokens) - 2
        if read.passages == "validation":
            self.passages = int(read_json(project.require("metrics/kvqae/read.json"))[f"{settings.asked_row}_passages"])
        else:
            self.passages = read.passages
        self.text_systems = {system: self._text_system(system) for system in weights if system in TEXT}
        images = set(weights) - set(TEXT)
        self._images = _ImageSystems(project, section, articles, passages) if images else None
        reranked = str(project.value("initial.run"))
        self.rerankers = Rerankers(project) if row == reranked else None
        self.why_not_reranked = f"Only the row {reranked} is re-ranked."

    def check(self) -> None:
        """Check that the outputs are those that were loaded; `BadInput` otherwise."""
        self._project.artifacts.check()

    def check_question(self, question: str) -> list[str]:
        """Note a question with more word pieces than the models read; `BadInput`: a question without any."""
        pieces = len(self.reader.tokenizer.tokenize(question))
        if not pieces:
            raise BadInput("the question is empty", got=question, expected="some words")
        note = f"The models read about the first {self._longest} of the question's {pieces} word pieces."
        return [note] if pieces > self._longest else []

    def look(self, image: bytes, face: int | None) -> PictureView:
        """Search by the most probable face, or by the whole picture without one; `face` is not used."""
        if self._images is None:
            unseen = "This row does not look at the picture: the answer comes from the text systems alone."
            return PictureView(notes=[unseen])
        return self._images.search(image)

    def fuse(self, runs: Mapping[str, Run]) -> Fused:
        """Fuse with the row's weights and the scales of the test questions' lists."""
        return fuse(runs, self._weights, self._scales, self._fuse.depth)

    def picture_of(self, passage: int) -> bytes | None:
        """Read the image of a passage's article; None without one."""
        name = self._picture_of[int(self.article_of[passage])].as_py()
        return self._pictures.read(name) if name in self._pictures else None

    def _text_system(self, system: str) -> Bm25 | Dense:
        """Open BM25 with the chosen k1 and b, or a text encoder, with an inverted file if one is used."""
        project = self._project
        if system == "bm25":
            parameters = project.section("bm25_search", Bm25SearchParameters)
            chosen = read_json(project.require("metrics/kvqae/bm25_search.json"))
            searcher = Searcher(project.require("data/kvqae/indexes/kb"), threads=1, heap_gib=parameters.heap_gib)
            return Bm25(searcher, chosen["k1"], chosen["b"], parameters.depth)
        search, vectors = project.section("dense_search", DenseSearchParameters), f"data/kvqae/embeddings/{system}"
        index = None
        if search.index != "exact":
            index = read_ivf(project.require(f"data/kvqae/runs/text/{system}/{INDEX}"))
        model = project.require(str(text_encoder_parameters(system, self._fuse.text_encoders[system]).model))
        matrix, ids = (read_matrix(project.require(f"{vectors}/{name}.npy")) for name in ("kb", "kb_ids"))
        encoder = TextEncoder(system, model, "question")
        return Dense(system, encoder, self._tokens, matrix, ids, search.depth, index, search.probes)


class _ImageSystems:
    """Image encoders in use, and the knowledge base's features that they search."""

    def __init__(self, project: Project, section: FuseAndTuneParameters, articles: Path, passages: Path) -> None:
        search = project.section("image_search", ImageSearchParameters)
        self._limits, self._depth = project.value("pictures"), search.depth
        base = read_illustrated_base(articles, passages, project.require("data/kvqae/features/kb"))
        self._indexes = {system: ImageIndex.of(base, system) for system in search.image_encoders}
        self._encoders = {}
        for system, entry in search.image_encoders.items():
            settings = encoder_parameters(system, entry)
            settings = settings.model_copy(update={"model": project.require(str(settings.model))})
            self._encoders[system] = load_encoder(system, settings)
        self._routes = by_route(search.image_encoders)
        self._names = {
            name: ImageIndex.of_names(project.require(f"data/kvqae/embeddings/{system_of(name)}"), base.starts)
            for name in section.name_encoders
        }

    def search(self, image: bytes) -> PictureView:
        """Search by the picture's face, or by the whole picture; `BadInput` if it cannot be read."""
        faces = self._encode(FACES_BY, image)
        [row] = faces.table.to_pylist()
        if row["unreadable"] is not None:
            raise BadInput(PROBLEMS[row["unreadable"]], field=IMAGE)
        face, notes = None, ["No face was found: the whole picture was searched for among things and places."]
        if row["detected"]:
            shares = np.array(row["box"]) / np.tile([row["width"], row["height"]], 2)
            face = FaceFound(tuple(shares.tolist()), row["probability"], row["faces"])
            several = f"{face.faces} faces were found; the most probable one was searched for."
            notes = [several] if face.faces > 1 else []
        runs = {}
        routed = self._routes["face" if face else "whole"]
        for system in dict.fromkeys((*routed, *self._names)):
            vectors = faces.matrix if system == FACES_BY else self._encode(system, image).matrix
            indexes: dict[str, ImageIndex] = {system: self._indexes[system]} if system in routed else {}
            if system in self._names:
                indexes[system_of(system)] = self._names[system]
            for name, index in indexes.items():
                _, (passages,) = index.search(vectors, self._depth)
                runs[name] = Run.from_dict({QUERY: passages}, self._depth, name)
        return PictureView(image, runs, face, vector=faces.matrix if face else None, notes=notes)

    def _encode(self, system: str, image: bytes) -> Features:
        with warnings.catch_warnings(action="ignore"):  # Pillow's, about many pixels; limits are checked in decoding
            return encode_images([(IMAGE, image)], self._encoders[system], **self._limits)
