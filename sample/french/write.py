"""The French world from parameters to files, in the roles of FQuAD and Calor."""

from pathlib import Path
from typing import TYPE_CHECKING

from trivium.formats.conllu import write_conllu
from trivium.formats.frame_corpora import write_examples, write_texts
from trivium.formats.squad import write_squad

if TYPE_CHECKING:
    from sample.french.french_world import FrenchWorld

from typing import TYPE_CHECKING

from pydantic import Field

from trivium.core.errors import BadInput
from trivium.core.parameters import Parameters

if TYPE_CHECKING:
    from sample.french.french_world import FrenchWorld


def write_fquad(world: "FrenchWorld", out: Path) -> dict[str, Path]:
    """Write `train.json` and `validation.json`; returns them by split."""
    for split, questions in world.fquad.items():
        write_squad(out / f"{split}.json", questions)
    return {split: out / f"{split}.json" for split in world.fquad}


def write_calor(world: "FrenchWorld", out: Path) -> dict[str, Path]:
    """Write `questions.jsonl`, `frames/` and `syntax.conllu`; returns the texts' files by split."""
    for split, texts in world.texts.items():
        write_texts(out / "frames" / f"{split}.jsonl", texts)
    write_examples(out / "questions.jsonl", world.examples)
    write_conllu(out / "syntax.conllu", world.syntax, {text.id: text.text for text in world.texts["test"]})
    return {split: out / "frames" / f"{split}.jsonl" for split in world.texts}


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
    from sample.french.french_world import build_french

    world = build_french(**parameters.model_dump(include=set(ComplexityWorldParameters.model_fields)))
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
    from sample.french.text_statistics import statistics

    return {f"sample_{name}": float(value) for name, value in statistics(world).items()}
