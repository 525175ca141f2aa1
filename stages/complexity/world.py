"""Stage `complexity-world`. French questions, annotated texts and syntax: made here, or your own."""

from functools import cache, partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from pydantic import Field

from sample.french.facts import build_crossed
from sample.french.french_world import build_french, write_calor, write_fquad
from trivium.complexity.question_tasks import CONFIG, question_tasks, read_questions
from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.parameters import Parameters, own_folder, shared
from trivium.core.stage import Context, stage
from trivium.core.tables import write_json, write_table
from trivium.formats.facts import FACTS
from trivium.formats.frame_corpora import read_texts, write_examples
from trivium.formats.squad import write_squad
from trivium.sources.complexity import raw
from trivium.sources.pins import refuse_download

EXPORT = "questions.json"  # of Label Studio, in the user's folder
SOURCES = {"fquad": ("sample", raw.PIAF, "local"), "calor": ("sample", raw.FRAMENET, "local")}


class CrossedParameters(Parameters):
    """Section `complexity.world.crossed`."""

    train: int = Field(ge=1, description="Training questions of either corpus")
    facts: int = Field(ge=2, description="Facts about each of f1, f2 with f3, f4, f5")
    assigned_facts: int = Field(ge=2, description="Facts about f0 with f6, told in the words of each corpus")


class SourcedWorldParameters(Parameters):
    """The sample world, of which `local` reads nothing, and where either part comes from."""

    seed: int = Field(ge=0, le=998, description="World seed; settings were chosen on 0 to 2, results are from 3 on")
    train: int = Field(ge=1, description="Training questions, in FQuAD's role")
    validation: int = Field(ge=1, description="Validation questions, in FQuAD's role")
    evaluation: int = Field(ge=1, description="Questions about frames, in Calor's role")
    frame_texts: int = Field(ge=1, description="Texts annotated with frames that the frame parser learns from")
    crossed: CrossedParameters = Field(description="Facts told twice, and two corpora that give frames opposite roles")
    fquad: str = shared("world.fquad", description="Source of the question sets: sample, piaf (public) or local")
    calor: str = shared(
        "world.calor",
        description="Source of the questions about frames, annotated texts and syntax: sample or local; "
        "french_framenet (public) has texts alone",
    )
    local_fquad: str = shared("world.local.fquad", description="Folder of the user's question sets")
    local_calor: str = shared("world.local.calor", description="Folder of the user's questions, texts and syntax")


@stage("complexity.world", metrics="metrics/complexity/world.json")
def main(
    parameters: SourcedWorldParameters,
    context: Context,
    *,
    out_fquad: Path = Path("data/complexity/raw/fquad"),
    out_calor: Path = Path("data/complexity/raw/calor"),
    out_crossed: Path = Path("data/complexity/raw/crossed"),
) -> dict[str, float]:
    """Write question sets in SQuAD's format to --out-fquad; questions, annotated texts, syntax to --out-calor.

    Where both parts are the sample's, --out-crossed has facts that are stated twice, and two corpora to learn from.

    A source `sample` makes its part, `local` checks and takes the files of the user's folder; `piaf` and
    `french_framenet` are downloaded; of the latter people write the questions, by tasks for Label Studio. `hub` cannot
    be: both sets are given on request, and the message says where to ask.
    """
    _check_source("fquad", parameters.fquad, parameters.local_fquad)
    _check_source("calor", parameters.calor, parameters.local_calor)
    sizes = parameters.model_dump(include={"seed", "train", "validation", "evaluation", "frame_texts"})
    sample = cache(partial(build_french, **sizes))
    counts: dict[str, float] = {}
    with (
        write_atomically(out_fquad) as fquad,
        write_atomically(out_calor) as calor,
        write_atomically(out_crossed) as crossed,
    ):
        # What is validated is the user's own file where there is one, so that errors name it.
        origin = Path(parameters.local_calor) if parameters.calor == "local" else calor
        if parameters.fquad == raw.PIAF:
            sets = raw.take_piaf(fquad, context.downloads)
        elif parameters.fquad == "local":
            sets = raw.take_fquad(Path(parameters.local_fquad), fquad)
        else:
            sets = write_fquad(sample(), fquad)
        if parameters.calor == raw.FRAMENET:
            frames, counts = raw.take_french_framenet(calor, context.downloads)
            _ask_people(frames["test"], Path(parameters.local_calor) / EXPORT, calor)
        elif parameters.calor == "local":
            frames, counts = raw.take_calor(origin, calor)
        else:
            frames = write_calor(sample(), calor)
        questions, syntax = origin / "questions.jsonl", origin / "syntax.conllu"
        has_questions = parameters.calor != raw.FRAMENET or questions.is_file()
        taken_syntax = syntax if syntax.is_file() else None
        counts |= raw.validate_complexity(sets, questions if has_questions else None, frames, taken_syntax)
        counts |= _write_crossed(parameters, crossed)
    return counts


def _ask_people(frames: Path, export: Path, out: Path) -> None:
    """Write tasks for Label Studio, and the questions of its export where there is one."""
    texts = read_texts(frames)
    write_json(out / "label_studio" / "tasks.json", question_tasks(texts, seed=0))
    (out / "label_studio" / "config.xml").write_text(CONFIG, "utf-8")
    if export.is_file():
        write_examples(out / "questions.jsonl", read_questions(export, texts))


def _write_crossed(parameters: SourcedWorldParameters, out: Path) -> dict[str, float]:
    """Write `facts.parquet` and a folder with `train.json` for each corpus; none where a part is not the sample's."""
    rows: list[dict[str, Any]] = []
    if parameters.fquad == parameters.calor == "sample":
        corpora, rows = build_crossed(parameters.seed, **parameters.crossed.model_dump())
        for corpus, questions in corpora.items():
            write_squad(out / corpus / "train.json", questions)
    write_table(out / "facts.parquet", pa.Table.from_pylist(rows, FACTS))
    return {"facts": float(len({row["fact"] for row in rows}))}


def _check_source(name: str, source: str, folder: str) -> None:
    if source == "hub":
        raise refuse_download(name, choices=SOURCES[name])
    if source not in SOURCES[name]:
        raise BadInput("no such source", field=f"world.{name}", got=source, choices=SOURCES[name])
    if source == "local":
        own_folder(folder, f"world.local.{name}", f"data/complexity/raw/{name}")
