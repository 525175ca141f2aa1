"""The answers of every model in the tables, and of trivial baselines that need no reading (complexity.md §2).

A model has to beat the baselines before its score says anything. One that only knows what *kind*
of span an element takes is shown by `same_group_donors`: its own answers, moved to other questions with the same answer
element.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trivium.core.errors import BadInput
from trivium.formats.answer_files import Predictions, read_predictions
from trivium.formats.framed_texts import Example
from trivium.language.languages import FRENCH, Word
from trivium.measures.french import words

ALONE = -1


def best_overlap_sentence(question: str, text: str) -> str:
    """The sentence with the most distinct content words of the question; the first one at equality, "" without any."""
    stems = FRENCH.content_stems(question)
    candidates = [span.of(text) for span in FRENCH.sentences(text)]
    return max(candidates, key=lambda sentence: len(stems & FRENCH.content_stems(sentence)), default="")


def random_span(text: str, places: Sequence[Word], length: int, rng: np.random.Generator) -> str:
    """So many consecutive words of a text, from anywhere; all of them, `places`, if there are fewer; "" without any."""
    if not places:
        return ""
    length = min(length, len(places))
    first = int(rng.integers(len(places) - length + 1))
    return text[places[first].span.start : places[first + length - 1].span.end]


def same_group_donors(groups: Sequence[str], rng: np.random.Generator) -> NDArray[np.int64]:
    """For every question another one of its group, at random; `ALONE` where the group has no other.

    Each group is put in random order and turned by one, so that every answer is used once and none meets its own
    question.
    """
    donors = np.full(len(groups), ALONE, dtype=np.int64)
    labels = np.asarray(groups)
    for group in dict.fromkeys(groups):
        members = rng.permutation(np.flatnonzero(labels == group))
        if len(members) > 1:
            donors[members] = np.roll(members, 1)
    return donors


NO_SEED = -1
# Columns that stand beside the models' in the tables of stage partition.
RESERVED = frozenset(
    ["core_elements", "elements", "entropy", "examples", "frame", "mean", "occurrences", "other_elements", "triggers"]
)


@dataclass(frozen=True)
class System:
    """A model, trained once a seed."""

    model: str
    kind: str  # extractive, seq2seq, causal, prompted, brought or baseline
    by_seed: Mapping[int, Predictions]  # what it answered; `NO_SEED` where a model has none


def read_trained(folder: Path, readers: Mapping[str, str], seeds: Sequence[int], ids: Sequence[str]) -> list[System]:
    """The fine-tuned readers: `<folder>/<name>/seed-<n>.jsonl`."""
    return [
        System(name, kind, {seed: read_predictions(folder / name / f"seed-{seed}.jsonl", ids) for seed in seeds})
        for name, kind in readers.items()
    ]


def read_files(files: Iterable[Path], kind: str, ids: Sequence[str]) -> list[System]:
    """Models that answered once, each named as its file."""
    return [System(file.stem, kind, {NO_SEED: read_predictions(file, ids)}) for file in files]


def make_baselines(examples: Sequence[Example], seed: int) -> list[System]:
    """The two trivial readers.

    A random span is as long as the reference answer of a random question: the baseline knows how long answers are.
    """
    rng = np.random.default_rng(seed)
    lengths = rng.permutation([max(1, len(words(example.answer_text))) for example in examples])
    answers = {
        "best_overlap_sentence": {row.id: best_overlap_sentence(row.question, row.text.text) for row in examples},
        "random_span": {
            row.id: random_span(row.text.text, FRENCH.in_place(row.text.text), int(length), rng)
            for row, length in zip(examples, lengths, strict=True)
        },
    }
    return [
        System(name, "baseline", {NO_SEED: Predictions(own, missing=0, unknown=0, empty=0)})
        for name, own in answers.items()
    ]


def check_names(systems: Sequence[System]) -> None:
    """Refuse (`BadInput`) two models of one name, and the name of a column of the tables."""
    kinds: dict[str, str] = {}
    for system in systems:
        if system.model in RESERVED:
            raise BadInput(f"no name for a model ({system.kind}): tables have a column of it", field="model",
                           got=system.model, expected=f"none of {', '.join(sorted(RESERVED))}")  # fmt: skip
        if system.model in kinds:
            raise BadInput(
                f"two models of one name, {kinds[system.model]} and {system.kind}", field="model", got=system.model
            )
        kinds[system.model] = system.kind
