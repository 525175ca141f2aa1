"""Decorrelation's tables and Figure 4: the paper's, its numbers beside ours; by removed class; of the data sets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup
from pyarrow import csv

from trivium.core.tables import read_json
from trivium.decorrelation.evaluation.answers import ODMAP, RECALL
from trivium.decorrelation.models.kind import KINDS
from trivium.decorrelation.painting.filling import FILLINGS
from trivium.measures.bootstrap import ContrastMean
from trivium.page.decorrelation.results import LABELS, MAIN, Results, recipe
from trivium.page.figures import draw_curves
from trivium.page.html import Cell, Row, decimal, interval, percent, points, probability, render, small
from trivium.page.published import DATASETS, DIRECTIONS, VARIANTS
from trivium.page.thorough import Thorough, dagger, measured_cell

LEAST_DIFFERENT = 0.1  # of the captions of D'; with fewer they hardly depend on the picture
FIGURE_4 = {"ODmAP@1": ("synthetic", "odmap@1"), "R@1, image → text": ("image_to_text", "r@1")}
HUBNESS = ("synthetic", "k_skew@10")
SYNTHETIC = [("synthetic", measure) for measure in (*ODMAP, "removed_named")]
_FEWEST = 3  # points of a curve
_FEW = 24  # classes that are shown without asking
_PARTNERS = 12  # classes with the most certain partner


@dataclass(frozen=True)
class Tables:
    """What the tables show."""

    results: Results  # of stage evaluate
    published: Mapping[str, Any]  # tests/published/decorrelation.yaml
    used: Mapping[str, Any]  # section `decorrelation` of the parameters
    level: float  # of significance
    thorough: Thorough | None = None  # of stage evaluate, where `make thorough` was run in this world

    def cells(
        self, group: str, columns: Sequence[tuple[str, str]], scale: str = "thorough", further: Sequence[Any] = ()
    ) -> list[Any]:
        """A row's values, below them those of `make thorough` where it was trained at most once here; or what runs it.

        `columns` are set of queries and measure of each value, `further` cells behind them; `scale` trains the row.
        """
        trained = len(self.results.members.get(group, ()))
        ran, thorough = trained > 0, None if trained > 1 else self.thorough
        keys = [f"{group}_{kind}_{measure}" for kind, measure in columns]
        if not ran and not any(thorough.render_metric(key) for key in keys if thorough):
            said = "not in this run: <code>make scale S={}</code>, then <code>make repro P=decorrelation</code>"
            return [Cell(Markup(said).format(scale), "absent", len(columns) + len(further))]
        values = [measured_cell(self.results.metrics, key, thorough) for key in keys]
        return [*values, *(further if ran else "–" * len(further))]

    def seeds(self, group: str, *more: str | None) -> Markup:
        """How many trainings a row that ran is the mean of, and what else is said of it."""
        count = len(self.results.members.get(group, ()))
        said = [f"{count} seeds" if count > 1 else "one seed", *more] if count else []
        return small("; ".join(filter(None, said)))

    def main_rows(self, dataset: str, columns: Sequence[tuple[str, str]], table: str, name: str) -> list[list[Any]]:
        """A row of a table for every model and variant that ran or that the paper prints: ours, and the paper's.

        Beside a row's name stands by how much its first column is above finetuning on D. Of the columns, set of queries
        and measure, the paper prints the first, as `name` in the rows of its `table`.
        """
        rows, (kind, measure) = [], columns[0]
        for model, variant in MAIN:
            group, paper = f"{dataset}_{model}_{variant}", self.published[table][dataset].get(f"{model}_{variant}")
            if paper is None and group not in self.results.groups:
                continue
            row = self.results.comparison(dataset=dataset, model=model, variant=variant, other_variant="finetune",
                                          set=kind, measure=measure)  # fmt: skip
            against = f"{points(row['difference'])} points over finetuned, p {probability(row['p'])}" if row else None
            heading = Markup("{} {}{}").format(KINDS[model].label, small(VARIANTS[variant]), self.seeds(group, against))
            rows.append([heading, *self.cells(group, columns), *paper_cells(paper and {"values": paper[name]})])
        return rows

    @property
    def datasets(self) -> list[str]:
        """Those of the paper that ran."""
        return [name for name in ("coco", "flickr30k") if name in self.results.datasets]


def paper_cells(paper: Mapping[str, Any] | None) -> list[Cell]:
    """The paper's numbers, in %, with the other ones where it contradicts itself."""
    if paper is None:
        return [Cell("not in the paper", "published", 3)]
    other = Markup('<span class="interval">or {}*</span>')
    return [
        Cell(decimal(value) + (other.format(decimal(second)) if second != value else ""), "published")
        for value, second in zip(paper["values"], paper.get("also", paper["values"]), strict=True)
    ]


def table_1_html(of: Tables) -> Markup:
    """Table 1: ODmAP@1, 5 and 10 of every model, data set by data set."""
    shown, metrics = [], of.results.metrics
    for dataset in of.datasets:
        rows: list[Any] = of.main_rows(dataset, [*SYNTHETIC, ("original", "odmap@1")], "table_1", "values")
        chance = [percent(metrics[f"{dataset}_synthetic_chance_{measure}"]) for measure in ODMAP]
        name = Markup("Sentences in random order <small>exact expectation</small>")
        rows.append(Row([name, *chance, "–", "–", Cell("", "published", 3)], "baseline"))
        shown.append((dataset, rows))
    varied = {variant for _, variant in MAIN}
    used = {FILLINGS[cell.queries].label for cell in of.results.groups.values() if cell.variant in varied}
    return render(
        "decorrelation_odmap.html", shown=shown, names=DATASETS, metrics=metrics, level=of.level,
        dagger=dagger(of.thorough), matching=of.used["phrases"]["matching"], source=of.published["source"],
        painters=sorted(used),
    )  # fmt: skip


def table_2_html(of: Tables) -> Markup:
    """Table 2: R@1, 5 and 10 on whole pictures, from picture to caption and back."""
    shown = {
        (dataset, way): of.main_rows(dataset, [(way, measure) for measure in RECALL], "table_2", way)
        for dataset in of.datasets
        for way in DIRECTIONS
    }
    return render("decorrelation_retrieval.html", shown=shown, names=DATASETS, directions=DIRECTIONS,
                  metrics=of.results.metrics, dagger=dagger(of.thorough))  # fmt: skip


def table_3_html(of: Tables, folder: Path) -> Markup:
    """Table 3: CLIP on COCO, by what makes the captions and the pictures of D'; `folder` has the metrics."""
    results, printed = of.results, of.published["table_3"]["rows"]
    reference = results.groups.get("coco_clip_ours")
    groups = {
        recipe(cell): name
        for name, cell in results.groups.items()
        if (cell.dataset, cell.model, cell.share, cell.captions_an_image) == ("coco", "clip", 1, 1)
        and reference is not None
        and cell.queries == reference.queries
        and recipe(cell) is not None
    }
    labels = {key: paper["label"] for key, paper in printed.items()}
    rows, written = [], []
    for key in dict.fromkeys((*labels, *groups)):
        label, group, hubness = labels.get(key), groups.get(key, f"coco_clip_{key}"), "–"
        if key in groups:
            cell, hubness = results.groups[group], decimal(float(np.mean(results.by_seed(group, *HUBNESS))))
            if label is None:  # the paper has no such row
                filling = "in-painting" if FILLINGS[cell.filling].inpaints else FILLINGS[cell.filling].label
                label = f"{LABELS['captions'].get(cell.captions)} × {filling}"
            if cell.synthetic:
                counts = read_json(folder / f"pairs_{cell.dataset}_{cell.filling}_{cell.captions}.json")
                written.append((label, int(counts["different_captions"]), int(counts["pairs"])))
        cells = of.cells(group, SYNTHETIC, "table3", [hubness])
        rows.append([str(label) + of.seeds(group), *cells, *paper_cells(printed.get(key))])
    return render("decorrelation_synthesis.html", rows=rows, written=written, least_different=LEAST_DIFFERENT,
                  dagger=dagger(of.thorough))  # fmt: skip


def appendix_b_html(of: Tables) -> Markup:
    """Appendix B: CLIP on COCO when every training set has the same size."""
    rows = []
    for variant, paper in of.published["appendix_b"]["rows"].items():
        group = f"coco_clip_{variant}"
        cells = of.cells(group, list(FIGURE_4.values()), "appendix_b")
        rows.append([paper["label"] + of.seeds(group), *cells, *paper_cells(paper)])
    return render("decorrelation_equal_sizes.html", rows=rows, dagger=dagger(of.thorough))


def seed_interval(values: Sequence[float], confidence: float) -> tuple[float, float] | None:
    """Student's interval of the mean over seeds, mean ± t · s / √n; None from one seed."""
    if len(values) < 2:
        return None
    error = float(np.std(values, ddof=1)) / len(values) ** 0.5
    return ContrastMean(float(np.mean(values)), error, len(values) - 1).interval(confidence)


def ratios(results: Results) -> dict[str, float]:
    """{row: |D'| / |D| in pairs} of the rows that differ in it alone, smallest first: CLIP on COCO, D' as in `ours`."""
    ours = results.groups.get("coco_clip_ours")
    by_group = {
        name: results.by_seed(name, "synthetic", "ratio")[0]
        for name, cell in results.groups.items()
        if (cell.dataset, cell.model) == ("coco", "clip") and recipe(cell) in ("none", ours and recipe(ours))
    }
    return dict(sorted(by_group.items(), key=lambda item: item[1]))


def figure_4_html(of: Tables) -> Markup:
    """R@1 and ODmAP@1 over |D'| / |D|, with intervals over seeds, or how to run it."""
    results, confidence, drawn = of.results, of.used["evaluate"]["confidence"], None
    share, by_group = of.used["train"]["models"]["clip"]["synthetic_share"], ratios(results)
    lines: dict[str, list[Any]] = {entry: [] for entry in FIGURE_4}
    rows = []
    for group, ratio in by_group.items():
        # The share of a batch that is from D', as `trivium.decorrelation.training_job` draws it.
        by_pairs = ratio == 0 or share is None
        batch = ratio / (1 + ratio) if by_pairs else share * results.groups[group].share
        cells = [decimal(ratio, 3), len(results.members[group]), percent(batch)]
        for entry, measure in FIGURE_4.items():
            seeds = [100 * value for value in results.by_seed(group, *measure)]
            bounds = seed_interval(seeds, confidence)
            lines[entry].append((ratio, seeds, bounds))
            cells.append(decimal(float(np.mean(seeds))) + interval(bounds, scale=1))
        rows.append(cells)
    if len(set(by_group.values())) >= _FEWEST:
        title = "ODmAP@1 and R@1 over the share of synthetic pairs"
        drawn = draw_curves(lines, title=title, xlabel="|D′| / |D|, pairs", ylabel="%")
    return render(
        "decorrelation_sweep.html", drawn=drawn, rows=rows, measures=list(FIGURE_4), confidence=confidence,
        ratio=max(by_group.values(), default=0), paper=of.published["figure_4"], synthetic_share=share,
        captions=max((results.groups[group].captions_an_image for group in by_group), default=1),
        one_removal=of.used["removals"]["training"] == "one",
    )  # fmt: skip


def co_occurrence_html(folder: Path, datasets: Sequence[str]) -> Markup:
    """The classes with the most certain partner, what most often stands beside them in training pictures.

    `folder` holds the metrics, among them `co_occurrence_{dataset}.csv`.
    """
    shown = {}
    for name in datasets:
        rows = csv.read_csv(folder / f"co_occurrence_{name}.csv").to_pylist()
        defined = [row for row in rows if row["probability"] is not None and row["lift"] is not None]
        best: dict[str, Mapping[str, Any]] = {}
        for row in sorted(defined, key=lambda row: (-row["probability"], row["class"])):
            best.setdefault(row["class"], row)
        shown[DATASETS[name]] = list(best.values())[:_PARTNERS]
    return render("decorrelation_co_occurrence.html", shown=shown)


def removals_html(folder: Path, results: Results, used: Mapping[str, Any], published: Mapping[str, int]) -> Markup:
    """How many removals there are, what painted them, why others are not, their captions, and how phrases agree.

    `folder` holds the metrics, `used` is section `decorrelation` of the parameters, `published` the paper's |D'| by
    data set.
    """
    ours = {cell.dataset: name for name, cell in reversed([*results.cells.items()]) if cell.variant == "ours"}
    synthetic = [cell for cell in results.cells.values() if cell.synthetic]
    recipes = list(dict.fromkeys((cell.dataset, cell.filling, cell.captions) for cell in synthetic))
    return render(
        "decorrelation_removals.html", results=results, used=used, paper=published, names=DATASETS,
        labels=LABELS["counts"], fillings=FILLINGS, ours=ours, recipes=recipes,
        read=lambda name: read_json(folder / f"{name}.json"),
    )  # fmt: skip


def classes_html(rows: Sequence[Mapping[str, Any]]) -> Markup:
    """ODmAP@1 by removed class of CLIP's finetune and ours on COCO, the largest gain first: rows of stage evaluate."""
    variants = {f"coco_clip_{variant}": variant for variant in ("finetune", "ours")}
    by_class: dict[str, dict[str, Mapping[str, Any]]] = {}
    for row in rows:
        if row["set"] == "synthetic" and row["group"] in variants:
            by_class.setdefault(row["class"], {})[variants[row["group"]]] = row
    pairs = [(name, both["finetune"], both["ours"]) for name, both in by_class.items() if len(both) == 2]
    pairs.sort(key=lambda pair: (pair[1]["odmap@1"] - pair[2]["odmap@1"], pair[0]))
    return render("decorrelation_classes.html", pairs=pairs, opened=len(pairs) <= _FEW, dataset=DATASETS["coco"])
