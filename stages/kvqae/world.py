"""Raw data of KVQAE: a sample world made here, the public data from the hub, or files of your own (kvqae.md §1, §2)."""

from pathlib import Path

from pydantic import Field

from sample.kvqae.entity_world import build_world
from sample.kvqae.world_statistics import statistics
from sample.kvqae.write import write_world
from sample.render.difficulty import DifficultyParameters
from trivium.errors import BadInput
from trivium.files.atomic import write_atomically
from trivium.harness.parameters import Parameters
from trivium.harness.stage import Context, run_stage
from trivium.sources.kvqae.checks import validate_kvqae
from trivium.sources.kvqae.training_questions import leave_out_sources

SOURCES = ("sample", "hub", "local")


class Sizes(Parameters):
    """Questions a split of ViQuAE."""

    train: int = Field(ge=1, description="Training questions")
    validation: int = Field(ge=1, description="Validation questions")
    test: int = Field(ge=1, description="Test questions")


class KvqaeWorldParameters(Parameters):
    """The sample world; `hub` and `local` read none of it."""

    seed: int = Field(ge=0, le=998, description="World seed: other seeds have other entities and other faces")
    articles: int = Field(ge=50, description="Articles with an image: the knowledge base")
    imageless: int = Field(ge=0, description="Articles without image: in Wikipedia, not in the knowledge base")
    sentences: int = Field(ge=4, le=40, description="About how many sentences an article has")
    questions: Sizes = Field(description="ViQuAE's questions a split")
    triviaqa: int = Field(ge=1, description="Most TriviaQA training questions; none about a fact that ViQuAE asks for")
    picture_size: int = Field(ge=64, le=1024, description="Side of a photograph in pixels")
    difficulty: DifficultyParameters = Field(description="How far photographs differ from the reference")


def make_sample(parameters: KvqaeWorldParameters, context: Context, out: Path) -> dict[str, float]:
    """Make the sample world of a seed and write its raw files; returns its statistics and the validator's counts.

    Raises:
        BadInput: the articles hold too few facts for that many questions.
    """
    world = build_world(
        parameters.seed,
        articles=parameters.articles,
        imageless=parameters.imageless,
        sentences=parameters.sentences,
        viquae=parameters.questions.model_dump(),
        triviaqa=parameters.triviaqa,
    )
    for split, asked in world.viquae.items():
        wanted = getattr(parameters.questions, split)
        if len(asked) < wanted:
            raise BadInput(
                f"only {len(asked)} {split} questions can be asked about {parameters.articles} articles",
                field=f"kvqae.world.questions.{split}",
                got=wanted,
                expected="fewer questions or more articles",
            )
    with write_atomically(out) as beside:
        write_world(world, beside, context.engine, size=parameters.picture_size, difficulty=parameters.difficulty)
        counts = validate_kvqae(beside)
        counts |= leave_out_sources(beside, counts["triviaqa_train"])
    return counts | statistics(world)


def main(
    parameters: KvqaeWorldParameters, context: Context, *, source: str, out: Path, local: str = ""
) -> dict[str, float]:
    """Write `articles.jsonl`, `wikidata.jsonl`, `viquae/`, `triviaqa/` and `images/` to --out.

    --source sample makes them, hub downloads them, local checks and takes those of the folder --local.
    """
    if source == "sample":
        return make_sample(parameters, context, out)
    if source == "hub":
        from trivium.sources.kvqae.hub import fetch_kvqae

        return fetch_kvqae(out, context.downloads)
    if source == "local":
        from trivium.sources.kvqae.local import check_kvqae

        if not local:
            raise BadInput("no folder given", field="--local", expected="a folder laid out as data/kvqae/raw")
        return check_kvqae(Path(local), out)
    raise BadInput("no such source", field="world.kvqae", got=source, choices=SOURCES)


if __name__ == "__main__":
    run_stage(main, "kvqae.world", KvqaeWorldParameters)
