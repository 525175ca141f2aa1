"""Stage `kvqae-world`. Make a sample world, fetch the public data, or take the user's files (kvqae.md §1, §2)."""

from pathlib import Path

from pydantic import Field

from sample.kvqae.entity_world import SampleSizes, sample_world
from sample.kvqae.write import write_world
from sample.render.photo import Difficulty
from trivium.core.errors import BadInput
from trivium.core.parameters import own_folder, shared
from trivium.core.stage import Context, Source, stage
from trivium.sources.kvqae.kilt import SmallerBaseParameters
from trivium.sources.kvqae.raw import check_kvqae, validate_kvqae, write_parts


class KvqaeWorldParameters(SampleSizes):
    """The sample world; `hub` reads only `base`, `local` only `local`."""

    local: str = shared("world.local.kvqae", default="", description="Folder of your own files, for source local")
    picture_size: int = shared("kvqae.sample.picture_size", ge=64, le=1024, description="Side of a photograph, pixels")
    difficulty: Difficulty = shared(
        "kvqae.sample.difficulty", description="How far photographs differ from the reference"
    )
    base: SmallerBaseParameters | None = Field(
        default=None, description="Source hub: a smaller knowledge base, with previews of Commons; null: all, from KILT"
    )


@stage("kvqae.world", metrics="metrics/kvqae/world.json")
def main(
    parameters: KvqaeWorldParameters, context: Context, *, source: Source, out: Path = Path("data/kvqae/raw")
) -> dict[str, float]:
    """Write `articles.jsonl`, `wikidata.jsonl`, `viquae/`, `images/` and `provenance/` to --out."""
    if parameters.base and source != "hub":
        field, expected = "kvqae.world.base", f"null where world.kvqae is {source}"
        raise BadInput("a smaller base is chosen of the hub's", field=field, got=parameters.base, expected=expected)
    if source == "sample":
        world = sample_world(parameters)
        with write_parts(out) as target:
            write_world(world, target, context.engine, size=parameters.picture_size, difficulty=parameters.difficulty)
            return validate_kvqae(target)
    if source == "hub":
        from trivium.sources.kvqae.hub import fetch_kvqae

        return fetch_kvqae(out, context.downloads, base=parameters.base)
    return check_kvqae(own_folder(parameters.local, "world.local.kvqae", "data/kvqae/raw"), out)
