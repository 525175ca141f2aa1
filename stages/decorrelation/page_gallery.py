"""Stage `decorrelation-page_gallery`. Figure 3 on the page: pictures with and without an object, and who is fooled."""

from pathlib import Path
from typing import ClassVar

from pydantic import Field

from trivium.core.parameters import Parameters
from trivium.core.stage import Context, run_stage
from trivium.core.tables import read_table
from trivium.page.common import write_part
from trivium.page.decorrelation.gallery import gallery_html
from trivium.page.decorrelation.results import read_results


class GalleryPageParameters(Parameters):
    """Section `decorrelation.page.gallery`."""

    elsewhere: ClassVar = {"coco": "world.coco"}
    coco: str = Field(description="Where COCO's data comes from")
    examples: int = Field(ge=1, description="Test queries in the gallery")
    image_side: int = Field(default=192, ge=32, description="Pixels of the longer side of the gallery's pictures")
    sentence_characters: int = Field(default=160, ge=20, description="Characters of a sentence that the gallery shows")
    seed: int = Field(ge=0, description="Of the draw of queries")


def main(
    parameters: GalleryPageParameters,
    context: Context,
    *,
    evaluated: Path = Path("metrics/decorrelation/evaluate.json"),
    evaluation: Path = Path("data/decorrelation/evaluation.parquet"),
    raw: Path = Path("data/decorrelation/raw"),
    phrases: Path = Path("data/decorrelation/phrases"),
    removals: Path = Path("data/decorrelation/removals"),
    painted: Path = Path("data/decorrelation/painted"),
    retrieved: Path = Path("data/decorrelation/retrieved"),
    used: Path = Path("params.yaml"),
    out: Path = Path("metrics/report/parts/decorrelation/gallery.json"),
) -> dict[str, float]:
    """Render the gallery of the queries in `evaluation`; `evaluated` are the metrics of the same stage."""
    sections, shown = gallery_html(
        read_results(used, evaluated),
        read_table(evaluation, ["cell", "set", "query", "odmap@1", "removed_named", "partner_remains"]),
        raw=raw,
        phrases=phrases,
        removals=removals,
        painted=painted,
        retrieved=retrieved,
        count=parameters.examples,
        seed=parameters.seed,
        side=parameters.image_side,
        longest=parameters.sentence_characters,
    )
    write_part(out, parameters.coco, sections)
    return shown


if __name__ == "__main__":
    run_stage(
        main, "decorrelation.page.gallery", GalleryPageParameters, metrics="metrics/decorrelation/page_gallery.json"
    )
