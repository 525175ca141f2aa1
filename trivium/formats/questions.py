"""Questions of ViQuAE and TriviaQA: one JSON object a line, in KILT's format."""

from dataclasses import dataclass
from pathlib import Path

from trivium.formats.json_fields import Field, read_records

SPLITS = ("train", "validation", "test")


@dataclass(frozen=True)
class Question:
    """A question and its answers.

    Attributes:
        id: unique in its file, without white space (it is written into TREC files).
        text: the question; in ViQuAE only the image tells which entity it is about.
        answers: valid answers, the original one first, then its aliases; none twice.
        original_answer: the answer as first written.
        image: name of the question's image; None for TriviaQA.
        wikidata_id: the entity shown, such as `Q12`, whose article answers the question; None for TriviaQA. (ViQuAE's
            `kilt_id` names the TriviaQA question in KILT, not an article.)
        original_question: the TriviaQA question from which it was made; None for TriviaQA.
    """

    id: str
    text: str
    answers: tuple[str, ...]
    original_answer: str
    image: str | None = None
    wikidata_id: str | None = None
    original_question: str | None = None


def read_questions(path: Path) -> list[Question]:
    """Read a split of ViQuAE or TriviaQA.

    Raises:
        BadInput: a field is missing or of the wrong type, an id holds white space or stands twice, a question has no
            answer, or the file has no question.
    """
    return [_question(field) for field in read_records(path, "id", "question")]


def _question(field: Field) -> Question:
    identifier, output = field["id"].text(empty=False), field["output"]
    if identifier.split() != [identifier]:
        field["id"].refuse("white space in the id")
    original = output["original_answer"].text(empty=False)
    more = {
        name: None if (part := field.get(name)) is None else part.text(empty=False)
        for name in ("image", "wikidata_id", "original_question")
    }
    answers = dict.fromkeys([original, *filter(str.strip, output["answer"].texts())])
    return Question(identifier, field["input"].text(empty=False), tuple(answers), original, **more)
