"""`trivium ask --kb BASE --batch FILE`: many questions, of a table or of a public set, and a table of answers.

With `--entries`, somebody else's search says what pictures show. It is a CSV with `image`, `entry` and `score`: of each
picture the titles of entries that it may show. Or a folder with embeddings: `pictures.npy` with `pictures.jsonl`, and
`entries.npy` with `entries.jsonl`, whose line n has the `id` of row n, a picture's name or an entry's title; an entry
may have several rows. Their cosines are the scores then.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PureWindowsPath
from statistics import harmonic_mean
from typing import Any

from trivium.core.errors import BadInput
from trivium.core.folding import fold
from trivium.core.matrices import read_named_rows
from trivium.core.reading import LARGEST_IMAGE, finite_number, read_bytes
from trivium.core.tables import read_csv_records, write_csv, write_json
from trivium.formats.pictures import is_picture
from trivium.formats.visual_questions import (
    ENCYCLOPEDIC_PARTS,
    VisualQuestion,
    pictures_by_name,
    read_encyclopedic_vqa,
    read_infoseek,
)
from trivium.kvqae.asking.answer import INVENTED, Answer
from trivium.kvqae.asking.endpoints import EMPTY, UNCLEAR
from trivium.kvqae.asking.entries import find_file
from trivium.measures.answers import exact_match, in_range, lists_match, matches_encyclopedic

ANSWERED = (*("answer", "answer_probability", "entry", "entry_probability"), *("sure", "title", "passage", "notes"),
            "problem")  # fmt: skip
COLUMNS = ("question", "image", *ANSWERED)
Row = dict[str, Any]  # question and image; of a public set also `SCORED`
Entries = Mapping[str, Mapping[str, float]]  # picture, see `key_of_picture` → title → score
DEPTH = 100  # entries of a picture that embeddings give
Ask = Callable[..., Answer]  # see `Asker.ask`


def read_questions(table: Path) -> list[Row]:
    """Read the questions of a CSV with `question` and, where there are pictures, `image`, relative to the table.

    `BadInput`: no such file, no column of that name, a row of another length, or no question.
    """
    records = read_csv_records(table, ["question"])
    rows = [{"question": cells["question"], "image": cells.get("image", "").strip()} for _, cells in records]
    if not rows:
        raise BadInput("no question", file=table)
    return rows


def answer_all(ask: Ask, rows: Sequence[Row], table: Path, out: Path, entries: Entries | None = None) -> dict[str, int]:
    """Answer the questions of a table, and write the table `out`; see `answer_rows` for counts and errors."""
    lines, counts = answer_rows(ask, rows, table, entries)
    write_csv(out, COLUMNS, lines)
    return counts


def answer_rows(ask: Ask, rows: Sequence[Row], file: Path, entries: Entries | None) -> tuple[list[Row], dict[str, int]]:
    """Answer the questions of a file, beside which pictures lie; returns the rows of the table of answers, and counts.

    The counts: `questions`, `answered`, `problems` (could not be asked), and where there are any `empty_answers` and
    `unclear_choices` of models behind endpoints. `BadInput`: no question could be answered.
    """
    lines = [row | _answer(ask, file.parent, row, entries) for row in rows]
    problems = [line["problem"] for line in lines if line["problem"]]
    if len(problems) == len(rows):
        raise BadInput(f"no question could be answered, the first: {problems[0]}", file=file)
    counts = {"questions": len(lines), "answered": sum(bool(line["answer"]) for line in lines)}
    flaws = {"empty_answers": EMPTY, "unclear_choices": UNCLEAR}
    flawed = {name: sum(words in line["notes"] for line in lines) for name, words in flaws.items()}
    return lines, counts | {"problems": len(problems)} | {name: count for name, count in flawed.items() if count}


def _answer(ask: Ask, folder: Path, row: Row, entries: Entries | None) -> Row:
    line: Row = dict.fromkeys(ANSWERED, "")
    name, scores = row["image"], None
    path = (find_file(folder, name) or folder / name) if name else None
    if entries is not None:
        scores = entries.get(key_of_picture(name), {})
        path = path if path is not None and path.is_file() else None  # who has searched for it has seen it
    try:
        picture = None if path is None else read_bytes(path, LARGEST_IMAGE)
        answer = ask(row["question"], picture, entries=scores, file=path)
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
    """Return a picture's name as it is compared: without folders and suffix."""
    path = PureWindowsPath(name)  # which takes slashes of both kinds
    return fold(path.stem if is_picture(Path(path.name)) else path.name)


def read_entries(path: Path) -> Entries:
    """Read search results from a table, or from a folder of embeddings.

    `BadInput`: neither, a column or file is missing, a score that is no number, or rows that do not fit.
    """
    results: dict[str, dict[str, float]] = {}
    for picture, title, score in (_entries_by_cosine if path.is_dir() else _entries_of_table)(path):
        scores = results.setdefault(key_of_picture(picture), {})
        scores[title] = max(score, scores.get(title, score))
    if not results:
        raise BadInput("no search results", file=path)
    return results


def _entries_of_table(table: Path) -> Iterator[tuple[str, str, float]]:
    for row, cells in read_csv_records(table, ("image", "entry", "score")):
        try:
            yield cells["image"].strip(), cells["entry"].strip(), finite_number(cells["score"].strip())
        except ValueError:
            raise BadInput("not a number", file=table, row=row, field="score", got=cells["score"]) from None


def _entries_by_cosine(folder: Path) -> Iterator[tuple[str, str, float]]:
    from trivium.vision.neighbours import exact_search  # imports faiss

    (names, pictures), (titles, vectors) = (read_named_rows(folder, part) for part in ("pictures", "entries"))
    if pictures.shape[1] != vectors.shape[1]:
        raise BadInput("embeddings of another width", file=folder / "pictures.npy", got=pictures.shape[1],
                       expected=f"{vectors.shape[1]}, as in entries.npy")  # fmt: skip
    cosines, rows = exact_search(pictures, vectors, DEPTH, cosine=True)
    for name, scores, best in zip(names, cosines.tolist(), rows.tolist(), strict=True):
        yield from ((name, titles[row], score) for row, score in zip(best, scores, strict=True))


Judge = Callable[[Sequence[tuple[str, str, str]]], list[float]]  # (question, reference, candidate) → equivalent
SCORED = ("id", "kind", "split", "expected", "right")  # columns of a public set's answers
EQUIVALENT = 0.5  # probability from which BEM's verdict counts
UNSEEN = "unseen_"  # in the names of InfoSeek's splits


def _score_infoseek(question: VisualQuestion, answer: str) -> float:
    right = exact_match(answer, question.answers) if question.range is None else in_range(answer, question.range)
    return float(bool(answer.strip()) and right)


def _score_encyclopedic(question: VisualQuestion, answer: str) -> float:
    if question.kind == "multi_answer":
        return float(any(lists_match(answer, reference.split(ENCYCLOPEDIC_PARTS)) for reference in question.answers))
    return float(any(matches_encyclopedic(answer, reference) for reference in question.answers))


SETS: dict[str, tuple[Callable[[Path], list[VisualQuestion]], Callable[[VisualQuestion, str], float], str]] = {
    # Public set → reader, score of an answer in [0, 1], name of that score.
    "infoseek": (read_infoseek, _score_infoseek, "InfoSeek accuracy"),
    "encyclopedic_vqa": (
        read_encyclopedic_vqa, _score_encyclopedic, "exact match (no BEM: not the published measure)",
    ),
}  # fmt: skip


def questions_of(name: str, path: Path, pictures: Path | None) -> tuple[list[VisualQuestion], list[Row]]:
    """Read the questions of a set, also as rows to ask; a missing picture keeps its name, and is a problem later.

    Without a folder of `pictures` each is a name. `BadInput`: see the set's reader and `pictures_by_name`; or no
    question has its picture.
    """
    questions, paths = SETS[name][0](path), {} if pictures is None else pictures_by_name(pictures)
    if pictures is not None and not any(question.picture in paths for question in questions):
        raise BadInput("no question's picture is there", file=pictures, expected=f"such as {questions[0].picture}.jpg")
    rows = []
    for question in questions:
        row = {column: getattr(question, column) for column in ("id", "kind", "split")}
        picture = question.picture
        if pictures is not None:
            picture = str(paths.get(picture, pictures / picture).resolve())
        expected = " | ".join(dict.fromkeys(question.answers))
        rows.append(row | {"expected": expected, "question": question.text, "image": picture})
    return questions, rows


def answer_set(
    ask: Ask, name: str, questions: Sequence[VisualQuestion], rows: Sequence[Row], judge: Judge | None, out: Path,
    entries: Entries | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Answer a set, write the table `out` and its scores beside it (`.json`); what was not answered is wrong.

    Returns the names of the `set` and of its `measure`, the scores, and the counts of `answer_rows`.
    """
    (_, score, measure), (lines, counts) = SETS[name], answer_rows(ask, rows, out, entries)
    answers = [str(line["answer"]) for line in lines]
    folded = [replace(question, answers=tuple(map(fold, question.answers))) for question in questions]
    right = [score(question, fold(text)) for question, text in zip(folded, answers, strict=True)]
    if judge is not None:
        right = _judge(questions, answers, right, judge)
    write_csv(out, [*SCORED, *COLUMNS], [line | {"right": value} for line, value in zip(lines, right, strict=True)])
    measure = measure if judge is None else "exact match or BEM"
    scores = {"set": name, "measure": measure, **_summarize(questions, right), **counts}
    write_json(out.with_suffix(".json"), scores)
    return scores


def _judge(
    questions: Sequence[VisualQuestion], answers: Sequence[str], right: Sequence[float], judge: Judge
) -> list[float]:
    """Let BEM judge what does not match exactly, as its authors do; returns all scores."""
    scores = list(right)
    doubtful = [place for place, value in enumerate(right) if not value and answers[place].strip()]
    pairs = [(place, reference) for place in doubtful for reference in questions[place].answers]
    triples = [(questions[place].text, ref.replace(ENCYCLOPEDIC_PARTS, ","), answers[place]) for place, ref in pairs]
    for (place, _), equivalent in zip(pairs, judge(triples), strict=True):
        scores[place] = max(scores[place], float(equivalent >= EQUIVALENT))
    return scores


def _summarize(questions: Sequence[VisualQuestion], right: Sequence[float]) -> dict[str, float]:
    """Compute mean scores, of all and by kind; of InfoSeek also by split.

    InfoSeek's `score` is the harmonic mean of those of questions and of entities that its training lacks.
    """
    groups = {"accuracy": list(right)}
    for question, value in zip(questions, right, strict=True):
        groups.setdefault(f"accuracy_{question.kind}", []).append(value)
        if UNSEEN in question.split:
            groups.setdefault(f"accuracy_{UNSEEN}{question.split.rpartition(UNSEEN)[2]}", []).append(value)
    means = {name: sum(values) / len(values) for name, values in groups.items()}
    parts = [means[name] for name in ("accuracy_unseen_question", "accuracy_unseen_entity") if name in means]
    if len(parts) > 1:
        means["score"] = float(harmonic_mean(parts))
    return means
