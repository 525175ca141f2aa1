"""Stage `complexity-world`. French questions, annotated texts and syntax: made here, or your own."""

from functools import cache, partial
from pathlib import Path

from pydantic import Field

from sample.french.write import (
    ComplexityWorldParameters,
    describe_sample,
    make_sample,
    write_calor,
    write_crossed,
    write_fquad,
)
from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.stage import Context, run_stage
from trivium.sources.complexity.raw import Raw, take_calor, take_fquad, validate_complexity
from trivium.sources.pins import refuse_download

SOURCES = ("sample", "hub", "local")


class SourcedWorldParameters(ComplexityWorldParameters):
    """Section `complexity.world`, with where either part comes from."""

    elsewhere = {  # noqa: RUF012
        "fquad": "world.fquad",
        "calor": "world.calor",
        "local_fquad": "world.local.fquad",
        "local_calor": "world.local.calor",
    }
    fquad: str = Field(description="Source of the question sets: sample, hub or local")
    calor: str = Field(description="Source of the questions about frames, annotated texts and syntax")
    local_fquad: str = Field(description="Folder of the user's question sets")
    local_calor: str = Field(description="Folder of the user's questions about frames, texts and syntax")


def main(
    parameters: SourcedWorldParameters,
    context: Context,
    *,
    out_fquad: Path = Path("data/complexity/raw/fquad"),
    out_calor: Path = Path("data/complexity/raw/calor"),
    out_crossed: Path = Path("data/complexity/raw/crossed"),
) -> dict[str, float]:
    """Write question sets in SQuAD's format to --out-fquad; questions, annotated texts, syntax to --out-calor.

    Where both parts are the sample's, --out-crossed has facts that are told twice, and two corpora to learn from.

    A source `sample` makes its part, `local` checks and takes the files of the user's folder;
    `hub` cannot be: both sets are given on request, and the message says where to ask.
    """
    _check_source("fquad", parameters.fquad, parameters.local_fquad)
    _check_source("calor", parameters.calor, parameters.local_calor)
    sample = cache(partial(make_sample, parameters))
    counts: dict[str, float] = {}
    with (
        write_atomically(out_fquad) as fquad,
        write_atomically(out_calor) as calor,
        write_atomically(out_crossed) as crossed,
    ):
        # What is validated is the user's own file where there is one, so that errors name it.
        origin = Path(parameters.local_calor) if parameters.calor == "local" else calor
        own = parameters.fquad == "local"
        sets = take_fquad(Path(parameters.local_fquad), fquad) if own else write_fquad(sample(), fquad)
        if parameters.calor == "local":
            frames, counts = take_calor(origin, calor)
        else:
            frames = write_calor(sample(), calor)
        syntax = origin / "syntax.conllu"
        raw = Raw(sets, origin / "questions.jsonl", frames, syntax if syntax.is_file() else None)
        counts |= validate_complexity(raw)
        if "sample" in (parameters.fquad, parameters.calor):
            counts |= describe_sample(sample())
        counts |= write_crossed(parameters if parameters.fquad == parameters.calor == "sample" else None, crossed)
    return counts


def _check_source(name: str, source: str, folder: str) -> None:
    if source not in SOURCES:
        raise BadInput("no such source", field=f"world.{name}", got=source, choices=SOURCES)
    if source == "hub":
        raise refuse_download(name)
    if source == "local" and not folder:
        expected = f"a folder laid out as data/complexity/raw/{name}"
        raise BadInput("no folder given", field=f"world.local.{name}", expected=expected)


if __name__ == "__main__":
    run_stage(main, "complexity.world", SourcedWorldParameters, metrics="metrics/complexity/world.json")
