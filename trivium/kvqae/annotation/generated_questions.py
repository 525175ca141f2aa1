"""Generated questions, between automatic construction and annotators: one JSON object a line (kvqae.md §2)."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from trivium.core.errors import BadInput
from trivium.core.tables import read_json_lines


@dataclass(frozen=True)
class GeneratedQuestion:
    """A question whose named entity was replaced by an ambiguous mention.

    Attributes:
        id: TriviaQA's id of the question it was made from, an underscore, where the mention starts.
        text: the generated question.
        original_question: TriviaQA's, which names the entity.
        names: all that the entity is called.
        ambiguous_mention: what stands for it now; `other_mentions`: those that would do as well.
        original_answer, answers: the usual form, and all valid ones.
        wikidata_id, kilt_id, title: the entity, its article in KILT and that article's title.
        human: whether the entity is a person.
        reference: the knowledge base's image of the entity.
        images: candidates, at least one: the one proposed, then the others.
    """

    id: str
    text: str
    original_question: str
    names: tuple[str, ...]
    ambiguous_mention: str
    other_mentions: tuple[str, ...]
    original_answer: str
    answers: tuple[str, ...]
    wikidata_id: str
    kilt_id: str
    title: str
    human: bool
    reference: str
    images: tuple[str, ...]

    @property
    def source(self) -> str:
        """Id of the TriviaQA question it was made from."""
        return self.id.rpartition("_")[0]


def name_pattern(names: Iterable[str]) -> re.Pattern[str]:
    """Make a pattern of any of the names (one at least) at word boundaries, regardless of case.

    Names are not normalised as answers are: "The Who" without its article would stand in every second question.
    """
    longest_first = sorted({name.strip() for name in names if name.strip()}, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)", re.IGNORECASE)


_TEXTS = ("id", "original_question", "ambiguous_mention", "wikidata_id", "kilt_id", "title", "human", "reference")
_LISTS = ("names", "other_mentions", "images")


def read_generated(path: Path) -> dict[str, GeneratedQuestion]:
    """Read generated questions by id, in the order of the file, which has one at least."""
    questions = {}
    for _, record in read_json_lines(path):
        own = {name: record[name] for name in _TEXTS} | {name: tuple(record[name]) for name in _LISTS}
        own |= {"text": record["input"], "original_answer": record["answer"]["original_answer"]}
        questions[record["id"]] = GeneratedQuestion(**own, answers=tuple(record["answer"]["answer"]))
    if not questions:
        raise BadInput("no questions", file=path, expected="one JSON object a line")
    return questions
