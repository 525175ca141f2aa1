"""Compute DELG-style global and local descriptors of the images that RRT compares (kvqae.md §4).

Other images are not described: a description is a hundred times as large as all other features of an image.
"""

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from pydantic import Field

from trivium.core.atomic import write_folder, write_text
from trivium.core.engine import Engine, in_worker
from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.core.parameters import Parameters, shared
from trivium.core.reading import read_lines
from trivium.core.tables import read_json, read_table, write_json
from trivium.formats.questions import read_questions
from trivium.formats.trec import read_run
from trivium.kvqae.knowledge_base.passage_texts import ARTICLES, ArticlePassages
from trivium.measures.runs import PADDING
from trivium.vision.decoding import FLAWS
from trivium.vision.local_descriptors.delg_files import shared_names
from trivium.vision.local_descriptors.extractors import WHY_NOT, Describe, load_extractor
from trivium.vision.local_descriptors.folder import (
    Description,
    FeatureFolder,
    count_images,
    join_features,
    write_features,
)

RERANKED = ("validation", "test")  # splits
FLAWED = ".flaws.json"  # end of the file beside a shard's folder with its number of images by flaw
SIDES = ("kb", "questions")  # names of folders of features and of DELG's files, and of lists


def write_list(path: Path, names: Iterable[str]) -> None:
    """Write a list of image names, none of which may be empty or hold a line break."""
    lines = list(names)
    if broken := [name for name in lines if not name or set(name) & {"\n", "\r"}]:
        raise BadInput("image name that is no line of text", file=path, got=broken[0])
    write_text(path, "".join(f"{name}\n" for name in lines))


def read_list(path: Path) -> list[str]:
    """Read what `write_list` wrote."""
    return [line.rstrip("\n") for _, line in read_lines(path)]


class LocalFeaturesParameters(Parameters):
    """Section `kvqae.local_features`."""

    local: str = shared("world.local.kvqae_models", "", description="Of your own models; DELG's files are in its delg/")
    most: int = Field(ge=1, description="Local descriptors kept an image, the most salient ones")
    max_side: int = shared("kvqae.pictures.max_side", ge=32, description="Pixels of a reduced image's longer side")
    max_pixels: int = shared("kvqae.pictures.max_pixels", ge=1, description="Images with more are counted as too large")


@lru_cache(maxsize=1)
def _extractor(
    folder: Path, files: Path | None, shared: frozenset[str], parameters: LocalFeaturesParameters
) -> tuple[int, Describe]:
    """Load the extractor once a process; a worker uses one CPU thread."""
    if in_worker():
        import cv2

        cv2.setNumThreads(1)
    limits = {"most": parameters.most, "max_side": parameters.max_side, "max_pixels": parameters.max_pixels}
    return load_extractor(folder, files=files, shared=shared, **limits)


def describe_shard(
    shard: Path,
    *,
    work: Path,
    extractor: Path,
    files: Path | None,
    shared: frozenset[str],
    parameters: LocalFeaturesParameters,
    only: frozenset[str] | None,
) -> Path:
    """Describe one shard of images into a folder of `work`; an existing folder is complete and is kept."""
    folder = work / shard.stem
    if folder.exists():
        return folder
    dimension, describe = _extractor(extractor, files, shared, parameters)
    table = read_table(shard, ["name", "data"])
    if only is not None:
        table = table.filter(pa.array([name in only for name in table["name"].to_pylist()], pa.bool_()))
    names, data = table["name"].to_pylist(), table["data"]
    results = [describe(name, image.as_py()) for name, image in zip(names, data, strict=True)]
    described = [None if isinstance(result, str) else result for result in results]
    features = FeatureFolder.of(names, described, most=parameters.most, dimension=dimension)
    flaws = Counter(flaw for result in results if isinstance(result, Description) for flaw in result.flaws)
    write_json(folder.with_suffix(FLAWED), flaws)  # first: an existing folder is complete
    write_features(folder, features, [result if isinstance(result, str) else None for result in results])
    return folder


def describe_images(
    images: Path,
    extractor: Path,
    files: Path | None,
    parameters: LocalFeaturesParameters,
    *,
    engine: Engine,
    work: Path,
    out: Path,
    only: frozenset[str] | None = None,
) -> dict[str, float]:
    """Describe a folder of image shards, or those of its images that `only` names; returns the counts."""
    shards = Images(images)
    shared = shared_names(shards.names) if files is not None and files.is_dir() else frozenset()
    describe = partial(
        describe_shard, work=work, extractor=extractor, files=files, shared=shared, parameters=parameters, only=only
    )
    folders = list(engine.map(describe, shards.shards(), description="local features", out=work))
    flaws = [read_json(folder.with_suffix(FLAWED)) for folder in folders]
    counted = {flaw: sum(shard.get(flaw, 0) for shard in flaws) for flaw in FLAWS}
    return count_images(join_features(folders, out), WHY_NOT) | counted


def write_compared_images(*, runs: Path, questions: Path, kb: Path, depth: int, out: Path) -> dict[str, float]:
    """Write `kb.txt` and `questions.txt`, names of the images that RRT compares for the runs of a folder.

    Those are the images of the questions, and of the articles whose passages are among the best `depth` of a run.
    """
    best = np.concatenate([read_run(runs / f"{split}.trec").first(depth).documents.ravel() for split in RERANKED])
    ranked = np.unique(ArticlePassages(kb).article_of[best[best != PADDING]])
    of_splits = (question for split in RERANKED for question in read_questions(questions / f"{split}.jsonl"))
    shown = {"kb": read_table(kb / ARTICLES, ["image"])["image"].take(ranked).to_pylist()}
    shown["questions"] = [question.image for question in of_splits]
    lists = {name: sorted(set(images) - {None}) for name, images in shown.items()}
    with write_folder(out) as folder:
        for name, images in lists.items():
            write_list(folder / f"{name}.txt", images)
    return {f"{name}_images": float(len(images)) for name, images in lists.items()}
