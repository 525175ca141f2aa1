"""Find mentions of named entities in TriviaQA's questions by spaCy (kvqae.md §2, step 1)."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields
from typing import Any

import pyarrow as pa
from pydantic import Field

from trivium.core.parameters import Parameters
from trivium.formats.triviaqa import TriviaQuestion

HOW_MANY = ("no", "one", "two", "more")
_NEEDED_PIPES = ("tok2vec", "transformer", "parser", "ner")
_POSSESSIVE = ("'s", "’s", "'", "’")
# Labels of modifiers before a noun, in spaCy and in Universal Dependencies; auxiliaries, prepositions and conjunctions
# that a parser attaches to the noun do not belong to its phrase.
_MODIFIERS = ("amod", "compound", "det", "nmod", "nummod", "poss", "predet", "quantmod")
_COORDINATION = ("cc", "conj")


@dataclass(frozen=True)
class Mention:
    """A named entity in a question, as `mentions.parquet` keeps it; offsets are characters of `text`.

    Attributes:
        question: TriviaQA's id of the question.
        text: the whole question.
        start, end: the mention, `text[start:end]`.
        label: the recogniser's label, such as PERSON.
        dependency: of the mention's syntactic root, in lower case, such as nsubj.
        subtree_start, subtree_end: the smallest span of the mention and its dependents: apposition, relative clause,
            possessive marker; before it only its noun phrase; without coordinated entities ("X, the poet, and Y").
        possessive: whether a possessive marker ('s, ’s or a bare ') follows the mention, or ends it or its span and it
            is a `poss`.
        head: the word that the mention depends on; the mention's own root if that is the root of the sentence.
    """

    question: str
    text: str
    start: int
    end: int
    label: str
    dependency: str
    subtree_start: int
    subtree_end: int
    possessive: bool
    head: str

    @property
    def key(self) -> str:
        """Id of the potential question of this mention; a question with two mentions gives two."""
        return f"{self.question}_{self.start}"

    @property
    def surface(self) -> str:
        """Text of the mention."""
        return self.text[self.start : self.end]


_ARROW = {str: pa.string(), int: pa.int32(), bool: pa.bool_()}
MENTION_SCHEMA = pa.schema([(field.name, _ARROW[field.type]) for field in fields(Mention)])  # type: ignore[index]


class MentionsParameters(Parameters):
    """Section `kvqae.mentions`."""

    dependencies: tuple[str, ...] = Field(min_length=1, description="Mentions are kept that depend so on their heads")
    dropped_labels: tuple[str, ...] = Field(description="Entities that are no subjects: dates, quantities")
    batch: int = Field(ge=1, description="Questions analysed together")


def mentions_of(
    question: str, document: Any, dependencies: Collection[str], dropped_labels: Collection[str], counts: Counter[str]
) -> list[Mention]:
    """Select the valid mentions of an analysed question: entities by label and by the root's dependency.

    Dependencies are in lower case ("root" is spaCy's ROOT); `counts` receives entities and those dropped.
    """
    mentions = []
    for entity in document.ents:
        counts["entities"] += 1
        root = entity.root
        if entity.label_ in dropped_labels:
            counts["dropped_label"] += 1
        elif root.dep_.lower() not in dependencies:
            counts["dropped_dependency"] += 1
        else:
            mentions.append(_mention(question, document, entity))
    return mentions


def _mention(question: str, document: Any, entity: Any) -> Mention:
    root = entity.root
    first = _phrase_start(document, entity)
    last = document[_phrase_end(document, entity)]
    following = document[entity.end].text if entity.end < len(document) else ""
    # The dependency alone is not enough: some parsers label the subject of "was the Petrel built" as possessive.
    marked = entity.text.endswith(_POSSESSIVE) or last.text.endswith(_POSSESSIVE)
    return Mention(
        question=question, text=document.text, start=entity.start_char, end=entity.end_char, label=entity.label_,
        dependency=root.dep_.lower(), subtree_start=document[first].idx, subtree_end=last.idx + len(last.text),
        possessive=following in _POSSESSIVE or (root.dep_ == "poss" and marked), head=root.head.text,
    )  # fmt: skip


def _phrase_start(document: Any, entity: Any) -> int:
    """Find the first token of the entity's noun phrase."""
    first: int = entity.start
    for token in reversed(document[min(entity.root.left_edge.i, first) : first]):
        part = token
        while part.head != part and not entity.start <= part.head.i < entity.end:
            part = part.head
        if part.dep_.partition(":")[0] in _MODIFIERS or token.is_left_punct:
            first = token.i
        elif part.dep_ != "punct":
            break
    return first


def _phrase_end(document: Any, entity: Any) -> int:
    """Find the last token that depends on the entity, before a coordination: "X, the poet, and Y"."""
    last: int = max(entity.root.right_edge.i, entity.end - 1)
    for token in document[entity.end : last + 1]:
        if token.dep_.partition(":")[0] in _COORDINATION and entity.start <= token.head.i < entity.end:
            last = max(token.left_edge.i, entity.end) - 1
            while last >= entity.end and document[last].text in ",;":
                last -= 1
            break
    return last


def find_mentions(
    questions: Iterable[TriviaQuestion], pipeline: Any, parameters: MentionsParameters
) -> tuple[list[Mention], dict[str, float]]:
    """Find the valid mentions of all questions, of which one may have several; returns counts, too."""
    kept, dropped = {name.lower() for name in parameters.dependencies}, set(parameters.dropped_labels)
    names = ["questions", "entities", "dropped_label", "dropped_dependency", "mentions"]
    counts = Counter(dict.fromkeys([*names, *(f"questions_with_{many}" for many in HOW_MANY)], 0))
    texts = ((question.text, question.id) for question in questions)
    idle = [name for name in pipeline.pipe_names if name not in _NEEDED_PIPES]
    valid: list[Mention] = []
    with pipeline.select_pipes(disable=idle):
        for document, question in pipeline.pipe(texts, as_tuples=True, batch_size=parameters.batch):
            mentions = mentions_of(question, document, kept, dropped, counts)
            counts["questions"] += 1
            counts["mentions"] += len(mentions)
            counts[f"questions_with_{HOW_MANY[min(len(mentions), 3)]}"] += 1
            valid += mentions
    metrics = {name: float(count) for name, count in counts.items()}
    return valid, metrics | {"mentions_a_question": counts["mentions"] / counts["questions"]}
