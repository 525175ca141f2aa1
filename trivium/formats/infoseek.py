"""InfoSeek (Chen et al., EMNLP 2023): JSON lines of questions about entities, and beside them their types.

- `infoseek_val.jsonl`: {"data_id", "image_id", "question", "answer", "answer_eval", "data_split"}; `answer_eval` is a
  list of texts, or of a number's {"wikidata", "range": [lowest, highest]}, or this object itself
- `infoseek_val_qtype.jsonl`, where it is there: {"data_id", "question_type"}: String, Numerical or Time

The test split has no answers: it cannot be measured here.
"""

from pathlib import Path

from trivium.core.errors import BadInput
from trivium.core.tables import read_json_lines
from trivium.formats.json_fields import Field
from trivium.formats.visual_questions import VisualQuestion

KINDS = ("string", "numerical", "time")
_RANGE = 2


def read_infoseek(path: Path) -> list[VisualQuestion]:
    """Read a split with answers; types that no file tells are those of the answers, a time counts as a text then.

    Raises:
        BadInput: a field is missing or of another type, a type that does not fit its answer, a question twice, or none.
    """
    types = _types(path.with_name(f"{path.stem}_qtype{path.suffix}"))
    questions: dict[str, VisualQuestion] = {}
    for row, record in read_json_lines(path):
        asked = Field(record, path, row)
        identifier = asked["data_id"].text(empty=False)
        if identifier in questions:
            asked["data_id"].refuse("question twice")
        answers, limits = _answers(asked["answer_eval"])
        kind = types.get(identifier, "string" if limits is None else "numerical")
        if (kind == "numerical") != (limits is not None):
            asked["answer_eval"].refuse(f"an answer that does not fit the type {kind}", expected="a range of numbers")
        questions[identifier] = VisualQuestion(
            identifier,
            asked["question"].text(empty=False),
            asked["image_id"].text(empty=False),
            kind,
            asked["data_split"].text(),
            answers,
            limits,
        )
    if not questions:
        raise BadInput("no questions", file=path, expected="one JSON object a line")
    return list(questions.values())


def _types(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    found = {}
    for row, record in read_json_lines(path):
        told = Field(record, path, row)
        kind = told["question_type"].text().lower()
        if kind not in KINDS:
            told["question_type"].refuse("unknown", choices=KINDS)
        found[told["data_id"].text(empty=False)] = kind
    return found


def _answers(field: Field) -> tuple[tuple[str, ...], tuple[float, float] | None]:
    """Texts, or the numbers that are right."""
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
