"""Decorrelation's Tables 1, 2 and 3 and appendix B, the published numbers beside ours."""

from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any

from trivium.core.tables import read_json
from trivium.decorrelation.evaluation.answers import ODMAP, RECALL
from trivium.decorrelation.matrix import Cell
from trivium.decorrelation.painting.filling import FILLINGS
from trivium.page.agreement import agreement
from trivium.page.common import environment, probability
from trivium.page.decorrelation.names import DATASETS, VARIANTS
from trivium.page.decorrelation.results import EVERY_CELL, MAIN, Results, Value, model_label, points, recipe
from trivium.page.thorough import Thorough

CAPTIONS = {
    "noun_phrase": "noun-phrase removal",
    "grammatical": "noun-phrase removal in whole English",
    "captioner": "captioning model",
    "prompt": "prompts",
}
VARIED = {variant for _, variant in MAIN}
LEAST_DIFFERENT = 0.1  # of the captions of D'; with fewer they hardly depend on the picture
DIRECTIONS = {"image_to_text": "image → text", "text_to_image": "text → image"}


def seeds_said(results: Results, group: str) -> str:
    """`one seed`, or how many."""
    count = results.seeds(group)
    return "one seed" if count == 1 else f"{count} seeds"


def measured(
    results: Results, thorough: Thorough | None, group: str, columns: Sequence[tuple[str, str]]
) -> dict[str, Any]:
    """A row's `seeds` and `values` where it ran; `again`: `make thorough`'s values where it ran once or not at all.

    Args:
        results: of stage evaluate.
        thorough: of the same stage; None: there is none of this world.
        group: the row.
        columns: set of queries and measure of each value.
    """
    ran = group in results.groups
    few = thorough is not None and (not ran or results.seeds(group) == 1)
    found = [thorough.mean(f"{group}_{kind}_{measure}") if thorough and few else None for kind, measure in columns]
    again = found if any(found) else []
    if not ran:
        return {"again": again}
    return {
        "again": again,
        "seeds": seeds_said(results, group),
        "values": [results.value(group, *column) for column in columns],
    }


def against(results: Results, dataset: str, model: str, variant: str, kind: str, measure: str) -> str | None:
    """By how much a row is above finetuning on D, in words."""
    row = results.comparison(
        dataset=dataset, model=model, variant=variant, other_variant="finetune", set=kind, measure=measure
    )
    if row is None:
        return None
    return f"{points(row['difference'])} on finetune, p {probability(row['p'])}"


def agrees(
    values: Sequence[Value | None], paper: Mapping[str, Any] | None, key: str, tolerance: float, *, verdict: bool
) -> str | None:
    """The verdict on a row: within one tolerance of what the paper prints, here or in another table (`also`)."""
    if paper is None:
        return None
    ours = [None if value is None else 100 * value.mean for value in values]
    printed = [paper[key], *([paper["also"]] if "also" in paper else [])]
    return agreement(ours, printed, [tolerance] * len(ours), sample=not verdict)


def judged(dataset: str, model: str, variant: str, *, samples: Container[str], as_long: Container[str]) -> bool:
    """Whether a row may agree or disagree with the paper's: real data, and a training as long as the paper's."""
    return dataset not in samples and (variant == "zero_shot" or model in as_long)


def table_1_html(
    results: Results,
    published: Mapping[str, Any],
    *,
    samples: Container[str],
    as_long: Container[str],
    matching: str,
    level: float,
    thorough: Thorough | None = None,
) -> str:
    """ODmAP@1, 5 and 10 of every model, data set by data set.

    Args:
        results: of stage evaluate.
        published: tests/published/decorrelation.yaml.
        samples: data sets that are sample worlds.
        as_long: models trained for as many steps as at the paper's scale.
        matching: how phrases name classes, see stage phrases.
        level: of significance, which the caption names.
        thorough: of stage evaluate, where `make thorough` was run in this world.
    """
    tables, columns = [], [*(("synthetic", measure) for measure in (*ODMAP, "removed_named")), ("original", "odmap@1")]
    for dataset in (name for name in ("coco", "flickr30k") if name in results.datasets):
        printed = published["table_1"][dataset]
        rows = []
        for model, variant in MAIN:
            group, paper = f"{dataset}_{model}_{variant}", printed.get(f"{model}_{variant}")
            if paper is None and group not in results.groups:
                continue
            row: dict[str, Any] = {"model": model_label(model), "variant": VARIANTS[variant], "paper": paper}
            row |= measured(results, thorough, group, columns)
            if group in results.groups:
                values = row["values"][: len(ODMAP)]
                verdict = judged(dataset, model, variant, samples=samples, as_long=as_long)
                row |= {
                    "against": against(results, dataset, model, variant, "synthetic", "odmap@1"),
                    "agrees": agrees(values, paper, "values", published["tolerances"]["odmap"], verdict=verdict),
                }
            rows.append(row)
        tables.append(
            {
                "dataset": DATASETS[dataset],
                "rows": rows,
                "chance": [results.metrics[f"{dataset}_synthetic_chance_{measure}"] for measure in ODMAP],
                "queries": results.metrics[f"{dataset}_synthetic_queries"],
                "pictures": results.metrics[f"{dataset}_synthetic_pictures"],
                "tested": results.metrics[f"{dataset}_image_to_text_queries"],
                "painted": not results.metrics[f"{dataset}_synthetic_not_asked"],
                "captions": results.metrics[f"{dataset}_captions"],
            }
        )
    return (
        environment()
        .get_template("decorrelation_odmap.html")
        .render(
            tables=tables,
            scale=EVERY_CELL,
            thorough=thorough,
            level=level,
            matching=matching,
            source=published["source"],
            painters=sorted(
                {FILLINGS[cell.queries].label for cell in results.groups.values() if cell.variant in VARIED}
            ),
        )
    )


def table_2_html(
    results: Results,
    published: Mapping[str, Any],
    *,
    samples: Container[str],
    as_long: Container[str],
    thorough: Thorough | None = None,
) -> str:
    """R@1, 5 and 10 both ways; arguments as `table_1_html`."""
    tables = []
    for dataset in (name for name in ("coco", "flickr30k") if name in results.datasets):
        for direction, name in DIRECTIONS.items():
            rows = []
            for model, variant in MAIN:
                group, paper = f"{dataset}_{model}_{variant}", published["table_2"][dataset].get(f"{model}_{variant}")
                if paper is None and group not in results.groups:
                    continue
                row: dict[str, Any] = {"model": model_label(model), "variant": VARIANTS[variant]}
                row |= {"paper": paper and paper[direction]}
                row |= measured(results, thorough, group, [(direction, measure) for measure in RECALL])
                if group in results.groups:
                    verdict = judged(dataset, model, variant, samples=samples, as_long=as_long)
                    tolerance = published["tolerances"]["recall"]
                    row |= {
                        "against": against(results, dataset, model, variant, direction, "r@1"),
                        "agrees": agrees(row["values"], paper, direction, tolerance, verdict=verdict),
                    }
                rows.append(row)
            queries = results.metrics[f"{dataset}_{direction}_queries"]
            tables.append({"dataset": DATASETS[dataset], "direction": name, "rows": rows, "queries": queries})
    template = environment().get_template("decorrelation_recall.html")
    return template.render(tables=tables, scale=EVERY_CELL, thorough=thorough)


def table_3_html(results: Results, published: Mapping[str, Any], folder: Path, thorough: Thorough | None = None) -> str:
    """CLIP on COCO, by what makes the captions and the pictures of D', with the hubness of each.

    Args:
        results: of stage evaluate.
        published: tests/published/decorrelation.yaml.
        folder: of the metrics, with `pairs_{dataset}_{filling}_{captions}.json`.
        thorough: of stage evaluate.
    """
    columns = [("synthetic", measure) for measure in (*ODMAP, "removed_named")]
    reference = results.groups.get("coco_clip_ours")
    found = {
        recipe(cell): name
        for name, cell in results.groups.items()
        if (cell.dataset, cell.model, cell.share, cell.captions_an_image) == ("coco", "clip", 1, 1)
        and reference is not None
        and cell.queries == reference.queries
        and recipe(cell) is not None
    }
    rows, written = [], []
    printed = published["table_3"]["rows"]
    own = {key: {"label": _label(results.groups[name])} for key, name in found.items() if key not in printed}
    for key, paper in (printed | own).items():
        row: dict[str, Any] = {"label": paper["label"], "paper": paper if key in printed else None}
        group = found.get(key)
        row |= measured(results, thorough, group or f"coco_clip_{key}", columns)
        if group:
            row["skew"] = results.skew(group)
            cell = results.groups[group]
            if cell.synthetic:
                counts = read_json(folder / f"pairs_{cell.dataset}_{cell.filling}_{cell.captions}.json")
                written.append((paper["label"], int(counts["different_captions"]), int(counts["pairs"])))
        rows.append(row)
    return (
        environment()
        .get_template("decorrelation_synthesis.html")
        .render(rows=rows, scale="table3", written=written, least_different=LEAST_DIFFERENT, thorough=thorough)
    )


def _label(cell: Cell) -> str:
    """A row of ours that the paper has not."""
    painter = FILLINGS[cell.filling]
    return f"{CAPTIONS[cell.captions]} × {'in-painting' if painter.inpaints else painter.label}"


def appendix_b_html(results: Results, published: Mapping[str, Any], thorough: Thorough | None = None) -> str:
    """CLIP on COCO when every training set has the same size."""
    rows, columns = [], [("synthetic", "odmap@1"), ("image_to_text", "r@1")]
    for variant, paper in published["appendix_b"]["rows"].items():
        group = f"coco_clip_{variant}"
        rows.append({"label": paper["label"], "paper": paper} | measured(results, thorough, group, columns))
    template = environment().get_template("decorrelation_appendix.html")
    return template.render(rows=rows, scale="appendix_b", thorough=thorough)
