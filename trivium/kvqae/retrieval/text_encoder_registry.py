"""What a text encoder of questions and passages is, and how one is found by its name (kvqae.md §3).

A text encoder is a module of `text_encoders/` with one subclass of `TextEncoder`. Its name is the module's; a line of
that name in `kvqae.text_encoders` puts it to use. It also names its vectors, its runs and its rows. Nothing else lists
it. Passages are found by the inner product of what it makes of them and of the question.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, Field

from trivium.core.parameters import Parameters, validate
from trivium.core.registry import Registry

if TYPE_CHECKING:  # seconds to import, and only who encodes needs it
    import torch

    from trivium.nets.ragged import Ids

FAMILY = "trivium.kvqae.retrieval.text_encoders"
SECTION = "kvqae.text_encoders"  # of params.yaml: those in use, in the order of the tables
Side = Literal["question", "passage"]


class TextEncoderParameters(Parameters):
    """An entry of `kvqae.text_encoders`."""

    model: Path = Field(description="The folder with its weights, in Hugging Face's format")


class TextEncoder:
    """One side of a frozen encoder; its module imports nothing that takes seconds before it is made.

    Attributes:
        name: of the module, of its entry in `kvqae.text_encoders`, of its vectors, runs and rows.
        label: what tables call it.
        symbol: what stands for it in the formulae of the tables' rows.
        folders: of either side's network, below that of its weights; the same one where a network serves both.
        prefixes: what it is to read before a question, and before a passage's title.
        pooling: a text's vector is the last layer's at the first token, or its mean over the tokens.
        normalised: whether vectors get length 1.
        Parameters: of its entry in `kvqae.text_encoders`.

    Args:
        model: folder of its weights.
        side: which texts it is to encode.
        device: to compute on.

    Raises:
        BadInput: no such weights, or weights that do not fit (the layer is named).
    """

    name: ClassVar[str]
    label: ClassVar[str]
    symbol: ClassVar[str]
    folders: ClassVar[Mapping[Side, str]] = {"question": "question", "passage": "passage"}
    prefixes: ClassVar[Mapping[Side, str]] = {"question": "", "passage": ""}
    pooling: ClassVar[Literal["first", "mean"]] = "first"
    normalised: ClassVar[bool] = False
    Parameters: ClassVar[type[TextEncoderParameters]] = TextEncoderParameters

    def __init__(self, model: Path, side: Side, device: "torch.device") -> None:
        from trivium.kvqae.retrieval.text_encoder import load_text_encoder

        self.side, self.folder = side, model / self.folders[side]
        self.network, self.tokenizer = load_text_encoder(self.folder, device)

    @property
    def width(self) -> int:
        """Of a vector."""
        return int(self.network.config.hidden_size)

    def tokenize(self, texts: Sequence[str], max_tokens: int, titles: Sequence[str] | None = None) -> list[list[int]]:
        """Token ids of questions, or of passages with their titles, cut to `max_tokens`."""
        from trivium.kvqae.retrieval.text_encoder import tokenize

        if (prefix := self.prefixes[self.side]) and titles is not None:
            titles = [f"{prefix}{title}" for title in titles]
        elif prefix:
            texts = [f"{prefix}{text}" for text in texts]
        return tokenize(self.tokenizer, texts, max_tokens, titles=titles)

    def encode(self, ids: Sequence["Ids"], batch_size: int) -> NDArray[np.float32]:
        """Vectors (texts, width) of what `tokenize` gives; the batch size halves itself when GPU memory runs out."""
        from trivium.kvqae.retrieval.text_encoder import encode
        from trivium.nets.bert import POOLING

        vectors = encode(self.network, self.tokenizer, ids, batch_size, POOLING[self.pooling])
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True) if self.normalised else vectors


TEXT_ENCODERS: Registry[TextEncoder] = Registry(FAMILY, "text encoder", SECTION)
TEXT = ("bm25", *TEXT_ENCODERS)  # names of all systems that search by the question's text


def text_encoder_parameters(name: str, values: Mapping[str, Any]) -> TextEncoderParameters:
    """Check an encoder's entry in `kvqae.text_encoders`.

    Raises:
        BadInput: no such encoder, or see `validate`.
    """
    return validate(TEXT_ENCODERS[name].Parameters, dict(values), f"{SECTION}.{name}", Path("params.yaml"))


# `kvqae.text_encoders`, as stages read it that only ask which encoders are in use, and in which order.
TextEncoders = Annotated[
    dict[Annotated[str, AfterValidator(TEXT_ENCODERS.known)], dict[str, Any]],
    Field(description="Text encoders in use, in the tables' order"),
]
