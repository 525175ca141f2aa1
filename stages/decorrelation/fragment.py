"""Stage `decorrelation-fragment`. Decorrelation's part of the page: tables, figures, and the checks on a sample."""

from pathlib import Path

import yaml
from pyarrow import csv
from pydantic import Field

from trivium.decorrelation.matrix import parse_cells
from trivium.files.tables import read_json, read_table, write_json
from trivium.harness.parameters import Parameters, read_parameters, used_values
from trivium.harness.stage import Context, run_stage
from trivium.page.decorrelation.gallery import gallery_html
from trivium.page.decorrelation.results import Results
from trivium.page.decorrelation.sections import MATRIX, sections_html


class DecorrelationFragmentParameters(Parameters):
    """Section `decorrelation.fragment`."""

    examples: int = Field(ge=1, description="Test queries in the gallery")
    image_side: int = Field(default=192, ge=32, description="Pixels of the longer side of the gallery's pictures")
    sentence_characters: int = Field(default=160, ge=20, description="Characters of a sentence that the gallery shows")
    significance: float = Field(gt=0, lt=1, description="p up to which a difference counts as shown")
    margin: float = Field(gt=0, lt=1, description="Difference up to which two values count as the same")
    seed: int = Field(ge=0, description="Of the draw of queries")


def main(
    parameters: DecorrelationFragmentParameters,
    context: Context,
    *,
    evaluation: Path,
    comparisons: Path,
    classes: Path,
    entities: Path,
    folder: Path,
    raw: Path,
    phrases: Path,
    removals: Path,
    painted: Path,
    retrieved: Path,
    published: Path,
    used: Path,
    paper: Path,
    out: Path,
) -> dict[str, float]:
    """Render decorrelation's sections; `folder` holds the stages' metrics, `entities` is the table of that stage."""
    printed = yaml.safe_load(published.read_text(encoding="utf-8"))
    section, world = used_values(used, "decorrelation"), used_values(used, "world")
    results = Results(parse_cells(section[MATRIX], used), read_json(folder / "evaluate.json"), read_json(comparisons))
    samples = [name for name in results.datasets if world.get(name, "sample") == "sample"]
    published_scale = read_parameters(paper)
    by_class = csv.read_csv(classes).to_pylist()
    columns = ["cell", "set", "query", "odmap@1", "removed_named", "partner_remains"]
    gallery, shown = gallery_html(
        results,
        read_table(evaluation, columns),
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
    sections = sections_html(
        results,
        section,
        printed=printed,
        published_scale=published_scale,
        by_class=by_class,
        gallery=gallery,
        entities=read_json(entities),
        folder=folder,
        samples=samples,
        level=parameters.significance,
        margin=parameters.margin,
    )
    fragment = {
        "pipeline": "decorrelation",
        "title": "Decorrelation: does image-text retrieval look at the image, or say what usually stands together",
        "world": "sample" if "coco" in samples else world["coco"],
        "sections": [
            {"id": f"decorrelation-{name}", "title": title, "html": html} for (name, title), html in sections.items()
        ],
    }
    write_json(out, fragment)
    return shown | {"bytes": float(out.stat().st_size)}


if __name__ == "__main__":
    run_stage(main, "decorrelation.fragment", DecorrelationFragmentParameters)
