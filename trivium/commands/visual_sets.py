"""`trivium ask --kb BASE --batch FILE --set infoseek`: public sets of questions about pictures, answered and scored."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from trivium.commands.ask_batch import COLUMNS, Ask, AskedRow, Entries, answer_rows
from trivium.core.errors import BadInput
from trivium.core.folding import fold
from trivium.core.tables import write_csv, write_json
from trivium.formats.visual_questions import (
    ENCYCLOPEDIC_PARTS,
    VisualQuestion,
    pictures_by_name,
    read_encyclopedic_vqa,
    read_infoseek,
)
from trivium.measures.answers import exact_match
from trivium.measures.visual_answers import in_range, lists_match, matches_encyclopedic

OWN = ("id", "kind", "split", "expected", "right")
UNSEEN = "unseen_"  # in the names of InfoSeek's splits


def _infoseek(question: VisualQuestion, answer: str) -> float:
    if not answer.strip():
        return 0.0
    right = exact_match(answer, question.answers) if question.range is None else in_range(answer, question.range)
    return float(right)


def _encyclopedic(question: VisualQuestion, answer: str) -> float:
    if question.kind != "multi_answer":
        return float(any(matches_encyclopedic(answer, reference) for reference in question.answers))
    return float(any(lists_match(answer, reference.split(ENCYCLOPEDIC_PARTS)) for reference in question.answers))


class VisualSet(NamedTuple):
    """A public set."""

    label: str  # for people
    read: Callable[[Path], list[VisualQuestion]]
    score: Callable[[VisualQuestion, str], float]  # of an answer, in [0, 1]
    measure: str  # its name


SETS = {
    "infoseek": VisualSet("InfoSeek", read_infoseek, _infoseek, "InfoSeek accuracy"),
    "encyclopedic_vqa": VisualSet("Encyclopedic-VQA", read_encyclopedic_vqa, _encyclopedic,
                      "exact match (no BEM: not the published measure)"),
}  # fmt: skip


def _summary(questions: Sequence[VisualQuestion], right: Sequence[float]) -> dict[str, float]:
    """Mean scores, of all and by kind; of InfoSeek also by split.

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
        means["score"] = 2 * parts[0] * parts[1] / sum(parts) if any(parts) else 0.0
    return means


def questions_of(name: str, path: Path, pictures: Path | None) -> tuple[list[VisualQuestion], list[AskedRow]]:
    """The questions of a set, and as rows to ask; a picture that is missing keeps its name, and is a problem later.

    Without a folder of `pictures` each is a name.

    Raises:
        BadInput: see the set's reader and `pictures_by_name`; or no question has its picture.
    """
    questions, paths = SETS[name].read(path), {} if pictures is None else pictures_by_name(pictures)
    if pictures is not None and not any(question.picture in paths for question in questions):
        raise BadInput("no question's picture is there", file=pictures, expected=f"such as {questions[0].picture}.jpg")
    rows = []
    for question in questions:
        picture = question.picture
        if pictures is not None:
            picture = str(paths.get(question.picture, pictures / question.picture).resolve())
        others = {name: getattr(question, name) for name in ("id", "kind", "split")}
        others["expected"] = " | ".join(dict.fromkeys(question.answers))
        rows.append(AskedRow(question.text, picture, others))
    return questions, rows


def answer_set(
    ask: Ask,
    name: str,
    questions: Sequence[VisualQuestion],
    rows: Sequence[AskedRow],
    out: Path,
    entries: Entries | None = None,
) -> dict[str, float]:
    """Answer a set, write the table `out` and its scores beside it (`.json`); what was not answered is wrong.

    Returns:
        The scores, and the numbers of `questions` and of `problems`.

    Raises:
        BadInput: no question could be answered.
    """
    lines, problems = answer_rows(ask, rows, out, entries)
    answers = [str(line["answer"]) for line in lines]
    folded = [replace(question, answers=tuple(map(fold, question.answers))) for question in questions]
    right = [SETS[name].score(question, fold(text)) for question, text in zip(folded, answers, strict=True)]
    write_csv(out, [*OWN, *COLUMNS], [line | {"right": value} for line, value in zip(lines, right, strict=True)])
    scores = _summary(questions, right) | {"questions": float(len(lines)), "problems": float(problems)}
    write_json(out.with_suffix(".json"), {"set": name, "measure": SETS[name].measure, **scores})
    return scores
