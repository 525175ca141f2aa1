"""Answers of every row of Table 7: readers on retrieved passages, weighted or not, and on oracles' (kvqae.md §5–6)."""

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from trivium.formats.questions import Question
from trivium.kvqae.knowledge_base.passage_texts import PassageTexts
from trivium.kvqae.reader.answered_rows import ReadingParameters
from trivium.kvqae.reader.inputs import split_by_relevance
from trivium.measures.ranking import evaluate, means
from trivium.measures.runs import Qrels, Run

INITIAL_MEASURES = ("mrr", "precision@1")  # of the lists that the rows about TriviaQA read


class ReadParameters(ReadingParameters):
    """Section `kvqae.read`."""

    elsewhere: ClassVar[Mapping[str, str]] = {
        **ReadingParameters.elsewhere,
        "permutations": "kvqae.statistics.permutations",
    }
    seeds: tuple[Annotated[int, Field(ge=0)], ...] = Field(min_length=1, description="Of the few-shot readers")
    asked_row: str = Field(description="Row that `make ask` reads as: its number of passages, weighted or not")
    compared: tuple[tuple[str, str], ...] = Field(
        min_length=1,
        description="Pairs of rows whose exact match Fisher's test compares, expected order first",
    )
    permutations: int = Field(ge=100, description="Sign vectors drawn by the test")
    seed: int = Field(default=0, ge=0, description="Of the test's draws")


def measure_initial(run: Run, questions: Sequence[Question], texts: PassageTexts, *, prefix: str) -> dict[str, float]:
    """`{prefix}_initial_mrr` and `{prefix}_initial_precision@1` of the lists before they are read.

    Args:
        run: whole lists, in the order of the questions.
        questions: one without a relevant passage, or without any, counts 0.
        texts: of all their passages; one is relevant if it contains an answer.
        prefix: of the names.
    """
    examples, _ = split_by_relevance(questions, run, texts)
    relevant = {each.question.id: each.relevant for each in examples}
    none = np.empty(0, dtype=np.int64)
    qrels = Qrels(run.queries, tuple(relevant.get(query, none) for query in run.queries))
    return means(evaluate(run, qrels, INITIAL_MEASURES), f"{prefix}_initial")
