"""What the cross-encoder starts from: the text encoder's own weights (kvqae.md §4), or more layers of the sample's.

The paper starts from the BERT that DPR starts from. The sample's stand-in keeps few layers, which suffice to gather a
text in [CLS] but less to compare two texts: with all six the cross-encoder starts to learn in half as many steps.
"""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.parameters import Parameters
from trivium.core.stage import Context, run_stage
from trivium.sources.brought import bring

SOURCES = ("sample", "hub", "local")


class RerankBaseParameters(Parameters):
    """Section `kvqae.rerank_base`; `hub` and `local` read none of it."""

    layers: tuple[Annotated[int, Field(ge=0, le=5)], ...] = Field(
        min_length=1, description="Layers of all-MiniLM-L6-v2 that are kept, from 0"
    )


def main(
    parameters: RerankBaseParameters,
    context: Context,
    *,
    source: str,
    base: Path = Path("models/kvqae/base/text"),
    out: Path = Path("models/kvqae/rerank_base"),
) -> dict[str, float]:
    """Write a Hugging Face folder to --out: --source sample takes the packaged MiniLM, hub and local take --base.

    Returns:
        `layers`, of the sample only.
    """
    if source not in SOURCES:
        raise BadInput("no such source", field="world.kvqae", got=source, choices=SOURCES)
    with write_atomically(out) as beside:
        if source == "sample":
            from trivium.sources.minilm import save_text

            return {"layers": float(save_text(beside, layers=parameters.layers))}
        bring(base, beside, sorted(str(path.relative_to(base)) for path in base.rglob("*") if path.is_file()))
        return {}


if __name__ == "__main__":
    run_stage(main, "kvqae.rerank_base", RerankBaseParameters, metrics="metrics/kvqae/rerank_base.json")
