"""Complexity's fragment of the page: Tables 1 and 2, Figure 2, the instrument, partitions, an example browser."""

from pathlib import Path

import yaml
from pyarrow import csv
from pydantic import Field

from trivium.complexity.effects.factor_table import read_names
from trivium.complexity.scoring.score_table import read_scores
from trivium.errors import BadInput
from trivium.files.tables import read_json, read_table, write_json
from trivium.formats.frame_corpora import read_examples
from trivium.harness.parameters import Parameters, read_parameters
from trivium.harness.stage import Context, run_stage
from trivium.page.common import sizes_html
from trivium.page.complexity.examples import examples_html
from trivium.page.complexity.factors import cells, forest_html, held_for_most, shares_html, table_2_html
from trivium.page.complexity.findings import findings_html
from trivium.page.complexity.instrument import agreement_html, parsers_html, planted, simulation_html
from trivium.page.complexity.models import figure_2_html, order, table_1_html
from trivium.page.complexity.partitions import illustrations_html, partitions_html
from trivium.page.complexity.readers import (
    FINETUNED,
    MEASURES,
    cuts,
    display_names,
    first_answers,
    first_seeds,
    leaks,
    replies,
    trainings,
    weakness,
)
from trivium.page.complexity.reasons import corpus

STAGES = (
    "world",
    "prompt",
    "score",
    "judgements",
    "factors",
    "validate",
    "simulate",
    "frame_parser",
    "syntax",
    "partition",
)
FIGURE_2 = "rouge_l"  # drawn in this measure, whichever is analysed


class ComplexityFragmentParameters(Parameters):
    """Section `complexity.fragment`."""

    examples: int = Field(ge=1, description="Questions in the example browser")
    margin: int = Field(
        default=400, ge=0, description="Characters of a long text before its first and after its last marked word"
    )
    answer_characters: int = Field(default=300, ge=1, description="Characters of an answer that the browser shows")
    weak_exact: float = Field(ge=0, le=1, description="Share of exactly right answers below which a model is weak")
    confidence: float = Field(gt=0, lt=1, description="Of Figure 2's intervals")
    resamples: int = Field(ge=1, description="Bootstrap draws of texts for each frame and model")
    seed: int = Field(ge=0, description="Of the draw of questions and of the bootstrap")


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
    printed = yaml.safe_load(published.read_text(encoding="utf-8"))
    everything = read_parameters(used)
    section, world = everything["complexity"], everything["world"]["calor"]
    found = {stage: read_json(folder / f"{stage}.json") for stage in STAGES}
    answered = read_table(scores, ["id", "model", "kind", "seed", "prediction", "rouge_l"])
    table, names = read_table(factors), read_names(factors)
    kinds = dict(zip(answered["model"].to_pylist(), answered["kind"].to_pylist(), strict=True))
    ordered = order(kinds, printed)
    models = [model for model in ordered if kinds[model] != "baseline"]
    by_model = cells(read_table(effects).to_pylist(), models)
    if set(by_model) != set(models):
        raise BadInput("effects of other models", file=effects, got=sorted(by_model), expected=", ".join(models))
    labels = display_names(section, printed, kinds)
    readers, asked = section["finetune"]["models"], section["prompt"]["models"]
    first = {model: seed for model, seed in first_seeds(answered).items() if kinds[model] in FINETUNED}
    reasons = {
        model: weakness(
            model, found["score"], parameters.weak_exact, meant=model in first and readers[model].get("weak", False)
        )
        for model in models
    }
    weak = {model: reason for model, reason in reasons.items() if reason is not None}
    risk, confidence = section["validate"]["risk"], section["validate"]["confidence"]
    analysed = MEASURES[section["validate"]["measure"]]
    of_question = {row["id"]: {factor: row[factor] for factor in names} for row in table.to_pylist()}
    examples = read_examples(questions, texts)
    ids = [each.id for each in examples]
    if ids != table["id"].to_pylist():
        raise BadInput("factors of other questions", file=factors, expected=f"the questions of {questions}, in order")
    browser, shown = examples_html(
        examples,
        of_question,
        first_answers(answered, ordered),
        names,
        labels,
        count=parameters.examples,
        seed=parameters.seed,
        margin=parameters.margin,
        longest=parameters.answer_characters,
    )
    sections = {
        ("table-1", "Table 1: models"): table_1_html(
            kinds,
            found["score"],
            found["judgements"],
            printed,
            {model: settings["kind"] for model, settings in readers.items()} | dict.fromkeys(asked, "prompted"),
            labels,
            weak=weak,
            trained=trainings(folder, first),
            seeds=len(section["finetune"]["seeds"]),
            weak_exact=parameters.weak_exact,
            measure=analysed,
            other_measure=section["validate"]["measure"] != FIGURE_2,
            replies=[
                (labels[model], *rest) for model, *rest in [*cuts(folder, first), *replies(asked, found["prompt"])]
            ],
            leaks=leaks(found["world"]),
            sample_seed=section["world"]["seed"] if world == "sample" else None,
        ),
        ("figure-2", "Figure 2: frames"): figure_2_html(
            answered,
            table,
            models,
            found["score"],
            csv.read_csv(judged).to_pylist(),
            labels,
            confidence=parameters.confidence,
            resamples=parameters.resamples,
            seed=parameters.seed,
            risk=risk,
        ),
        ("factors", "Factors"): shares_html(found["factors"], printed, names),
        ("table-2", "Table 2: what factors cost"): table_2_html(
            by_model,
            printed,
            found["validate"],
            found["simulate"],
            section["simulate"]["models"],
            names,
            labels,
            measure=analysed,
            risk=risk,
            confidence=confidence,
            majority=section["partition"]["majority"],
        ),
        ("findings", "What it says"): findings_html(
            by_model,
            printed,
            found["factors"],
            names,
            labels,
            corpus(examples, table, names, read_scores(scores, ids, section["validate"]["measure"])),
            measure=analysed,
            risk=risk,
            confidence=confidence,
            sample=world == "sample",
        ),
        ("forest", "All factors together"): forest_html(by_model, labels, measure=analysed, confidence=confidence),
        ("instrument", "Does the analysis work?"): simulation_html(
            found["simulate"], section["simulate"], names, printed
        ),
        ("agreement", "Do models agree?"): agreement_html(
            csv.read_csv(agreement).to_pylist(), models, found["validate"], labels
        ),
        ("parsers", "Frames and syntax"): parsers_html(found["frame_parser"], found["syntax"]),
        ("partitions", "Easiest to hardest"): partitions_html(
            csv.read_csv(curves).to_pylist(),
            models,
            found["partition"],
            names,
            labels,
            measure=MEASURES[section["partition"]["measure"]],
            majority=section["partition"]["majority"],
            weak=list(weak),
        ),
        ("illustrations", "Hard and easy frames"): illustrations_html(
            csv.read_csv(frames).to_pylist(),
            models,
            printed,
            measure=MEASURES[section["partition"]["measure"]],
        ),
        ("examples", "Examples"): browser,
        ("sizes", "Sizes used"): sizes_html({"complexity": section}, read_parameters(paper)),
    }
    fragment = {
        "pipeline": "complexity",
        "title": "Complexity: which semantic factors make French reading comprehension hard",
        "world": world,
        "sections": [
            {"id": f"complexity-{name}", "title": title, "html": html} for (name, title), html in sections.items()
        ],
    }
    write_json(out, fragment)
    validated = 0.0 if found["partition"]["fallback"] else found["partition"]["factors"]
    return {
        "examples": float(shown),
        "models": float(len(models)),
        "factors_validated": validated,  # for a majority of the models
        "factors_found": float(held_for_most(found["validate"], names, "found", section["partition"]["majority"])),
        **planted(section["simulate"], printed),
        "bytes": float(out.stat().st_size),
    }


if __name__ == "__main__":
    run_stage(main, "complexity.fragment", ComplexityFragmentParameters)
