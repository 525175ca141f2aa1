"""Tables 1 to 3: ODmAP and R@k of every cell, how sure they are, and which rows differ (decorrelation.md §3, 5).

Cells that differ only in their seed are one row: the mean over seeds, its spread, and a bootstrap interval over
pictures. What luck alone would score stands beside it: the expectation of ODmAP under a random order.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from trivium.core.parameters import Parameters
from trivium.core.tables import read_table
from trivium.decorrelation.co_occurrence import count_co_occurrence, partners
from trivium.decorrelation.evaluation.comparisons import WHOLE, WITHIN, Measured, comparable, compare, compared_variants
from trivium.decorrelation.matrix import Cell
from trivium.formats.pictures import Corpus

GAINS = (("synthetic", "odmap@1"), ("image_to_text", "r@1"))


class EvaluateParameters(Parameters):
    """Section `decorrelation.evaluate`."""

    partner_probability: float = Field(
        ge=0, le=1, description="Least P(k | c) in training pictures for k to be called the partner of class c"
    )
    permutations: int = Field(ge=100, description="Sign vectors drawn by the randomization tests")
    confidence: float = Field(gt=0, lt=1, description="Of the bootstrap intervals")
    resamples: int = Field(ge=100, description="Bootstrap draws of pictures")
    seed: int = Field(ge=0, description="Of the tests' and the bootstrap's draws")


def usual_partners(corpus: Corpus, least: float) -> dict[str, str]:
    """{class: the class most often beside it}, of those that stand there in at least that part of its pictures."""
    probability = count_co_occurrence(corpus).probability()
    code = {name: place for place, name in enumerate(corpus.classes)}
    return {name: other for name, other in partners(corpus).items() if probability[code[name], code[other]] >= least}


def comparisons(
    measured: Mapping[str, Mapping[str, Measured]], parameters: EvaluateParameters
) -> Iterator[dict[str, Any]]:
    """Rows of comparisons.json: variants of one model on one set, and two sets within one row.

    Args:
        measured: {variant: {set: values}} of one model on one data set.
        parameters: of tests and intervals.
    """
    settings = parameters.model_dump(exclude={"partner_probability"})
    for variant, other in compared_variants(list(measured)):
        for kind, left in measured[variant].items():
            right = measured[other].get(kind)
            if right is not None and comparable(kind, left.cell, right.cell):
                for row in compare(left, right, **settings):
                    yield _named(left, right, kind, kind) | row
    for each in measured.values():
        for kind, other in WITHIN:
            if kind in each and other in each:
                for row in compare(each[kind], each[other], **settings):
                    yield _named(each[kind], each[other], kind, other) | row


def _named(left: Measured, right: Measured, kind: str, other: str) -> dict[str, Any]:
    return {
        "dataset": left.cell.dataset,
        "model": left.cell.model,
        "variant": left.cell.variant,
        "set": kind,
        "other_variant": right.cell.variant,
        "other_set": other,
        "seeds": len(left.seeds),
        "other_seeds": len(right.seeds),
    }


def gains(compared: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """What a glance needs of the comparisons: `{dataset}_{model}_gain_{measure}` of ours on finetune, and its `_p`."""
    metrics: dict[str, float] = {}
    for row in compared:
        ours = (row["variant"], row["other_variant"], row["subset"]) == ("ours", "finetune", WHOLE)
        if ours and (row["set"], row["measure"]) in GAINS:
            key = f"{row['dataset']}_{row['model']}_gain_{row['measure']}"
            metrics |= {key: row["difference"], f"{key}_p": row["p"]}
    return metrics


def synthetic_ratio(cell: Cell, folder: Path, training: int) -> float:
    """|D'| / |D| in pairs (figure 4): the part of D' that a cell uses, over the training captions of its data set.

    Args:
        cell: one of the matrix.
        folder: of stage pairs.
        training: captions of training pictures.
    """
    if not cell.synthetic:
        return 0.0
    path = folder / cell.dataset / f"{cell.filling}_{cell.captions}.parquet"
    made = Counter(read_table(path, ["removal"])["removal"].to_pylist())
    return cell.share * sum(min(count, cell.captions_an_image) for count in made.values()) / training
