"""Complexity's sections of the page from their material: `{(id, title): HTML}` in the order in which they stand."""

from collections.abc import Mapping, Sequence
from typing import Any

from trivium.page.complexity.factors import forest_html, shares_html, table_2_html
from trivium.page.complexity.findings import findings_html
from trivium.page.complexity.instrument import agreement_html, parsers_html, simulation_html
from trivium.page.complexity.material import ComplexityFragmentParameters, Material
from trivium.page.complexity.models import figure_2_html, table_1_html
from trivium.page.complexity.partitions import illustrations_html, partitions_html
from trivium.page.complexity.readers import MEASURES, cuts, leaks, replies, trainings
from trivium.page.complexity.reasons import corpus

FIGURE_2 = "rouge_l"  # drawn in this measure, whichever is analysed
Sections = dict[tuple[str, str], str]
Rows = Sequence[Mapping[str, Any]]


def model_sections(known: Material, parameters: ComplexityFragmentParameters, judged: Rows) -> Sections:
    """Table 1 and Figure 2; `judged` are rows of the frames' human judgements."""
    section, found = known.section, known.found
    readers, asked = section["finetune"]["models"], section["prompt"]["models"]
    told = [*cuts(known.folder, known.first), *replies(asked, found["prompt"])]
    return {
        ("table-1", "Table 1: models"): table_1_html(
            known.kinds,
            found["score"],
            found["judgements"],
            known.printed,
            {model: settings["kind"] for model, settings in readers.items()} | dict.fromkeys(asked, "prompted"),
            known.labels,
            weak=known.weak,
            trained=trainings(known.folder, known.first),
            seeds=len(section["finetune"]["seeds"]),
            weak_exact=parameters.weak_exact,
            measure=MEASURES[section["validate"]["measure"]],
            other_measure=section["validate"]["measure"] != FIGURE_2,
            replies=[(known.labels[model], *rest) for model, *rest in told],
            leaks=leaks(found["world"]),
            sample_seed=section["world"]["seed"] if known.world == "sample" else None,
        ),
        ("figure-2", "Figure 2: frames"): figure_2_html(
            known.answered,
            known.table,
            known.models,
            found["score"],
            judged,
            known.labels,
            confidence=parameters.confidence,
            resamples=parameters.resamples,
            seed=parameters.seed,
            risk=section["validate"]["risk"],
        ),
    }


def factor_sections(known: Material) -> Sections:
    """What factors are, what they cost, and what is to be thought of it."""
    section, found, names, labels = known.section, known.found, known.names, known.labels
    measure = MEASURES[section["validate"]["measure"]]
    levels = {name: section["validate"][name] for name in ("risk", "confidence")}
    return {
        ("factors", "Factors"): shares_html(found["factors"], known.printed, names),
        ("table-2", "Table 2: what factors cost"): table_2_html(
            known.effects,
            known.printed,
            found["validate"],
            found["simulate"],
            section["simulate"]["models"],
            names,
            labels,
            measure=measure,
            majority=section["partition"]["majority"],
            **levels,
        ),
        ("findings", "What it says"): findings_html(
            known.effects,
            known.printed,
            found["factors"],
            names,
            labels,
            corpus(known.examples, known.table, names, known.scores),
            measure=measure,
            sample=known.world == "sample",
            **levels,
        ),
        ("forest", "All factors together"): forest_html(
            known.effects, labels, measure=measure, confidence=levels["confidence"]
        ),
    }


def instrument_sections(known: Material, agreement: Rows) -> Sections:
    """What the analysis rests on; `agreement` are the pairs of models of stage validate."""
    found = known.found
    return {
        ("instrument", "Does the analysis work?"): simulation_html(
            found["simulate"], known.section["simulate"], known.names, known.printed
        ),
        ("agreement", "Do models agree?"): agreement_html(agreement, known.models, found["validate"], known.labels),
        ("parsers", "Frames and syntax"): parsers_html(found["frame_parser"], found["syntax"]),
    }


def partition_sections(known: Material, curves: Rows, frames: Rows) -> Sections:
    """The evaluation set from easiest to hardest; rows of both files of stage partition."""
    chosen = known.section["partition"]
    measure = MEASURES[chosen["measure"]]
    return {
        ("partitions", "Easiest to hardest"): partitions_html(
            curves,
            known.models,
            known.found["partition"],
            known.names,
            known.labels,
            measure=measure,
            majority=chosen["majority"],
            weak=list(known.weak),
        ),
        ("illustrations", "Hard and easy frames"): illustrations_html(
            frames, known.models, known.printed, measure=measure
        ),
    }
