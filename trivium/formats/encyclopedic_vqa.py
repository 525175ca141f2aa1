"""Encyclopedic-VQA (Mensink et al., ICCV 2023): a CSV with a question a row, each about up to five pictures.

`question`, `answer` (valid ones between `|`, the parts of one between `&&`), `dataset_name`, `dataset_image_ids`
(between `|`) and `question_type` are read.
"""

from pathlib import Path

from trivium.errors import BadInput
from trivium.files.tables import read_csv
from trivium.formats.visual_questions import VisualQuestion

COLUMNS = ("question", "answer", "dataset_name", "dataset_image_ids", "question_type")
KINDS = ("templated", "automatic", "multi_answer", "2_hop")
BETWEEN, PARTS = "|", "&&"


def read_encyclopedic_vqa(path: Path) -> list[VisualQuestion]:
    """Read a split: one question for each of its pictures, which bear their ids as names.

    Raises:
        BadInput: a column is missing, a row has another length, no text, answer or picture, or an unknown type.
    """
    lines = read_csv(path)
    _, header = next(lines, (0, []))
    if missing := [name for name in COLUMNS if name not in header]:
        raise BadInput("columns are missing", file=path, row=1, got=missing, expected=", ".join(COLUMNS))
    questions = []
    for number, (row, values) in enumerate(lines, 1):
        if len(values) != len(header):
            raise BadInput("another number of cells than the first row has", file=path, row=row, got=len(values),
                           expected=str(len(header)))  # fmt: skip
        cells = dict(zip(header, values, strict=True))
        for name in ("question", "answer", "dataset_image_ids"):
            if not cells[name].strip():
                raise BadInput("empty", file=path, row=row, field=name, expected="a text")
        if cells["question_type"] not in KINDS:
            raise BadInput("unknown", file=path, row=row, field="question_type", got=cells["question_type"],
                           choices=KINDS)  # fmt: skip
        answers = tuple(filter(None, map(str.strip, cells["answer"].split(BETWEEN))))
        if not answers:
            raise BadInput("no answer", file=path, row=row, field="answer", got=cells["answer"])
        questions += [
            VisualQuestion(
                f"{number}:{picture}",
                cells["question"],
                picture,
                cells["question_type"],
                cells["dataset_name"],
                answers,
            )
            for picture in filter(None, map(str.strip, cells["dataset_image_ids"].split(BETWEEN)))
        ]
    if not questions:
        raise BadInput("no questions", file=path)
    return questions
