"""Stage `kvqae-sources`. Make or fetch the sources of the construction: TriviaQA, Wikidata, Commons (kvqae.md §2)."""

import shutil
from pathlib import Path

from pydantic import Field

from sample.render.photo import Difficulty
from trivium.core.atomic import write_folder
from trivium.core.parameters import Parameters, own_folder, shared
from trivium.core.stage import Context, Source, stage
from trivium.sources.kvqae.raw import CONCRETE_TYPES


class KvqaeSourcesParameters(Parameters):
    """Section `kvqae.sources`; `local` reads only `local`, `hub` only `files` and `picture_size`."""

    local: str = shared("world.local.kvqae", default="", description="Folder of your own files, for source local")
    questions: int = Field(ge=1, description="Candidate questions of the sample")
    linked: float = Field(ge=0, le=1, description="Share of the sample's questions that TagMe links to their entity")
    files: int = Field(ge=3, le=500, description="Most files of a Commons category")
    picture_size: int = shared("kvqae.sample.picture_size", ge=64, le=4096, description="Width of pictures, pixels")
    difficulty: Difficulty = shared("kvqae.sample.difficulty", description="How far photographs differ")
    annotated: int = Field(ge=20, description="Sentences that the sample annotates, to train its spaCy pipeline")


@stage("kvqae.sources", metrics="metrics/kvqae/sources.json")
def main(
    parameters: KvqaeSourcesParameters,
    context: Context,
    *,
    source: Source,
    raw: Path = Path("data/kvqae/raw"),
    world_seed: int,
    world_articles: int,
    world_imageless: int,
    out: Path = Path("data/kvqae/sources"),
) -> dict[str, float]:
    """Write `triviaqa.json`, `wikidata.jsonl`, `commons.jsonl`, `images/`, `annotated.jsonl`, `concrete_types.csv`.

    --source sample makes them about the entities of the sample world in --raw, regenerated from --world-seed,
    --world-articles and --world-imageless; hub fetches them for the entities of --raw; local takes those of sources/ in
    the user's folder.
    """
    if source == "sample":
        from sample.kvqae.construction import write_sources
        from sample.kvqae.entities import populate

        entities, _ = populate(world_seed, articles=world_articles, imageless=world_imageless)
        with write_folder(out) as target:
            shutil.copyfile(CONCRETE_TYPES, target / CONCRETE_TYPES.name)
            return write_sources(
                target, raw, entities, context.engine, seed=world_seed, questions=parameters.questions,
                linked=parameters.linked, files=parameters.files, annotated=parameters.annotated,
                size=parameters.picture_size, difficulty=parameters.difficulty,
            )  # fmt: skip
    from trivium.sources.kvqae.construction import check_sources, fetch_sources

    if source == "hub":
        return fetch_sources(out, raw, context.downloads, files=parameters.files, width=parameters.picture_size)
    return check_sources(own_folder(parameters.local, "world.local.kvqae", "data/kvqae") / "sources", out)
