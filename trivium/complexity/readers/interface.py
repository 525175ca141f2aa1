"""One interface for the readers that are trained here, whatever their kind (complexity.md §2).

A kind is a class in a module of `kinds`, found by its name: a new file is a new kind. `finetune` trains it and `answer`
asks it, knowing nothing else of it:

    reader = READERS["extractive"].start(base, settings)    # from public weights
    loss = reader.loss(reader.features(questions).items[:8])
    reader.save(folder)
    load_reader(folder).answer(readings, batch_size=32)
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from typing import Annotated, Any, ClassVar, Self

import torch
from pydantic import AfterValidator, BeforeValidator, Field

from trivium.core.parameters import Parameters
from trivium.core.registry import Registry
from trivium.core.tables import read_json, write_json
from trivium.formats.squad import SquadQuestion
from trivium.nets.device import pick_device


def _template(template: str) -> str:
    """Refuse a blank at the end: it would be a token of its own, after which no answer begins."""
    places = [place for _, place, _, _ in Formatter().parse(template) if place is not None]
    if sorted(places) != ["context", "question"] or template != template.rstrip():
        raise ValueError("expected {question} and {context} once each, and no blank at the end")
    return template


Template = Annotated[str, AfterValidator(_template)]


class ReaderSettings(Parameters):
    """Settings that every kind of trained reader has."""

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
    """Settings of a reader that writes its answers."""

    template: Template = Field(description="What stands before the answer, with {question} and {context}")


FAMILY = "trivium.complexity.readers.kinds"
SETTINGS = "reader.json"


@dataclass(frozen=True)
class Reading:
    """A question about a context, for a reader to answer."""

    id: str
    question: str
    context: str


@dataclass(frozen=True)
class Answer:
    """A reader's answer, and what it could not read or finish."""

    text: str  # may be empty
    read: int  # characters of the context, from its start, that the reader saw
    ended: bool = True  # False when writing was stopped at the longest answer


@dataclass(frozen=True)
class Features:
    """Training features in the order of the questions, and what was cut or left out on the way, by name.

    A feature is a training example as its own reader's network reads it; its `tokens` say how long it is.
    """

    items: Sequence[Any]
    counts: dict[str, int]


class Reader(ABC):
    """A network that answers a question from a context, with its tokenizer; on `pick_device()` from the start.

    Trained are the parameters of `module` that require a gradient.
    """

    name: ClassVar[str]  # of its module, and `kind` of its settings
    settings_model: ClassVar[type[ReaderSettings]]

    def __init__(self, settings: Any, module: Any, tokenizer: Any) -> None:
        self.settings, self.module, self.tokenizer = settings, module, tokenizer

    @staticmethod
    @abstractmethod
    def read_folder(folder: Path) -> tuple[Any, Any]:
        """Network and tokenizer of a base model, or of what `save` wrote.

        Raises:
            BadInput: not such a folder, or weights that are missing or do not fit.
        """

    @classmethod
    def start(cls, base: Path, settings: Any) -> Self:
        """Start from public weights in a Hugging Face folder; new weights come from torch's global generator."""
        module, tokenizer = cls.read_folder(base)
        return cls(settings, module.to(pick_device()), tokenizer)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Load what `save` wrote, in evaluation mode."""
        module, tokenizer = cls.read_folder(folder)
        return cls(read_settings(folder), module.to(pick_device()).eval(), tokenizer)

    def save(self, folder: Path) -> None:
        """Write weights as safetensors, configuration, tokenizer and settings into a new or empty folder."""
        self.module.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)
        write_json(folder / SETTINGS, self.settings.model_dump())

    @abstractmethod
    def features(self, questions: Sequence[SquadQuestion]) -> Features:
        """Training features: the first answer of each question is the target."""

    @abstractmethod
    def loss(self, features: Sequence[Any]) -> torch.Tensor:
        """Mean of the features' losses, a scalar, so that a batch may be cut into mini-batches weighted by size.

        The mode (training, evaluation) is the caller's; autocast is the reader's.
        """

    @abstractmethod
    def answer(self, readings: Sequence[Reading], batch_size: int) -> list[Answer]:
        """One answer a reading, in order, the same whatever the batch size. In evaluation mode."""


READERS: Registry[Reader] = Registry(FAMILY, "kind of reader", "kind")


def settings_of(values: Any) -> Any:
    """Settings checked by the model of the kind that they name.

    Raises:
        ValueError: no such kind, or values that do not fit it.
    """
    if isinstance(values, ReaderSettings) or not isinstance(values, Mapping):
        return values
    return READERS[READERS.check(str(values.get("kind")))].settings_model.model_validate(values)


AnyReaderSettings = Annotated[ReaderSettings, BeforeValidator(settings_of)]


def load_reader(folder: Path) -> Reader:
    """A saved reader of whatever kind."""
    return READERS[read_settings(folder).kind].load(folder)


def read_settings(folder: Path) -> Any:
    """The settings that a reader was saved with."""
    return settings_of(read_json(folder / SETTINGS))
