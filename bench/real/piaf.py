"""Train a reader that starts from the packaged MiniLM on a part of PIAF, and measure it on unseen articles.

MiniLM knows English, and after a few minutes on PIAF with one core it is no better than a random span (ROUGE-L .09 to
.08). So it is first trained on the sample's French, which easily teaches it to match question and context.

`python -m bench.real.piaf` writes `metrics/real/piaf.json`: figures and question ids, no text of PIAF.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bench import harness
from bench.real import REAL, RESULTS, committed
from sample.french.french_world import build_french
from tests.complexity.tiny_readers import settings
from trivium.complexity.readers.finetuning import train
from trivium.complexity.readers.interface import Reading
from trivium.complexity.readers.kinds.extractive import ExtractiveReader
from trivium.complexity.systems import best_overlap_sentence, random_span
from trivium.core.arithmetic import PORTABLE
from trivium.core.errors import BadInput
from trivium.core.tables import write_json
from trivium.formats.squad import SquadQuestion, read_squad
from trivium.language.languages import FRENCH
from trivium.measures.french import exact_match, f1
from trivium.measures.rouge import is_mangled, rouge_l
from trivium.sources.plain_weights import save_text

FILE = "piaf-v1.0.json"
HELD_OUT, ASKED = 40, 400  # numbers of articles and of their questions
EMPTY = 0.3  # share of the windows without answer that are trained on: most windows are
LAYERS, STEPS_SAMPLE, STEPS_PIAF = 3, 280, 450
_COMMON = {"answer_tokens": 40, "frozen_embeddings": True, "frozen_layers": 1, "max_tokens": 128, "stride": 32}


def measure(folder: Path, work: Path) -> dict[str, Any]:
    """Train on PIAF without some articles, and answer questions about those.

    Args:
        folder: holds PIAF 1.0.
        work: an empty folder for base model and checkpoints.

    Returns:
        Counts of the set (`questions`, `wrong_offset_answers`, `wrong_offset_ids`, `left_out`), of the training
        (`trained_questions`, `windows`, `epochs`, `seconds`) and of the test (`asked_questions`,
        `asked_articles`); `mangled_references`, the share of all reference answers that the paper's tokenizer mangles;
        `<system>_em`, `_f1`, `_rouge_l` (Unicode-aware), `_rouge_l_paper` of the reader and of two trivial baselines.
    """
    piaf = read_squad(folder / FILE)
    rng = np.random.default_rng(0)
    titles = sorted({question.title for question in piaf.questions})
    held_out = set(rng.permutation(titles)[:HELD_OUT].tolist())
    training = [question for question in piaf.questions if question.title not in held_out]
    questions = [question for question in piaf.questions if question.title in held_out][:ASKED]
    began = time.perf_counter()
    reader, trained = _train(training, rng, work)
    seconds = time.perf_counter() - began
    readings = [Reading(question.id, question.question, question.context) for question in questions]
    answers = [answer.text for answer in reader.answer(readings, 16)]
    if not all(answer in question.context for answer, question in zip(answers, questions, strict=True)):
        raise AssertionError("an extractive reader's answer that is not in its context")
    references = [question.answers[0][0] for question in questions]
    all_answers = [text for question in piaf.questions for text, _ in question.answers]
    spans = [
        random_span(question.context, FRENCH.in_place(question.context), len(reference.split()), rng)
        for question, reference in zip(questions, references, strict=True)
    ]
    systems = {
        "reader": answers,
        "overlap_sentence": [best_overlap_sentence(question.question, question.context) for question in questions],
        "random_span": spans,
    }
    return {
        "questions": len(piaf.questions),
        "left_out": piaf.dropped,
        "wrong_offset_answers": len(piaf.wrong_answers),
        "wrong_offset_ids": list(piaf.wrong_answers),
        "mangled_references": float(np.mean(list(map(is_mangled, all_answers)))),
        "trained_questions": len(training),
        **trained,
        "seconds": seconds,
        "asked_articles": len({question.title for question in questions}),
        "asked_questions": len(questions),
        **{
            f"{system}_{name}": value
            for system, predictions in systems.items()
            for name, value in _scores(predictions, references).items()
        },
    }


def _train(
    training: Sequence[SquadQuestion], rng: np.random.Generator, work: Path
) -> tuple[ExtractiveReader, dict[str, float]]:
    """Train a reader on the sample's French, then on these questions; returns it and counts."""
    save_text(work / "minilm", layers=range(LAYERS))
    torch.manual_seed(0)
    first = settings(**_COMMON, learning_rate=7e-4, max_steps=STEPS_SAMPLE, epochs=1)
    reader = ExtractiveReader.start(work / "minilm", first)
    sample = build_french(0, train=4200, validation=40, evaluation=120, frame_texts=8).fquad["train"]
    _fit(reader, reader.features(sample).items, work / "first")
    reader.settings = settings(**_COMMON, learning_rate=4e-4, max_steps=STEPS_PIAF, epochs=1)
    windows: Sequence[Any] = reader.features(training).items
    kept = [window for window in windows if window.end or rng.random() < EMPTY]
    done = _fit(reader, kept, work / "second")
    return reader, {"windows": float(len(kept)), "epochs": done["epochs"]}


def _fit(reader: ExtractiveReader, items: Sequence[Any], work: Path) -> dict[str, float]:
    work.mkdir()
    quiet: Callable[..., None] = lambda *_, **__: None  # noqa: E731
    return train(reader, items, seed=0, work=work, checkpoint_every=10_000, log=quiet)


def _scores(predictions: Sequence[str], references: Sequence[str]) -> dict[str, float]:
    pairs = list(zip(predictions, references, strict=True))
    return {
        "em": float(np.mean([exact_match(*pair) for pair in pairs])),
        "f1": float(np.mean([f1(*pair) for pair in pairs])),
        "rouge_l": float(rouge_l(references, predictions).mean()),
        "rouge_l_paper": float(rouge_l(references, predictions, setting="paper").mean()),
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, and keep the figures with date and commit; uncommitted changes are refused."""
    parser = argparse.ArgumentParser(prog="python -m bench.real.piaf", description=__doc__)
    parser.add_argument("--piaf", type=Path, default=REAL / "piaf", help="the folder that holds PIAF 1.0")
    folder = parser.parse_args(argv).piaf
    if not (folder / FILE).is_file():
        raise BadInput("PIAF 1.0 is not there", file=folder / FILE, expected="set TRIVIUM_REAL, or give --piaf")
    stamp = committed()
    os.environ[PORTABLE] = "false"  # bf16, where the processor has it
    with tempfile.TemporaryDirectory() as work:
        measured = measure(folder, Path(work))
    figures = stamp | measured | {"versions": harness.versions("torch", "transformers")}
    write_json(RESULTS / "piaf.json", figures)
    print(f"wrote {RESULTS}/piaf.json; `make readme` shows it in docs/results.md")


if __name__ == "__main__":
    main()
