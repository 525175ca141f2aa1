"""`trivium ask --kb BASE --batch questions.csv`: many questions, and a table of answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from trivium.core.csv_tables import write_csv
from trivium.core.errors import BadInput
from trivium.core.reading import LARGEST_IMAGE, read_bytes
from trivium.core.tables import read_csv
from trivium.kvqae.asking.answer import Answer

ASKED = ("question", "image")
COLUMNS = (*ASKED, "answer", "answer_probability", "entry", "entry_probability", "sure", "title", "passage", "notes",
           "problem")  # fmt: skip
Ask = Callable[[str, bytes | None], Answer]


@dataclass(frozen=True)
class AskedRow:
    """A line of the table of questions.

    Attributes:
        question: its text.
        image: the picture's file as the table names it; empty without one.
        others: further columns, which go into the table of answers as they are.
    """

    question: str
    image: str
    others: dict[str, str]


def read_questions(table: Path) -> list[AskedRow]:
    """The questions of a CSV with `question` and, where there are pictures, `image`, relative to the table.

    Raises:
        BadInput: no such file, no column of that name, a row of another length, or no question.
    """
    lines = read_csv(table)
    _, header = next(lines, (0, []))
    names = [name.strip() for name in header]
    if "question" not in names:
        raise BadInput("the table has no column of questions", file=table, row=1, got=names, expected="question, image")
    if taken := sorted(set(names) & set(COLUMNS[len(ASKED) :])):
        raise BadInput(
            "the table has columns that the answers would overwrite",
            file=table,
            row=1,
            got=taken,
            expected="other names",
        )
    rows = []
    for row, values in lines:
        if len(values) != len(names):
            raise BadInput(
                "the row has a different number of cells than the first one",
                file=table,
                row=row,
                got=len(values),
                expected=str(len(names)),
            )
        cells = dict(zip(names, values, strict=True))
        rows.append(AskedRow(cells.pop("question"), cells.pop("image", "").strip(), cells))
    if not rows:
        raise BadInput("no question", file=table)
    return rows


def answer_all(ask: Ask, table: Path, out: Path) -> tuple[int, int]:
    """Answer a table of questions; a row that cannot be answered says why, and the others are answered.

    Args:
        ask: question and picture to answer.
        table: of questions.
        out: table of answers, written whole when all are answered.

    Returns:
        How many rows there are, and how many could not be answered.

    Raises:
        BadInput: see `read_questions`, or no row could be answered.
    """
    rows = read_questions(table)
    others = list(rows[0].others)
    lines = answer_rows(ask, rows, table.parent)
    problems = [line["problem"] for line in lines if line["problem"]]
    if len(problems) == len(rows):
        raise BadInput(f"no question could be answered, the first: {problems[0]}", file=table)
    write_csv(out, [*others, *COLUMNS], lines)
    return len(rows), len(problems)


def answer_rows(ask: Ask, rows: Sequence[AskedRow], folder: Path) -> list[dict[str, object]]:
    """Lines of the table of answers; pictures are named as seen from a folder."""
    return [{**row.others, "question": row.question, "image": row.image, **_answered(ask, folder, row)} for row in rows]


def _answered(ask: Ask, folder: Path, row: AskedRow) -> dict[str, object]:
    blank: dict[str, object] = dict.fromkeys(COLUMNS[len(ASKED) :], "")
    try:
        image = read_bytes(folder / row.image, LARGEST_IMAGE) if row.image else None
        answer = ask(row.question, image)
    except BadInput as error:
        return blank | {"problem": str(error)}
    said: dict[str, object] = {
        "answer": answer.text,
        "answer_probability": answer.score,
        "notes": " ".join(answer.notes),
    }
    if answer.entries:
        best = answer.entries[0]
        said |= {"entry": best.title, "entry_probability": best.probability, "sure": best.sure}
    if answer.supports:
        said |= {"title": answer.supports[0].title, "passage": answer.supports[0].text}
    return blank | said
