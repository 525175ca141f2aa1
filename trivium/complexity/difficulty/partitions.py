"""The paper's §6 for any set: parts of increasing difficulty by the factors that this set shows, as SQuAD files."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from trivium.complexity.difficulty.result import Difficulty
from trivium.complexity.partitions import PARTITION_COLUMNS, Part, curve_rows, definition, parts_of, write_part
from trivium.core.atomic import write_folder
from trivium.core.tables import write_csv
from trivium.formats.question_sets import AskedQuestion
from trivium.formats.squad import SquadQuestion

PARTITIONS = "partitions"
SUBSET = 0.25  # of the questions that are hard, and that are informative
_IRT = {
    "hard": "The quarter of the questions with the highest difficulty by item response theory ({}).",
    "informative": "The quarter of the questions that tell most of these models' abilities: the highest Fisher "
    "information, a² P (1 - P), mean over the models, by item response theory ({}).",
}


def shown_factors(result: Difficulty) -> tuple[str, ...]:
    """Factors with δ below 0 for most models, by the paper's rule; those that are also sure for one, where there are.

    Sure is what the page lists: significant after Holm's correction, with an interval below 0.
    """
    lower = Counter(row["factor"] for row in result.rows if row["validated"])
    validated = [name for name in result.factors.codes if lower[name] > len(result.models) / 2]
    sure = {row["factor"] for row in result.worse}
    return tuple(name for name in validated if name in sure) or tuple(validated)


def write_partitions(result: Difficulty, folder: str | Path) -> list[dict[str, Any]]:
    """Write `partitions/<name>/data.json` with a card each, and `partitions.csv`, into a folder.

    Parts are by how many of `shown_factors` hold, by each of these, and, with difficulties by item response theory,
    the hardest and the most informative quarter. A question whose answer does not stand in its context is in no file.

    Returns:
        One row of PARTITION_COLUMNS a part and model, and one for the mean of all models.
    """
    chosen = shown_factors(result)
    parts = parts_of({name: result.factors.codes[name] for name in chosen}, chosen) if chosen else []
    irt, by = result.irt, "the Rasch model"
    if irt is not None:
        if result.two_parameters is not None and (result.discrimination_p or 0) <= result.settings.risk:
            irt, by = result.two_parameters, "the two-parameter model, which fits better than Rasch's"
        for name, values in (("hard", irt.difficulty), ("informative", irt.information)):
            members = np.zeros(len(values), dtype=bool)
            members[np.argsort(-values, kind="stable")[: max(1, round(SUBSET * len(values)))]] = True
            parts.append(Part(name, "irt", "", name, members))
    rows = curve_rows(parts, result.scores[result.settings.judge])
    places = [
        f"cut from: {result.question_set.form}, {len(result.questions)} questions, whose licence it has",
        f"language: {result.language.name}",
    ]
    folder = Path(folder)
    with write_folder(folder / PARTITIONS) as temporary:
        for part in parts:
            chosen_questions = [_squad(result.questions[at]) for at in np.flatnonzero(part.members)]
            placed = [question for question in chosen_questions if question is not None]
            lost = len(chosen_questions) - len(placed)
            says = _IRT[part.name].format(by) if part.kind == "irt" else definition(
                part, chosen, result.factors.labels, validated=True
            )  # fmt: skip
            more = [f"not in the file, since their answers do not stand in their texts: {lost}"] if lost else []
            write_part(temporary, part, rows, placed, says, language=result.language.code,
                       measure=result.settings.judge, places=[*places, *more])  # fmt: skip
    write_csv(folder / f"{PARTITIONS}.csv", PARTITION_COLUMNS, rows)
    return rows


def _squad(question: AskedQuestion) -> SquadQuestion | None:
    """The question with those of its answers that stand in its context, the first where it is known to stand."""
    if question.place is None:
        return None
    answers = [(question.place.of(question.context), question.place.start)]
    answers += [(text, at) for text in question.answers[1:] if (at := question.context.find(text)) >= 0]
    return SquadQuestion(question.id, question.title, question.context, question.question, tuple(answers))
