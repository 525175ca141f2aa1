"""Questions of ViQuAE and TriviaQA: one JSON object a line, in KILT's format."""

from dataclasses import dataclass
from pathlib import Path

from trivium.formats.json_fields import Field, read_records

SPLITS = ("train", "validation", "test")


@dataclass(frozen=True)
class Question:
    """A question and its answers; image, entity and original question are ViQuAE's, and None for TriviaQA.

    In ViQuAE only the image tells which entity the question is about, and `kilt_id`, which is not read, names the
    TriviaQA question in KILT, not an article.
    """

    id: str  # unique in its file, without white space (it is written into TREC files)
    text: str
    answers: tuple[str, ...]  # valid ones, the original first, then its aliases; none twice
    original_answer: str
    image: str | None = None  # its name
    wikidata_id: str | None = None  # the entity shown, such as `Q12`, whose article answers the question
    original_question: str | None = None  # of TriviaQA, from which it was made


def read_questions(path: Path) -> list[Question]:
    """Read a split of ViQuAE or TriviaQA; an id that holds white space, too, is `BadInput` (see `read_records`)."""
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
