"""Write the French world's files, in the roles of FQuAD and Calor."""

from pathlib import Path
from typing import Any

import pyarrow as pa
from pydantic import Field

from sample.french.facts import build_crossed
from sample.french.french_world import FrenchWorld
from trivium.core.parameters import Parameters
from trivium.core.tables import write_table
from trivium.formats.conllu import write_conllu
from trivium.formats.facts import FACTS
from trivium.formats.frame_corpora import write_examples, write_texts
from trivium.formats.squad import write_squad


class CrossedParameters(Parameters):
    """Section `complexity.world.crossed`."""

    train: int = Field(ge=1, description="Training questions of either corpus")
    facts: int = Field(ge=2, description="Facts about each of f1, f2 with f3, f4, f5")
    assigned_facts: int = Field(ge=2, description="Facts about f0 with f6, told in the words of each corpus")


class ComplexityWorldParameters(Parameters):
    """The sample world; `local` reads none of it."""

    seed: int = Field(ge=0, le=998, description="World seed; settings were chosen on 0 to 2, results are from 3 on")
    train: int = Field(ge=1, description="Training questions, in FQuAD's role")
    validation: int = Field(ge=1, description="Validation questions, in FQuAD's role")
    evaluation: int = Field(ge=1, description="Questions about frames, in Calor's role")
    frame_texts: int = Field(ge=1, description="Texts annotated with frames that the frame parser learns from")
    crossed: CrossedParameters = Field(description="Facts told twice, and two corpora that give frames opposite roles")


def write_fquad(world: FrenchWorld, out: Path) -> dict[str, Path]:
    """Write `train.json` and `validation.json`; returns them by split."""
    for split, questions in world.fquad.items():
        write_squad(out / f"{split}.json", questions)
    return {split: out / f"{split}.json" for split in world.fquad}


def write_calor(world: FrenchWorld, out: Path) -> dict[str, Path]:
    """Write `questions.jsonl`, `frames/` and `syntax.conllu`; returns the texts' files by split."""
    for split, texts in world.texts.items():
        write_texts(out / "frames" / f"{split}.jsonl", texts)
    write_examples(out / "questions.jsonl", world.examples)
    write_conllu(out / "syntax.conllu", world.syntax, {text.id: text.text for text in world.texts["test"]})
    return {split: out / "frames" / f"{split}.jsonl" for split in world.texts}


def write_crossed(parameters: ComplexityWorldParameters | None, out: Path) -> dict[str, float]:
    """Write `facts.parquet` and a folder with `train.json` for each corpus; None gives no facts and no corpus."""
    rows: list[dict[str, Any]] = []
    if parameters is not None:
        corpora, rows = build_crossed(parameters.seed, **parameters.crossed.model_dump())
        for corpus, questions in corpora.items():
            write_squad(out / corpus / "train.json", questions)
    write_table(out / "facts.parquet", pa.Table.from_pylist(rows, FACTS))
    return {"facts": float(len({row["fact"] for row in rows}))}
