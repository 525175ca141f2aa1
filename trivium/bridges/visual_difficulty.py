"""What makes visual questions hard for the KVQAE reader: the same validation on the factors that make sense there.

The reader sees retrieved passages, so half of the factors are about retrieval. The score is its F1, the
mean over its seeds; questions about one entity are drawn together. No frames, no syntax: f0 to f6 are not computed.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trivium.core.tables import read_table
from trivium.formats.questions import Question
from trivium.measures.effects import NEITHER, code_by_cut
from trivium.measures.runs import PADDING, Run

_MENTION = re.compile(r"\b(?:this|that|these|those)\s+(\w+)", re.IGNORECASE)
_VAGUE = frozenset(["man", "woman", "person", "people", "place", "thing", "object"])


def vague_mention(question: str) -> bool:
    """Whether a question does not say what kind of thing is shown: a bare pronoun or "this man", not "this painter"."""
    return not any(noun.lower() not in _VAGUE for noun in _MENTION.findall(question))


def kvqae_factors(
    questions: Sequence[Question],
    run: Run,
    relevant: NDArray[np.bool_],
    overlaps: NDArray[np.float64],
    routing: dict[str, tuple[bool, bool]],
) -> tuple[dict[str, NDArray[np.int8]], dict[str, float]]:
    """Codes of every factor, (questions,) of 1 (yes, expected harder), 0 (no), -1 (neither), and the cuts found.

    Args:
        run: the passages that the reader read, best first; `relevant`, (questions, depth), says which are.
        overlaps: (questions,) of the question with the first passage; NaN where it is not defined.
        routing: by question, whether a face was found and whether the entity is a person.
    """
    has_passage = run.documents[:, 0] != PADDING
    lengths = np.array([len(question.original_answer.split()) for question in questions], dtype=np.float64)
    codes: dict[str, NDArray] = {
        "vague_mention": np.array([vague_mention(question.text) for question in questions]),
        "not_a_person": np.array([not routing[question.id][1] for question in questions]),
        "no_face": np.array([not routing[question.id][0] for question in questions]),
        "number_answer": np.array([any(map(str.isdigit, question.original_answer)) for question in questions]),
        "no_relevant_passage": np.asarray(~relevant.any(axis=1)),
        "first_not_relevant": np.where(has_passage, ~relevant[:, 0], NEITHER),
    }
    cuts: dict[str, float] = {}
    for name, values, low in (("long_answer", lengths, False), ("low_overlap", overlaps, True)):
        if coded := code_by_cut(values, low=low):
            codes[name], cuts[name] = coded
    return {name: code.astype(np.int8) for name, code in codes.items()}, cuts


def read_scores(path: Path, ids: Sequence[str]) -> NDArray[np.float64]:
    """The reader's F1 on each question, mean over its seeds; `KeyError` where a seed lacks a question."""
    columns = read_table(path, ["id", "seed", "f1"]).to_pydict()
    by_seed: dict[int | None, dict[str, float]] = {}
    for identifier, seed, value in zip(*columns.values(), strict=True):
        by_seed.setdefault(seed, {})[identifier] = value
    return np.mean([[values[identifier] for identifier in ids] for values in by_seed.values()], axis=0)
