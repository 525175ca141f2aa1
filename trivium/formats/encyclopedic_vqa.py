"""Encyclopedic-VQA (Mensink et al., ICCV 2023): a CSV with a question a row, each about up to five pictures.

`question`, `answer` (valid ones between `|`, the parts of one between `&&`), `dataset_name`, `dataset_image_ids`
(between `|`) and `question_type` are read.
"""

from pathlib import Path

from trivium.core.errors import BadInput
from trivium.core.tables import read_csv_records
from trivium.formats.visual_questions import VisualQuestion

COLUMNS = ("question", "answer", "dataset_name", "dataset_image_ids", "question_type")
KINDS = ("templated", "automatic", "multi_answer", "2_hop")
BETWEEN, PARTS = "|", "&&"


def read_encyclopedic_vqa(path: Path) -> list[VisualQuestion]:
    """Read a split: one question for each of its pictures, which bear their ids as names.

    Raises:
        BadInput: see `read_csv_records`; no text, answer or picture, a picture twice, an unknown type, or no question.
    """
    questions = []
    for number, (row, cells) in enumerate(read_csv_records(path, COLUMNS), 1):
        parts = {name: _parts(cells[name]) for name in ("answer", "dataset_image_ids")}
        for name, found in (parts | {"question": cells["question"].strip()}).items():
            if not found:
                raise BadInput("empty", file=path, row=row, field=name, got=cells[name], expected="a text")
        if cells["question_type"] not in KINDS:
            raise BadInput("unknown", file=path, row=row, field="question_type", got=cells["question_type"],
                           choices=KINDS)  # fmt: skip
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


def _parts(cell: str) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, cell.split(BETWEEN))))
