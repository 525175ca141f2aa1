"""Stage `decorrelation-evaluate`. ODmAP and R@k of every cell, with intervals, and which rows differ."""

from pathlib import Path
from typing import Any

import pyarrow as pa

from trivium.core.stage import stage
from trivium.core.tables import write_csv, write_json, write_table
from trivium.decorrelation.co_occurrence import partners
from trivium.decorrelation.evaluation import tables
from trivium.decorrelation.evaluation.answers import Answers, per_query, read_answers, read_data_set
from trivium.decorrelation.evaluation.tables import EvaluateParameters, Measured
from trivium.decorrelation.matrix import groups, read_cells
from trivium.formats.corpus_table import load_corpus


@stage("decorrelation.evaluate", metrics="metrics/decorrelation/evaluate.json")
def main(
    parameters: EvaluateParameters,
    *,
    used: Path = Path("params.yaml"),
    raw: Path = Path("data/decorrelation/raw"),
    phrases: Path = Path("data/decorrelation/phrases"),
    removals: Path = Path("data/decorrelation/removals"),
    pairs: Path = Path("data/decorrelation/pairs"),
    retrieved: Path = Path("data/decorrelation/retrieved"),
    out: Path = Path("data/decorrelation/evaluation.parquet"),
    out_comparisons: Path = Path("metrics/decorrelation/comparisons.json"),
    out_classes: Path = Path("metrics/decorrelation/classes.csv"),
) -> dict[str, float]:
    """Measure every cell of `used` (a params.yaml); the folders hold one of their own for each data set, or cell."""
    cells = read_cells(used)
    metrics: dict[str, float] = {}
    answered_queries: list[pa.Table] = []
    compared: list[dict[str, Any]] = []
    classes: list[dict[str, Any]] = []
    for dataset in dict.fromkeys(cell.dataset for cell in cells.values()):
        corpus = load_corpus(raw / dataset)
        usual = partners(corpus, parameters.partner_probability)
        data = read_data_set(corpus, phrases / f"{dataset}.parquet", removals / dataset, usual)
        of_dataset = {name: cell for name, cell in cells.items() if cell.dataset == dataset}
        answers: dict[str, dict[str, Answers]] = {}
        for name, cell in of_dataset.items():
            answers[name] = read_answers(retrieved / name, data)
            answered_queries += [per_query(name, kind, answered) for kind, answered in answers[name].items()]
            metrics |= tables.cell_metrics(name, answers[name])
            metrics[f"{name}_synthetic_ratio"] = tables.synthetic_ratio(cell, pairs, data.training_captions)
        metrics |= tables.set_metrics(dataset, data, next(iter(answers.values())))
        by_model: dict[str, dict[str, dict[str, Measured]]] = {}
        for group, members in groups(of_dataset).items():
            measured = tables.gather(members, answers)
            metrics |= tables.group_metrics(group, measured, parameters)
            classes += tables.by_class(group, measured, answers[next(iter(members))])
            first = next(iter(members.values()))
            by_model.setdefault(first.model, {})[first.variant] = measured
        for variants in by_model.values():
            compared += tables.comparisons(variants, parameters)
    metrics |= tables.gains(compared)
    write_table(out, pa.concat_tables(answered_queries))
    write_json(out_comparisons, compared)
    write_csv(out_classes, tables.CLASS_COLUMNS, classes)
    return metrics
