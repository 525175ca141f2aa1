"""Stage `kvqae-page_reranking`. Tables 5 and 6 on the page, and the split by overlap with pretraining."""

from pathlib import Path
from typing import Any, ClassVar

import yaml
from pydantic import Field

from trivium.core.parameters import Parameters
from trivium.core.stage import Context, run_stage
from trivium.core.tables import read_json
from trivium.page.common import write_part
from trivium.page.kvqae.reranking import cross_encoder_html, reranking_sections
from trivium.page.kvqae.smaller_base import noted


class RerankingPageParameters(Parameters):
    """Section `kvqae.page.reranking`."""

    elsewhere: ClassVar = {
        "world": "world.kvqae",
        "base": "kvqae.world.base",
        "statistics": "kvqae.statistics",
        "evaluate_reranking": "kvqae.evaluate_reranking",
        "image_encoders": "kvqae.image_encoders",
        "weights": "kvqae.fuse.weights",
        "rerankers": "kvqae.rerankers",
        "initial": "kvqae.initial",
        "cross_encoder": "kvqae.cross_encoder",
        "rerank_finetune": "kvqae.rerank_finetune",
    }
    world: str = Field(description="Where the data comes from")
    base: dict[str, Any] | None = Field(default=None, description="Of the hub's articles those searched; null: all")
    statistics: dict[str, Any] = Field(description="What tables share")
    evaluate_reranking: dict[str, Any] = Field(description="What these have of their own")
    image_encoders: dict[str, Any] = Field(description="Those in use")
    weights: dict[str, dict[str, float]] = Field(description="Of the fusions, which name their systems")
    rerankers: dict[str, dict[str, Any]] = Field(description="Those in use")
    initial: dict[str, str] = Field(description="The run that they re-rank")
    cross_encoder: dict[str, Any] = Field(description="What its trainings share")
    rerank_finetune: dict[str, Any] = Field(description="What the second has of its own")


def main(
    parameters: RerankingPageParameters,
    context: Context,
    *,
    reranking: Path = Path("data/kvqae/evaluation/reranking.json"),
    reranking_choice: Path = Path("data/kvqae/tuning/reranking.json"),
    cross_encoder: Path = Path("metrics/kvqae/rerank_finetune.json"),
    published: Path = Path("tests/published/kvqae.yaml"),
    out: Path = Path("metrics/report/parts/kvqae/reranking.json"),
) -> None:
    """Render the tables of stage `evaluate_reranking`, what was tuned, and the cross-encoder's validation."""
    printed = yaml.safe_load(published.read_text(encoding="utf-8"))
    told = parameters.statistics | parameters.evaluate_reranking
    trained = parameters.cross_encoder | parameters.rerank_finetune
    text_alone = cross_encoder_html(
        read_json(cross_encoder),
        questions=trained["validation_questions"],
        passages=trained["validation_passages"],
        depth=parameters.rerankers["text"]["depth"],
    )
    used = {
        "image_encoders": parameters.image_encoders,
        "fuse": {"weights": parameters.weights},
        "rerankers": parameters.rerankers,
        "initial": parameters.initial,
    }
    sections = reranking_sections(
        read_json(reranking), read_json(reranking_choice), text_alone, used, printed,
        level=told["significance"], confidence=told["confidence"],
        sample=parameters.world == "sample" or parameters.base is not None,
    )  # fmt: skip
    write_part(out, parameters.world, noted(sections, parameters.base))


if __name__ == "__main__":
    run_stage(main, "kvqae.page.reranking", RerankingPageParameters)
