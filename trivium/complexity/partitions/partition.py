"""Corpora of increasing complexity: the evaluation set cut by how many validated factors hold (complexity.md §6)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from trivium.complexity.effects.factor_table import FactorTable
from trivium.complexity.factors.corpora import lexical_units
from trivium.complexity.partitions.card import Part
from trivium.complexity.scoring.score_table import ScoreTable
from trivium.core.errors import BadInput
from trivium.core.tables import read_table
from trivium.formats.framed_texts import AnnotatedText, Example
from trivium.measures.effects import NO, YES
from trivium.measures.frames import entropy_bits

MEAN = "mean"


def chosen_factors(effects: Path, factors: Sequence[str], majority: float) -> tuple[str, ...]:
    """The factors validated for more than this share of the models, in their order; none when there is none."""
    columns = read_table(effects, ["model", "factor", "validated"]).to_pydict()
    models = len(set(columns["model"]))
    holds = dict.fromkeys(factors, 0)
    for row, (factor, validated) in enumerate(zip(columns["factor"], columns["validated"], strict=True), 1):
        if factor not in holds:
            raise BadInput("unknown factor", file=effects, row=row, field="factor", got=factor, choices=factors)
        holds[factor] += bool(validated)
    return tuple(factor for factor, count in holds.items() if count > majority * models)


def parts_of(table: FactorTable, chosen: Sequence[str]) -> list[Part]:
    """Parts by how many of the chosen factors hold, and by each factor's yes and no; empty ones are left out.

    A factor does not hold for an example in neither of its sets.
    """
    codes = dict(zip(table.names, table.factors, strict=True))
    holding = sum((codes[name] == YES).astype(int) for name in chosen)
    parts = [Part(f"holding-{k}", "count", "", str(k), np.asarray(holding == k)) for k in range(len(chosen) + 1)]
    for name in table.names:
        parts += [
            Part(f"{name}-{level}", "factor", name, level, codes[name] == code)
            for level, code in (("no", NO), ("yes", YES))
        ]
    return [part for part in parts if part.members.any()]


def curve_rows(parts: Sequence[Part], scores: ScoreTable) -> list[dict[str, Any]]:
    """One row of PARTITION_COLUMNS a part and model, and one for the mean of all models.

    `rank` is 1 for the easiest part of its kind (counts among themselves, the two sides of a factor among themselves).
    """
    means = {part.name: scores.values[:, part.members].mean(axis=1) for part in parts}
    rows = []
    for part in parts:
        rivals = [other for other in parts if (other.kind, other.factor) == (part.kind, part.factor)]
        rank = 1 + sum(means[other.name].mean() > means[part.name].mean() for other in rivals)
        shared = {
            "partition": part.name,
            "kind": part.kind,
            "factor": part.factor,
            "level": part.level,
            "examples": int(part.members.sum()),
            "share": float(part.members.mean()),
            "rank": int(rank),
        }
        by_model = dict(zip(scores.models, means[part.name].tolist(), strict=True))
        rows += [
            shared | {"model": m, "score": value} for m, value in (by_model | {MEAN: means[part.name].mean()}).items()
        ]
    return rows


def frame_rows(
    table: FactorTable, scores: ScoreTable, examples: Sequence[Example], training: Sequence[AnnotatedText]
) -> list[dict[str, Any]]:
    """The paper's illustrations, a row a frame, lowest mean first.

    Triggers, occurrences and entropy are those of the training texts; core and other elements are the distinct names
    that occur in training and evaluation.
    """
    units = lexical_units(training)
    names: dict[str, dict[bool, set[str]]] = {}
    for text in [*training, *{each.text.id: each.text for each in examples}.values()]:
        for instance in text.frames:
            known = names.setdefault(instance.frame, {True: set(), False: set()})
            for element in instance.elements:
                known[element.core == "core"].add(element.name)
    rows = []
    for frame in sorted(set(table.frames.tolist())):
        members = table.frames == frame
        counts = list(units.get(frame, {}).values())
        means = scores.values[:, members].mean(axis=1)
        here = [each for each, member in zip(examples, members, strict=True) if member]
        rows.append(
            {
                "frame": frame,
                "examples": int(members.sum()),
                "occurrences": sum(counts),
                "triggers": len(counts),
                "entropy": entropy_bits(counts) if counts else "",
                "core_elements": len(names[frame][True]),
                "other_elements": len(names[frame][False]),
                "elements": float(np.mean([len({part.name for part in each.frame.elements}) for each in here])),
                MEAN: float(means.mean()),
                **dict(zip(scores.models, means.tolist(), strict=True)),
            }
        )
    return sorted(rows, key=lambda row: row[MEAN])
