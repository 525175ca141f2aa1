"""OK-VQA (Marino et al., CVPR 2019), in VQA's format: a file of questions, and one of annotators' answers beside it.

- `OpenEnded_mscoco_val2014_questions.json`: {"questions": [{"question_id", "image_id", "question"}], "data_subtype"}
- `mscoco_val2014_annotations.json`: {"annotations": [{"question_id", "question_type", "answers": [{"answer"}]}],
  "question_types": {type: name}}

Pictures are COCO's, `COCO_val2014_000000297147.jpg`.
"""

from pathlib import Path
from typing import Any

from trivium.errors import BadInput
from trivium.files.tables import read_json
from trivium.formats.json_fields import Field
from trivium.formats.visual_questions import VisualQuestion

_PREFIX = "OpenEnded_"


def read_ok_vqa(path: Path) -> list[VisualQuestion]:
    """Read a split by its file of questions.

    Raises:
        BadInput: no such files or fields, a question twice or without annotation, or none.
    """
    annotations = path.with_name(path.name.removeprefix(_PREFIX).replace("_questions.", "_annotations."))
    if annotations == path:
        raise BadInput("no file of questions by its name", file=path, expected=f"{_PREFIX}…_questions.json")
    asked, told = (Field(read_json(file), file) for file in (path, annotations))
    subset = asked["data_subtype"].text(empty=False)
    kinds: dict[str, Any] = dict(names.value) if (names := told.get("question_types")) is not None else {}
    answered = {each["question_id"].integer(): each for each in told["annotations"].items()}
    questions: dict[int, VisualQuestion] = {}
    for each in asked["questions"].items():
        number = each["question_id"].integer()
        if number in questions:
            each["question_id"].refuse("question twice")
        if number not in answered:
            each["question_id"].refuse(f"no annotation of it in {annotations.name}")
        answers = tuple(answer["answer"].text() for answer in answered[number]["answers"].items())
        if not any(map(str.strip, answers)):
            answered[number]["answers"].refuse("no answer")
        kind = answered[number]["question_type"].text()
        picture = f"COCO_{subset}_{each['image_id'].integer():012d}"
        text = each["question"].text(empty=False)
        questions[number] = VisualQuestion(str(number), text, picture, str(kinds.get(kind, kind)), "", answers)
    if not questions:
        raise BadInput("no questions", file=path)
    return list(questions.values())
