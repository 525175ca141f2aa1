"""What every kind of trained reader is told; a kind's own settings stand beside it (complexity.md §2)."""

from string import Formatter
from typing import Annotated

from pydantic import AfterValidator, Field

from trivium.core.parameters import Parameters


def _template(template: str) -> str:
    """A blank at the end would be a token of its own, which no answer begins after."""
    places = [place for _, place, _, _ in Formatter().parse(template) if place is not None]
    if sorted(places) != ["context", "question"] or template != template.rstrip():
        raise ValueError("expected {question} and {context} once each, and no blank at the end")
    return template


Template = Annotated[str, AfterValidator(_template)]


class ReaderSettings(Parameters):
    """What every kind of trained reader is told."""

    kind: str = Field(description="How the reader answers: a module of trivium/complexity/readers/kinds")
    label: str = Field(min_length=1, description="Name in the reader's card and in the page's tables")
    weak: bool = Field(default=False, description="Card and tables say that this small configuration hardly reads")
    base: str = Field(min_length=1, description="Folder of the base model, in models/complexity/base")
    max_tokens: int = Field(ge=16, le=4096, description="Tokens of question and context together, longer is cut")
    answer_tokens: int = Field(ge=1, description="Longest answer, in tokens")
    batch_size: int = Field(ge=1, description="Features a step")
    mini_batch_size: int = Field(default=16, ge=1, description="Features at a time; halved when GPU memory runs out")
    learning_rate: float = Field(gt=0, description="AdamW's, at its highest")
    weight_decay: float = Field(default=0.01, ge=0, description="AdamW's")
    warmup: float = Field(
        default=0.1, ge=0, lt=1, description="Share of the steps in which the learning rate rises; then it falls"
    )
    max_gradient_norm: float = Field(default=1.0, gt=0, description="A longer gradient is scaled to this norm")
    epochs: int = Field(ge=1, description="Rounds over the training questions")
    max_steps: int | None = Field(ge=1, description="Stop after so many steps, null: after the epochs")


class GenerativeSettings(ReaderSettings):
    """What a reader that writes is told besides."""

    template: Template = Field(description="What stands before the answer, with {question} and {context}")
