"""Public sets of questions about pictures, and their pictures in a folder.

InfoSeek (Chen et al., EMNLP 2023), whose test split has no answers and cannot be measured here:

- `infoseek_val.jsonl`: {"data_id", "image_id", "question", "answer", "answer_eval", "data_split"}; `answer_eval` is a
  list of texts, or of a number's {"wikidata", "range": [lowest, highest]}, or this object itself
- `infoseek_val_qtype.jsonl`, where it is there: {"data_id", "question_type"}: String, Numerical or Time

Encyclopedic-VQA (Mensink et al., ICCV 2023): a CSV with a question a row, each about up to five pictures. `question`,
`answer` (valid ones between `|`, the parts of one between `&&`), `dataset_name`, `dataset_image_ids` (between `|`) and
`question_type` are read.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from trivium.core.errors import BadInput
from trivium.core.tables import read_csv_records, read_json_lines
from trivium.formats.json_fields import Field, read_records
from trivium.formats.pictures import PICTURES, is_picture


@dataclass(frozen=True)
class VisualQuestion:
    """A question about a picture.

    Attributes:
        id: unique in its set, with the picture where a question has several.
        text: what is asked.
        picture: the picture's name without its suffix.
        kind: of the question, as its set has it.
        split: a part of the set that is measured by itself; "" where there is none.
        answers: the valid ones.
        range: the numbers that are right, (lowest, highest); None where the answer is no number.
    """

    id: str
    text: str
    picture: str
    kind: str
    split: str
    answers: tuple[str, ...]
    range: tuple[float, float] | None = None


def pictures_by_name(folder: Path) -> Mapping[str, Path]:
    """Find the pictures of a folder, at any depth, by their names without suffix.

    Raises:
        BadInput: no such folder, no picture in it, or two of one name.
    """
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
    """Read a split of InfoSeek with answers; without a file of types, a type follows from the answer.

    Raises:
        BadInput: a field is missing or of another type, a type that does not fit its answer, a question twice, or none.
    """
    types = _infoseek_types(path.with_name(f"{path.stem}_qtype{path.suffix}"))
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


def _infoseek_types(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    types = {}
    for row, record in read_json_lines(path):
        field = Field(record, path, row)
        if (kind := field["question_type"].text().lower()) not in INFOSEEK_TYPES:
            field["question_type"].refuse("unknown", choices=INFOSEEK_TYPES)
        types[field["data_id"].text(empty=False)] = kind
    return types


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
    lowest, highest = sorted(map(float, limits))  # a tenth below and above a negative number stand the other way round
    return (f"{lowest:g} to {highest:g}",), (lowest, highest)


ENCYCLOPEDIC_COLUMNS = ("question", "answer", "dataset_name", "dataset_image_ids", "question_type")
ENCYCLOPEDIC_TYPES = ("templated", "automatic", "multi_answer", "2_hop")
_BETWEEN, ENCYCLOPEDIC_PARTS = "|", "&&"


def read_encyclopedic_vqa(path: Path) -> list[VisualQuestion]:
    """Read a split of Encyclopedic-VQA: one question for each of its pictures, which bear their ids as names.

    Raises:
        BadInput: see `read_csv_records`; no text, answer or picture, a picture twice, an unknown type, or no question.
    """
    questions = []
    for number, (row, cells) in enumerate(read_csv_records(path, ENCYCLOPEDIC_COLUMNS), 1):
        split = {name: map(str.strip, cells[name].split(_BETWEEN)) for name in ("answer", "dataset_image_ids")}
        parts = {name: tuple(filter(None, texts)) for name, texts in split.items()}
        for name, value in (parts | {"question": cells["question"].strip()}).items():
            if not value:
                raise BadInput("empty", file=path, row=row, field=name, got=cells[name], expected="a text")
        if cells["question_type"] not in ENCYCLOPEDIC_TYPES:
            raise BadInput("unknown", file=path, row=row, field="question_type", got=cells["question_type"],
                           choices=ENCYCLOPEDIC_TYPES)  # fmt: skip
        pictures = parts["dataset_image_ids"]
        if len(set(pictures)) < len(pictures):
            raise BadInput("picture twice", file=path, row=row, field="dataset_image_ids", got=pictures)
        questions += [
            VisualQuestion(
                f"{number}:{picture}",
                cells["question"],
                picture,
                cells["question_type"],
                cells["dataset_name"],
                parts["answer"],
            )
            for picture in pictures
        ]
    if not questions:
        raise BadInput("no questions", file=path)
    return questions
