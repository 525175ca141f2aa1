"""Question sets that the user brings: a folder each, with the set and a folder of answers."""

from collections.abc import Collection
from pathlib import Path

from trivium.core.errors import BadInput
from trivium.formats.answer_files import model_names

ANSWERS = "answers"


def brought_sets(folder: Path, taken: Collection[str]) -> dict[str, tuple[Path, dict[str, Path]]]:
    """By name the question set and the files of answers by model: `<name>/questions.*` and `<name>/answers/*`.

    Args:
        folder: a folder a set; files in it are passed over.
        taken: names that no set may have.

    Raises:
        BadInput: not one file of questions, no answers, two files of one model, or a name that cannot be used.
    """
    sets = {}
    for place in sorted(each for each in folder.iterdir() if each.is_dir()):
        if not place.name.isidentifier() or not place.name.isascii() or place.name in taken:
            raise BadInput("no name for a set", file=place, expected=f"letters, digits and _; not {', '.join(taken)}")
        questions = sorted(place.glob("questions.*"))
        if len(questions) != 1:
            raise BadInput("not one file of questions", file=place, got=[each.name for each in questions],
                           expected="questions.json, .jsonl or .parquet")  # fmt: skip
        answers = sorted(each for each in (place / ANSWERS).glob("*") if not each.name.startswith("."))
        if not answers:
            raise BadInput("no answers", file=place / ANSWERS, expected="a file a model, named as the model")
        sets[place.name] = (questions[0], model_names(answers))
    return sets
