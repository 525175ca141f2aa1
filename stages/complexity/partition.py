"""Corpora of increasing complexity: the evaluation set cut by how many validated factors hold (complexity.md §6)."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from stages.atomic import write_atomically
from stages.complexity.corpus.corpora import read_examples, read_texts
from stages.complexity.corpus.records import AnnotatedText, Example
from stages.complexity.corpus.squad import as_squad, write_squad
from stages.complexity.effects.factor_table import FACTORS, FactorTable, read_factors, read_names
from stages.complexity.factors import lexical_units
from stages.complexity.partition_card import Part, card
from stages.complexity.scoring.score_table import Measure, ScoreTable, read_scores
from stages.measures.effects import NO, YES
from stages.measures.frames import entropy_bits
from stages.stage import BadInput, Context, Parameters, run_stage
from stages.tables import read_table

FALLBACK = ("f5", "f6")  # the paper's two that hold for all models
MEAN = "mean"
PARTITION_COLUMNS = ("partition", "kind", "factor", "level", "examples", "share", "rank", "model", "score")


class PartitionParameters(Parameters):
    """Section `complexity.partition`."""

    measure: Measure = Field(description="The score that cards and curves show")
    majority: float = Field(ge=0, lt=1, description="A factor counts when validated for more than this share of models")


def chosen_factors(effects: Path, majority: float) -> tuple[str, ...]:
    """The factors validated for more than this share of the models, in their order; none when there is none."""
    columns = read_table(effects, ["model", "factor", "validated"]).to_pydict()
    models = len(set(columns["model"]))
    holds = dict.fromkeys(FACTORS, 0)
    for row, (factor, validated) in enumerate(zip(columns["factor"], columns["validated"], strict=True), 1):
        if factor not in holds:
            raise BadInput("unknown factor", file=effects, row=row, field="factor", got=factor, choices=FACTORS)
        holds[factor] += bool(validated)
    return tuple(factor for factor, count in holds.items() if count > majority * models)


def parts_of(table: FactorTable, chosen: Sequence[str]) -> list[Part]:
    """Parts by how many of the chosen factors hold, and by each factor's yes and no; empty ones are left out.

    A factor does not hold for an example in neither of its sets.
    """
    codes = dict(zip(FACTORS, table.factors, strict=True))
    holding = sum((codes[name] == YES).astype(int) for name in chosen)
    parts = [Part(f"holding-{k}", "count", "", str(k), np.asarray(holding == k)) for k in range(len(chosen) + 1)]
    for name in FACTORS:
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


def _write_csv(path: Path, rows: Sequence[Mapping[str, Any]], columns: Iterable[str]) -> None:
    with write_atomically(path) as beside, beside.open("w", encoding="utf-8", newline="") as file:
        lines = csv.DictWriter(file, list(columns), lineterminator="\n")
        lines.writeheader()
        lines.writerows(rows)


def main(
    parameters: PartitionParameters,
    context: Context,
    *,
    questions: Path,
    texts: Path,
    training: Path,
    factors: Path,
    scores: Path,
    effects: Path,
    corpus: str,
    parser: str,
    out: Path,
    out_curves: Path,
    out_frames: Path,
) -> dict[str, float]:
    """Write a folder of data sets with a card each, the curves (CSV) and the frames (CSV).

    `--corpus` and `--parser` are what the cards call the evaluation set and the source of its syntax.
    """
    del context
    table, names = read_factors(factors), read_names(factors)
    examples = read_examples(questions, texts)
    if [each.id for each in examples] != list(table.ids):
        raise BadInput("factors of other questions", file=factors, expected=f"the questions of {questions}, in order")
    read = read_scores(scores, table.ids, parameters.measure)
    validated = chosen_factors(effects, parameters.majority)
    chosen = validated or FALLBACK
    parts = parts_of(table, chosen)
    rows = curve_rows(parts, read)
    with write_atomically(out) as beside:
        for part in parts:
            folder = beside / part.name
            folder.mkdir(parents=True)
            write_squad(folder / "data.json", [as_squad(examples[at]) for at in np.flatnonzero(part.members)])
            text = card(
                part,
                rows,
                chosen,
                names,
                validated=bool(validated),
                measure=parameters.measure,
                corpus=corpus,
                parser=parser,
            )
            (folder / "README.md").write_text(text, encoding="utf-8")
    _write_csv(out_curves, rows, PARTITION_COLUMNS)
    frames = frame_rows(table, read, examples, read_texts(training))
    _write_csv(out_frames, frames, frames[0])
    counts = [part for part in parts if part.kind == "count"]
    by_level = np.stack([read.values[:, part.members].mean(axis=1) for part in counts], axis=1)
    return {
        "fallback": float(not validated),
        "factors": float(len(chosen)),
        **{f"uses_{name}": float(name in chosen) for name in FACTORS},
        "partitions": float(len(parts)),
        "partitions_without_examples": float(len(chosen) + 1 + 2 * len(FACTORS) - len(parts)),
        "models_falling": float((np.diff(by_level, axis=1) < 0).all(axis=1).sum() if len(counts) > 1 else 0),
        **{f"{part.name}_examples": float(part.members.sum()) for part in parts},
        **{f"{row['partition']}_score": row["score"] for row in rows if row["model"] == MEAN},
    }


if __name__ == "__main__":
    run_stage(main, "complexity.partition", PartitionParameters)
