"""Rows of Table 7: which passages a reader sees, from a run or from an oracle (kvqae.md §5)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from trivium.core.parameters import Parameters
from trivium.formats.questions import Question
from trivium.kvqae.knowledge_base.passage_texts import PassageTexts
from trivium.kvqae.reader.inputs import is_relevant
from trivium.measures.answers import AnswerMatcher
from trivium.measures.runs import PADDING, Run


class Row(Parameters):
    """One row: a reader on the passages of a run."""

    model: Literal["zero_shot", "few_shot", "few_shot_max"] = Field(
        description="The reader; few-shot: the mean over its seeds; max: fine-tuned with the max-pooled loss"
    )
    questions: Literal["viquae", "triviaqa"] = Field(default="viquae", description="Asked questions, test split")
    run: str = Field(description="Folder name of the run")
    passages: Annotated[int, Field(ge=1)] | Literal["validation"] = Field(
        description="Best passages read, or as chosen on validation"
    )
    weighted: bool = Field(
        default=False, description="Multiply an answer's score by its passage's shifted score in the run"
    )
    oracle: Literal["none", "semi", "full"] = Field(
        default="none", description="Only relevant passages; full: of the article at need"
    )

    @model_validator(mode="after")
    def _check(self) -> "Row":
        if self.weighted and self.oracle == "full":
            raise ValueError("passages that the full oracle adds have no score to weight with")
        return self


@dataclass(frozen=True)
class Selection:
    """What is read for one question: passages, best first, and their scores (NaN where an oracle added them)."""

    question: Question
    passages: NDArray[np.int64]
    scores: NDArray[np.float64]


def select_passages(
    row: Row,
    questions: Sequence[Question],
    run: Run,
    texts: PassageTexts,
    own_passages: Mapping[str, NDArray[np.int64]],
    passages: int,
) -> list[Selection]:
    """The passages that a row reads for each question.

    Without oracle: the run's best. Semi-oracle: the relevant ones among these, maybe none. Full oracle: these too, and
    where there is none, all relevant ones of the subject entity's own article.

    Args:
        row: its `oracle` is looked at.
        questions, run: same questions, same order.
        texts: of all passages named by `run` and `own_passages`.
        own_passages: the passages of an article, by Wikipedia id.
        passages: how many of the run's best.
    """
    selections = []
    for question, documents, scores in zip(questions, run.documents, run.scores, strict=True):
        kept = documents[:passages] != PADDING
        chosen, chosen_scores = documents[:passages][kept], scores[:passages][kept]
        if row.oracle != "none":
            relevant = _relevant(question, chosen, texts)
            chosen, chosen_scores = chosen[relevant], chosen_scores[relevant]
        if row.oracle == "full" and not len(chosen):
            own = own_passages.get(question.wikipedia_id or "", np.zeros(0, dtype=np.int64))
            chosen = own[_relevant(question, own, texts)]
            chosen_scores = np.full(len(chosen), np.nan)
        selections.append(Selection(question, chosen, chosen_scores))
    return selections


def _relevant(question: Question, passages: NDArray[np.int64], texts: PassageTexts) -> NDArray[np.bool_]:
    matcher = AnswerMatcher(question.answers)
    return np.array([is_relevant(matcher, texts[passage]) for passage in passages], dtype=np.bool_)
