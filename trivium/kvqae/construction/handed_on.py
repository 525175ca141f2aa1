"""What the stages of the data set's construction hand to each other (kvqae.md §2): mentions and Commons files."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from trivium.core.errors import BadInput
from trivium.core.tables import read_json_lines, read_table

MENTION_SCHEMA = pa.schema(
    [
        ("question", pa.string()),
        ("text", pa.string()),
        ("start", pa.int32()),
        ("end", pa.int32()),
        ("label", pa.string()),
        ("dependency", pa.string()),
        ("subtree_start", pa.int32()),
        ("subtree_end", pa.int32()),
        ("possessive", pa.bool_()),
        ("head", pa.string()),
    ]
)
_SHA1 = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True)
class Mention:
    """A named entity in a question, as `mentions.parquet` keeps it; offsets are characters of `text`.

    Attributes:
        question: TriviaQA's id of the question.
        text: the whole question.
        start, end: the mention, `text[start:end]`.
        label: the recogniser's, such as PERSON.
        dependency: of the mention's syntactic root, in lower case, such as nsubj.
        subtree_start, subtree_end: the smallest stretch that holds the mention and all that depends on it: apposition,
            relative clause, possessive marker; of what stands before it, its noun phrase alone; without further
            entities that are joined to it ("X, the poet, and Y").
        possessive: whether a possessive marker ('s, ’s or a bare ') follows the mention, or ends it or its stretch and
            it is a `poss`.
        head: the word that the mention depends on; the mention's own root when that is the sentence's.
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
        """Names the potential question that this mention gives: a question with two mentions gives two."""
        return f"{self.question}_{self.start}"

    @property
    def surface(self) -> str:
        """The mention itself."""
        return self.text[self.start : self.end]


def mention_batch(mentions: Iterable[Mention]) -> pa.RecordBatch:
    """Mentions as a batch of `MENTION_SCHEMA`."""
    rows = list(map(astuple, mentions))
    columns = zip(*rows, strict=True) if rows else ([] for _ in MENTION_SCHEMA)
    arrays = [pa.array(list(column), field.type) for column, field in zip(columns, MENTION_SCHEMA, strict=True)]
    return pa.record_batch(arrays, schema=MENTION_SCHEMA)


def read_mentions(path: Path) -> list[Mention]:
    """Read `mentions.parquet`, or any table that has its columns among others.

    Raises:
        BadInput: a column is missing, or offsets do not lie in the text.
    """
    table = read_table(path, MENTION_SCHEMA.names)
    mentions = [Mention(**record) for record in table.to_pylist()]
    for row, mention in enumerate(mentions, 1):
        places = (0, mention.subtree_start, mention.start, mention.end, mention.subtree_end, len(mention.text))
        if list(places) != sorted(places) or mention.start == mention.end:
            raise BadInput(
                "offsets outside the text", file=path, row=row, field="start, end, subtree_start, subtree_end",
                got=places[1:-1], expected=f"0 ≤ subtree_start ≤ start < end ≤ subtree_end ≤ {len(mention.text)}",
            )  # fmt: skip
    return mentions


@dataclass(frozen=True)
class CommonsFile:
    """A file of a Commons category, as a line of `commons.jsonl`.

    Attributes:
        category: the one it was found in, without "Category:".
        title: such as "File:X.jpg".
        description: plain text; may be empty.
        categories: all that it is in.
        depicts: Wikidata ids.
        license: Commons' machine-readable name such as "cc-by-sa-4.0"; empty when it states none.
        sha1: of the original file, hexadecimal.
    """

    category: str
    title: str
    description: str
    categories: tuple[str, ...]
    depicts: tuple[str, ...]
    license: str
    sha1: str

    @property
    def name(self) -> str:
        """Its name in the image shards."""
        return self.title.removeprefix("File:")


def read_commons(path: Path) -> Iterator[CommonsFile]:
    """Stream `commons.jsonl`; a file may stand there once a category.

    Raises:
        BadInput: a field is missing or of another type, a title without "File:", a sha1 that is none.
    """
    for row, record in read_json_lines(path):
        title, sha1 = _text(record, "title", path, row), _text(record, "sha1", path, row)
        if not title.startswith("File:") or title == "File:":
            raise BadInput("not a file's title", file=path, row=row, field="title", got=title)
        if not _SHA1.fullmatch(sha1):
            raise BadInput("not a sha1", file=path, row=row, field="sha1", got=sha1)
        yield CommonsFile(
            category=_text(record, "category", path, row),
            title=title,
            description=_text(record, "description", path, row),
            categories=_texts(record, "categories", path, row),
            depicts=_texts(record, "depicts", path, row),
            license=_text(record, "license", path, row),
            sha1=sha1,
        )


def _text(record: dict[str, Any], field: str, path: Path, row: int) -> str:
    value = record.get(field)
    if not isinstance(value, str):
        raise BadInput("missing or not a text", file=path, row=row, field=field, got=value)
    return value


def _texts(record: dict[str, Any], field: str, path: Path, row: int) -> tuple[str, ...]:
    value = record.get(field)
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise BadInput("missing or not a list of texts", file=path, row=row, field=field, got=value)
    return tuple(value)
