"""Answers of every row of Table 7: readers on retrieved passages, weighted or not, and on oracles' (kvqae.md §5–6)."""

from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from trivium.core.errors import BadInput
from trivium.formats.questions import Question
from trivium.kvqae.knowledge_base.passage_texts import PassageTexts
from trivium.kvqae.reader.answered_rows import ReadingParameters, Seed, Values
from trivium.kvqae.reader.inputs import split_by_relevance
from trivium.measures.ranking import evaluate, means
from trivium.measures.runs import Qrels, Run
from trivium.measures.significance import fisher_randomization

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


def compare_rows(parameters: ReadParameters, measured: Mapping[str, Mapping[Seed, Values]]) -> dict[str, float]:
    """`{row}_over_{row}_em_difference` and `…_p`, Fisher's test on exact match averaged over seeds.

    Args:
        parameters: which pairs of rows, and the test's draws.
        measured: by row and seed, a value a question.
    """
    metrics: dict[str, float] = {}
    for pair in parameters.compared:
        exact = [np.mean([values["em"] for values in measured[row].values()], axis=0) for row in pair]
        p = fisher_randomization(exact, permutations=parameters.permutations, seed=parameters.seed)
        name = "{}_over_{}_em".format(*pair)
        metrics |= {f"{name}_difference": float(exact[0].mean() - exact[1].mean()), f"{name}_p": float(p[0, 1])}
    return metrics


def check_rows(parameters: ReadParameters, runs: Collection[str], validation_runs: Collection[str]) -> None:
    """Refuse rows that cannot be answered.

    Args:
        parameters: of the stage.
        runs, validation_runs: names of the lists of passages that there are.

    Raises:
        BadInput: a row that is compared or asked is not there or is not about ViQuAE, or a row's run is not there.
    """
    compared = [row for pair in parameters.compared for row in pair]
    for field, names in (("asked_row", [parameters.asked_row]), ("compared", compared)):
        for name in names:
            if name not in parameters.rows:
                raise BadInput("no such row", field=f"kvqae.read.{field}", got=name, choices=parameters.rows)
    for name, row in parameters.rows.items():
        if row.run not in runs:
            raise BadInput("no such run", field=f"kvqae.read.rows.{name}.run", got=row.run, choices=runs)
        if row.passages == "validation" and (row.questions != "viquae" or row.run not in validation_runs):
            raise BadInput(
                "no validation run about ViQuAE to choose the number of passages on",
                field=f"kvqae.read.rows.{name}.run", got=row.run, choices=validation_runs,
            )  # fmt: skip
    questions = {parameters.rows[name].questions for name in (*compared, parameters.asked_row)}
    if questions != {"viquae"}:
        raise BadInput("not a row about ViQuAE", field="kvqae.read.compared and asked_row", got=sorted(questions))
