"""Human judgements: tasks for Label Studio out, judgements in, Fleiss' κ and the share of correct answers (§3).

Judged are each model's answers of its first seed, to a sample of questions that is the same for all models. An empty
answer needs no annotator: it is incorrect.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from pydantic import Field

from trivium.complexity.judging.files import Answers, Judgement
from trivium.complexity.judging.label_studio import VERDICTS, task
from trivium.core.parameters import Parameters
from trivium.core.tables import read_table
from trivium.formats.framed_texts import Example
from trivium.measures.agreement import fleiss_kappa


class JudgementsParameters(Parameters):
    """Section `complexity.judgements`."""

    questions: int = Field(ge=1, description="Questions whose answers are exported for judging; all, if fewer")
    show_reference: bool = Field(description="Annotators see the reference answer beside the document")
    confidence: float = Field(gt=0, lt=1, description="Of the bootstrap intervals")
    resamples: int = Field(ge=100, description="Bootstrap draws of texts")
    seed: int = Field(ge=0, description="Of the sample of questions, the order of tasks and the draws")


def read_answers(scores: Path) -> dict[str, dict[str, str]]:
    """Each model's answers of its first seed; baselines are not judged."""
    table = read_table(scores, ["id", "model", "kind", "seed", "prediction"])
    rows = [row for row in table.to_pylist() if row["kind"] != "baseline"]
    first: dict[str, int] = {}
    for row in rows:
        first[row["model"]] = min(row["seed"], first.get(row["model"], row["seed"]))
    answers: dict[str, dict[str, str]] = defaultdict(dict)
    for row in rows:
        if row["seed"] == first[row["model"]]:
            answers[row["model"]][row["id"]] = row["prediction"]
    return dict(answers)


def make_tasks(examples: Sequence[Example], answers: Answers, parameters: JudgementsParameters) -> list[dict]:
    """The tasks of a random sample of questions, one a distinct answer, in random order."""
    rng = np.random.default_rng(parameters.seed)
    sampled = sorted(rng.permutation(len(examples))[: parameters.questions].tolist())
    tasks = [
        task(
            each.id,
            each.text.text,
            each.question,
            answer,
            each.answer_text if parameters.show_reference else None,
        )
        for each in (examples[place] for place in sampled)
        for answer in sorted({given[each.id] for given in answers.values() if given[each.id].strip()})
    ]
    return [tasks[place] for place in rng.permutation(len(tasks))]


def agreement(judgements: Sequence[Judgement]) -> dict[str, float]:
    """Fleiss' κ over the judged items, and how many have but one annotator (they are left out of it)."""
    by_item: dict[str, Counter[str]] = defaultdict(Counter)
    for judgement in judgements:
        by_item[judgement.item][judgement.verdict] += 1
    metrics = {"items": float(len(by_item))}
    if by_item:
        counts = np.array([[votes[verdict] for verdict in VERDICTS] for votes in by_item.values()])
        metrics["items_of_one_annotator"] = float((counts.sum(axis=1) == 1).sum())
        kappa = fleiss_kappa(counts)
        metrics |= {} if kappa is None else {"kappa": kappa}
    return metrics


def correct_answers(judgements: Sequence[Judgement], answers: Answers) -> dict[str, dict[str, bool]]:
    """By model and question, whether more than half of the annotators say `correct`; only judged or empty answers.

    An empty answer is incorrect where the question was judged for any model.
    """
    votes: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for judgement in judgements:
        for model in judgement.models:
            votes[model, judgement.id][judgement.verdict] += 1
    judged = dict.fromkeys(judgement.id for judgement in judgements)
    correct: dict[str, dict[str, bool]] = {}
    for model, given in answers.items():
        correct[model] = {}
        for identifier in judged:
            counted = votes.get((model, identifier))
            if counted is not None:
                correct[model][identifier] = 2 * counted["correct"] > counted.total()
            elif not given[identifier].strip():
                correct[model][identifier] = False
    return correct


def judgements_table(judgements: Sequence[Judgement]) -> pa.Table:
    """One row a judgement and model: id, model, item, annotator, verdict."""
    rows = [(each.id, model, each.item, each.annotator, each.verdict) for each in judgements for model in each.models]
    names = ("id", "model", "item", "annotator", "verdict")
    columns = [[row[number] for row in rows] for number in range(len(names))]
    return pa.table({name: pa.array(column, pa.string()) for name, column in zip(names, columns, strict=True)})
