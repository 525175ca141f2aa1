"""Stage `complexity-page_results`. All of complexity's sections of the page."""

from pathlib import Path

from pydantic import Field

from trivium.core.parameters import Parameters, read_parameters, shared, used_values
from trivium.core.stage import stage
from trivium.page.complexity import effects, examples, models
from trivium.page.complexity.material import read_material
from trivium.page.html import render, sizes_html, write_part
from trivium.page.thorough import read_thorough


class Figure2(Parameters):
    """Section `complexity.page.models`."""

    confidence: float = Field(gt=0, lt=1, description="Of Figure 2's intervals")
    resamples: int = Field(ge=1, description="Bootstrap draws of texts for each frame and model")
    seed: int = Field(ge=0, description="Of the bootstrap")


class Examples(Parameters):
    """Section `complexity.page.examples`."""

    examples: int = Field(ge=1, description="Questions in the example browser")
    answer_characters: int = Field(default=300, ge=1, description="Characters of an answer that the browser shows")
    seed: int = Field(ge=0, description="Of the draw of questions")


class ResultsPageParameters(Parameters):
    """Section `complexity.page`; the sections show what all other stages of the pipeline used, too."""

    world: str = shared("world.calor", description="Where the evaluation texts come from")
    weak_exact: float = Field(ge=0, le=1, description="Share of exactly right answers below which a model is weak")
    models: Figure2 = Field(description="How Figure 2 is drawn")
    examples: Examples = Field(description="What the example browser shows")


@stage("complexity.page", metrics="metrics/complexity/page_results.json")
def main(
    parameters: ResultsPageParameters,
    *,
    data: Path = Path("data/complexity"),
    measured: Path = Path("metrics/complexity"),
    published: Path = Path("tests/published/complexity.yaml"),
    thorough: Path = Path("metrics/thorough/complexity.json"),
    used: Path = Path("params.yaml"),
    paper: Path = Path("scales/paper.yaml"),
    out: Path = Path("metrics/report/parts/complexity/results.json"),
) -> dict[str, float]:
    """Make every section of what the stages before left in `data` and `measured`; `thorough` is from `make thorough`.

    The metrics say how many factors count for a majority of the models.
    """
    complexity = used_values(used, "complexity")
    printed, sample = read_parameters(published), parameters.world == "sample"
    of = read_material(complexity | {"page": parameters.model_dump()}, sample, data, measured, printed)
    more = read_thorough(thorough, "score", complexity["world"], sample=of.sample)
    browser, count = examples.examples_html(of)
    contrasts = effects.read_contrasts(of)
    front = effects.first_claim_html(of.effects, of.names, of.labels, of.measure)
    sections = {
        **({"picture": effects.render_contrasts_picture(contrasts)} if contrasts.facts else {}),
        "claim": effects.render_contrasts_claim(contrasts) if contrasts.facts else front,
        "contrasts": effects.render_contrasts(contrasts),
        "table-1": models.table_1(of, more),
        "figure-2": models.figure_2(of),
        "forest": effects.forest(of),
        "table-2": effects.table_2(of),
        "findings": render("complexity/findings.html", of=of, rows=effects.findings(of)),
        "agreement": models.agreement(of),
        "partitions": models.partitions(of),
        **{name: render(f"complexity/{name}.html", of=of) for name in ("factors", "parsers", "illustrations")},
        "sizes": sizes_html({"complexity": complexity}, read_parameters(paper)),
    }
    write_part(out, parameters.world, browser | sections)
    partition = of.metrics("partition")
    return {
        "examples": float(count),
        "models": float(len(of.models)),
        "factors_validated": 0.0 if partition["fallback"] else partition["factors"],
        "factors_found": float(of.held_for_most("found")),
    }
