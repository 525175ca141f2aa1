"""`trivium ask --kb BASE --batch questions.csv`: many questions, and a table of answers.

With `--entries`, somebody else's search says what pictures show. It is a CSV with `image`, `entry` and `score`: of each
picture the titles of entries that it may show. Or a folder with embeddings: `pictures.npy` with `pictures.jsonl`, and
`entries.npy` with `entries.jsonl`, whose line n has the `id` of row n, a picture's name or an entry's title; an entry
may have several rows. Their cosines are the scores then.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath

import numpy as np

from trivium.core.errors import BadInput
from trivium.core.folding import fold
from trivium.core.matrices import check_finite, read_matrix
from trivium.core.reading import LARGEST_IMAGE, read_bytes
from trivium.core.tables import read_csv, read_csv_records, read_json_lines, write_csv
from trivium.formats.pictures import is_picture
from trivium.kvqae.asking.answer import INVENTED, Answer
from trivium.kvqae.asking.entries import find_pictures

QUESTION = ("question", "image")
ANSWERED = (*("answer", "answer_probability", "entry", "entry_probability"), *("sure", "title", "passage", "notes"),
            "problem")  # fmt: skip
COLUMNS = (*QUESTION, *ANSWERED)
Entries = Mapping[str, Mapping[str, float]]  # picture, see `key_of_picture` → title → score
DEPTH = 100  # entries of a picture that embeddings give
Ask = Callable[..., Answer]  # see `Asker.ask`


@dataclass(frozen=True)
class AskedRow:
    """A row of the table of questions."""

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
        if clashes := sorted(set(cells) & set(ANSWERED)):
            problem = "the table has columns that the answers would overwrite"
            raise BadInput(problem, file=table, row=1, got=clashes, expected="other names")
        others = {name.strip(): cells[name.strip().lower()] for name in header if name.strip().lower() not in QUESTION}
        rows.append(AskedRow(cells["question"], cells.get("image", "").strip(), others))
    if not rows:
        raise BadInput("no question", file=table)
    return rows


def answer_all(ask: Ask, table: Path, out: Path, entries: Entries | None = None) -> tuple[int, int]:
    """Answer a table of questions, and write the table `out`; a row that cannot be answered says why.

    Returns:
        How many rows there are, and how many could not be answered.

    Raises:
        BadInput: see `read_questions`, or no row could be answered.
    """
    rows = read_questions(table)
    lines, problems = answer_rows(ask, rows, table, entries)
    write_csv(out, [*rows[0].others, *COLUMNS], lines)
    return len(rows), problems


def answer_rows(
    ask: Ask, rows: Sequence[AskedRow], file: Path, entries: Entries | None = None
) -> tuple[list[dict[str, object]], int]:
    """The rows of the table of answers, and how many have no answer; pictures lie beside `file`."""
    lines = [
        {**row.others, "question": row.question, "image": row.image, **_answer(ask, file.parent, row, entries)}
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


def _answer(ask: Ask, folder: Path, row: AskedRow, entries: Entries | None) -> dict[str, object]:
    line: dict[str, object] = dict.fromkeys(ANSWERED, "")
    try:
        path = _find_picture(folder, row.image) if row.image else None
        if entries is not None and path is not None and not path.is_file():
            path = None  # who has searched for it has seen it
        picture = None if path is None else read_bytes(path, LARGEST_IMAGE)
        scores = None if entries is None else entries.get(key_of_picture(row.image), {})
        answer = ask(row.question, picture, entries=scores, file=path)
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


def key_of_picture(name: str) -> str:
    """A picture's name as it is compared: without folders and suffix."""
    path = PureWindowsPath(name)  # which takes slashes of both kinds
    return fold(path.stem if is_picture(Path(path.name)) else path.name)


def read_entries(path: Path) -> Entries:
    """Read search results from a table, or from a folder of embeddings.

    Raises:
        BadInput: neither, a column or file is missing, a score that is no number, or rows that do not fit.
    """
    if path.is_dir():
        return _from_embeddings(path)
    results: dict[str, dict[str, float]] = {}
    for row, cells in read_csv_records(path, ("image", "entry", "score")):
        try:
            score = float(cells["score"])
        except ValueError:
            score = np.nan
        if not np.isfinite(score):
            raise BadInput("not a number", file=path, row=row, field="score", got=cells["score"])
        scores = results.setdefault(key_of_picture(cells["image"].strip()), {})
        title = cells["entry"].strip()
        scores[title] = max(score, scores.get(title, score))
    if not results:
        raise BadInput("no search results", file=path)
    return results


def _from_embeddings(folder: Path) -> Entries:
    names, pictures = _read(folder, "pictures")
    titles, vectors = _read(folder, "entries")
    if pictures.shape[1] != vectors.shape[1]:
        raise BadInput("embeddings of another width", file=folder / "pictures.npy", got=pictures.shape[1],
                       expected=f"{vectors.shape[1]}, as in entries.npy")  # fmt: skip
    results: dict[str, dict[str, float]] = {}
    for name, vector in zip(names, pictures, strict=True):
        cosines = vectors @ vector
        scores = results.setdefault(key_of_picture(name), {})
        for row in np.argsort(-cosines, kind="stable")[:DEPTH].tolist():
            scores.setdefault(titles[row], float(cosines[row]))  # the best of an entry's pictures comes first
    return results


def _read(folder: Path, part: str) -> tuple[list[str], np.ndarray]:
    """Read names, and vectors scaled to length 1, (names, width)."""
    file = folder / f"{part}.npy"
    matrix = np.asarray(read_matrix(file), np.float32)
    names: list[str] = []
    for row, record in read_json_lines(file.with_suffix(".jsonl")):
        if not isinstance(record.get("id"), str):
            raise BadInput("not a text", file=file.with_suffix(".jsonl"), row=row, field="id", got=record.get("id"))
        names.append(record["id"])
    if matrix.ndim != 2 or len(matrix) != len(names):
        raise BadInput("not a row a name", file=file, got=matrix.shape, expected=f"({len(names)}, width)")
    check_finite(matrix, file)
    return names, matrix / np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), np.finfo(np.float32).tiny)
