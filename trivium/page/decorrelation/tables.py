"""Decorrelation's Tables 1 to 3, Figure 4 and appendix B, the published numbers beside ours."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from trivium.core.tables import read_json
from trivium.decorrelation.evaluation.answers import ODMAP, RECALL
from trivium.decorrelation.matrix import Cell as Training
from trivium.decorrelation.painting.filling import FILLINGS
from trivium.page.decorrelation.results import EVERY_CELL, MAIN, Results, model_label, recipe
from trivium.page.figures import sweep
from trivium.page.html import (
    Cell,
    Column,
    Row,
    decimal,
    figure,
    interval,
    percent,
    points,
    probability,
    published,
    render,
    small,
    table,
)
from trivium.page.published import DATASETS, VARIANTS, agreement
from trivium.page.thorough import Thorough, dagger, measured_cell

CAPTIONS = {
    "noun_phrase": "noun-phrase removal",
    "grammatical": "noun-phrase removal in whole English",
    "captioner": "captioning model",
    "prompt": "prompts",
}
LEAST_DIFFERENT = 0.1  # of the captions of D'; with fewer they hardly depend on the picture
DIRECTIONS = {"image_to_text": "image → text", "text_to_image": "text → image"}
FIGURE_4 = {"ODmAP@1": ("synthetic", "odmap@1"), "R@1, image → text": ("image_to_text", "r@1")}
_FEWEST = 3  # points of a curve


@dataclass(frozen=True)
class Tables:
    """What the tables show.

    Attributes:
        results: of stage evaluate.
        published: tests/published/decorrelation.yaml.
        used: section `decorrelation` of the parameters.
        samples: data sets that are sample worlds.
        as_long: models trained for as many steps as at the paper's scale.
        level: of significance.
        thorough: of stage evaluate, where `make thorough` was run in this world.
    """

    results: Results
    published: Mapping[str, Any]
    used: Mapping[str, Any]
    samples: Container[str]
    as_long: Container[str]
    level: float
    thorough: Thorough | None = None

    def cells(
        self, group: str, columns: Sequence[tuple[str, str]], scale: str = EVERY_CELL, further: Sequence[Any] = ()
    ) -> list[Any]:
        """A row's values, below them those of `make thorough` where it was trained at most once here; or what runs it.

        Args:
            group: the row.
            columns: set of queries and measure of each value.
            scale: which trains this row.
            further: cells behind them, where there are any.
        """
        ran, thorough = group in self.results.groups, self.thorough
        if ran and self.results.seeds(group) > 1:
            thorough = None
        keys = [f"{group}_{kind}_{measure}" for kind, measure in columns]
        again = any(thorough.again(key) for key in keys) if thorough else False
        if not ran and not again:
            said = "not in this run: <code>make scale S={}</code>, then <code>make repro P=decorrelation</code>"
            return [Cell(Markup(said).format(scale), "absent", len(columns) + len(further))]
        values = [measured_cell(self.results.metrics, key, thorough) for key in keys]
        return [*values, *(further if ran else "–" * len(further))]

    def seeds(self, group: str, *more: str | None) -> Markup:
        """How many trainings a row that ran is the mean of, and what else is said of it."""
        if group not in self.results.groups:
            return Markup()
        count = self.results.seeds(group)
        return small("; ".join(filter(None, ["one seed" if count == 1 else f"{count} seeds", *more])))

    def heading(self, dataset: str, model: str, variant: str, column: tuple[str, str], said: str | None) -> Markup:
        """A row's name and, where it ran, by how much a column is above finetuning on D, and the verdict."""
        against = None
        kind, measure = column
        row = self.results.comparison(
            dataset=dataset, model=model, variant=variant, other_variant="finetune", set=kind, measure=measure
        )
        if row is not None:
            against = f"{points(row['difference'])} on finetune, p {probability(row['p'])}"
        name = Markup("{} {}").format(model_label(model), small(VARIANTS[variant]))
        return name + self.seeds(f"{dataset}_{model}_{variant}", against, said and f"paper: {said}")

    def agrees(
        self, group: str, columns: Sequence[tuple[str, str]], printed: Sequence[Sequence[float]], tolerance: float
    ) -> str | None:
        """The verdict on a row within one tolerance of what the paper prints, here or in another table.

        None where it did not run on real data, or was not trained for as long as the paper's.
        """
        cell = self.results.groups.get(group)
        if cell is None or not printed:
            return None
        judged = cell.dataset not in self.samples and (cell.variant == "zero_shot" or cell.model in self.as_long)
        values = [self.results.value(group, *column) for column in columns]
        ours = [None if value is None else 100 * value.mean for value in values]
        return agreement(ours, printed, [tolerance] * len(ours), sample=not judged)

    def datasets(self) -> list[str]:
        """Those of the paper that ran."""
        return [name for name in ("coco", "flickr30k") if name in self.results.datasets]


def paper_cells(values: Sequence[float] | None) -> list[Cell]:
    """The paper's numbers, in %."""
    if not values:
        return [Cell("not in the paper", "published", 3)]
    return [Cell(decimal(value), "published") for value in values]


def table_1_html(of: Tables) -> Markup:
    """ODmAP@1, 5 and 10 of every model, data set by data set."""
    columns = [*(("synthetic", measure) for measure in (*ODMAP, "removed_named")), ("original", "odmap@1")]
    heads = ["Model", "ODmAP@1", "@5", "@10", Column("removed object named", "wrap"),
             Column("original pictures, @1", "wrap"), *published("@1", "@5", "@10")]  # fmt: skip
    tables, metrics = Markup(), of.results.metrics
    for dataset in of.datasets():
        rows: list[Row | Sequence[Any]] = []
        for model, variant in MAIN:
            group, paper = f"{dataset}_{model}_{variant}", of.published["table_1"][dataset].get(f"{model}_{variant}")
            if paper is None and group not in of.results.groups:
                continue
            printed = [paper[name] for name in ("values", "also") if name in paper] if paper else []
            said = of.agrees(group, columns[: len(ODMAP)], printed, of.published["tolerances"]["odmap"])
            heading = of.heading(dataset, model, variant, columns[0], said)
            rows.append([heading, *of.cells(group, columns), *paper_cells(paper and paper["values"])])
        chance = [percent(metrics[f"{dataset}_synthetic_chance_{measure}"]) for measure in ODMAP]
        name = Markup("Sentences in random order <small>exact expectation</small>")
        rows.append(Row([name, *chance, "–", "–", Cell("", "published", 3)], "baseline"))
        caption = render(
            "decorrelation_odmap_caption.html",
            dataset=DATASETS[dataset],
            queries=metrics[f"{dataset}_synthetic_queries"],
            pictures=metrics[f"{dataset}_synthetic_pictures"],
            tested=metrics[f"{dataset}_image_to_text_queries"],
            painted=not metrics[f"{dataset}_synthetic_not_asked"],
            captions=metrics[f"{dataset}_captions"],
            level=of.level,
        )
        tables += table(heads, rows, caption)
    varied = {variant for _, variant in MAIN}
    used = {FILLINGS[cell.queries].label for cell in of.results.groups.values() if cell.variant in varied}
    return render(
        "decorrelation_odmap.html",
        tables=tables + dagger(of.thorough),
        matching=of.used["phrases"]["matching"],
        source=of.published["source"],
        painters=sorted(used),
    )


def table_2_html(of: Tables) -> Markup:
    """R@1, 5 and 10 both ways."""
    tables = Markup()
    for dataset in of.datasets():
        for direction, said in DIRECTIONS.items():
            columns, rows = [(direction, measure) for measure in RECALL], []
            for model, variant in MAIN:
                group = f"{dataset}_{model}_{variant}"
                paper = of.published["table_2"][dataset].get(f"{model}_{variant}")
                if paper is None and group not in of.results.groups:
                    continue
                printed = [paper[direction]] + ([paper["also"]] if "also" in paper else []) if paper else []
                agrees = of.agrees(group, columns, printed, of.published["tolerances"]["recall"])
                heading = of.heading(dataset, model, variant, columns[0], agrees)
                rows.append([heading, *of.cells(group, columns), *paper_cells(paper and paper[direction])])
            queries = decimal(of.results.metrics[f"{dataset}_{direction}_queries"], 0)
            caption = f"Table 2, {DATASETS[dataset]}, {said}, %; {queries} queries."
            tables += table(["Model", "R@1", "R@5", "R@10", *published("R@1", "R@5", "R@10")], rows, caption)
    introduction = (
        "What is paid for it: retrieval among the original test pictures and their captions. A picture has five "
        "captions; any of the five is a hit."
    )
    return Markup("<p>{}</p>\n").format(introduction) + tables + dagger(of.thorough)


def table_3_html(of: Tables, folder: Path) -> Markup:
    """CLIP on COCO, by what makes the captions and the pictures of D', with the hubness of each.

    Args:
        of: what is shown.
        folder: of the metrics, with `pairs_{dataset}_{filling}_{captions}.json`.
    """
    columns = [("synthetic", measure) for measure in (*ODMAP, "removed_named")]
    results, printed = of.results, of.published["table_3"]["rows"]
    reference = results.groups.get("coco_clip_ours")
    found = {
        recipe(cell): name
        for name, cell in results.groups.items()
        if (cell.dataset, cell.model, cell.share, cell.captions_an_image) == ("coco", "clip", 1, 1)
        and reference is not None
        and cell.queries == reference.queries
        and recipe(cell) is not None
    }
    labels = {key: paper["label"] for key, paper in printed.items()}
    labels |= {key: _label(results.groups[name]) for key, name in found.items() if key not in printed}
    rows, written = [], []
    for key, label in labels.items():
        group = found.get(key, f"coco_clip_{key}")
        hubness = "–"
        if key in found:
            hubness = decimal(results.skew(group))
            cell = results.groups[group]
            if cell.synthetic:
                counts = read_json(folder / f"pairs_{cell.dataset}_{cell.filling}_{cell.captions}.json")
                written.append((label, int(counts["different_captions"]), int(counts["pairs"])))
        heading = Markup("{}{}").format(label, of.seeds(group))
        cells = of.cells(group, columns, "table3", [hubness])
        rows.append([heading, *cells, *(_either(printed[key]) if key in printed else paper_cells(None))])
    heads = ["D′", "ODmAP@1", "@5", "@10", Column("removed object named", "wrap"), "hubness",
             *published("@1", "@5", "@10")]  # fmt: skip
    caption = Markup(
        "Table 3, CLIP on COCO, %: what makes the captions × what fills the pictures of D′. The test queries are "
        "in-painted in every row. <em>Hubness</em>: skewness of how often a sentence is among the best ten of a query; "
        "the higher, the more the same few sentences answer everything."
    )
    return table(heads, rows, caption) + render(
        "decorrelation_synthesis.html", written=written, least_different=LEAST_DIFFERENT, dagger=dagger(of.thorough)
    )


def _either(paper: Mapping[str, Any]) -> list[Cell]:
    """The paper's numbers where it contradicts itself."""
    values, also = paper["values"], paper.get("also", paper["values"])
    other = Markup('<span class="interval">or {}*</span>')
    return [
        Cell(decimal(value) + (other.format(decimal(second)) if second != value else Markup()), "published")
        for value, second in zip(values, also, strict=True)
    ]


def _label(cell: Training) -> str:
    """A row of ours that the paper has not."""
    painter = FILLINGS[cell.filling]
    return f"{CAPTIONS[cell.captions]} × {'in-painting' if painter.inpaints else painter.label}"


def appendix_b_html(of: Tables) -> Markup:
    """CLIP on COCO when every training set has the same size."""
    rows, columns = [], [("synthetic", "odmap@1"), ("image_to_text", "r@1")]
    for variant, paper in of.published["appendix_b"]["rows"].items():
        group = f"coco_clip_{variant}"
        heading = Markup("{}{}").format(paper["label"], of.seeds(group))
        rows.append([heading, *of.cells(group, columns, "appendix_b"), *paper_cells(paper["values"])])
    heads = ["Trained on", "ODmAP@1", "R@1, image → text", *published("ODmAP@1", "R@1")]
    caption = (
        "Appendix B, CLIP on COCO, %: are the synthetic pairs better, or only more? D_s is a part of D with as many "
        "pairs as D′."
    )
    return table(heads, rows, caption) + dagger(of.thorough)


def seed_interval(values: Sequence[float], confidence: float) -> tuple[float, float] | None:
    """Student's interval of the mean over seeds, mean ± t · s / √n; None from one seed."""
    if len(values) < 2:
        return None
    from scipy.special import stdtrit  # its import takes a fifth of a second

    mean, half = np.mean(values), stdtrit(len(values) - 1, (1 + confidence) / 2) * np.std(values, ddof=1)
    return float(mean - half / np.sqrt(len(values))), float(mean + half / np.sqrt(len(values)))


def ratios(results: Results) -> dict[str, float]:
    """{row: |D'| / |D| in pairs} of the rows that differ in it alone, smallest first: CLIP on COCO, D' as in `ours`."""
    ours = results.groups.get("coco_clip_ours")
    found = {
        name: results.by_seed(name, "synthetic", "ratio")[0]
        for name, cell in results.groups.items()
        if (cell.dataset, cell.model) == ("coco", "clip") and recipe(cell) in ("none", ours and recipe(ours))
    }
    return dict(sorted(found.items(), key=lambda item: item[1]))


def batch_share(ratio: float, part: float, synthetic_share: float | None) -> float:
    """The share of a batch that is from D', as `trivium.decorrelation.training.job` draws it.

    Args:
        ratio: |D'| / |D| in pairs, D' being the part that is used.
        part: the part of D' that is used.
        synthetic_share: of a batch with all of D'; None: as many as there are pairs.
    """
    if ratio == 0:
        return 0.0
    return ratio / (1 + ratio) if synthetic_share is None else synthetic_share * part


def figure_4_html(of: Tables) -> Markup:
    """R@1 and ODmAP@1 over |D'| / |D|, with intervals over seeds, or how to run it."""
    results, confidence = of.results, of.used["evaluate"]["confidence"]
    share = of.used["train"]["models"]["clip"]["synthetic_share"]
    found = ratios(results)
    lines = {
        entry: [
            (ratio, values, seed_interval(values, confidence))
            for group, ratio in found.items()
            for values in ([100 * value for value in results.by_seed(group, *measure)],)
        ]
        for entry, measure in FIGURE_4.items()
    }
    rows = [
        [
            decimal(ratio, 3),
            results.seeds(group),
            percent(batch_share(ratio, results.groups[group].share, share)),
            *(
                decimal(float(np.mean(values))) + interval(bounds, scale=1)
                for _, values, bounds in (line[place] for line in lines.values())
            ),
        ]
        for place, (group, ratio) in enumerate(found.items())
    ]
    last = next(reversed(found.items()), None)
    drawn = None
    if len(set(found.values())) >= _FEWEST:
        title = "ODmAP@1 and R@1 over the share of synthetic pairs"
        svg = sweep(lines, title=title, xlabel="|D′| / |D|, pairs", ylabel="%")
        caption = render("decorrelation_sweep_caption.html", confidence=confidence, paper=of.published["figure_4"])
        drawn = figure(svg, caption)
    heads = ["|D′| / |D|", "seeds", "D′ in a batch", *FIGURE_4]
    return render(
        "decorrelation_sweep.html",
        figure=drawn,
        sizes=len(rows),
        table=table(heads, rows, "The points, %.") if rows else "",
        ratio=last[1] if last else 0,
        batch=batch_share(last[1], results.groups[last[0]].share, share) if last else 0,
        paper=of.published["figure_4"],
        synthetic_share=share,
        captions=max((results.groups[group].captions_an_image for group in found), default=1),
        one_removal=of.used["removals"]["training"] == "one",
    )
