"""Names, labels and prefixes of the known text encoders; their networks are in `text_encoder.py`.

An entry NAME of `kvqae.text_encoders` in `params.yaml` puts an encoder to use; its vectors, runs and rows have this
name. A name listed here has a label and, where its folder states no prompts, its family's published prefixes. Any other
name stands for a folder in sentence-transformers' format, which states all settings (kvqae.md §3).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from trivium.core.parameters import Parameters

SECTION = "kvqae.text_encoders"  # of params.yaml: those in use, in the order of the tables
Side = Literal["question", "passage"]


@dataclass(frozen=True)
class EncoderFamily:
    """An encoder's names in tables, and how it reads texts.

    Attributes:
        label: name in tables.
        symbol: symbol in the formulae of the tables' rows.
        towers: whether it is DPR's two BERTs, in the folders `question` and `passage`; else it is one network in
            sentence-transformers' format.
        prefixes: text before a question and before a passage, where the folder states no prompt.
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


def family_of(name: str) -> EncoderFamily:
    """Return an encoder's family by its name; an unknown encoder gets its name as its label."""
    return TEXT_ENCODERS.get(name) or EncoderFamily(name, name)


class TextEncoderParameters(Parameters):
    """An entry of `kvqae.text_encoders`."""

    model: Path = Field(description="The folder with its weights, in Hugging Face's format")


# `kvqae.text_encoders` for stages that need only names and order of the encoders in use.
TextEncoders = Annotated[
    dict[Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$")], dict[str, Any]],
    Field(description="Text encoders in use, in the tables' order"),
]
