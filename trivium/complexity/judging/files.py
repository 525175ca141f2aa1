"""Human judgements as they are brought: Label Studio's JSON export, or CSV."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from trivium.complexity.judging.label_studio import VERDICTS, answer_code, read_export
from trivium.core.errors import BadInput
from trivium.core.tables import read_csv_records

COLUMNS = ("id", "model", "annotator", "verdict")  # of a CSV; a column `prediction` is checked when there
Answers = Mapping[str, Mapping[str, str]]  # by model, then question


@dataclass(frozen=True)
class Judgement:
    """One annotator's verdict on one answer.

    Attributes:
        item: what was judged: the code of an answer (Label Studio), or a question and model (CSV).
        id: the question.
        models: those whose answer it is.
    """

    item: str
    id: str
    models: tuple[str, ...]
    annotator: str
    verdict: str


def read_judgements(place: Path, ids: set[str], answers: Answers) -> tuple[list[Judgement], dict[str, int]]:
    """A file, or every file of a folder: `*.json` as Label Studio exports it, `*.csv` with COLUMNS.

    Returns:
        The judgements, and counts: stale (of answers that no model gives now), unjudged_tasks, skipped_annotations.

    Raises:
        BadInput: see `read_csv_records`; an unknown question, model or verdict, or an answer judged twice by one.
    """
    counts = Counter(stale=0, unjudged_tasks=0, skipped_annotations=0)
    judgements: list[Judgement] = []
    seen: dict[tuple[str, str, str], str] = {}
    readers = {".json": _from_label_studio, ".csv": _from_csv}
    for path in sorted(place.iterdir()) if place.is_dir() else [place]:
        if path.name.startswith(".") or path.suffix == ".md":
            continue
        if path.suffix not in readers:
            raise BadInput("not a file of judgements", file=path, got=path.suffix, choices=readers)
        for row, judgement in readers[path.suffix](path, ids, answers, counts):
            for model in judgement.models:
                key = (judgement.id, model, judgement.annotator)
                if key in seen:
                    raise BadInput(
                        f"annotator {judgement.annotator!r} judged an answer twice, first in {seen[key]}",
                        file=path,
                        row=row,
                        field="annotator",
                        got=judgement.id,
                    )
                seen[key] = f"{path.name}:{row}"
            judgements.append(judgement)
    return judgements, dict(counts)


def _from_label_studio(
    path: Path, ids: set[str], answers: Answers, counts: Counter[str]
) -> Iterator[tuple[int, Judgement]]:
    found, unjudged, skipped = read_export(path)
    counts["unjudged_tasks"] += unjudged
    counts["skipped_annotations"] += skipped
    models: dict[str, list[str]] = defaultdict(list)
    for model, given in answers.items():
        for identifier, answer in given.items():
            models[answer_code(identifier, answer)].append(model)
    for identifier, code, annotator, verdict, row in found:
        if identifier not in ids:
            raise BadInput("unknown question", file=path, row=row, field="data.id", got=identifier)
        if code in models:
            yield row, Judgement(code, identifier, tuple(models[code]), annotator, verdict)
        else:
            counts["stale"] += 1


def _from_csv(path: Path, ids: set[str], answers: Answers, counts: Counter[str]) -> Iterator[tuple[int, Judgement]]:
    for row, line in read_csv_records(path, COLUMNS):
        found = _judgement(line, path, row, ids, answers)
        if found is None:
            counts["stale"] += 1
        else:
            yield row, found


def _judgement(line: Mapping[str, str], path: Path, row: int, ids: set[str], answers: Answers) -> Judgement | None:
    """One line's; None when the model has another answer now."""
    for field, choices in (("id", ids), ("model", answers), ("verdict", VERDICTS)):
        if line[field] not in choices:
            shown = None if field == "id" else choices
            raise BadInput(f"unknown {field}", file=path, row=row, field=field, got=line[field], choices=shown)
    if not line["annotator"]:
        raise BadInput("no annotator", file=path, row=row, field="annotator", got=line["annotator"])
    identifier, model = line["id"], line["model"]
    if line.get("prediction", answers[model][identifier]) != answers[model][identifier]:
        return None
    return Judgement(f"{model}/{identifier}", identifier, (model,), line["annotator"], line["verdict"])
