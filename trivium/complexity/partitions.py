"""Corpora of increasing complexity: the evaluation set cut by how many validated factors hold (complexity.md §6)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.complexity.effects.analysed_tables import FactorTable, ScoreTable
from trivium.complexity.factors.corpora import lexical_units
from trivium.core.tables import read_table
from trivium.formats.framed_texts import AnnotatedText, Example
from trivium.formats.squad import SquadQuestion, write_squad
from trivium.measures.effects import NO, YES
from trivium.measures.frames import entropy_bits

MEAN = "mean"
PARTITION_COLUMNS = ("partition", "kind", "factor", "level", "examples", "share", "rank", "model", "score")


@dataclass(frozen=True)
class Part:
    """A stretch of the evaluation set."""

    name: str  # of its folder
    kind: str  # "count" (how many of the chosen factors hold), "factor", or what else its maker cuts by
    factor: str  # "" for a count
    level: str  # how many hold, or "yes" or "no"
    members: NDArray[np.bool_]  # (examples,) which ones


def chosen_factors(effects: Path, factors: Sequence[str], majority: float) -> tuple[str, ...]:
    """The factors validated for more than this share of the models, in their order; none when there is none."""
    columns = read_table(effects, ["model", "factor", "validated"]).to_pydict()
    models = len(set(columns["model"]))
    holds = Counter(compress(columns["factor"], columns["validated"]))
    return tuple(factor for factor in factors if holds[factor] > majority * models)


def parts_of(codes: Mapping[str, NDArray[np.int8]], chosen: Sequence[str]) -> list[Part]:
    """Parts by how many of the chosen factors hold, and by each factor's yes and no; empty ones are left out.

    A factor does not hold for an example in neither of its sets.
    """
    holding = sum((codes[name] == YES).astype(int) for name in chosen)
    parts = [Part(f"holding-{k}", "count", "", str(k), np.asarray(holding == k)) for k in range(len(chosen) + 1)]
    for name, code in codes.items():
        parts += [
            Part(f"{name}-{level}", "factor", name, level, code == side) for level, side in (("no", NO), ("yes", YES))
        ]
    return [part for part in parts if part.members.any()]


def curve_rows(parts: Sequence[Part], scores: Mapping[str, NDArray[np.float64]]) -> list[dict[str, Any]]:
    """One row of PARTITION_COLUMNS a part and model, and one for the mean of all models, of scores by model.

    `rank` is 1 for the easiest part of its kind (counts among themselves, the two sides of a factor among themselves).
    """
    values = np.stack(list(scores.values()))
    means = {part.name: values[:, part.members].mean(axis=1) for part in parts}
    rows = []
    for part in parts:
        rivals = [other for other in parts if (other.kind, other.factor) == (part.kind, part.factor)]
        rank = 1 + sum(means[other.name].mean() > means[part.name].mean() for other in rivals)
        shared = {"partition": part.name, "kind": part.kind, "factor": part.factor, "level": part.level,
                  "examples": int(part.members.sum()), "share": float(part.members.mean()),
                  "rank": int(rank)}  # fmt: skip
        own = dict(zip(scores, means[part.name].tolist(), strict=True)) | {MEAN: means[part.name].mean()}
        rows += [shared | {"model": model, "score": value} for model, value in own.items()]
    return rows


def frame_rows(
    table: FactorTable, scores: ScoreTable, examples: Sequence[Example], training: Sequence[AnnotatedText]
) -> list[dict[str, Any]]:
    """The paper's illustrations, a row a frame, lowest mean first.

    Triggers, occurrences and entropy are those of the training texts; core and other elements are the distinct names
    that occur in training and evaluation.
    """
    units = lexical_units(training)
    texts = [*training, *{example.text.id: example.text for example in examples}.values()]
    instances = [instance for text in texts for instance in text.frames]
    names = {(instance.frame, part.core == "core", part.name) for instance in instances for part in instance.elements}
    of_frame = Counter((frame, is_core) for frame, is_core, _ in names)
    rows = []
    for frame in sorted(set(table.frames.tolist())):
        members = table.frames == frame
        counts = list(units.get(frame, {}).values())
        means = scores.values[:, members].mean(axis=1)
        own = compress(examples, members)
        rows.append(
            {
                "frame": frame,
                "examples": int(members.sum()),
                "occurrences": sum(counts),
                "triggers": len(counts),
                "entropy": entropy_bits(counts) if counts else "",
                "core_elements": of_frame[frame, True],
                "other_elements": of_frame[frame, False],
                "elements": float(np.mean([len({part.name for part in example.frame.elements}) for example in own])),
                MEAN: float(means.mean()),
                **dict(zip(scores.models, means.tolist(), strict=True)),
            }
        )
    return sorted(rows, key=lambda row: row[MEAN])


def definition(part: Part, chosen: Sequence[str], names: Mapping[str, str], *, validated: bool) -> str:
    """Describe a part: its questions, those in neither set of a factor, and how the factors were chosen."""
    if part.kind == "count":
        listed = "; ".join(f"{name} ({names[name]})" for name in chosen)
        source = (
            "The factors were chosen because most models score lower where they hold, on these very questions: that "
            "scores fall from part to part is partly so by construction."
            if validated
            else "The factors are those of the paper: here none makes most models worse."
        )
        return (
            f"Questions for which exactly {part.level} of {len(chosen)} complexity factors hold: {listed}. A factor "
            f"that counts a question in neither of its sets does not hold for it.\n\n{source}"
        )
    verb = "holds" if part.level == "yes" else "does not hold"
    return (
        f"Questions for which factor {part.factor} ({names[part.factor]}) {verb}. Questions in neither set of the "
        "factor are left out."
    )


def write_part(
    folder: Path, part: Part, rows: Sequence[Mapping[str, Any]], questions: Sequence[SquadQuestion], says: str,
    *, language: str, measure: str, places: Sequence[str],
) -> None:  # fmt: skip
    """Write a part's questions in SQuAD's format, and its card: definition, size, origin, every model's score, order.

    `folder` and `rows` (PARTITION_COLUMNS) are those of all parts, `places` lines on where it comes from.
    """
    (folder / part.name).mkdir(parents=True)
    write_squad(folder / part.name / "data.json", questions)
    own = [row for row in rows if row["partition"] == part.name]
    ranks = {row["partition"]: row["rank"] for row in rows if (row["kind"], row["factor"]) == (part.kind, part.factor)}
    scores = "\n".join(f"| {row['model']} | {row['score']:.4f} |" for row in own)
    order = ", ".join(f"`{name}`" for name in sorted(ranks, key=lambda name: (ranks[name], name)))
    origin = "".join(f"- {place}\n" for place in places)
    card = (
        f"---\nlanguage: {language}\ntask_categories:\n- question-answering\n---\n# {part.name}\n\n{says}\n\n"
        f"- questions: {own[0]['examples']}, {100 * own[0]['share']:.1f} % of the evaluation set\n"
        f"- format: SQuAD (`data.json`)\n- easiest to hardest: {order}\n{origin}\n"
        f"## Scores ({measure})\n| model | score |\n|---|---|\n{scores}\n"
    )
    (folder / part.name / "README.md").write_text(card, encoding="utf-8")
