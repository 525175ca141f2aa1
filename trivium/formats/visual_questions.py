"""Public sets of questions about pictures, and their pictures in a folder.

InfoSeek (Chen et al., EMNLP 2023); its test split has no answers, so that it cannot be scored here:

- `infoseek_val.jsonl`: {"data_id", "image_id", "question", "answer", "answer_eval", "data_split"}; `answer_eval` is a
  list of texts, or of a number's {"wikidata", "range": [lowest, highest]}, or this object itself
- `infoseek_val_qtype.jsonl`, if present: {"data_id", "question_type"}: String, Numerical or Time

Encyclopedic-VQA (Mensink et al., ICCV 2023): a CSV file with a question a row, each about up to five pictures. Its
columns `question`, `answer` (valid answers separated by `|`, the parts of one by `&&`), `dataset_name`,
`dataset_image_ids` (separated by `|`) and `question_type` are read.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from trivium.core.errors import BadInput
from trivium.core.tables import read_csv_records
from trivium.formats.json_fields import Field, read_records
from trivium.formats.pictures import PICTURES, is_picture


@dataclass(frozen=True)
class VisualQuestion:
    """A question about a picture."""

    id: str  # unique in its set; it includes the picture where a question has several
    text: str
    picture: str  # its name without suffix
    kind: str  # the question's type, as its set has it
    split: str  # the part of the set that is scored by itself; "" where there is none
    answers: tuple[str, ...]  # the valid ones
    range: tuple[float, float] | None = None  # lowest and highest right number; None where the answer is not a number


def pictures_by_name(folder: Path) -> Mapping[str, Path]:
    """Find the pictures of a folder, at any depth, by their names without suffix, of which none may occur twice."""
    if not folder.is_dir():
        raise BadInput("no such folder", file=folder)
    paths: dict[str, Path] = {}
    for path in sorted(folder.rglob("*")):
        if is_picture(path) and path.is_file():
            if path.stem in paths:
                raise BadInput("two pictures of one name", file=path, got=str(paths[path.stem]))
            paths[path.stem] = path
    if not paths:
        raise BadInput("no pictures", file=folder, choices=PICTURES)
    return paths


INFOSEEK_TYPES = ("string", "numerical", "time")
_RANGE = 2


def read_infoseek(path: Path) -> list[VisualQuestion]:
    """Read a split of InfoSeek with answers; without a file of types, the type follows from the answer.

    A type that does not fit its answer is `BadInput`; see also `read_records`.
    """
    types: dict[str, str] = {}
    if (qtypes := path.with_name(f"{path.stem}_qtype{path.suffix}")).is_file():
        for field in read_records(qtypes, "data_id", "question"):
            types[field["data_id"].text()] = field["question_type"].text().lower()
            if types[field["data_id"].text()] not in INFOSEEK_TYPES:
                field["question_type"].refuse("unknown", choices=INFOSEEK_TYPES)
    questions = []
    for field in read_records(path, "data_id", "question"):
        identifier = field["data_id"].text()
        answers, limits = _infoseek_answers(field["answer_eval"])
        kind = types.get(identifier, "string" if limits is None else "numerical")
        if (kind == "numerical") != (limits is not None):
            field["answer_eval"].refuse(f"an answer that does not fit the type {kind}", expected="a range of numbers")
        text, picture = (field[name].text(empty=False) for name in ("question", "image_id"))
        split = field["data_split"].text()
        questions.append(VisualQuestion(identifier, text, picture, kind, split, answers, limits))
    return questions


def _infoseek_answers(field: Field) -> tuple[tuple[str, ...], tuple[float, float] | None]:
    """Return the valid texts, or the range of valid numbers."""
    members = [field] if isinstance(field.value, dict) else list(field.items())
    if not members:
        field.refuse("no answer")
    if not isinstance(members[0].value, dict):
        return tuple(member.text(empty=False) for member in members), None
    limits = [member.value for member in members[0]["range"].items()]
    if len(limits) != _RANGE or not set(map(type, limits)) <= {int, float}:
        members[0]["range"].refuse("not a range", expected="[lowest, highest]")
    lowest, highest = sorted(map(float, limits))  # of a negative number, InfoSeek writes the higher limit first
    return (f"{lowest:g} to {highest:g}",), (lowest, highest)


ENCYCLOPEDIC_COLUMNS = ("question", "answer", "dataset_name", "dataset_image_ids", "question_type")
ENCYCLOPEDIC_TYPES = ("templated", "automatic", "multi_answer", "2_hop")
_BETWEEN, ENCYCLOPEDIC_PARTS = "|", "&&"


def read_encyclopedic_vqa(path: Path) -> list[VisualQuestion]:
    """Read a split of Encyclopedic-VQA: one question for each of its pictures, which are named by their ids.

    A question without text, answer or picture, a picture twice, and an unknown type are `BadInput`.
    """
    questions = []
    for number, (row, cells) in enumerate(read_csv_records(path, ENCYCLOPEDIC_COLUMNS), 1):
        field = Field(cells, path, row)
        text, kind = field["question"].text(empty=False), field["question_type"].name_of(ENCYCLOPEDIC_TYPES)
        answers, pictures = (
            tuple(filter(None, map(str.strip, cells[name].split(_BETWEEN)))) for name in ("answer", "dataset_image_ids")
        )
        for name, parts in (("answer", answers), ("dataset_image_ids", pictures)):
            if not parts:
                field[name].refuse("empty", expected="a text")
        if len(set(pictures)) < len(pictures):
            field["dataset_image_ids"].refuse("picture twice", got=pictures)
        questions += [
            VisualQuestion(f"{number}:{picture}", text, picture, kind, cells["dataset_name"], answers)
            for picture in pictures
        ]
    if not questions:
        raise BadInput("no questions", file=path)
    return questions
