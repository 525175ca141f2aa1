"""The adaptation corpus annotated by a frame parser: one row a predicted frame (complexity.md §1, §4 f0).

Each distinct context is read once, however many questions are asked about it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from pydantic import Field

from trivium.complexity.frames.labels import UNKNOWN
from trivium.complexity.frames.parser_folder import AnyParser
from trivium.core.parameters import Parameters
from trivium.formats.framed_texts import FrameInstance
from trivium.formats.squad import SquadQuestion
from trivium.nets.feeding import Feed, feeders

ELEMENT = pa.struct([("name", pa.string()), ("core", pa.string()), ("start", pa.int32()), ("end", pa.int32())])
# One row a predicted frame. `question_id` is the first question asked about the context, `questions` how many are;
# `text` numbers the distinct contexts in the order of the file; `start` and `end` are the trigger's characters.
SCHEMA = pa.schema(
    [
        ("question_id", pa.string()),
        ("questions", pa.int32()),
        ("text", pa.int32()),
        ("frame", pa.string()),
        ("lemma", pa.string()),
        ("part_of_speech", pa.string()),
        ("start", pa.int32()),
        ("end", pa.int32()),
        ("elements", pa.list_(ELEMENT)),
    ]
)


class AnnotateParameters(Parameters):
    """Section `complexity.annotate`."""

    batch: int = Field(default=128, ge=1, description="Sentences read at a time")
    chunk: int = Field(default=2000, ge=1, description="Contexts held at a time: their sentences are sorted by length")


def distinct_contexts(questions: Sequence[SquadQuestion]) -> dict[str, list[str]]:
    """Each context with the ids of its questions, in the order of the file."""
    contexts: dict[str, list[str]] = {}
    for question in questions:
        contexts.setdefault(question.context, []).append(question.id)
    return contexts


def annotate(
    parser: AnyParser, contexts: dict[str, list[str]], chunk_size: int, counts: Counter[str]
) -> Iterator[pa.RecordBatch]:
    """Stream the rows of all contexts; `counts` is filled on the way.

    Where a GPU parses, processes split and tokenise the next contexts meanwhile.

    Counts: `frame <name>`, `contexts_without_frame`, `unknown_lexical_units`, `elements`, `sentences`, `sentences_cut`.
    """
    texts = list(contexts)
    starts = range(0, len(texts), chunk_size)
    chunks = [texts[first : first + chunk_size] for first in starts]

    def make(number: int) -> tuple[Any, int]:
        return parser.prepare(chunks[number])

    feed = Feed(make, len(chunks), workers := feeders(), ahead=1)
    for first, chunk, (pieces, cut) in zip(starts, chunks, feed, strict=True):
        found = parser.parse(chunk, pieces)
        counts["sentences"] += len(pieces)
        counts["sentences_cut"] += cut
        for frames in found:
            counts["contexts_without_frame"] += not frames
            for frame in frames:
                counts[f"frame {frame.frame}"] += 1
                counts["unknown_lexical_units"] += frame.lexical_unit.part_of_speech == UNKNOWN
                counts["elements"] += len(frame.elements)
        rows = [
            {"question_id": contexts[text][0], "questions": len(contexts[text]), "text": number, **_row(frame)}
            for number, (text, frames) in enumerate(zip(chunk, found, strict=True), first)
            for frame in frames
        ]
        yield pa.RecordBatch.from_pylist(rows, schema=SCHEMA)
    if workers:
        print(f"contexts: waited {feed.waited:.1f} of {feed.taken:.1f} s for windows")


def _row(frame: FrameInstance) -> dict[str, object]:
    unit = frame.lexical_unit
    elements = [
        {"name": element.name, "core": element.core, "start": element.span.start, "end": element.span.end}
        for element in frame.elements
    ]
    return {"frame": frame.frame, "lemma": unit.lemma, "part_of_speech": unit.part_of_speech, "start": unit.span.start,
            "end": unit.span.end, "elements": elements}  # fmt: skip
