"""Input of readers: questions, their passages, relevant or not, and which passages rows read (kvqae.md §5)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator
from tqdm import tqdm

from trivium.core.parameters import Parameters, shared
from trivium.formats.questions import Question, read_questions
from trivium.formats.trec import read_run_over
from trivium.kvqae.knowledge_base.passage_texts import PassageTexts, read_passage_texts
from trivium.measures.answers import AnswerMatcher, is_matchable
from trivium.measures.runs import PADDING, Qrels, Run


@dataclass(frozen=True)
class Example:
    """A question with relevant and irrelevant passages; retrieved ones are in rank order."""

    question: Question
    matcher: AnswerMatcher
    relevant: NDArray[np.int64]
    irrelevant: NDArray[np.int64]


def read_best(path: Path, questions: Sequence[Question], depth: int) -> Run:
    """Read the best `depth` passages of each question, in the questions' order; empty if the run lacks a question.

    `BadInput`: the run is empty, or has another question.
    """
    return read_run_over(path, [question.id for question in questions]).first(depth)


@dataclass(frozen=True)
class TrainingData:
    """Files of a training: folders of questions and runs, with a file for each split, and the knowledge base."""

    questions: Path
    runs: Path
    kb: Path

    def read(
        self, depths: Mapping[str, int], own: Sequence[NDArray[np.int64]] = ()
    ) -> tuple[dict[str, list[Question]], dict[str, Run], PassageTexts]:
        """Read these splits' questions, their best `depths` passages, and the texts of these and `own` passages."""
        questions = {split: read_questions(self.questions / f"{split}.jsonl") for split in depths}
        lists = {
            split: read_best(self.runs / f"{split}.trec", questions[split], depth) for split, depth in depths.items()
        }
        texts = read_passage_texts(self.kb, *(run.documents for run in lists.values()), *own)
        return questions, lists, texts


def split_by_relevance(
    questions: Sequence[Question], run: Run, texts: PassageTexts, own: Sequence[NDArray[np.int64]] | None = None
) -> tuple[list[Example], dict[str, float]]:
    """Make training examples from a run of these questions: passages that contain an answer, and those that do not.

    Any alias counts as an answer; the authors' code takes the original answer only. `texts` has the texts of all
    passages, also of `own`, those of each question's own article: relevant ones are used if none was retrieved.

    Returns:
        The examples, and counts: all questions, those dropped without a relevant passage, those with relevant passages
        from `own` (if given), and answers that normalise to nothing and so never match.
    """
    examples, unmatchable, from_own = [], 0, 0
    lists = zip(questions, run.documents, own or [np.empty(0, np.int64)] * len(questions), strict=True)
    for question, documents, mine in tqdm(lists, desc="relevance", total=len(questions), mininterval=5, leave=False):
        matcher = AnswerMatcher(question.answers)
        unmatchable += sum(not is_matchable(answer) for answer in question.answers)
        passages = documents[documents != PADDING]
        relevant = _relevant(matcher, passages, texts)
        positives = passages[relevant]
        if not len(positives):
            positives = mine[_relevant(matcher, mine, texts)]
            from_own += bool(len(positives))
        if len(positives):
            examples.append(Example(question, matcher, positives, passages[~relevant]))
    counts = {
        "questions": len(questions),
        "questions_without_relevant": len(questions) - len(examples),
        "answers_normalised_to_nothing": unmatchable,
    }
    if own is not None:
        counts["questions_with_relevant_from_own_article"] = from_own
    return examples, {name: float(count) for name, count in counts.items()}


def judge_listed(questions: Sequence[Question], run: Run, texts: PassageTexts) -> Qrels:
    """Judge a run: passages that contain an answer are relevant; questions and run are in the same order."""
    examples, _ = split_by_relevance(questions, run, texts)
    relevant = {example.question.id: example.relevant for example in examples}
    return Qrels(run.queries, tuple(relevant.get(query, np.empty(0, np.int64)) for query in run.queries))


def sample_passages(example: Example, relevant: int, irrelevant: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Sample at most so many relevant and irrelevant passages; fewer if the question has fewer.

    Missing relevant passages are not replaced by irrelevant ones. Relevant ones come first; the loss does not depend on
    the order.
    """
    positives = rng.permutation(example.relevant)[:relevant]
    negatives = rng.permutation(example.irrelevant)[:irrelevant]
    return np.concatenate([positives, negatives])


PRETRAINED = ("zero_shot", "zero_shot_max")  # readers that are not fine-tuned, hence without seeds

Oracle = Literal["none", "semi", "full"]


class Row(Parameters):
    """One row of Table 7: a reader on the passages of a run."""

    model: Literal["zero_shot", "zero_shot_max", "few_shot", "few_shot_max"] = Field(
        description="The reader; few-shot: the mean over its seeds; max: trained with the max-pooled loss"
    )
    questions: Literal["viquae", "triviaqa"] = Field(default="viquae", description="Asked questions, test split")
    run: str = Field(description="Folder name of the run")
    passages: Annotated[int, Field(ge=1)] | Literal["validation"] = Field(
        description="Best passages read, or as chosen on validation"
    )
    weighted: bool = Field(
        default=False, description="Multiply an answer's score by its passage's shifted score in the run"
    )
    oracle: Oracle = Field(default="none", description="Only relevant passages; full: of the article at need")

    @model_validator(mode="after")
    def _check(self) -> "Row":
        if self.weighted and self.oracle == "full":
            raise ValueError("passages that the full oracle adds have no score to weight with")
        return self


class AnswerParameters(Parameters):
    """How a reader reads questions with passages, and how its answers are compared."""

    max_tokens: int = shared("kvqae.texts.pair_tokens", ge=8, le=512, description="Tokens of question and passage")
    answer_tokens: int = shared("kvqae.reader.answer_tokens", ge=1, description="Longest answer")
    batch: int = shared("kvqae.texts.pair_batch", ge=1, description="Pairs read together")
    seeds: tuple[Annotated[int, Field(ge=0)], ...] = Field(min_length=1, description="Of the few-shot readers")
    permutations: int = shared("kvqae.statistics.permutations", ge=100, description="Sign vectors of Fisher's test")


class ReadParameters(AnswerParameters):
    """Section `kvqae.read`."""

    passages: int | None = Field(default=None, ge=1, description="Best passages read, where a row does not say")
    rows: dict[str, Row] = Field(min_length=1, description="Rows of the table")
    sweep_passages: tuple[Annotated[int, Field(ge=1)], ...] = Field(
        min_length=1,
        description="Numbers of passages tried on validation, by exact match, for each row that reads the best of them",
    )
    sweep_questions: int = Field(ge=1, description="Validation questions asked for it, from the first on")
    asked_row: str = Field(description="Row that `make ask` reads as: its number of passages, weighted or not")
    compared: tuple[tuple[str, str], ...] = Field(
        min_length=1,
        description="Pairs of rows whose exact match Fisher's test compares, expected order first",
    )
    seed: int = Field(default=0, ge=0, description="Of the test's draws")

    @model_validator(mode="before")
    @classmethod
    def _rows_have_passages(cls, values: dict[str, Any]) -> dict[str, Any]:
        rows = values.get("rows")
        if "passages" not in values or not isinstance(rows, dict):
            return values
        filled = {
            name: {"passages": values["passages"], **row} if isinstance(row, dict) else row
            for name, row in rows.items()
        }
        return {**values, "rows": filled}


@dataclass(frozen=True)
class Selection:
    """Passages that are read for one question, best first, and their scores (NaN if an oracle added them)."""

    question: Question
    passages: NDArray[np.int64]
    scores: NDArray[np.float64]


def select_passages(
    oracle: Oracle,
    questions: Sequence[Question],
    run: Run,
    texts: PassageTexts,
    own_passages: Mapping[str, NDArray[np.int64]],
    passages: int,
) -> list[Selection]:
    """Select the passages that a row reads for each question, of the best `passages` of its run.

    Without oracle: all of these. Semi-oracle: the relevant ones among these, perhaps none. Full oracle: the same, but
    if there is none, all relevant ones of the entity's article, by Wikidata id in `own_passages`.
    """
    selections = []
    for question, documents, scores in zip(questions, run.documents, run.scores, strict=True):
        matcher, kept = AnswerMatcher(question.answers), documents[:passages] != PADDING
        chosen, chosen_scores = documents[:passages][kept], scores[:passages][kept]
        if oracle != "none":
            relevant = _relevant(matcher, chosen, texts)
            chosen, chosen_scores = chosen[relevant], chosen_scores[relevant]
        if oracle == "full" and not len(chosen):
            own = own_passages.get(question.wikidata_id or "", np.zeros(0, dtype=np.int64))
            chosen = own[_relevant(matcher, own, texts)]
            chosen_scores = np.full(len(chosen), np.nan)
        selections.append(Selection(question, chosen, chosen_scores))
    return selections


def _relevant(matcher: AnswerMatcher, passages: NDArray[np.int64], texts: PassageTexts) -> NDArray[np.bool_]:
    """Whether the title or the text of each passage contains an answer."""
    return np.array([any(map(matcher.matches, texts[passage])) for passage in passages.tolist()], dtype=np.bool_)
