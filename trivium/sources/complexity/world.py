"""Raw data of complexity: a French world made here, or FQuAD and Calor as you have them (complexity.md §1)."""

from pathlib import Path
from typing import TYPE_CHECKING

from trivium.formats.conllu import write_conllu
from trivium.formats.frame_corpora import write_examples, write_texts
from trivium.formats.squad import write_squad

if TYPE_CHECKING:
    from sample.french import FrenchWorld


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
