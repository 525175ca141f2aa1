"""The adaptation corpus annotated by a frame parser: one row a predicted frame (complexity.md §1, §4 f0).

Each distinct context is read once, however many questions are asked about it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from pydantic import Field

from trivium.complexity.frames.labels import UNKNOWN
from trivium.complexity.frames.parser_folder import AnyParser
from trivium.core.parameters import Parameters
from trivium.formats.squad import SquadQuestion

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


def distinct_contexts(questions: Sequence[SquadQuestion]) -> dict[str, list[str]]:
    """Each context with the ids of its questions, in the order of the file."""
    contexts: dict[str, list[str]] = {}
    for question in questions:
        contexts.setdefault(question.context, []).append(question.id)
    return contexts


def annotate(parser: AnyParser, contexts: Mapping[str, Sequence[str]]) -> tuple[pa.Table, Counter[str]]:
    """The predicted frames of all contexts (`SCHEMA`), and counts.

    Counts: `frame <name>`, `contexts_without_frame`, `unknown_lexical_units`, `elements`, `sentences`, `sentences_cut`.
    """
    pieces: Any  # of the parser's kind
    pieces, cut = parser.prepare(list(contexts))
    counts = Counter(sentences=len(pieces), sentences_cut=cut)
    rows = []
    for number, (text, frames) in enumerate(zip(contexts, parser.parse(list(contexts), pieces), strict=True)):
        counts["contexts_without_frame"] += not frames
        for frame in frames:
            counts[f"frame {frame.frame}"] += 1
            counts["unknown_lexical_units"] += frame.lexical_unit.part_of_speech == UNKNOWN
            counts["elements"] += len(frame.elements)
            unit = frame.lexical_unit
            elements = [{"name": element.name, "core": element.core, "start": element.span.start,
                         "end": element.span.end} for element in frame.elements]  # fmt: skip
            rows.append(
                (contexts[text][0], len(contexts[text]), number, frame.frame, unit.lemma, unit.part_of_speech,
                 unit.span.start, unit.span.end, elements)
            )  # fmt: skip
    return pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in rows], schema=SCHEMA), counts
