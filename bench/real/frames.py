"""Train a frame parser on a part of the French FrameNet's Sequoia sentences and measure it on the others.

Folds are of sentences. Triggers are scored only where the corpus is annotated: it annotates at most 100 occurrences of
a lemma, so a trigger elsewhere may be right. Some annotated occurrences evoke no frame of the inventory
(`Other_sense`); a trigger there is wrong.

`python -m bench.real.frames` writes `metrics/real/frames.json`: figures, no text of the corpus. With CamemBERT in
`brought/complexity_models/camembert` it measures the pipeline's own parser as well, trained from that.
"""

import argparse
import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bench import harness
from bench.real import REAL, RESULTS, committed
from trivium.complexity.frames.labels import MostFrequentFrame, collect_labels, form_of
from trivium.complexity.frames.linear.features import Words
from trivium.complexity.frames.linear.parser import LinearFrameParser, Pieces
from trivium.complexity.frames.parser_folder import start_parser
from trivium.complexity.frames.parser_training import FrameParserParameters, train_parser
from trivium.complexity.frames.scores import elements_in, frames_in, score_texts, total, triggers_in
from trivium.complexity.frames.tagger import FrameParser
from trivium.core.arithmetic import PORTABLE
from trivium.core.errors import BadInput
from trivium.core.tables import write_json
from trivium.core.tracking import Tracker
from trivium.formats.framed_texts import AnnotatedText, FrameInstance
from trivium.formats.framenet_xml import read_core_types, read_framenet
from trivium.measures.bootstrap import percentiles, resampled_totals
from trivium.measures.frames import SetScore, f1_of_counts, f1_randomization

BROUGHT = Path("brought/complexity_models/camembert")
NO_FRAMES = frozenset(("Other_sense",))
FOLDS, SEED = 5, 1
CONFIDENCE, RESAMPLES, PERMUTATIONS = 0.95, 2000, 10_000
TRAINING = FrameParserParameters(
    windows=16, frames=16, steps=1500, learning_rate=5e-5, max_tokens=256, seed=SEED,
    validate_every=1500, checkpoint_every=1500, validation_texts=0,
)  # fmt: skip


class Lexicon:
    """Baselines: forms that were triggers in most annotations, with the most frequent frame of their lexical unit."""

    def __init__(self, texts: Sequence[AnnotatedText]) -> None:
        annotated = Counter(
            form
            for text in texts
            for form in {span: form_of(span.of(text.text)) for (span,) in triggers_in(text.frames)}.values()
        )
        self._known = MostFrequentFrame(replace(collect_labels(list(map(with_frames, texts))), occurrences=annotated))

    def parse(self, texts: Sequence[str]) -> list[list[FrameInstance]]:
        """Return triggers and frames without elements."""
        return [self._known.parse(text) for text in texts]

    def frames_of(self, texts: Sequence[str], annotations: Sequence[Sequence[FrameInstance]]) -> list[list[str]]:
        """Return the most frequent frame of each lexical unit."""
        del texts
        units = ([frame.lexical_unit for frame in frames] for frames in annotations)
        return [[self._known.frame(unit) for unit in listed] for listed in units]

    def with_elements(
        self, texts: Sequence[str], annotations: Sequence[Sequence[FrameInstance]]
    ) -> list[list[FrameInstance]]:
        """Return the frames without elements, which the lexicon does not know."""
        del texts
        return [[replace(frame, elements=()) for frame in frames] for frames in annotations]


class Sentences(LinearFrameParser):
    """Linear models for texts that are single sentences."""

    @staticmethod
    def prepare(texts: Sequence[str]) -> tuple[Pieces, int]:
        """Return each text whole, as one sentence."""
        return [(number, Words.of(text)) for number, text in enumerate(texts)], 0


Parser = Lexicon | LinearFrameParser | FrameParser


def tagger(texts: Sequence[AnnotatedText], base: Path, work: Path, settings: FrameParserParameters) -> FrameParser:
    """Train the pipeline's parser from an encoder."""
    torch.manual_seed(settings.seed)
    taught = list(map(with_frames, texts))
    parser = start_parser(base, collect_labels(taught), settings.max_tokens)
    train_parser(parser, taught, [], settings, work=work, log=Tracker().log)
    parser.network.eval()
    return parser


def with_frames(text: AnnotatedText) -> AnnotatedText:
    """Keep the annotations that name a frame of the inventory, each trigger with each frame once."""
    kept = {(one.lexical_unit.span, one.frame): one for one in text.frames if one.frame not in NO_FRAMES}
    return replace(text, frames=tuple(kept.values()))


def folds_of(texts: Sequence[AnnotatedText], folds: int, seed: int) -> list[int]:
    """Assign sentences to folds; equal sentences are in one fold."""
    different = {plain: number for number, plain in enumerate(dict.fromkeys(text.text for text in texts))}
    fold = np.random.default_rng(seed).permutation(len(different)) % folds
    return [int(fold[different[text.text]]) for text in texts]


def scored(parser: Parser, texts: Sequence[AnnotatedText]) -> dict[str, list[SetScore]]:
    """Count right and wrong predictions of each sentence, by task.

    `trigger` (its place) and `frame` (place and name) of predictions at annotated places, and `element` of those
    frames; `frame_of_trigger` given trigger and lexical unit; `element_given_frame` given these and the frame.
    """
    plain, true = [text.text for text in texts], list(map(with_frames, texts))
    parsed = [_keep_annotated(frames, text) for frames, text in zip(parser.parse(plain), texts, strict=True)]
    completed = parser.with_elements(plain, [text.frames for text in true])
    named = [
        SetScore(sum(a == b.frame for a, b in zip(names, text.frames, strict=True)), len(names), len(names))
        for names, text in zip(parser.frames_of(plain, [text.frames for text in true]), true, strict=True)
    ]
    return {
        "trigger": score_texts(parsed, true, triggers_in),
        "frame": score_texts(parsed, true, frames_in),
        "frame_of_trigger": named,
        "element_given_frame": score_texts(completed, true, elements_in),
        "element": score_texts(parsed, true, elements_in),
    }


def _keep_annotated(parsed: Iterable[FrameInstance], text: AnnotatedText) -> list[FrameInstance]:
    spans = [span for (span,) in triggers_in(text.frames)]
    return [frame for frame in parsed if any(frame.lexical_unit.span.overlaps(span) for span in spans)]


def measure(
    texts: Sequence[AnnotatedText],
    base: Path | None,
    work: Path,
    folds: int = FOLDS,
    training: FrameParserParameters = TRAINING,
) -> dict[str, Any]:
    """Train on all folds but one and parse that one, for each fold.

    Returns:
        `sentences`, `folds`, `annotated` occurrences, `frames`, `frame_types`, `elements`; of each system and task
        `<system>_<task>` F1 with `_low` and `_high`, and `_p` against the baseline, which finds no elements;
        `<system>_seconds` of learning and reading.
    """
    fold = folds_of(texts, folds, SEED)
    scores: dict[str, dict[str, list[SetScore]]] = {}
    seconds: Counter[str] = Counter()
    for number in range(folds):
        rest = [text for text, of in zip(texts, fold, strict=True) if of != number]
        test_texts = [text for text, of in zip(texts, fold, strict=True) if of == number]
        makers: dict[str, Any] = {
            "baseline": lambda rest=rest: Lexicon(rest),
            "linear": lambda rest=rest: Sentences.learn(rest, no_frames=NO_FRAMES, partial=True, seed=SEED),
        }
        if base is not None:
            place = work / str(number)
            place.mkdir()
            makers["encoder"] = lambda rest=rest, place=place: tagger(rest, base, place, training)
        for system, make in makers.items():
            began = time.perf_counter()
            for task, rows in scored(make(), test_texts).items():
                if system != "baseline" or not task.startswith("element"):
                    scores.setdefault(system, {}).setdefault(task, []).extend(rows)
            seconds[system] += time.perf_counter() - began  # type: ignore[assignment]
        print(f"fold {number + 1} of {folds}: " + ", ".join(
            f"{system} {task} {total(rows).f1:.3f}" for system, tasks in scores.items() for task, rows in tasks.items()
        ))  # fmt: skip
    true = list(map(with_frames, texts))
    figures: dict[str, Any] = {
        "sentences": len(texts),
        "folds": folds,
        "annotated": sum(len(triggers_in(text.frames)) for text in texts),
        "frames": sum(len(text.frames) for text in true),
        "frame_types": len({instance.frame for text in true for instance in text.frames}),
        "elements": sum(len(elements_in(text.frames)) for text in true),
    }
    for system, by_task in scores.items():
        figures[f"{system}_seconds"] = seconds[system]
        for task, rows in by_task.items():
            counts = np.array([(score.right, score.found, score.true) for score in rows], dtype=np.float64)
            drawn = resampled_totals(np.random.default_rng(SEED), counts, RESAMPLES)
            low, high = percentiles(f1_of_counts(drawn), CONFIDENCE)
            figures |= {f"{system}_{task}": total(rows).f1, f"{system}_{task}_low": low, f"{system}_{task}_high": high}
            if system != "baseline" and (baseline := scores["baseline"].get(task)) is not None:
                figures[f"{system}_{task}_p"] = f1_randomization(rows, baseline, permutations=PERMUTATIONS, seed=SEED)
    return figures


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, and keep the figures with date and commit; uncommitted changes are refused."""
    parser = argparse.ArgumentParser(prog="python -m bench.real.frames", description=__doc__)
    parser.add_argument("--corpus", type=Path, default=REAL / "asfalda_sequoia", help="folder with lu/ and frame/")
    corpus = parser.parse_args(argv).corpus
    if not (corpus / "lu").is_dir():
        problem = "the French FrameNet is not there"
        raise BadInput(problem, file=corpus / "lu", expected="set TRIVIUM_REAL, or give --corpus")
    stamp = committed()
    base = BROUGHT if BROUGHT.is_dir() else None
    os.environ[PORTABLE] = "false"  # bf16, where the processor has it
    texts, left = read_framenet(corpus / "lu", read_core_types(corpus / "frame"))
    with tempfile.TemporaryDirectory() as work:
        figures = measure(texts, base, Path(work))
    versions = harness.versions("scikit-learn", *(("torch", "transformers") if base else ()))
    write_json(RESULTS / "frames.json", stamp | figures | {"read": left, "versions": versions})
    print(f"wrote {RESULTS}/frames.json; `make readme` shows it in docs/results.md")


if __name__ == "__main__":
    main()
