"""The settings of an analysis, every model's answers to a question set, and which questions are analysed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from trivium.complexity.effects.analysis import AnalysisParameters
from trivium.core.errors import BadInput
from trivium.core.folding import fold
from trivium.formats.answer_files import read_answers
from trivium.formats.question_sets import AskedQuestion, QuestionSet

Judge = Literal["rouge_l", "f1", "exact_match"]
Missing = Literal["zero", "drop"]


class DifficultySettings(AnalysisParameters):
    """Section `complexity.difficulty`; the command `trivium difficulty` has these numbers as well."""

    judge: Judge = Field(default="rouge_l", description="The score that is analysed")
    missing: Missing | None = Field(
        default=None,
        description="Answers that are not there: they score 0, or their questions are left out; where it is not said: "
        "0, and a model that lacks more than a tenth is refused",
    )
    risk: float = Field(
        default=0.05, gt=0, lt=1, description="Risk of a false alarm, of every test and of Holm's correction"
    )
    power: float = Field(default=0.8, gt=0, lt=1, description="Power with which the smallest δ would be found")
    smallest_set: int = Field(default=8, ge=1, description="Fewest questions in either set of an analysed factor")
    confidence: float = Field(default=0.95, gt=0, lt=1, description="Confidence of the intervals")
    resamples: int = Field(default=2000, ge=1, description="Bootstrap samples of articles or contexts")
    margin: float = Field(
        default=0.2, gt=0, lt=1, description="Share of a loss by which a baseline's may differ and still be the same"
    )
    draws: int = Field(default=5, ge=1, description="Random spans a question, of which the baseline is the mean")
    seed: int = Field(default=0, ge=0, description="Seed of the bootstrap and of the random spans")


MOST_MISSING = 0.1  # share of the questions that a model may lack unasked
_ABSTAINED = ("", "unanswerable", "no answer")
Given = Mapping[str, str | None]  # answer by question; None: there is none
Source = str | Path | Given
Say = Callable[[str], None]


@dataclass(frozen=True)
class Answers:
    """The models' answers to a set's questions, by training: the model's name, or `NAME#1`, … of several."""

    trainings: dict[str, list[str]]  # names of a model's trainings, by model
    texts: dict[str, list[str]]  # (questions,) answers; "" where one is missing
    missing: dict[str, NDArray[np.bool_]]  # (questions,) which are
    unknown: dict[str, int]  # answers to questions that the set does not have
    abstained: dict[str, float | None]  # share without answer of the unanswerable ones that it answered; None: of none

    def by_question(self, questions: Sequence[AskedQuestion]) -> dict[str, dict[str, str]]:
        """The answers by training and question id."""
        ids = [question.id for question in questions]
        return {model: dict(zip(ids, texts, strict=True)) for model, texts in self.texts.items()}


def take_answers(question_set: QuestionSet, models: Mapping[str, Source | Sequence[Source]], say: Say) -> Answers:
    """Read every model's answers, and say which are missing or left out.

    A model has a file of any form that `read_answers` knows, the answers themselves by question, or a list of these,
    one a training.

    Raises:
        BadInput: no model, or see `read_answers`.
    """
    if not models:
        raise BadInput("no answers", field="answers", expected="a file of answers a model")
    trainings: dict[str, list[str]] = {}
    sources: dict[str, Source] = {}
    for model, source in models.items():
        listed = [*source] if isinstance(source, Sequence) and not isinstance(source, str) else [source]
        trainings[model] = [model] if len(listed) == 1 else [f"{model}#{n}" for n in range(1, len(listed) + 1)]
        sources |= zip(trainings[model], listed, strict=True)
        if len(listed) > 1:
            say(f"{model}: {len(listed)} trainings, of which every score is the mean.")
    texts, missing, unknown, abstained = {}, {}, {}, {}
    answerable = (*question_set.questions, *question_set.unanswerable)
    by_text = {(fold(question.question), fold(question.context)): question.id for question in answerable}
    for model, source in sources.items():
        if isinstance(source, str | Path):
            read = read_answers(Path(source), question_set.ids, by_text)
            answers, unknown[model] = read.answers, len(read.unknown)
            if read.note:
                say(f"{model}: {read.note}.")
        else:
            answers, unknown[model] = _of_mapping(source, question_set.ids, f"answers of {model!r}")
        missing[model] = np.array([question.id not in answers for question in question_set.questions])
        texts[model] = [answers.get(question.id, "") for question in question_set.questions]
        replies = [answers[question.id] for question in question_set.unanswerable if question.id in answers]
        without = [fold(answer).strip().rstrip(".").lower() in _ABSTAINED for answer in replies]
        abstained[model] = float(np.mean(without)) if replies else None
    for model, lacking in missing.items():
        if lacking.any():
            say(f"{model} lacks {lacking.sum()} of {len(lacking)} answers ({100 * lacking.mean():.1f} %).")
    for model, count in unknown.items():
        if count:
            say(f"{model}: {count} answers to questions that are not in the set are left out.")
    return Answers(trainings, texts, missing, unknown, abstained)


def _of_mapping(source: Given, ids: Sequence[str], field: str) -> tuple[dict[str, str], int]:
    """The answers by question, and how many are to questions that the set does not have; ids may be whole numbers."""
    if not isinstance(source, Mapping):
        expected = "a file, or {question's id: answer}"
        raise BadInput("no answers", field=field, got=type(source).__name__, expected=expected)
    named = {str(key): answer for key, answer in source.items()}
    own = {identifier: named[identifier] for identifier in ids if identifier in named}
    if not own or len(named) < len(source):
        problem = "a question twice" if own else "no answer to any of the questions"
        expected = f"ids such as {', '.join(map(repr, ids[:3]))}"
        raise BadInput(problem, field=field, got=list(source)[:3], expected=expected)
    answers = {identifier: answer for identifier, answer in own.items() if answer is not None}
    if wrong := next((pair for pair in answers.items() if not isinstance(pair[1], str)), None):
        raise BadInput("not a text", field=field, got=wrong, expected="a text, or None")
    return answers, len(named) - len(own)


def kept_questions(lacking: Mapping[str, NDArray[np.bool_]], missing: Missing | None, say: Say) -> NDArray[np.bool_]:
    """A mask of the questions that are analysed, (questions,), by those that each model lacks.

    Raises:
        BadInput: a model lacks more than a tenth of the answers and `missing` is not set; or nothing is left.
    """
    most = max(lacking, key=lambda model: lacking[model].mean())
    count, questions = int(lacking[most].sum()), len(lacking[most])
    if count > MOST_MISSING * questions and missing is None:
        problem, choices = f"the model {most!r} lacks more than a tenth of the answers", "zero (they score 0) or drop"
        raise BadInput(problem, field="missing", got=f"{count} of {questions} missing",
                       expected=f"{choices} (their questions are left out for every model)")  # fmt: skip
    if missing != "drop":
        if count:
            say("Missing answers score 0.")
        return np.ones(questions, dtype=bool)
    kept: NDArray[np.bool_] = ~np.any(list(lacking.values()), axis=0)
    if not kept.any():
        raise BadInput("no question has an answer of every model", field="missing", got="drop", choices=("zero",))
    if not kept.all():
        say(f"The {(~kept).sum()} questions that some model lacks are left out; {kept.sum()} are analysed.")
    return kept


def clusters_of(questions: Sequence[AskedQuestion]) -> tuple[str, NDArray[np.int64]]:
    """The kind of clusters, `article` or `context`, and the number of each question's cluster.

    Articles where every question has a title and there are two; else contexts.
    """
    titles = [fold(question.title).strip() for question in questions]
    by_title = all(titles) and len(set(titles)) > 1
    labels = titles if by_title else [question.context for question in questions]
    numbers = {label: number for number, label in enumerate(dict.fromkeys(labels))}
    return "article" if by_title else "context", np.array([numbers[label] for label in labels])
