"""Stage `decorrelation-world`. Pictures with objects and captions: made here, downloaded, or your own."""

from pathlib import Path
from typing import Literal, get_args

from pydantic import Field, field_validator

from sample.scenes.scene_world import ScenesParameters, write_sample
from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput, naming
from trivium.core.parameters import own_folder, shared
from trivium.core.stage import Context, Source, stage
from trivium.core.tables import write_json
from trivium.decorrelation.co_occurrence import count_co_occurrence, partner_metrics, write_co_occurrence
from trivium.formats.corpus_table import write_corpus
from trivium.formats.picture_corpora import CLASSES, IMAGES, read_corpus
from trivium.formats.pictures import SPLITS, Split
from trivium.sources.decorrelation.checks import validate_decorrelation
from trivium.sources.pins import refuse_download

EntityType = Literal["people", "clothing", "bodyparts", "animals", "vehicles", "instruments", "scene", "other"]


class DecorrelationWorldParameters(ScenesParameters):
    """The sample world, of which `hub` and `local` read nothing, and what Flickr30k's classes are in any world."""

    source: str = shared("world.{dataset}", default="sample", description="Where the data set comes from")
    local: str = shared("world.local.{dataset}", default="", description="Folder of your own files, for source local")
    pictures: Literal["all", "test"] = Field(
        default="all", description="COCO's images that source hub fetches; annotations and captions are there of all"
    )
    entity_types: tuple[EntityType, ...] = Field(
        min_length=2, description="Flickr30k Entities' types that count as classes of objects"
    )

    @field_validator("entity_types")
    @classmethod
    def _once(cls, value: tuple[EntityType, ...]) -> tuple[EntityType, ...]:
        if len(set(value)) < len(value):
            raise ValueError("a type stands twice")
        return value


@stage("decorrelation.world", metrics="metrics/decorrelation/world_{dataset}.json")
def main(
    parameters: DecorrelationWorldParameters,
    context: Context,
    *,
    dataset: Literal["coco", "flickr30k", "control"],
    out: Path = Path("data/decorrelation/raw/{dataset}"),
    out_co_occurrence: Path = Path("metrics/decorrelation/co_occurrence_{dataset}.csv"),
) -> dict[str, float]:
    """Write a raw folder to --out: public annotations, `images/`, and all as `corpus.parquet`; co-occurrence as CSV."""
    source, local = parameters.source, parameters.local
    _check(dataset, source, local)
    pictured: tuple[Split, ...] = ("test",) if source == "hub" and parameters.pictures == "test" else SPLITS
    if source != "sample":
        from trivium.sources.decorrelation.corpora import drop_coco, fetch_coco, take_coco, take_flickr30k
    with write_atomically(out) as folder:
        if source == "sample":
            made = write_sample(dataset, parameters, folder)
            counts = {f"sample_{name}": float(value) for name, value in made.items()}
        elif source == "hub":
            counts = fetch_coco(folder, context.work, context.downloads, pictured=pictured)
        elif dataset == "coco":
            counts = take_coco(Path(local), folder, context.work)
        else:
            counts = take_flickr30k(Path(local), folder)
        if dataset == "flickr30k":
            write_json(folder / CLASSES, list(parameters.entity_types))
        with naming(Path(local) if source == "local" else out, instead_of=folder):
            corpus = read_corpus(folder)
            counts |= validate_decorrelation(folder, corpus, pictured)
        write_corpus(folder, corpus)
        together = count_co_occurrence(corpus)
        write_co_occurrence(out_co_occurrence, together)
    if source == "hub":
        drop_coco(context.downloads)
    return counts | partner_metrics(corpus, together)


def _check(dataset: str, source: str, local: str) -> None:
    sources = ("sample",) if dataset == "control" else get_args(Source)
    if source not in sources:
        raise BadInput("no such source", field=f"world.{dataset}", got=source, choices=sources)
    if dataset == "flickr30k" and source == "hub":
        raise refuse_download(dataset, folders=(IMAGES,))
    if source == "local":
        own_folder(local, f"world.local.{dataset}", f"data/decorrelation/raw/{dataset}")
