"""Stage `kvqae-world`. Make a sample world, fetch the public data, or take the user's files (kvqae.md §1, §2)."""

from pathlib import Path
from typing import ClassVar

from pydantic import Field

from sample.kvqae.entity_world import SampleSizes, sample_world
from sample.kvqae.write import write_world
from sample.render.difficulty import DifficultyParameters
from trivium.core.errors import BadInput
from trivium.core.parameters import own_folder
from trivium.core.stage import Context, Source, run_stage
from trivium.sources.kvqae.kilt import SmallerBaseParameters
from trivium.sources.kvqae.raw import check_kvqae, validate_kvqae, write_parts


class KvqaeWorldParameters(SampleSizes):
    """The sample world; `hub` reads only `base`, `local` only `local`."""

    places: ClassVar = {
        "local": "world.local.kvqae",
        "picture_size": "kvqae.sample.picture_size",
        "difficulty": "kvqae.sample.difficulty",
    }
    local: str = Field(default="", description="Folder of your own files, which source local reads")
    picture_size: int = Field(ge=64, le=1024, description="Side of a photograph in pixels")
    difficulty: DifficultyParameters = Field(description="How far photographs differ from the reference")
    base: SmallerBaseParameters | None = Field(
        default=None, description="Source hub: a smaller knowledge base, with previews of Commons; null: all, from KILT"
    )


def main(
    parameters: KvqaeWorldParameters, context: Context, *, source: Source, out: Path = Path("data/kvqae/raw")
) -> dict[str, float]:
    """Write `articles.jsonl`, `wikidata.jsonl`, `viquae/`, `images/` and `provenance/` to --out.

    --source sample makes them, hub downloads them, local checks and takes those of the user's folder.
    """
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


if __name__ == "__main__":
    run_stage(main, "kvqae.world", metrics="metrics/kvqae/world.json")
