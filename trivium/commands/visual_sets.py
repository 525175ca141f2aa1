"""`trivium ask --kb BASE --batch FILE --set infoseek`: public sets of questions about pictures, answered and scored."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from trivium.commands.ask_batch import COLUMNS, Ask, AskedRow, answer_rows
from trivium.core.csv_tables import write_csv
from trivium.core.errors import BadInput
from trivium.core.folding import fold
from trivium.core.tables import write_json
from trivium.formats.visual_questions import (
    ENCYCLOPEDIC_PARTS,
    VisualQuestion,
    pictures_by_name,
    read_encyclopedic_vqa,
    read_infoseek,
    read_ok_vqa,
)
from trivium.measures.answers import annotators_agree, exact_match, in_range, lists_match

Judge = Callable[[Sequence[tuple[str, str, str]]], list[float]]  # (question, reference, candidate) → equivalent
OWN = ("id", "kind", "split", "expected", "right")
EQUIVALENT = 0.5  # probability from which BEM's verdict counts


@dataclass(frozen=True)
class VisualSet:
    """A public set.

    Attributes:
        label: for people.
        read: its questions.
        score: of every answer, in [0, 1].
        measure: how that is called.
        summary: of all scores.
    """

    label: str
    read: Callable[[Path], list[VisualQuestion]]
    score: Callable[[Sequence[VisualQuestion], Sequence[str], Judge | None], list[float]]
    measure: Callable[[Judge | None], str]
    summary: Callable[[Sequence[VisualQuestion], Sequence[float]], dict[str, float]]


def _infoseek(questions: Sequence[VisualQuestion], answers: Sequence[str], judge: Judge | None) -> list[float]:
    return [
        float(
            bool(said.strip())
            and (in_range(said, each.range) if each.range is not None else exact_match(said, each.answers))
        )
        for each, said in zip(questions, answers, strict=True)
    ]


def _encyclopedic(questions: Sequence[VisualQuestion], answers: Sequence[str], judge: Judge | None) -> list[float]:
    """Exact match; what does not match exactly is judged by BEM, where it is given, as the authors do."""
    right = [
        float(
            any(lists_match(said, reference.split(ENCYCLOPEDIC_PARTS)) for reference in each.answers)
            if each.kind == "multi_answer"
            else exact_match(said, each.answers)
        )
        for each, said in zip(questions, answers, strict=True)
    ]
    if judge is not None:
        doubtful = [place for place, value in enumerate(right) if not value and answers[place].strip()]
        pairs = [(place, reference) for place in doubtful for reference in questions[place].answers]
        asked = [(questions[place].text, ref.replace(ENCYCLOPEDIC_PARTS, ","), answers[place]) for place, ref in pairs]
        for (place, _), equivalent in zip(pairs, judge(asked), strict=True):
            right[place] = max(right[place], float(equivalent >= EQUIVALENT))
    return right


def _ok_vqa(questions: Sequence[VisualQuestion], answers: Sequence[str], judge: Judge | None) -> list[float]:
    return [annotators_agree(said, each.answers) for each, said in zip(questions, answers, strict=True)]


def _by_kind(questions: Sequence[VisualQuestion], right: Sequence[float]) -> dict[str, float]:
    groups: dict[str, list[float]] = {"accuracy": list(right)}
    for question, value in zip(questions, right, strict=True):
        groups.setdefault(f"accuracy_{question.kind}", []).append(value)
    return {name: sum(values) / len(values) for name, values in groups.items()}


def _by_kind_and_split(questions: Sequence[VisualQuestion], right: Sequence[float]) -> dict[str, float]:
    """Means, and InfoSeek's `score`: the harmonic mean of those of questions and of entities that training lacks."""
    groups = {"": list(right)}
    for question, value in zip(questions, right, strict=True):
        groups.setdefault(question.kind, []).append(value)
        groups.setdefault("unseen_" + question.split.rpartition("unseen_")[2], []).append(value)
    means = {name: sum(values) / len(values) for name, values in groups.items()}
    found = {f"accuracy_{name}".rstrip("_"): mean for name, mean in means.items()}
    parts = [means.get("unseen_question"), means.get("unseen_entity")]
    if all(part is not None for part in parts):
        first, second = (float(part or 0) for part in parts)
        found["score"] = 2 * first * second / (first + second) if first + second else 0.0
    return found


SETS: Mapping[str, VisualSet] = {
    "infoseek": VisualSet("InfoSeek", read_infoseek, _infoseek, lambda _: "InfoSeek accuracy", _by_kind_and_split),
    "encyclopedic_vqa": VisualSet(
        "Encyclopedic-VQA",
        read_encyclopedic_vqa,
        _encyclopedic,
        lambda judge: "exact match (no BEM: not the published measure)" if judge is None else "exact match or BEM",
        _by_kind,
    ),
    "ok_vqa": VisualSet("OK-VQA", read_ok_vqa, _ok_vqa, lambda _: "VQA accuracy", _by_kind),
}


def load_judge(name: str, folder: Path | None) -> Judge | None:
    """BEM from its folder; None without one.

    Raises:
        BadInput: a set that is not judged by it, or not such a folder.
    """
    if folder is None:
        return None
    if name != "encyclopedic_vqa":
        raise BadInput("this set is not judged by BEM", field="--bem", got=name, choices=["encyclopedic_vqa"])
    from trivium.nets.bert import AnswerEquivalence
    from trivium.nets.device import pick_device

    return AnswerEquivalence(folder, pick_device())


def questions_of(name: str, path: Path, pictures: Path) -> tuple[list[VisualQuestion], list[AskedRow]]:
    """The questions of a set, and as rows to ask; a picture that is missing keeps its name, and is a problem later.

    Raises:
        BadInput: see the set's reader and `pictures_by_name`; or no question has its picture.
    """
    questions, found = SETS[name].read(path), pictures_by_name(pictures)
    if not any(each.picture in found for each in questions):
        raise BadInput("no question's picture is there", file=pictures, expected=f"such as {questions[0].picture}.jpg")
    rows = [
        AskedRow(
            each.text,
            str(found[each.picture].resolve() if each.picture in found else pictures.resolve() / each.picture),
            {
                "id": each.id,
                "kind": each.kind,
                "split": each.split,
                "expected": " | ".join(dict.fromkeys(each.answers)),
            },
        )
        for each in questions
    ]
    return questions, rows


def answer_set(
    ask: Ask, name: str, questions: Sequence[VisualQuestion], rows: Sequence[AskedRow], judge: Judge | None, out: Path
) -> dict[str, float]:
    """Answer a set, write the table `out` and its scores beside it (`.json`); what was not answered is wrong.

    Returns:
        The scores, and the numbers of `questions` and of `problems`.

    Raises:
        BadInput: no question could be answered.
    """
    lines = answer_rows(ask, rows, Path())
    problems = [str(line["problem"]) for line in lines if line["problem"]]
    if len(problems) == len(lines):
        raise BadInput(f"no question could be answered, the first: {problems[0]}", file=out)
    references = [replace(question, answers=tuple(map(fold, question.answers))) for question in questions]
    right = SETS[name].score(references, [fold(str(line["answer"])) for line in lines], judge)
    table = [line | {"right": value} for line, value in zip(lines, right, strict=True)]
    write_csv(out, [*OWN, *COLUMNS], table)
    scores = SETS[name].summary(questions, right)
    scores |= {"questions": float(len(lines)), "problems": float(len(problems))}
    write_json(out.with_suffix(".json"), {"set": name, "measure": SETS[name].measure(judge), **scores})
    return scores
