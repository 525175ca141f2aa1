"""Stage `kvqae-page_results`. Render KVQAE's sections of the page from Table 5 on."""

from pathlib import Path
from typing import Any

from pyarrow import csv
from pydantic import Field

from trivium.core.parameters import Parameters, read_parameters, used_values
from trivium.core.stage import stage
from trivium.core.tables import read_json, read_table
from trivium.page.html import render, sizes_html, write_part
from trivium.page.kvqae import findings, gallery, retrieval
from trivium.page.published import SearchedParameters, add_base_note
from trivium.page.thorough import read_thorough

# Sections that a smaller knowledge base changes.
SEARCHED = frozenset({"table-5", "table-6", "table-7", "overlap"})


class Gallery(Parameters):
    """Section `kvqae.page.gallery`."""

    questions: int = Field(ge=1, description="Test questions shown in the gallery")
    passages: int = Field(ge=1, description="Passages of each ranking shown with each of them")
    image_side: int = Field(ge=32, description="Pixels of the gallery's images, stored at this size")
    seed: int = Field(default=0, ge=0, description="Of the draw of questions")


class ResultsPageParameters(SearchedParameters):
    """Section `kvqae.page`; the sections show what all other stages of the pipeline used, too."""

    gallery: Gallery = Field(description="What the gallery shows")


@stage("kvqae.page", metrics="metrics/kvqae/page_results.json")
def main(
    parameters: ResultsPageParameters,
    *,
    data: Path = Path("data/kvqae"),
    dataset: Path = Path("data/kvqae/{kvqae.dataset}"),
    measured: Path = Path("metrics/kvqae"),
    published: Path = Path("tests/published/kvqae.yaml"),
    thorough: Path = Path("metrics/thorough/kvqae.json"),
    used: Path = Path("params.yaml"),
    paper: Path = Path("scales/paper.yaml"),
    out: Path = Path("metrics/report/parts/kvqae/results.json"),
) -> dict[str, float]:
    """Render the sections from `data` and `measured`, outputs of earlier stages; `thorough` is of `make thorough`."""
    kvqae: dict[str, Any] = used_values(used, "kvqae")
    printed = read_parameters(published)
    level = (kvqae["statistics"] | kvqae["evaluate"])["significance"]
    reranked = read_json(data / "evaluation" / "reranking.json")
    choice = read_json(data / "tuning" / "reranking.json")
    sections = retrieval.reranking_sections(reranked, choice, kvqae, printed)
    metrics = read_json(measured / "read.json")
    more = read_thorough(thorough, "read", kvqae["world"], sample=parameters.world == "sample")
    rows, seeds = findings.rows_of(kvqae["read"]), len(kvqae["read"]["seeds"])
    items = gallery.gallery_items(data, dataset, parameters.gallery.model_dump())
    sections |= {
        "table-7": findings.reading_findings(metrics, level)
        + findings.reading_html(metrics, printed, rows, seeds, more)
        + findings.sweep_html(csv.read_csv(measured / "passages_read.csv")),
        "figure-4": retrieval.overlap_html(
            read_table(measured / "lexical_overlap.parquet"),
            bool(read_json(measured / "lexical_overlap.json")["stems_instead_of_lemmas"]),
        ),
        "gallery": render("gallery.html", items=items, filters=gallery.FILTERS, seed=parameters.gallery.seed),
        "picture": gallery.picture_html(items),
        "difficulty": render(
            "kvqae_difficulty.html",
            factors=csv.read_csv(measured / "difficulty.csv").to_pylist(),
            metrics=read_json(measured / "difficulty.json"),
            confidence=(kvqae["statistics"] | kvqae["difficulty"])["confidence"],
        ),
        "sizes": sizes_html({"kvqae": kvqae}, read_parameters(paper)),
    }
    of_a_base = add_base_note({name: html for name, html in sections.items() if name in SEARCHED}, parameters.base)
    write_part(out, parameters.world, sections | of_a_base)
    return gallery.counts_of(items)
