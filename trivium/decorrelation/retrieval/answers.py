"""Ask a trained cell: captions for pictures with an object painted out, and R@k both ways (decorrelation.md §3, §4)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import pyarrow as pa
import torch
from pydantic import Field

from trivium.core.atomic import write_atomically
from trivium.core.engine import Engine
from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.core.parameters import Parameters
from trivium.core.tables import write_table
from trivium.decorrelation.removals import read_removals
from trivium.decorrelation.retrieval.ranking import PictureSet, Retriever
from trivium.decorrelation.retrieval.sharded_model import ShardedModel, captions_of, load_once
from trivium.formats.corpus_table import load_captions
from trivium.formats.picture_corpora import IMAGES
from trivium.formats.pictures import Picture, Removal

RENDERED = "rendered"


RANKS = pa.schema([("query", pa.int64()), ("rank", pa.int32())])


class RetrieveParameters(Parameters):
    """Section `decorrelation.retrieve`."""

    depth: int = Field(ge=1, description="Captions retrieved for a picture")
    picture_batch: int = Field(ge=1, description="Pictures encoded together; halves itself when GPU memory runs out")
    caption_batch: int = Field(
        default=512, ge=1, description="Captions encoded together; halves itself when GPU memory runs out"
    )
    threads: int | None = Field(ge=1, description="CPU threads of a process, null: all; small networks like one best")
    candidates: dict[str, Annotated[int, Field(ge=1)]] = Field(
        description="Captions, or pictures, that BLIP scores again for a query, by data set (k_test)"
    )

    def candidates_of(self, dataset: str) -> int:
        """The number of candidates that are scored again; `BadInput` where none stands for the data set."""
        if dataset not in self.candidates:
            raise BadInput("no number of candidates for the data set", field="candidates", got=dataset,
                           choices=self.candidates)  # fmt: skip
        return self.candidates[dataset]


def ask(
    parameters: RetrieveParameters,
    *,
    candidates: int,
    model: Path,
    raw: Path,
    removals: Path,
    painted: Path,
    engine: Engine,
    work: Path,
    out: Path,
) -> dict[str, float]:
    """Write a cell's tables; what a killed run has encoded and matched in `work` is not done again.

    A model with a second stage scores so many `candidates` again for a query. `raw`, `removals` and `painted` are
    of the cell's data set, `painted` with the filling of its queries. Returns the number of queries of each kind,
    and R@1 both ways.

    Raises:
        BadInput: a model, a removal or a picture that is not there, or fewer captions or candidates than are asked for.
    """
    if parameters.threads is not None:
        torch.set_num_threads(parameters.threads)
    corpus = load_captions(raw)
    tested = [picture for picture in corpus.pictures if picture.split == "test"]
    sets, metrics = picture_sets(tested, raw, removals, painted)
    captions = captions_of(corpus)
    work.mkdir(parents=True, exist_ok=True)
    sharded = ShardedModel(model, parameters.picture_batch, parameters.caption_batch, engine, work)
    with write_atomically(out) as folder:
        try:
            retriever = Retriever(sharded, captions, sharded.encode_texts(captions.texts), candidates)
            for name, pictures in sets.items():
                write_table(folder / f"{name}.parquet", retriever.lists(pictures, parameters.depth))
                metrics[f"{name}_queries"] = float(len(pictures.names))
            original, empty = sets["original"], sets["empty"]
            described = captions.ids[captions.test].tolist()
            for name, queries, ranks in (
                ("image_to_text", original.owners, retriever.image_to_text(original)),
                ("empty_image_to_text", empty.owners, retriever.image_to_text(empty)),
                ("text_to_image", described, retriever.text_to_image(original)),
            ):
                table = {"query": list(queries), "rank": ranks.astype(np.int32)}
                write_table(folder / f"{name}.parquet", pa.table(table, schema=RANKS))
                if name != "empty_image_to_text":
                    metrics[f"{name}_r@1"] = float((ranks == 1).mean())
        finally:
            load_once.cache_clear()
    metrics["captions"] = float(len(captions.ids))
    return metrics


def picture_sets(
    tested: Sequence[Picture], raw: Path, removals: Path, painted: Path
) -> tuple[dict[str, PictureSet], dict[str, float]]:
    """The sets `original`, `synthetic`, `empty` and, where the sample world drew it, `rendered`, and a count.

    The count is of pictures that were rendered again but are no removal. `BadInput`: no test picture, a folder
    without images.
    """
    if not tested:
        raise BadInput("no test picture", file=raw)
    drawn = [
        removal for removal in read_removals(removals / "removals.parquet") if removal.split == "test" and removal.drawn
    ]
    boxes = read_removals(removals / "empty.parquet")
    queries = tuple(str(picture.id) for picture in tested)
    names, owners = tuple(picture.name for picture in tested), tuple(picture.id for picture in tested)
    sets = {
        "original": PictureSet("original", raw / IMAGES, names, queries, owners),
        "synthetic": _painted("synthetic", painted / "test", drawn),
        "empty": _painted("empty", painted / "empty", boxes),
    }
    metrics = {}
    if (raw / RENDERED).is_dir():
        again = set(Images(raw / RENDERED).names)
        # One class is missing from these, so removals of several have no counterpart.
        alike = [removal for removal in drawn if removal.id in again and len(removal.removed) == 1]
        sets["rendered"] = _painted("rendered", raw / RENDERED, alike)
        metrics["rendered_without_removal"] = float(len(again) - len(alike))
    return sets, metrics


def _painted(name: str, folder: Path, removals: Sequence[Removal]) -> PictureSet:
    names = tuple(removal.id for removal in removals)
    return PictureSet(name, folder, names, names, tuple(removal.picture for removal in removals))
