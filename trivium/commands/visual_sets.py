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

Judge = Callable[[Sequence[tuple[str, str, str]]], list[float]]  # (question, reference, candidate) → equivalent
OWN = ("id", "kind", "split", "expected", "right")
EQUIVALENT = 0.5  # probability from which BEM's verdict counts
JUDGED = "encyclopedic_vqa"  # the set whose answers BEM judges
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
    called: str  # name of that measure

    def measure(self, judge: Judge | None) -> str:
        """The name of the measure."""
        return self.called if judge is None else "exact match or BEM"


SETS = {
    "infoseek": VisualSet("InfoSeek", read_infoseek, _infoseek, "InfoSeek accuracy"),
    JUDGED: VisualSet("Encyclopedic-VQA", read_encyclopedic_vqa, _encyclopedic,
                      "exact match (no BEM: not the published measure)"),
}  # fmt: skip


def _judged(
    questions: Sequence[VisualQuestion], answers: Sequence[str], right: Sequence[float], judge: Judge
) -> list[float]:
    """Scores in which BEM judges what does not match exactly, as its authors do."""
    scores = list(right)
    doubtful = [place for place, value in enumerate(right) if not value and answers[place].strip()]
    pairs = [(place, reference) for place in doubtful for reference in questions[place].answers]
    triples = [(questions[place].text, ref.replace(ENCYCLOPEDIC_PARTS, ","), answers[place]) for place, ref in pairs]
    for (place, _), equivalent in zip(pairs, judge(triples), strict=True):
        scores[place] = max(scores[place], float(equivalent >= EQUIVALENT))
    return scores


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


def load_judge(name: str, folder: Path | None) -> Judge | None:
    """Load BEM from its folder; None without one; `BadInput` for a set that is not judged by it."""
    if folder is None:
        return None
    if name != JUDGED:
        raise BadInput("this set is not judged by BEM", field="--bem", got=name, choices=[JUDGED])
    from trivium.nets.answer_equivalence import AnswerEquivalence
    from trivium.nets.device import pick_device

    return AnswerEquivalence(folder, pick_device())


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
    judge: Judge | None,
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
    if judge is not None:
        right = _judged(questions, answers, right, judge)
    write_csv(out, [*OWN, *COLUMNS], [line | {"right": value} for line, value in zip(lines, right, strict=True)])
    scores = _summary(questions, right) | {"questions": float(len(lines)), "problems": float(problems)}
    write_json(out.with_suffix(".json"), {"set": name, "measure": SETS[name].measure(judge), **scores})
    return scores
