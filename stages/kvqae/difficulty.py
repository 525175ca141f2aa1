"""What makes visual questions hard for the KVQAE reader: the same validation on the factors that make sense there.

The reader sees passages that were retrieved, so that half of the factors are about retrieval. The score is its F1, the
mean over its seeds; questions about one entity are drawn together. No frames, no syntax: f0 to f6 are not computed.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from stages.complexity.effects.effect_rows import effect_metrics, effect_rows, shares, write_effects
from stages.kvqae.lexical_overlap import content_stems, overlap
from stages.kvqae.passage_texts import read_passage_texts
from stages.kvqae.questions import Question, read_questions
from stages.measures.effects import NEITHER
from stages.measures.even_cut import even_cut
from stages.measures.reorder import first
from stages.measures.runs import PADDING, Run, relevance_matrix
from stages.stage import BadInput, Context, Parameters, run_stage
from stages.tables import read_table
from stages.trec import read_qrels, read_run_over

MODEL = "kvqae_reader"
_MENTION = re.compile(r"\b(?:this|that|these|those)\s+(\w+)", re.IGNORECASE)
_VAGUE = frozenset(["man", "woman", "person", "people", "place", "thing", "object"])


class DifficultyParameters(Parameters):
    """Section `kvqae.difficulty`."""

    risk: float = Field(gt=0, lt=1, description="Of a false alarm, of every test and of Holm's correction")
    smallest_set: int = Field(ge=1, description="Fewest questions that either set of an analysed factor must hold")
    confidence: float = Field(gt=0, lt=1, description="Of the intervals")
    resamples: int = Field(ge=1, description="Bootstrap samples of entities")
    seed: int = Field(ge=0, description="Of the bootstrap")


def vague_mention(question: str) -> bool:
    """Whether the words do not say what kind of thing is shown: a bare pronoun, or "this man", not "this painter"."""
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
        questions: in the order of all others.
        run: the passages that the reader read, best first.
        relevant: (questions, depth) which of its passages are.
        overlaps: (questions,) of the question with the first passage; NaN where it is not defined.
        routing: by question, whether a face was found and whether the entity is a person.
    """
    found = run.documents[:, 0] != PADDING
    lengths = np.array([len(question.original_answer.split()) for question in questions], dtype=np.float64)
    codes: dict[str, NDArray] = {
        "vague_mention": np.array([vague_mention(question.text) for question in questions]),
        "not_a_person": np.array([not routing[question.id][1] for question in questions]),
        "no_face": np.array([not routing[question.id][0] for question in questions]),
        "number_answer": np.array([any(map(str.isdigit, each.original_answer)) for each in questions]),
        "no_relevant_passage": np.asarray(~relevant.any(axis=1)),
        "first_not_relevant": np.where(found, ~relevant[:, 0], NEITHER),
    }
    cuts: dict[str, float] = {}
    for name, values, low in (("long_answer", lengths, False), ("low_overlap", overlaps, True)):
        known = np.isfinite(values)
        cut = even_cut(values[known]) if known.any() else None
        if cut is not None:
            cuts[name] = cut
            codes[name] = np.where(known, values <= cut if low else values > cut, NEITHER)
    return {name: code.astype(np.int8) for name, code in codes.items()}, cuts


def read_scores(path: Path, ids: Sequence[str]) -> NDArray[np.float64]:
    """The reader's F1 on each question, mean over its seeds; `BadInput` where a seed lacks a question."""
    columns = read_table(path, ["id", "seed", "f1"]).to_pydict()
    by_seed: dict[int | None, dict[str, float]] = {}
    for identifier, seed, value in zip(*columns.values(), strict=True):
        by_seed.setdefault(seed, {})[identifier] = value
    for seed, values in by_seed.items():
        if lacking := [identifier for identifier in ids if identifier not in values]:
            raise BadInput(f"no answer of seed {seed} to {len(lacking)} questions", file=path, got=lacking[0])
    return np.mean([[values[identifier] for identifier in ids] for values in by_seed.values()], axis=0)


def most_read(path: Path) -> int:
    """The most passages that the reader read for a question: its row's number of passages, or less in a small world."""
    return max(map(len, read_table(path, ["passages"])["passages"].to_pylist()))


def main(
    parameters: DifficultyParameters,
    context: Context,
    *,
    questions: Path,
    answers: Path,
    run: Path,
    qrels: Path,
    routing: Path,
    articles: Path,
    passages: Path,
    out: Path,
) -> dict[str, float]:
    """Write one CSV line a factor."""
    asked = read_questions(questions)
    ids = [question.id for question in asked]
    depth = most_read(answers)
    read = first(read_run_over(run, ids), depth)
    judged = read_qrels(qrels)
    if lacking := [name for name in ids if name not in set(judged.queries)]:
        raise BadInput("question without judgements", file=qrels, field="query", got=lacking[0])
    firsts = read.documents[:, 0]
    texts = read_passage_texts(passages, articles, firsts[firsts != PADDING])
    overlaps = np.array(
        [
            np.nan if best == PADDING else overlap(question.text, " ".join(texts[best]), content_stems)
            for question, best in zip(asked, firsts.tolist(), strict=True)
        ]
    )
    routed = read_table(routing, ["question", "face", "human"]).to_pydict()
    faces = {name: (face, human) for name, face, human in zip(*routed.values(), strict=True)}
    if lacking := [name for name in ids if name not in faces]:
        raise BadInput("question without routing", file=routing, field="question", got=lacking[0])
    codes, cuts = kvqae_factors(asked, read, relevance_matrix(read, judged.select(ids)), overlaps, faces)
    values = read_scores(answers, ids)
    rows = effect_rows(
        {MODEL: values},
        codes,
        [question.wikidata_id or question.id for question in asked],
        risk=parameters.risk,
        smallest_set=parameters.smallest_set,
        resamples=parameters.resamples,
        confidence=parameters.confidence,
        seed=parameters.seed,
    )
    write_effects(out, rows)
    return {
        "questions": float(len(asked)),
        "passages_read": float(depth),
        "f1": float(values.mean()),
        **shares(codes, cuts),
        **effect_metrics(rows),
    }


if __name__ == "__main__":
    run_stage(main, "kvqae.difficulty", DifficultyParameters)
