"""Stage `complexity-world`. French questions, annotated texts and syntax: made here, or your own."""

from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from sample.french.write import ComplexityWorldParameters, describe_sample, make_sample, write_calor, write_fquad
from trivium.errors import BadInput
from trivium.files.atomic import write_atomically
from trivium.harness.stage import Context, run_stage
from trivium.sources.complexity.checks import Raw, validate_complexity
from trivium.sources.complexity.local import take_calor, take_fquad
from trivium.sources.requested import refuse_download

if TYPE_CHECKING:
    pass


SOURCES = ("sample", "hub", "local")


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
