"""Search KVQAE's entities with decorrelated image encoders: do they find more? No paper asks this.

The images of entities without a face are searched with several CLIP image encoders, one row for each, so that
architecture and training are not confounded: KVQAE's own, another architecture untouched, that one fine-tuned on D, and
on D ∪ D' (decorrelation.md §4, kvqae.md §3).
"""

from collections.abc import Sequence
from functools import lru_cache, partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pydantic import Field

from trivium.core.engine import Engine, in_worker
from trivium.core.image_shards import Images
from trivium.core.parameters import Parameters
from trivium.core.tables import in_groups
from trivium.formats.questions import Question
from trivium.kvqae.knowledge_base.illustrated_base import ImageFeatures
from trivium.measures.significance import bootstrap_interval, fisher_randomization
from trivium.vision.decoding import decode
from trivium.vision.encoders.clip import Clip
from trivium.vision.image_encoder import Embedder
from trivium.vision.neighbours import exact_search

HITS, DEPTH = 20, 100  # of a measure's name; entities ranked for a question
BATCHES = 16  # that a GPU is given at a time
LIMITS = {"max_side": 1024, "max_pixels": 100_000_000}  # of images, see `decode`
PERMUTATIONS, RESAMPLES, SEED = 100_000, 2000, 0  # of Fisher's randomization test, of the intervals; of their draws


class EntitiesParameters(Parameters):
    """Section `decorrelation.entities`."""

    encoders: dict[str, Path] = Field(
        min_length=2, description="CLIP folders in open_clip's format, by row; a folder that stands twice is one row"
    )
    batch_size: int = Field(
        default=64, ge=1, description="Images decoded and encoded together; halved when GPU memory runs out"
    )
    confidence: float = Field(gt=0, lt=1, description="Of the bootstrap intervals")

    def rows(self) -> dict[str, Path]:
        """The encoders, each once: where nothing was trained, later rows have the folder of an earlier one."""
        folders = list(self.encoders.values())
        return {row: path for place, (row, path) in enumerate(self.encoders.items()) if path not in folders[:place]}


def searched_entities(articles: pa.Table, features: ImageFeatures) -> tuple[list[str], list[str]]:
    """Return the entities that are not persons and have a readable image, and the names of these images.

    `articles` has the columns wikidata_id, image and human of the knowledge base, `features` are of its images.
    """
    is_readable = pc.is_in(articles["image"], value_set=features.names.filter(pa.array(features.readable)))
    chosen = articles.filter(pc.and_(pc.invert(articles["human"]), is_readable))
    return chosen["wikidata_id"].to_pylist(), chosen["image"].to_pylist()


def question_entities(routing: pa.Table, questions: Sequence[Question]) -> dict[str, tuple[str, str]]:
    """{question: (its entity, its image)} of the questions whose image is readable and shows no face."""
    served = set(routing.filter(pc.and_(routing["readable"], pc.invert(routing["face"])))["question"].to_pylist())
    return {
        question.id: (question.wikidata_id, question.image)
        for question in questions
        if question.id in served and question.wikidata_id and question.image
    }


def encode(
    folder: Path, size: int, images: Sequence[tuple[Images, Sequence[str]]], engine: Engine
) -> NDArray[np.float32]:
    """Embed images, named by folder, by the CLIP encoder of a folder: (images, dimension) of unit length, in order.

    The engine maps over batches of `size` images, none of which are of two folders.
    """
    from trivium.nets.device import pick_device

    batches = ((stored, part) for stored, names in images for part in in_groups(names, size))
    on_gpu = engine.has_gpu(lambda: pick_device().type == "cuda")
    parts = in_groups(batches, BATCHES if on_gpu else 1)
    shards = ([[stored.read(name) for name in names] for stored, names in part] for part in parts)
    run = partial(_encode, folder)
    return np.concatenate(list(engine.map(run, shards, description=f"images by {folder}", on_gpu=on_gpu)))


def _encode(folder: Path, batches: list[list[bytes]]) -> NDArray[np.float32]:
    """Embed batches of stored images; where a GPU does, processes decode the next ones meanwhile."""
    from trivium.nets.feeding import feed, feeders

    encoder = _load(folder)

    def prepare(number: int) -> Any:
        return encoder.prepare([decode(image, **LIMITS) for image in batches[number]])

    return np.concatenate([encoder.embed(prepared) for prepared in feed(prepare, len(batches), feeders())])


@lru_cache(maxsize=1)
def _load(folder: Path) -> Embedder:
    import torch  # takes seconds

    from trivium.nets.device import pick_device

    if in_worker():
        torch.set_num_threads(1)
    return Clip.load(folder, pick_device())


def own_ranks(
    queries: NDArray[np.float32],
    images: NDArray[np.float32],
    entities: Sequence[str],
    owners: Sequence[str],
    depth: int = DEPTH,
) -> NDArray[np.float64]:
    """Rank of each question's own entity by cosine, infinite beyond `depth` or where it is not searched.

    An entity with several images counts by its best; ties go to the lower row.
    """
    _, ranked = exact_search(queries, images, depth, cosine=True)
    is_own = np.asarray(entities)[ranked] == np.asarray(owners)[:, np.newaxis]
    return np.where(is_own.any(axis=1), is_own.argmax(axis=1) + 1.0, np.inf)


def measures(ranks: NDArray[np.float64], owners: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """MRR, P@1 and Hits@20 of each entity, the mean over its questions; entities in the order of their names.

    Questions about one entity often share a picture and are not independent, so the entity is the unit of the test.
    `ranks` are those of the only right entity of each question, which is its owner.
    """
    _, codes = np.unique(np.asarray(owners), return_inverse=True)
    of_question = {"mrr": 1 / ranks, "precision@1": ranks <= 1, f"hits@{HITS}": ranks <= HITS}
    return {name: np.bincount(codes, weights=of) / np.bincount(codes) for name, of in of_question.items()}


def table(values: dict[str, dict[str, NDArray[np.float64]]], confidence: float) -> dict[str, Any]:
    """Means, intervals and p-values of all pairs of rows, by measure; `values` are {row: {measure: (entities,)}}."""
    interval = partial(bootstrap_interval, confidence=confidence, resamples=RESAMPLES, seed=SEED)
    rows: dict[str, Any] = {
        row: {
            name: {"value": float(column.mean()), "interval": list(interval(column))}
            for name, column in columns.items()
        }
        for row, columns in values.items()
    }
    tests: list[dict[str, Any]] = []
    for name in next(iter(values.values())):
        matrix = np.array([columns[name] for columns in values.values()])
        p = fisher_randomization(matrix, permutations=PERMUTATIONS, seed=SEED)
        for (i, other), (j, row) in combinations(enumerate(values), 2):
            difference = rows[row][name]["value"] - rows[other][name]["value"]
            tests.append({"measure": name, "row": row, "against": other, "difference": difference, "p": float(p[i, j])})
    return {"rows": rows, "tests": tests}
