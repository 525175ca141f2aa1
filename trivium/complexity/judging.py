"""Human judgements of answers: Label Studio's tasks out, its export or CSV in, agreement, shares (complexity.md §3).

Each model's answers of its first seed to a sample of questions, the same for all models, are judged. An empty answer
needs no annotator: it is incorrect.

A task is one distinct answer to one question. Annotators do not see which models gave it: it goes by a code made of the
question's id and the answer. When models are trained again, judgements of answers that no model gives any more no
longer find their code, and are counted as stale instead of being taken for judgements of the new answers.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import Field

from trivium.complexity.effects.analysed_tables import read_by_training
from trivium.core.errors import BadInput
from trivium.core.folding import fold
from trivium.core.parameters import Parameters
from trivium.core.tables import read_csv_records
from trivium.formats.framed_texts import Example
from trivium.formats.label_studio import read_export
from trivium.measures.agreement import fleiss_kappa

VERDICTS = ("correct", "partial", "incorrect")
_CONTROL = "verdict"
_INSTRUCTIONS = "Does the answer say what the document says in reply to the question? Judge the content, not the form."


def answer_code(identifier: str, answer: str) -> str:
    """The code of an answer; the same text given by several models has one code."""
    return hashlib.sha256(f"{identifier}\0{answer}".encode()).hexdigest()[:16]


def make_task(identifier: str, document: str, question: str, answer: str, reference: str | None) -> dict[str, Any]:
    """One task in Label Studio's import format; without a reference, annotators judge from the document alone."""
    data = {"id": identifier, "answer_id": answer_code(identifier, answer)}
    data |= {"document": document, "question": question, "answer": answer}
    return {"data": data if reference is None else {**data, "reference": reference}}


def labelling_config(*, show_reference: bool) -> str:
    """The labelling interface: texts, which `Text` shows without rendering markup, and the choice of a verdict."""
    shown = [("Document", "document"), ("Question", "question")]
    shown += [("Reference answer", "reference")] if show_reference else []
    shown += [("Answer to judge", "answer")]
    lines = [f"  <Header value={quoteattr(_INSTRUCTIONS)}/>"]
    for title, name in shown:
        lines += [f"  <Header value={quoteattr(title)}/>", f'  <Text name="{name}" value="${name}"/>']
    lines += [f'  <Choices name="{_CONTROL}" toName="answer" choice="single-radio" required="true" showInLine="true">']
    lines += [f'    <Choice value="{verdict}" hotkey="{key}"/>' for key, verdict in enumerate(VERDICTS, 1)]
    return "\n".join(["<View>", *lines, "  </Choices>", "</View>", ""])


COLUMNS = ("id", "model", "annotator", "verdict")  # of a CSV; a column `prediction` is checked when there
Answers = Mapping[str, Mapping[str, str]]  # by model, then question


@dataclass(frozen=True)
class Judgement:
    """One annotator's verdict on one answer."""

    item: str  # what was judged: the code of an answer (Label Studio), or a question and model (CSV)
    id: str  # of the question
    models: tuple[str, ...]  # those whose answer it is
    annotator: str
    verdict: str


def read_judgements(place: Path, ids: set[str], answers: Answers) -> tuple[list[Judgement], dict[str, int]]:
    """A file, or every file of a folder: `*.json` as Label Studio exports it, `*.csv` with COLUMNS.

    Returns:
        The judgements, and counts: stale (of answers that no model gives now), unjudged_tasks, skipped_annotations.

    Raises:
        BadInput: see `read_csv_records`; an unknown question, model or verdict, or an answer judged twice by one.
    """
    counts = Counter(stale=0, unjudged_tasks=0, skipped_annotations=0)
    judgements: list[Judgement] = []
    places: dict[tuple[str, str, str], str] = {}
    readers = {".json": _from_label_studio, ".csv": _from_csv}
    for path in sorted(place.iterdir()) if place.is_dir() else [place]:
        if path.name.startswith(".") or path.suffix == ".md":
            continue
        if path.suffix not in readers:
            raise BadInput("not a file of judgements", file=path, got=path.suffix, choices=readers)
        for row, judgement in readers[path.suffix](path, ids, answers, counts):
            for model in judgement.models:
                key = (judgement.id, model, judgement.annotator)
                if key in places:
                    problem = f"annotator {judgement.annotator!r} judged an answer twice, first in {places[key]}"
                    raise BadInput(problem, file=path, row=row, field="annotator", got=judgement.id)
                places[key] = f"{path.name}:{row}"
            judgements.append(judgement)
    return judgements, dict(counts)


def _from_label_studio(
    path: Path, ids: set[str], answers: Answers, counts: Counter[str]
) -> Iterator[tuple[int, Judgement]]:
    models: dict[str, list[str]] = defaultdict(list)
    for model, by_question in answers.items():
        for identifier, answer in by_question.items():
            models[answer_code(identifier, answer)].append(model)
    for task in read_export(path, {_CONTROL: "choices"}, others=True):
        counts["unjudged_tasks"] += not task.annotations
        counts["skipped_annotations"] += task.cancelled
        question, code = task.data.get("id"), task.data.get("answer_id")
        if not isinstance(question, str) or not isinstance(code, str):
            raise BadInput("missing or not a text", file=path, row=task.row, field="data",
                           got={"id": question, "answer_id": code})  # fmt: skip
        if task.annotations and question not in ids:
            raise BadInput("unknown question", file=path, row=task.row, field="data.id", got=question)
        for annotation in task.annotations:
            chosen = list(annotation.controls.get(_CONTROL, ()))
            if len(chosen) != 1 or chosen[0] not in VERDICTS:
                got, field = chosen[0] if len(chosen) == 1 else chosen, f"{annotation.field}.result"
                raise BadInput("not one verdict", file=path, row=task.row, field=field, got=got, choices=VERDICTS)
            if code in models:
                yield task.row, Judgement(code, question, tuple(models[code]), annotation.annotator, chosen[0])
            else:
                counts["stale"] += 1


def _from_csv(path: Path, ids: set[str], answers: Answers, counts: Counter[str]) -> Iterator[tuple[int, Judgement]]:
    for row, line in read_csv_records(path, COLUMNS):
        for field, choices in (("id", ids), ("model", answers), ("verdict", VERDICTS)):
            if line[field] not in choices:
                shown = None if field == "id" else choices
                raise BadInput(f"unknown {field}", file=path, row=row, field=field, got=line[field], choices=shown)
        if not line["annotator"]:
            raise BadInput("no annotator", file=path, row=row, field="annotator", got=line["annotator"])
        identifier, model = line["id"], line["model"]
        answer = answers[model][identifier]
        if fold(line.get("prediction", answer)) != fold(answer):
            counts["stale"] += 1
            continue
        item = f"{model}/{identifier}"
        yield row, Judgement(item, identifier, (model,), line["annotator"], line["verdict"])


class JudgementsParameters(Parameters):
    """Section `complexity.judgements`."""

    questions: int = Field(ge=1, description="Questions whose answers are exported for judging; all, if fewer")
    show_reference: bool = Field(description="Annotators see the reference answer beside the document")
    confidence: float = Field(gt=0, lt=1, description="Of the bootstrap intervals")
    resamples: int = Field(ge=100, description="Bootstrap draws of texts")
    seed: int = Field(ge=0, description="Of the sample of questions, the order of tasks and the draws")


def read_answers(scores: Path) -> dict[str, dict[str, str]]:
    """Each model's answers of its first seed; baselines are not judged."""
    return {model: seeds[min(seeds)] for model, seeds in read_by_training(scores, "prediction")[0].items()}


def make_tasks(examples: Sequence[Example], answers: Answers, parameters: JudgementsParameters) -> list[dict]:
    """The tasks of a random sample of questions, one a distinct answer, in random order."""
    rng = np.random.default_rng(parameters.seed)
    sampled = sorted(rng.permutation(len(examples))[: parameters.questions].tolist())
    tasks = [
        make_task(row.id, row.text.text, row.question, answer, row.answer_text if parameters.show_reference else None)
        for row in (examples[place] for place in sampled)
        for answer in sorted({texts[row.id] for texts in answers.values() if texts[row.id].strip()})
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
    """Whether more than half of the annotators say `correct`, by model and question; only judged or empty answers.

    An empty answer is incorrect where the question was judged for any model.
    """
    votes: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for judgement in judgements:
        for model in judgement.models:
            votes[model, judgement.id][judgement.verdict] += 1
    judged = dict.fromkeys(judgement.id for judgement in judgements)
    return {
        model: {
            question: 2 * votes[model, question]["correct"] > votes[model, question].total()
            for question in judged
            if (model, question) in votes or not texts[question].strip()
        }
        for model, texts in answers.items()
    }


def judgements_table(judgements: Sequence[Judgement]) -> pa.Table:
    """One row a judgement and model."""
    schema = pa.schema([(name, pa.string()) for name in ("id", "model", "item", "annotator", "verdict")])
    rows = [{**vars(one), "model": model} for one in judgements for model in one.models]
    return pa.Table.from_pylist(rows, schema=schema)


RIGHT = 0.5  # a score at which an answer counts as right


class HumanVerdicts(NamedTuple):
    """The verdicts of people."""

    right: Mapping[str, Mapping[str, bool]]  # by model and question, whether most annotators say `correct`
    counts: Mapping[str, float]  # those of `agreement`, and `stale`, the verdicts on answers that no model gives


class Kappa(NamedTuple):
    """Cohen's κ of a judge and the people, with its interval; None where one of them always says the same."""

    answers: int
    agreed: float
    kappa: float | None
    low: float | None
    high: float | None


def read_verdicts(path: Path, answers: Answers) -> HumanVerdicts:
    """Read the verdicts of a file, or of the files of a folder, by `read_judgements`."""
    judgements, counts = read_judgements(path, set(next(iter(answers.values()))), answers)
    stale = {"stale": float(counts["stale"])}
    return HumanVerdicts(correct_answers(judgements, answers), agreement(judgements) | stale)


def kappa(
    scores: Mapping[str, NDArray[np.float64]], ids: Sequence[str], verdicts: HumanVerdicts, confidence: float
) -> Kappa:
    """Agreement on all judged answers; a score of at least a half says that an answer is right."""
    from scipy.special import ndtri
    from statsmodels.stats.inter_rater import cohens_kappa

    place = {identifier: number for number, identifier in enumerate(ids)}
    table = np.zeros((2, 2))
    for model, by_question in verdicts.right.items():
        for identifier, right in by_question.items():
            if identifier in place:
                table[int(scores[model][place[identifier]] >= RIGHT), int(right)] += 1
    answers = int(table.sum())
    agreed = float(np.trace(table) / answers) if answers else np.nan
    if min(table.sum(axis=0).min(), table.sum(axis=1).min()) == 0:
        return Kappa(answers, agreed, None, None, None)
    result = cohens_kappa(table)
    half = ndtri((1 + confidence) / 2) * result.std_kappa
    return Kappa(answers, agreed, *map(float, (result.kappa, result.kappa - half, result.kappa + half)))
