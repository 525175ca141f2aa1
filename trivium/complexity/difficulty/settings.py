"""Numbers of the analysis of a question set."""

from typing import Literal

from pydantic import Field

from trivium.core.parameters import Parameters

Judge = Literal["rouge_l", "f1", "exact_match", "llm"]
Missing = Literal["zero", "drop"]


class DifficultySettings(Parameters):
    """Section `complexity.difficulty`; the command `trivium difficulty` has these numbers as well."""

    judge: Judge = Field(default="rouge_l", description="The score that is analysed")
    missing: Missing | None = Field(
        default=None,
        description="Answers that are not there: they score 0, or their questions are left out; null: 0, and refused "
        "where a model lacks more than a tenth",
    )
    risk: float = Field(
        default=0.05, gt=0, lt=1, description="Of a false alarm, of every test and of Holm's correction"
    )
    power: float = Field(default=0.8, gt=0, lt=1, description="With which the smallest δ would be found")
    smallest_set: int = Field(default=8, ge=1, description="Fewest questions in either set of an analysed factor")
    confidence: float = Field(default=0.95, gt=0, lt=1, description="Of the intervals")
    resamples: int = Field(default=2000, ge=1, description="Bootstrap samples of articles or contexts")
    draws: int = Field(default=5, ge=1, description="Random spans a question, of which the baseline is the mean")
    seed: int = Field(default=0, ge=0, description="Of the bootstrap and of the random spans")
