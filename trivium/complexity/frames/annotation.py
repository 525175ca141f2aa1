"""Annotate the contexts of the adaptation corpus with frames, for factor f0 (complexity.md §1, 4).

Each distinct context is read once, however many questions are asked about it. Factor f0 counts the rows of a frame.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

import pyarrow as pa
from pydantic import Field

from trivium.complexity.frames.labels import UNKNOWN
from trivium.complexity.frames.parser_folder import FrameParser
from trivium.complexity.frames.parsing import parse
from trivium.complexity.frames.windows import Window, windows_of
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


def rows_of(first: int, asked: Sequence[list[str]], found: Sequence[Sequence[FrameInstance]]) -> pa.RecordBatch:
    """Rows of successive contexts, numbered from `first`."""
    rows = [
        {
            "question_id": ids[0],
            "questions": len(ids),
            "text": first + place,
            "frame": each.frame,
            "lemma": each.lexical_unit.lemma,
            "part_of_speech": each.lexical_unit.part_of_speech,
            "start": each.lexical_unit.span.start,
            "end": each.lexical_unit.span.end,
            "elements": [
                {"name": element.name, "core": element.core, "start": element.span.start, "end": element.span.end}
                for element in each.elements
            ],
        }
        for place, (ids, frames) in enumerate(zip(asked, found, strict=True))
        for each in frames
    ]
    return pa.RecordBatch.from_pylist(rows, schema=SCHEMA)


def annotate(
    parser: FrameParser, contexts: dict[str, list[str]], parameters: AnnotateParameters, counts: Counter[str]
) -> Iterator[pa.RecordBatch]:
    """Stream the rows of all contexts; `counts` is filled on the way.

    Where a GPU parses, processes split and tokenise the next contexts meanwhile.

    Counts: `frame <name>`, `contexts_without_frame`, `unknown_lexical_units`, `elements`, `sentences`, `sentences_cut`.
    """
    texts = list(contexts)
    starts = range(0, len(texts), parameters.chunk)
    chunks = [texts[first : first + parameters.chunk] for first in starts]

    def make(number: int) -> tuple[list[Window], int]:
        return windows_of(chunks[number], parser.tokenizer, parser.max_tokens)

    feed = Feed(make, len(chunks), workers := feeders(), ahead=1)
    for first, chunk, (windows, cut) in zip(starts, chunks, feed, strict=True):
        found = parse(parser, chunk, windows, parameters.batch)
        counts["sentences"] += len(windows)
        counts["sentences_cut"] += cut
        for frames in found:
            counts["contexts_without_frame"] += not frames
            for each in frames:
                counts[f"frame {each.frame}"] += 1
                counts["unknown_lexical_units"] += each.lexical_unit.part_of_speech == UNKNOWN
                counts["elements"] += len(each.elements)
        yield rows_of(first, [contexts[text] for text in chunk], found)
    if workers:
        print(f"contexts: waited {feed.waited:.1f} of {feed.taken:.1f} s for windows")
