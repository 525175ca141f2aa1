"""Which text encoders of questions and passages there are: names, labels and prefixes, without their networks.

A line NAME of `kvqae.text_encoders` in `params.yaml` puts an encoder to use; the name is that of its vectors, runs and
rows. A name that stands here has a label and, where its folder states no prompts, its family's published prefixes. Any
other name works, too: of a folder in sentence-transformers' format, which states all that is to be known (kvqae.md §3).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from trivium.core.parameters import Parameters, validate

SECTION = "kvqae.text_encoders"  # of params.yaml: those in use, in the order of the tables
Side = Literal["question", "passage"]


@dataclass(frozen=True)
class EncoderFamily:
    """Name in tables and way of reading texts of an encoder.

    Attributes:
        label: what tables call it.
        symbol: what stands for it in the formulae of the tables' rows.
        towers: DPR's two BERTs, one a side, in the folders `question` and `passage`; else one network in
            sentence-transformers' format.
        prefixes: what is read before a question and before a passage, where the folder states no prompt.
    """

    label: str
    symbol: str
    towers: bool = False
    prefixes: Mapping[Side, str] = field(default_factory=lambda: {"question": "", "passage": ""})


_BGE_INSTRUCTION = "Represent this sentence for searching relevant passages:"
TEXT_ENCODERS: dict[str, EncoderFamily] = {
    # Xiao et al., SIGIR 2024, in English, version 1.5; only questions have an instruction, that of the model's card.
    "bge": EncoderFamily("BGE", "E_bge", prefixes={"question": f"{_BGE_INSTRUCTION} ", "passage": ""}),
    "dpr_few_shot": EncoderFamily("DPR few-shot", "D_f", towers=True),  # of stage kvqae-dpr_finetune
    "dpr_zero_shot": EncoderFamily("DPR zero-shot", "D₀", towers=True),  # of stage kvqae-dpr_pretrain
    # Wang et al. 2022, version 2: trained with these prefixes, which its folders do not state.
    "e5": EncoderFamily("E5", "E_e5", prefixes={"question": "query: ", "passage": "passage: "}),
    "gte": EncoderFamily("GTE", "E_gte"),  # Li et al. 2023: neither side has a prefix
}
TEXT = ("bm25", *TEXT_ENCODERS)  # names of the known systems that search by the question's text


def family_of(name: str) -> EncoderFamily:
    """Look an encoder's family up by its name; one that does not stand above is called by its own name."""
    return TEXT_ENCODERS.get(name) or EncoderFamily(name, name)


class TextEncoderParameters(Parameters):
    """An entry of `kvqae.text_encoders`."""

    model: Path = Field(description="The folder with its weights, in Hugging Face's format")


def text_encoder_parameters(name: str, values: Mapping[str, Any]) -> TextEncoderParameters:
    """Check an encoder's entry in `kvqae.text_encoders`; see `validate`."""
    return validate(TextEncoderParameters, dict(values), f"{SECTION}.{name}", Path("params.yaml"))


# `kvqae.text_encoders`, as stages read it that only ask which encoders are in use, and in which order.
TextEncoders = Annotated[
    dict[Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$")], dict[str, Any]],
    Field(description="Text encoders in use, in the tables' order"),
]
