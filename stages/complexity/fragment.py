"""Complexity's fragment of the page: Tables 1 and 2, Figure 2, the instrument, partitions, an example browser."""

from pathlib import Path

from pyarrow import csv

from trivium.files.tables import write_json
from trivium.harness.parameters import read_parameters
from trivium.harness.stage import Context, run_stage
from trivium.page.common import sizes_html
from trivium.page.complexity.examples import examples_html
from trivium.page.complexity.factors import held_for_most
from trivium.page.complexity.instrument import planted
from trivium.page.complexity.material import ComplexityFragmentParameters, read_material
from trivium.page.complexity.readers import first_answers
from trivium.page.complexity.sections import factor_sections, instrument_sections, model_sections, partition_sections


def main(
    parameters: ComplexityFragmentParameters,
    context: Context,
    *,
    questions: Path,
    texts: Path,
    scores: Path,
    factors: Path,
    effects: Path,
    agreement: Path,
    curves: Path,
    frames: Path,
    judged: Path,
    folder: Path,
    published: Path,
    used: Path,
    paper: Path,
    out: Path,
) -> dict[str, float]:
    """Render complexity's sections; `folder` holds the stages' metrics."""
    known = read_material(
        questions=questions,
        texts=texts,
        scores=scores,
        factors=factors,
        effects=effects,
        folder=folder,
        published=published,
        used=used,
        weak_exact=parameters.weak_exact,
    )
    browser, shown = examples_html(
        known.examples,
        {row["id"]: {factor: row[factor] for factor in known.names} for row in known.table.to_pylist()},
        first_answers(known.answered, list(known.ordered)),
        known.names,
        known.labels,
        count=parameters.examples,
        seed=parameters.seed,
        margin=parameters.margin,
        longest=parameters.answer_characters,
    )
    sections = {
        **model_sections(known, parameters, csv.read_csv(judged).to_pylist()),
        **factor_sections(known),
        **instrument_sections(known, csv.read_csv(agreement).to_pylist()),
        **partition_sections(known, csv.read_csv(curves).to_pylist(), csv.read_csv(frames).to_pylist()),
        ("examples", "Examples"): browser,
        ("sizes", "Sizes used"): sizes_html({"complexity": dict(known.section)}, read_parameters(paper)),
    }
    fragment = {
        "pipeline": "complexity",
        "title": "Complexity: which semantic factors make French reading comprehension hard",
        "world": known.world,
        "sections": [
            {"id": f"complexity-{name}", "title": title, "html": html} for (name, title), html in sections.items()
        ],
    }
    write_json(out, fragment)
    partition, majority = known.found["partition"], known.section["partition"]["majority"]
    return {
        "examples": float(shown),
        "models": float(len(known.models)),
        "factors_validated": 0.0 if partition["fallback"] else partition["factors"],  # for a majority of the models
        "factors_found": float(held_for_most(known.found["validate"], known.names, "found", majority)),
        **planted(known.section["simulate"], known.printed),
        "bytes": float(out.stat().st_size),
    }


if __name__ == "__main__":
    run_stage(main, "complexity.fragment", ComplexityFragmentParameters)
