"""Stage `complexity-world`. French questions, annotated texts and syntax: made here, or your own."""

from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from trivium.files.atomic import write_atomically
from trivium.harness.stage import BadInput, Context, Parameters, run_stage
from trivium.sources.complexity.checks import Raw, validate_complexity
from trivium.sources.complexity.local import take_calor, take_fquad
from trivium.sources.complexity.world import write_calor, write_fquad
from trivium.sources.requested import refuse_download

if TYPE_CHECKING:
    from sample.french import FrenchWorld


SOURCES = ("sample", "hub", "local")


class ComplexityWorldParameters(Parameters):
    """The sample world; `local` reads none of it."""

    seed: int = Field(ge=0, le=998, description="World seed; settings were chosen on 0-2, reported is from 3 on")
    train: int = Field(ge=1, description="Training questions, in FQuAD's role")
    validation: int = Field(ge=1, description="Validation questions, in FQuAD's role")
    evaluation: int = Field(ge=1, description="Questions about frames, in Calor's role")
    frame_texts: int = Field(ge=1, description="Texts annotated with frames that the frame parser learns from")


def make_sample(parameters: ComplexityWorldParameters) -> "FrenchWorld":
    """The sample world of a seed, whole.

    Raises:
        BadInput: it has fewer questions or texts than asked for.
    """
    from sample.french import build_french

    world = build_french(**parameters.model_dump())
    made = {
        "train": len(world.fquad["train"]),
        "validation": len(world.fquad["validation"]),
        "evaluation": len(world.examples),
        "frame_texts": len(world.texts["train"]),
    }
    for field, size in made.items():
        wanted = getattr(parameters, field)
        if size < wanted:
            raise BadInput(f"the sample has only {size}", field=f"complexity.world.{field}", got=wanted)
    return world


def describe_sample(world: "FrenchWorld") -> dict[str, float]:
    """What the sample is like, as `sample_*`: shares of the factors, sizes, overlap of the splits."""
    from sample.french import text_statistics as statistics

    return {f"sample_{name}": float(value) for name, value in statistics(world).items()}


def main(
    parameters: ComplexityWorldParameters,
    context: Context,
    *,
    fquad_source: str,
    calor_source: str,
    out_fquad: Path,
    out_calor: Path,
    local_fquad: str = "",
    local_calor: str = "",
) -> dict[str, float]:
    """Write question sets in SQuAD's format to --out-fquad; questions, annotated texts, syntax to --out-calor.

    A source `sample` makes its part, `local` checks and takes the files of the folder --local-fquad or --local-calor;
    `hub` cannot be: both sets are given on request, and the message says where to ask.
    """
    _check_source("fquad", fquad_source, local_fquad)
    _check_source("calor", calor_source, local_calor)
    sample = cache(partial(make_sample, parameters))
    counts: dict[str, float] = {}
    with write_atomically(out_fquad) as fquad, write_atomically(out_calor) as calor:
        # What is validated is the user's own file where there is one, so that errors name it.
        origin = Path(local_calor) if calor_source == "local" else calor
        sets = take_fquad(Path(local_fquad), fquad) if fquad_source == "local" else write_fquad(sample(), fquad)
        if calor_source == "local":
            frames, counts = take_calor(origin, calor)
        else:
            frames = write_calor(sample(), calor)
        syntax = origin / "syntax.conllu"
        raw = Raw(sets, origin / "questions.jsonl", frames, syntax if syntax.is_file() else None)
        counts |= validate_complexity(raw)
        if "sample" in (fquad_source, calor_source):
            counts |= describe_sample(sample())
    return counts


def _check_source(name: str, source: str, folder: str) -> None:
    if source not in SOURCES:
        raise BadInput("no such source", field=f"world.{name}", got=source, choices=SOURCES)
    if source == "hub":
        raise refuse_download(name)
    if source == "local" and not folder:
        expected = f"a folder laid out as data/complexity/raw/{name}"
        raise BadInput("no folder given", field=f"--local-{name}", expected=expected)


if __name__ == "__main__":
    run_stage(main, "complexity.world", ComplexityWorldParameters)
