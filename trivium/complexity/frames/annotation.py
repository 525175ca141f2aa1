"""The adaptation corpus annotated by a frame parser: one row a predicted frame (complexity.md §1, §4 f0).

Each distinct context is read once, however many questions are asked about it.
"""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from pydantic import Field

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


def annotate(parser: AnyParser, questions: Sequence[SquadQuestion]) -> tuple[pa.Table, int, int]:
    """The predicted frames of the questions' contexts, in the order of the file (`SCHEMA`).

    Returns also the number of sentences, and how many of them were cut.
    """
    contexts: dict[str, list[str]] = {}
    for question in questions:
        contexts.setdefault(question.context, []).append(question.id)
    pieces: Any  # of the parser's kind
    pieces, cut = parser.prepare(list(contexts))
    rows = [
        {
            "question_id": ids[0],
            "questions": len(ids),
            "text": number,
            "frame": frame.frame,
            "lemma": frame.lexical_unit.lemma,
            "part_of_speech": frame.lexical_unit.part_of_speech,
            **vars(frame.lexical_unit.span),
            "elements": [{"name": part.name, "core": part.core, **vars(part.span)} for part in frame.elements],
        }
        for number, (ids, frames) in enumerate(
            zip(contexts.values(), parser.parse(list(contexts), pieces), strict=True)
        )
        for frame in frames
    ]
    return pa.Table.from_pylist(rows, schema=SCHEMA), len(pieces), cut
