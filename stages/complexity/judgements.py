"""Human judgements: tasks for Label Studio out, judgements in, Fleiss' κ and the share of correct answers (§3).

Judged are each model's answers of its first seed, to a sample of questions that is the same for all models. An empty
answer needs no annotator: it is incorrect.
"""

import csv
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from pydantic import Field

from stages.atomic import write_atomically
from stages.complexity.corpus.corpora import read_examples
from stages.complexity.corpus.records import Example
from stages.complexity.judging.files import Answers, Judgement, read_judgements
from stages.complexity.judging.label_studio import VERDICTS, labelling_config, task
from stages.measures.clustered import clustered_interval
from stages.measures.kappa import fleiss_kappa
from stages.stage import Context, Parameters, run_stage
from stages.tables import read_table, write_json, write_table

FRAME_COLUMNS = ("model", "frame", "judged", "correct")


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


def main(
    parameters: JudgementsParameters,
    context: Context,
    *,
    questions: Path,
    texts: Path,
    scores: Path,
    brought: Path,
    out: Path,
    out_label_studio: Path,
    out_frames: Path,
) -> dict[str, float]:
    """Write tasks and labelling configuration, the judgements there are (Parquet), and their shares by frame (CSV)."""
    examples = read_examples(questions, texts)
    of = {each.id: each for each in examples}
    answers = read_answers(scores)
    tasks = make_tasks(examples, answers, parameters)
    judgements, counts = read_judgements(brought, set(of), answers)
    metrics = {"tasks": float(len(tasks)), "judgements": float(len(judgements))}
    metrics["annotators"] = float(len({each.annotator for each in judgements}))
    metrics |= {name: float(count) for name, count in counts.items()} | agreement(judgements)
    rows = []
    for model, correct in correct_answers(judgements, answers).items():
        metrics[f"{model}_judged"] = float(len(correct))
        if not correct:
            continue
        metrics[f"{model}_correct"] = float(np.mean(list(correct.values())))
        metrics[f"{model}_correct_low"], metrics[f"{model}_correct_high"] = clustered_interval(
            list(map(float, correct.values())),
            [of[identifier].text.id for identifier in correct],
            confidence=parameters.confidence,
            resamples=parameters.resamples,
            seed=parameters.seed,
        )
        by_frame: dict[str, list[bool]] = defaultdict(list)
        for identifier, value in correct.items():
            by_frame[of[identifier].frame.frame].append(value)
        rows += [(model, frame, len(values), float(np.mean(values))) for frame, values in sorted(by_frame.items())]
    write_table(out, judgements_table(judgements))
    with write_atomically(out_label_studio) as beside:
        beside.mkdir()
        write_json(beside / "tasks.json", tasks)
        (beside / "config.xml").write_text(labelling_config(show_reference=parameters.show_reference), "utf-8")
    with write_atomically(out_frames) as beside, beside.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerows([FRAME_COLUMNS, *rows])
    return metrics


if __name__ == "__main__":
    run_stage(main, "complexity.judgements", JudgementsParameters)
