"""Answers a second of each kind of trained reader, in batches and one at a time: `python -m bench.answers`.

The sample's configurations with the weights they start from: an untrained generative reader writes to its limit, so
that its figure is the slowest it can be. The peer is the same reader asked one question at a time; the answers must
be the same.
"""

import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

from bench import harness
from stages.complexity.finetune import FinetuneParameters
from stages.complexity.reader import Reader, Reading, reader_of
from stages.complexity.squad import write_squad
from stages.stage import read_parameters, section_of, validate
from stages.world.complexity_base_models import ComplexityBaseModelsParameters, make_stand_ins
from stages.world.sample.french import build_french

PARAMS = Path("params.yaml")
QUESTIONS, ALONE, BATCH = 512, 32, 64
READERS = ("camembert", "minilm", "mt5", "llama")  # one of every kind, and real weights


def world(folder: Path) -> tuple[dict[str, Reader], list[Reading]]:
    """Readers by name, and what they are asked: the sample's French."""
    tree = read_parameters(PARAMS)
    base = section_of(tree, "complexity.base_models", PARAMS) | {"models": READERS}
    finetune = section_of(tree, "complexity.finetune", PARAMS)
    french = build_french(0, train=QUESTIONS, validation=20, evaluation=60, frame_texts=20)
    write_squad(folder / "train.json", french.fquad["train"])
    parameters = validate(ComplexityBaseModelsParameters, base, "complexity.base_models", PARAMS)
    make_stand_ins(parameters, folder, folder / "base")
    models = validate(FinetuneParameters, finetune, "complexity.finetune", PARAMS).models
    torch.manual_seed(0)
    readers = {
        name: reader_of(models[name].kind).start(folder / "base" / models[name].base, models[name]) for name in READERS
    }
    for reader in readers.values():
        reader.module.eval()
    return readers, [Reading(each.id, each.question, each.context) for each in french.fquad["train"]]


def figures(reader: Reader, readings: list[Reading]) -> dict[str, float]:
    """Answers a second in batches of `BATCH` and alone, and how many answers differ between the two."""
    alone, together = SimpleNamespace(), SimpleNamespace()

    def ask(kept: Any, asked: list[Reading], batch: int) -> None:
        kept.answers = reader.answer(asked, batch)

    seconds = harness.measure(lambda: ask(together, readings, BATCH), repeats=1)
    one_by_one = harness.measure(lambda: ask(alone, readings[:ALONE], 1), repeats=1)
    rates = len(readings) / seconds, len(alone.answers) / one_by_one
    pairs = zip(alone.answers, together.answers[: len(alone.answers)], strict=True)
    return {
        "answers_a_second": rates[0],
        "times_faster_than_one_at_a_time": rates[0] / rates[1],
        "answers_that_differ": float(sum(one != other for one, other in pairs)),
    }


def main() -> None:
    """Every reader, one after the other."""
    with tempfile.TemporaryDirectory() as folder:
        readers, readings = world(Path(folder))
        found: dict[str, Any] = {"questions": len(readings), "batch": BATCH}
        for name, reader in readers.items():
            found |= {f"{name}_{figure}": value for figure, value in figures(reader, readings).items()}
    harness.write("answers", found | {"versions": harness.versions("torch", "transformers", "peft")})


if __name__ == "__main__":
    main()
