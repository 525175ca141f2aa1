"""What a trained reader is told, one model a kind (complexity.md §2); told apart by `kind`."""

from string import Formatter
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from trivium.harness.parameters import Parameters


def _template(template: str) -> str:
    """A blank at the end would be a token of its own, which no answer begins after."""
    places = [place for _, place, _, _ in Formatter().parse(template) if place is not None]
    if sorted(places) != ["context", "question"] or template != template.rstrip():
        raise ValueError("expected {question} and {context} once each, and no blank at the end")
    return template


Template = Annotated[str, AfterValidator(_template)]


class ReaderSettings(Parameters):
    """What every kind of trained reader is told."""

    label: str = Field(min_length=1, description="Name in the reader's card and in the page's tables")
    weak: bool = Field(description="Card and tables say that this small configuration hardly reads")
    base: str = Field(min_length=1, description="Folder of the base model, in models/complexity/base")
    max_tokens: int = Field(ge=16, le=4096, description="Tokens of question and context together, longer is cut")
    answer_tokens: int = Field(ge=1, description="Longest answer, in tokens")
    batch_size: int = Field(ge=1, description="Features a step")
    mini_batch_size: int = Field(ge=1, description="Features at a time; halves itself when GPU memory runs out")
    learning_rate: float = Field(gt=0, description="AdamW's, at its highest")
    weight_decay: float = Field(ge=0, description="AdamW's")
    warmup: float = Field(ge=0, lt=1, description="Share of the steps in which the learning rate rises; then it falls")
    clip: float = Field(gt=0, description="Largest norm of the gradient")
    epochs: int = Field(ge=1, description="Rounds over the training questions")
    max_steps: int | None = Field(ge=1, description="Stop after so many steps, null: after the epochs")


class ExtractiveSettings(ReaderSettings):
    """A start and an end in the context."""

    kind: Literal["extractive"] = Field(description="How the reader answers")
    stride: int = Field(ge=0, description="Tokens that neighbouring windows of a long context share")
    layers: int | None = Field(ge=1, description="Lowest layers of the base model that are kept, null: all")
    frozen_layers: int = Field(ge=0, description="Lowest layers that stay as they are")
    frozen_embeddings: bool = Field(description="Leave the embeddings as they are")

    @model_validator(mode="after")
    def _windows_move(self) -> "ExtractiveSettings":
        # Half of a window may be the question.
        if self.stride >= self.max_tokens // 2 - 4:
            raise ValueError(f"stride: got {self.stride}, expected less than max_tokens / 2 - 4")
        return self


class Seq2SeqSettings(ReaderSettings):
    """An encoder reads question and context, a decoder writes the answer."""

    kind: Literal["seq2seq"] = Field(description="How the reader answers")
    template: Template = Field(description="What is read, with {question} and {context}")


class CausalSettings(ReaderSettings):
    """A language model goes on after the prompt; LoRA trains a few low-rank matrices."""

    kind: Literal["causal"] = Field(description="How the reader answers")
    template: Template = Field(description="What stands before the answer, with {question} and {context}")
    rank: int = Field(ge=1, description="LoRA: rank of the matrices that are trained")
    alpha: float = Field(gt=0, description="LoRA: their product is scaled by alpha / rank")
    dropout: float = Field(ge=0, lt=1, description="LoRA: share of their inputs that training sets to 0")
    target_modules: tuple[str, ...] = Field(min_length=1, description="LoRA: layers that get such matrices, by name")


AnyReaderSettings = Annotated[ExtractiveSettings | Seq2SeqSettings | CausalSettings, Field(discriminator="kind")]
