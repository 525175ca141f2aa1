"""Reading texts with a trained frame parser: triggers with their frames, then the elements of each.

The contexts of the adaptation corpus are read so for factor f0, which counts the rows of a frame (complexity.md §1, 4).
Each distinct context is read once, however many questions are asked about it.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from pydantic import Field
from torch import Tensor
from tqdm import tqdm

from trivium.complexity.frames.labels import UNKNOWN, form_of
from trivium.complexity.frames.parser_folder import Asked, FrameParser, collate
from trivium.complexity.frames.windows import Window, span_of, windows_of, words_of
from trivium.core.parameters import Parameters
from trivium.formats.framed_texts import FrameElement, FrameInstance, LexicalUnit, Span
from trivium.formats.squad import SquadQuestion
from trivium.measures.bio import best_bio_tags, bio_spans
from trivium.nets.device import length_sorted_batches
from trivium.nets.feeding import Feed, Leaving, Pipeline, feeders

Trigger = tuple[int, int, int]  # frame, first word, last word
_Batch = tuple[Sequence[int], dict[str, Tensor]]  # places of readings, and what the network reads of them


def _scores(
    parser: FrameParser, asked: Sequence[Asked], order: Sequence[int], batch_size: int, of: Callable[[Tensor], Tensor]
) -> Iterator[tuple[Sequence[int], NDArray[np.float32]]]:
    """Places of `asked`, a batch at a time in this order, and what `of` makes of the logits of the readings there.

    While a GPU computes one batch, whoever asked decides about the last. No process pads the next: that takes less time
    than to start one.
    """

    def make(places: Sequence[int]) -> _Batch:
        return places, collate([asked[place] for place in places], parser.tokenizer.pad_token_id)

    def launch(batch: _Batch) -> Leaving:
        with torch.inference_mode():
            return Leaving(of(parser.logits(batch[1])))

    def collect(batch: _Batch, leaving: Leaving) -> tuple[Sequence[int], NDArray[np.float32]]:
        return batch[0], leaving.arrived()[0].numpy()

    yield from Pipeline(order, batch_size, make=make, launch=launch, collect=collect)


def read_tags(
    parser: FrameParser,
    asked: Sequence[Asked],
    batch_size: int,
    restrict: Callable[[Asked, NDArray[np.float32]], None] | None = None,
) -> list[NDArray[np.int64]]:
    """The best valid tags of the words of each reading; all ask for triggers, or all for elements.

    Args:
        parser: in evaluation mode.
        asked: the readings.
        batch_size: readings at a time, of similar length.
        restrict: may set log-probabilities (words, tags) of a reading to −∞, in place.
    """
    tags: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)] * len(asked)
    batches = length_sorted_batches([len(each.window.input_ids) for each in asked], batch_size)
    order = [place for batch in batches for place in batch.tolist()]
    with tqdm(total=len(order), desc="windows", unit="window", mininterval=5, leave=False) as bar:
        for places, scores in _scores(parser, asked, order, batch_size, partial(torch.log_softmax, dim=-1)):
            if restrict is not None:
                for row, place in enumerate(places):
                    restrict(asked[place], scores[row])
            lengths = np.array([len(asked[place].window.words) for place in places])
            for place, row, length in zip(places, best_bio_tags(scores, lengths), lengths, strict=True):
                tags[place] = row[:length]
            bar.update(len(places))
    return tags


def lexicon_mask(parser: FrameParser, texts: Sequence[str]) -> Callable[[Asked, NDArray[np.float32]], None]:
    """Forbids a word that the lexicon knows every frame that none of its lexical units was seen with.

    A word of a trigger of several words may have all frames of whatever trigger it is part of.
    """
    frames = {frame: place for place, frame in enumerate(parser.labels.frames)}
    forbidden: dict[str, NDArray[np.bool_]] = {}
    for form in parser.labels.forms:
        for word in words_of(form):
            row = forbidden.setdefault(word.of(form), np.ones(2 * len(frames), dtype=bool))
            for frame in parser.labels.frames_of(form):
                row[2 * frames[frame] : 2 * frames[frame] + 2] = False

    def restrict(asked: Asked, scores: NDArray[np.float32]) -> None:
        text = texts[asked.window.text]
        for word, span in enumerate(asked.window.words):
            row = forbidden.get(form_of(span.of(text)))
            if row is not None:
                scores[word, 1:][row] = -np.inf

    return restrict


def find_triggers(
    parser: FrameParser, texts: Sequence[str], windows: Sequence[Window], batch_size: int, *, masked: bool
) -> list[list[Trigger]]:
    """The triggers in each window; `masked`: only frames that the lexicon has for a known word."""
    tags = read_tags(
        parser, [Asked(window) for window in windows], batch_size, lexicon_mask(parser, texts) if masked else None
    )
    return [bio_spans(row) for row in tags]


def frames_of_triggers(
    parser: FrameParser,
    given: Sequence[tuple[Window, int]],
    allowed: Sequence[NDArray[np.bool_] | None],
    batch_size: int,
) -> list[int]:
    """The best frame of each given trigger.

    Args:
        parser: in evaluation mode.
        given: windows, and the trigger's first word there.
        allowed: (frames,) those each may evoke; None for any.
        batch_size: readings at a time.
    """
    best: list[int] = []
    asked = [Asked(window) for window, _ in given]
    for places, logits in _scores(parser, asked, range(len(given)), batch_size, torch.nn.Identity()):
        for place, row in zip(places, logits, strict=True):
            scores = row[given[place][1], 1::2]
            if (mask := allowed[place]) is not None:
                scores = np.where(mask, scores, -np.inf)
            best.append(int(scores.argmax()))
    return best


def find_elements(
    parser: FrameParser, given: Sequence[tuple[Window, Trigger]], batch_size: int
) -> list[list[tuple[str, Span]]]:
    """The elements of given frames, as (name, characters), in the order of the text."""
    asked = [Asked(window, 1 + frame, (first, last)) for window, (frame, first, last) in given]
    names = parser.labels.names
    return [
        [(names[kind], span_of(each.window, first, last)) for kind, first, last in bio_spans(tags)]
        for each, tags in zip(asked, read_tags(parser, asked, batch_size), strict=True)
    ]


def parse(
    parser: FrameParser, texts: Sequence[str], windows: Sequence[Window], batch_size: int
) -> list[list[FrameInstance]]:
    """Frames of each text, in its order, as the parser finds them (with the lexicon's mask).

    A trigger of a form that the lexicon lacks, or that evokes another frame there, gets its form as lemma and the part
    of speech `other`.
    """
    found = find_triggers(parser, texts, windows, batch_size, masked=True)
    given = [(window, trigger) for window, triggers in zip(windows, found, strict=True) for trigger in triggers]
    frames: list[list[FrameInstance]] = [[] for _ in texts]
    for (window, (frame, first, last)), elements in zip(given, find_elements(parser, given, batch_size), strict=True):
        name = parser.labels.frames[frame]
        span = span_of(window, first, last)
        form = form_of(span.of(texts[window.text]))
        unit = parser.labels.unit_of(form, name) or (form, UNKNOWN)
        cores = parser.labels.elements[name]
        frames[window.text].append(
            FrameInstance(
                name,
                LexicalUnit(*unit, span),
                tuple(FrameElement(element, where, cores[element]) for element, where in elements),
            )
        )
    return frames


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
