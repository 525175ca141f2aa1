"""The card of a partition: what it holds, how hard it is, and what its factors rest on (complexity.md §6)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Part:
    """A stretch of the evaluation set.

    Attributes:
        name: of its folder.
        kind: "count" (how many of the chosen factors hold) or "factor".
        factor: its factor; "" for a count.
        level: how many hold, or "yes" or "no".
        members: (examples,) which ones.
    """

    name: str
    kind: str
    factor: str
    level: str
    members: NDArray[np.bool_]


def definition(part: Part, chosen: Sequence[str], names: Mapping[str, str], *, validated: bool) -> str:
    """What a part holds, what is done with questions in neither set of a factor, and where the factors come from."""
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
    said = "holds" if part.level == "yes" else "does not hold"
    return (
        f"Questions for which factor {part.factor} ({names[part.factor]}) {said}. Questions in neither set of the "
        "factor are left out."
    )


def card(
    part: Part,
    rows: Sequence[Mapping[str, Any]],
    chosen: Sequence[str],
    names: Mapping[str, str],
    *,
    validated: bool,
    measure: str,
    corpus: str,
    parser: str,
) -> str:
    """The data set's README: definition, size, origin, every model's score, its place from easiest to hardest.

    Args:
        part: what the card is of.
        rows: of PARTITION_COLUMNS.
        chosen: the factors that are counted.
        names: what each factor says.
        validated: whether they were chosen by the effects, or stand in for lack of any.
        measure: of the scores.
        corpus: what it is cut from.
        parser: whose syntax f4 rests on.
    """
    own = [row for row in rows if row["partition"] == part.name]
    ranks = {row["partition"]: row["rank"] for row in rows if (row["kind"], row["factor"]) == (part.kind, part.factor)}
    scores = "\n".join(f"| {row['model']} | {row['score']:.4f} |" for row in own)
    places = ", ".join(f"`{name}`" for name in sorted(ranks, key=lambda name: (ranks[name], name)))
    return (
        "---\nlanguage: fr\ntask_categories:\n- question-answering\n---\n"
        f"# {part.name}\n\n{definition(part, chosen, names, validated=validated)}\n\n"
        f"- questions: {own[0]['examples']}, {100 * own[0]['share']:.1f} % of the evaluation set\n"
        f"- format: SQuAD (`data.json`)\n- easiest to hardest: {places}\n"
        f"- cut from: {corpus}, whose licence it has\n- syntax, for f4: {parser}\n\n"
        f"## Scores ({measure})\n| model | score |\n|---|---|\n{scores}\n"
    )
