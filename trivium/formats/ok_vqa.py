"""OK-VQA (Marino et al., CVPR 2019), in VQA's format: a file of questions, and one of annotators' answers beside it.

- `OpenEnded_mscoco_val2014_questions.json`: {"questions": [{"question_id", "image_id", "question"}], "data_subtype"}
- `mscoco_val2014_annotations.json`: {"annotations": [{"question_id", "question_type", "answers": [{"answer"}]}],
  "question_types": {type: name}}

Pictures are COCO's, `COCO_val2014_000000297147.jpg`.
"""

from pathlib import Path

from trivium.core.errors import BadInput
from trivium.core.tables import read_json
from trivium.formats.json_fields import Field
from trivium.formats.visual_questions import VisualQuestion

_PREFIX = "OpenEnded_"


def read_ok_vqa(path: Path) -> list[VisualQuestion]:
    """Read a split by its file of questions.

    Raises:
        BadInput: no such files or fields, a question or annotation twice, a question without annotation, or none.
    """
    annotations = path.with_name(path.name.removeprefix(_PREFIX).replace("_questions.", "_annotations."))
    if annotations == path:
        raise BadInput("no file of questions by its name", file=path, expected=f"{_PREFIX}…_questions.json")
    asked, told = (Field(read_json(file), file) for file in (path, annotations))
    subset = asked["data_subtype"].text(empty=False)
    kinds, answered = told.get("question_types"), _by_question(told["annotations"])
    questions = []
    for number, each in _by_question(asked["questions"]).items():
        if number not in answered:
            each["question_id"].refuse(f"no annotation of it in {annotations.name}")
        answers = tuple(answer["answer"].text() for answer in answered[number]["answers"].items())
        if not any(map(str.strip, answers)):
            answered[number]["answers"].refuse("no answer")
        kind = answered[number]["question_type"].text()
        name = None if kinds is None else kinds.get(kind)
        picture = f"COCO_{subset}_{each['image_id'].integer():012d}"
        text = each["question"].text(empty=False)
        shown = kind if name is None else name.text()
        questions.append(VisualQuestion(str(number), text, picture, shown, "", answers))
    if not questions:
        raise BadInput("no questions", file=path)
    return questions


def _by_question(members: Field) -> dict[int, Field]:
    found: dict[int, Field] = {}
    for each in members.items():
        number = each["question_id"].integer()
        if number in found:
            each["question_id"].refuse("question twice")
        found[number] = each
    return found
