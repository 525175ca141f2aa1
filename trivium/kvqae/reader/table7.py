"""Answers of every row of Table 7: readers on retrieved passages, weighted or not, and on oracles' (kvqae.md §5–6)."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from trivium.core.errors import BadInput
from trivium.formats.questions import Question
from trivium.kvqae.knowledge_base.passage_texts import PassageTexts
from trivium.kvqae.reader.answered_rows import Seed, Values
from trivium.kvqae.reader.inputs import ReadParameters, judged
from trivium.measures.ranking import evaluate, means
from trivium.measures.runs import Run
from trivium.measures.significance import fisher_randomization

INITIAL_MEASURES = ("mrr", "precision@1")  # of the lists that the rows about TriviaQA read


def measure_initial(run: Run, questions: Sequence[Question], texts: PassageTexts, *, prefix: str) -> dict[str, float]:
    """`{prefix}_initial_mrr` and `{prefix}_initial_precision@1` of whole lists, in the questions' order, as retrieved.

    A passage is relevant if it contains an answer; a question without a relevant passage, or without any, counts 0.
    """
    qrels = judged(questions, run, texts)
    return means(evaluate(run, qrels, INITIAL_MEASURES), f"{prefix}_initial")


def compare_rows(parameters: ReadParameters, measured: Mapping[str, Mapping[Seed, Values]]) -> dict[str, float]:
    """`{row}_over_{row}_em_difference` and `…_p`, Fisher's test on exact match averaged over seeds.

    `measured` has, by row and seed, a value a question.
    """
    metrics: dict[str, float] = {}
    for pair in parameters.compared:
        exact = [np.mean([values["em"] for values in measured[row].values()], axis=0) for row in pair]
        p = fisher_randomization(exact, permutations=parameters.permutations, seed=parameters.seed)
        name = "{}_over_{}_em".format(*pair)
        metrics |= {f"{name}_difference": float(exact[0].mean() - exact[1].mean()), f"{name}_p": float(p[0, 1])}
    return metrics


def check_rows(parameters: ReadParameters, runs: Collection[str], validation_runs: Collection[str]) -> None:
    """Refuse rows that cannot be answered, by the names of the runs that there are.

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
