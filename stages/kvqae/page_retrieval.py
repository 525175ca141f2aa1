"""Stage `kvqae-page_retrieval`. Render Tables 2 to 4 for the page, before re-ranking and reading have run."""

from pathlib import Path
from typing import Any

from trivium.core.parameters import read_parameters, shared
from trivium.core.stage import stage
from trivium.core.tables import read_json
from trivium.page.html import write_part
from trivium.page.kvqae.findings import RETRIEVAL, first_claim_html
from trivium.page.kvqae.retrieval import labels_of, retrieval_html, weights_html
from trivium.page.published import TABLES, SearchedParameters, add_base_note


class RetrievalPageParameters(SearchedParameters):
    """Section `kvqae.page_retrieval`: nothing of its own."""

    statistics: dict[str, Any] = shared("kvqae.statistics", description="What tables share")
    evaluate: dict[str, Any] = shared("kvqae.evaluate", description="What these have of their own")
    image_encoders: dict[str, Any] = shared("kvqae.image_encoders", description="Those in use")
    weights: str | dict[str, dict[str, float]] = shared("kvqae.fuse.weights", description="Of the fusions; or tuned")


@stage("kvqae.page_retrieval")
def main(
    parameters: RetrievalPageParameters,
    *,
    evaluation: Path = Path("data/kvqae/evaluation/tables.json"),
    tuned: Path = Path("data/kvqae/tuning/weights.json"),
    published: Path = Path("tests/published/kvqae.yaml"),
    out: Path = Path("metrics/report/parts/kvqae/retrieval.json"),
) -> None:
    """Render the tables of stage `evaluate` and their findings."""
    blocks, printed = read_json(evaluation), read_parameters(published)
    statistics = parameters.statistics | parameters.evaluate
    labels = labels_of(list(parameters.image_encoders), parameters.weights)
    sections = {"claim": first_claim_html(blocks, statistics["significance"])}
    for name, shown in TABLES.items():
        sections[name] = retrieval_html(blocks, printed, shown, statistics, labels, RETRIEVAL.get(name, ()))
    sections["table-3"] += weights_html(read_json(tuned), printed, labels)
    write_part(out, parameters.world, add_base_note(sections, parameters.base))
