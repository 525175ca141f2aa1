"""Re-rank the best passages of a run by the cross-encoder, which reads question and passage (kvqae.md §4)."""

from typing import ClassVar, Literal

from pydantic import Field

from trivium.harness.parameters import Parameters


class RerankTextParameters(Parameters):
    """Section `kvqae.rerank_text`."""

    elsewhere: ClassVar = {"max_tokens": "kvqae.texts.pair_tokens", "batch": "kvqae.texts.pair_batch"}
    splits: tuple[Literal["train", "validation", "test"], ...] = Field(
        default=("validation", "test"), min_length=1, description="Splits re-ranked"
    )
    depth: int = Field(ge=1, description="Best passages of the initial run that are re-ranked")
    max_tokens: int = Field(ge=8, le=512, description="Tokens of question and passage together")
    batch: int = Field(ge=1, description="Pairs scored together")
