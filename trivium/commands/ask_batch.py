"""`trivium ask --kb BASE --batch questions.csv`: many questions, and a table of answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from trivium.commands.given_entries import Given, key_of_picture
from trivium.core.errors import BadInput
from trivium.core.reading import LARGEST_IMAGE, read_bytes
from trivium.core.tables import read_csv, read_csv_records, write_csv
from trivium.kvqae.asking.answer import INVENTED, Answer
from trivium.kvqae.asking.entries import find_pictures

ASKED = ("question", "image")
ANSWERED = (*("answer", "answer_probability", "entry", "entry_probability"), *("sure", "title", "passage", "notes"),
            "problem")  # fmt: skip
COLUMNS = (*ASKED, *ANSWERED)
Ask = Callable[..., Answer]  # of question and picture; `given` are entries that somebody else has found


@dataclass(frozen=True)
class AskedRow:
    """A line of the table of questions."""

    question: str
    image: str  # the picture's file as the table names it; empty without one
    others: dict[str, str]  # further columns, which go into the table of answers as they are


def read_questions(table: Path) -> list[AskedRow]:
    """The questions of a CSV with `question` and, where there are pictures, `image`, relative to the table.

    Raises:
        BadInput: no such file, no column of that name, a row of another length, or no question.
    """
    _, header = next(read_csv(table), (1, []))
    rows = []
    for _, cells in read_csv_records(table, ["question"]):
        if taken := sorted(set(cells) & set(ANSWERED)):
            problem = "the table has columns that the answers would overwrite"
            raise BadInput(problem, file=table, row=1, got=taken, expected="other names")
        others = {name.strip(): cells[name.strip().lower()] for name in header if name.strip().lower() not in ASKED}
        rows.append(AskedRow(cells["question"], cells.get("image", "").strip(), others))
    if not rows:
        raise BadInput("no question", file=table)
    return rows


def answer_all(ask: Ask, table: Path, out: Path, given: Given | None = None) -> tuple[int, int]:
    """Answer a table of questions; a row that cannot be answered says why, and the others are answered.

    Args:
        ask: question and picture to answer.
        table: of questions.
        out: table of answers, written whole when all are answered.
        given: what pictures show, in place of looking at them.

    Returns:
        How many rows there are, and how many could not be answered.

    Raises:
        BadInput: see `read_questions`, or no row could be answered.
    """
    rows = read_questions(table)
    lines, problems = answer_rows(ask, rows, table, given)
    write_csv(out, [*rows[0].others, *COLUMNS], lines)
    return len(rows), problems


def answer_rows(
    ask: Ask, rows: Sequence[AskedRow], file: Path, given: Given | None = None
) -> tuple[list[dict[str, object]], int]:
    """Lines of the table of answers, and how many rows could not be answered; pictures lie beside `file`.

    Raises:
        BadInput: no row could be answered.
    """
    lines = [
        {**row.others, "question": row.question, "image": row.image, **_answer(ask, file.parent, row, given)}
        for row in rows
    ]
    problems = [line["problem"] for line in lines if line["problem"]]
    if len(problems) == len(rows):
        raise BadInput(f"no question could be answered, the first: {problems[0]}", file=file)
    return lines, len(problems)


def _find_picture(folder: Path, name: str) -> Path:
    pictures = find_pictures(folder, name)
    if len(pictures) > 1:
        raise BadInput("several pictures", field="image", got=name, expected="one, or a row for each")
    if "://" in name:
        raise BadInput("an address", field="image", got=name, expected="a file: save the picture, and name that")
    return pictures[0][1] or folder / name


def _answer(ask: Ask, folder: Path, row: AskedRow, given: Given | None) -> dict[str, object]:
    line: dict[str, object] = dict.fromkeys(ANSWERED, "")
    try:
        path = _find_picture(folder, row.image) if row.image else None
        if given is not None and path is not None and not path.is_file():
            path = None  # who has searched for it has seen it
        picture = None if path is None else read_bytes(path, LARGEST_IMAGE)
        found = {} if given is None else {"given": given.get(key_of_picture(row.image), {})}
        answer = ask(row.question, picture, **found)
    except BadInput as error:
        return line | {"problem": str(error)}
    line |= {"answer": answer.text, "answer_probability": answer.score}
    line["notes"] = " ".join([*[f"{INVENTED.capitalize()}."] * answer.invented, *answer.notes])
    if answer.entries:
        best = answer.entries[0]
        line |= {"entry": best.title, "entry_probability": best.probability, "sure": best.sure}
    if answer.supports:
        line |= {"title": answer.supports[0].title, "passage": answer.supports[0].text}
    return line
