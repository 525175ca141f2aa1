"""Stage `kvqae-triviaqa`. Make, fetch or take TriviaQA without ViQuAE's questions (no table of retrieval needs it)."""

from pathlib import Path
from typing import ClassVar

from sample.kvqae.entity_world import SampleSizes, sample_world
from sample.kvqae.write import write_triviaqa
from trivium.core.atomic import write_atomically
from trivium.core.parameters import own_folder, shared
from trivium.core.stage import Context, Source, stage
from trivium.sources.kvqae.raw import check_triviaqa, leave_out_sources, validate_triviaqa


class TriviaqaParameters(SampleSizes):
    """The sample world's sizes; `hub` reads none of it, `local` only `local`."""

    places: ClassVar = {name: f"kvqae.world.{name}" for name in SampleSizes.model_fields}
    local: str = shared("world.local.kvqae", default="", description="Folder of your own files, for source local")


@stage("kvqae.triviaqa", metrics="metrics/kvqae/triviaqa.json")
def main(
    parameters: TriviaqaParameters,
    context: Context,
    *,
    source: Source,
    viquae: Path = Path("data/kvqae/raw/viquae"),
    out: Path = Path("data/kvqae/raw/triviaqa"),
) -> dict[str, float]:
    """Write `train.jsonl`, `validation.jsonl`, `test.jsonl` to --out, without the originals of --viquae."""
    if source == "sample":
        with write_atomically(out) as target:
            write_triviaqa(sample_world(parameters), target)
            return validate_triviaqa(target) | leave_out_sources(target, viquae)
    if source == "hub":
        from trivium.sources.kvqae.hub import fetch_triviaqa

        return fetch_triviaqa(out, viquae, context.downloads)
    folder = own_folder(parameters.local, "world.local.kvqae", "data/kvqae/raw")
    return check_triviaqa(folder / "triviaqa", viquae, out)
