"""The noun phrases of every caption and the classes they name (decorrelation.md §2, 3).

Where a data set has annotated phrases (Flickr30k Entities) these are taken; elsewhere a chunker finds them and word
lists say which classes they name. How well names agree with annotated objects, and chunks with annotated phrases, is
counted.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pyarrow as pa

from trivium.core.tables import in_groups, write_csv
from trivium.formats.pictures import Caption, Corpus, Phrase
from trivium.language.english.chunker import ChunkerName, load_chunker
from trivium.language.english.sentences import Matcher, Sentence, looks_english, read_sentence
from trivium.language.english.word_lists import Mode

PHRASE = pa.struct([("start", pa.int32()), ("end", pa.int32()), ("classes", pa.list_(pa.string()))])


SCHEMA = pa.schema(
    [
        ("caption", pa.int64()),
        ("picture", pa.int64()),
        ("split", pa.string()),
        ("text", pa.string()),
        ("phrases", pa.list_(PHRASE)),
        ("classes", pa.list_(pa.string())),
    ]
)


@dataclass(frozen=True)
class Settings:
    """Settings with which a worker reads captions: the classes, how they are matched, and the chunker."""

    classes: tuple[str, ...]
    matching: Mode
    chunker: ChunkerName
    spacy_model: str


@dataclass(frozen=True)
class Row:
    """One caption with its picture."""

    caption: Caption
    picture: int
    split: str
    present: tuple[str, ...]


_matcher = cache(Matcher)  # compiled once a process


def read_phrases(settings: Settings, sentences: Sequence[Sentence]) -> list[tuple[Phrase, ...]]:
    """The phrases that the chunker finds in sentences, with the classes that the word lists give them."""
    ranges = load_chunker(settings.chunker, settings.spacy_model)(sentences)
    matcher = _matcher(settings.classes, settings.matching)
    return [
        tuple(
            Phrase(*sentence.characters(*chunk), names)
            for chunk, names in zip(chunks, matcher.match(sentence, chunks), strict=True)
        )
        for sentence, chunks in zip(sentences, ranges, strict=True)
    ]


def read_shard(settings: Settings, rows: Sequence[Row]) -> tuple[pa.RecordBatch, Counter[str]]:
    """The rows of one shard, and what was counted in it."""
    counts: Counter[str] = Counter()
    sentences = [read_sentence(row.caption.text) for row in rows]
    unmarked = [sentence for sentence, row in zip(sentences, rows, strict=True) if not row.caption.phrases]
    chunked = iter(read_phrases(settings, unmarked))
    if marked := [pair for pair in zip(sentences, rows, strict=True) if pair[1].caption.phrases]:
        _count_agreement(settings, marked, counts)
    written = []
    for row, sentence in zip(rows, sentences, strict=True):
        phrases = _of_classes(row.caption, settings.classes) if row.caption.phrases else next(chunked)
        names = sorted({name for phrase in phrases for name in phrase.classes})
        _count(row, sentence, phrases, names, counts)
        written.append(
            {
                "caption": row.caption.id,
                "picture": row.picture,
                "split": row.split,
                "text": row.caption.text,
                "phrases": [{"start": p.start, "end": p.end, "classes": list(p.classes)} for p in phrases],
                "classes": names,
            }
        )
    return pa.RecordBatch.from_pylist(written, schema=SCHEMA), counts


def _of_classes(caption: Caption, classes: Sequence[str]) -> tuple[Phrase, ...]:
    return tuple(
        Phrase(phrase.start, phrase.end, tuple(name for name in phrase.classes if name in classes))
        for phrase in sorted(caption.phrases, key=lambda phrase: phrase.start)
    )


def _count(row: Row, sentence: Sentence, phrases: Sequence[Phrase], names: Sequence[str], counts: Counter[str]) -> None:
    counts["captions"] += 1
    counts["phrases"] += len(phrases)
    counts["captions_empty"] += not sentence.words
    counts["captions_without_phrase"] += not phrases
    counts["captions_without_class"] += not names
    counts["captions_not_ascii"] += not sentence.text.isascii()
    counts["captions_not_english"] += bool(sentence.words) and not looks_english(sentence.text)
    counts["captions_annotated"] += bool(row.caption.phrases)
    for name in names:
        counts[f"named {name}"] += 1
        counts[f"agreed {name}"] += name in row.present
    for name in row.present:
        counts[f"present {name}"] += 1


def _count_agreement(settings: Settings, marked: Sequence[tuple[Sentence, Row]], counts: Counter[str]) -> None:
    """Count the chunker's phrases that are annotated ones, character for character."""
    ranges = load_chunker(settings.chunker, settings.spacy_model)([sentence for sentence, _ in marked])
    for (sentence, row), chunks in zip(marked, ranges, strict=True):
        annotated = {sentence.words_in(phrase.start, phrase.end) for phrase in row.caption.phrases}
        counts["chunks"] += len(chunks)
        counts["annotated_phrases"] += len(annotated)
        counts["chunks_annotated"] += len(annotated.intersection(chunks))


def shards(corpus: Corpus, size: int) -> Iterator[list[Row]]:
    """All captions, `size` at a time, in the order of the corpus."""
    rows = (
        Row(caption, picture.id, picture.split, picture.classes)
        for picture in corpus.pictures
        for caption in picture.captions
    )
    return in_groups(rows, size)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _totals(counts: Counter[str], classes: Sequence[str]) -> list[int]:
    """Captions that name one of the classes, those of pictures that hold it, and those of both, summed up."""
    return [sum(counts[f"{kind} {name}"] for name in classes) for kind in ("named", "present", "agreed")]


def metrics_of(counts: Counter[str], classes: Sequence[str]) -> dict[str, float]:
    """Counts as metrics, with precision and recall of named classes against annotated objects, over all classes."""
    plain = ("captions", "phrases", "captions_empty", "captions_without_phrase", "captions_without_class",
             "captions_not_ascii", "captions_not_english", "captions_annotated")  # fmt: skip
    metrics = {name: float(counts[name]) for name in plain}
    named, present, agreed = _totals(counts, classes)
    metrics |= {"named_precision": _ratio(agreed, named), "named_recall": _ratio(agreed, present)}
    metrics["classes_never_named"] = float(sum(not counts[f"named {name}"] for name in classes))
    if counts["annotated_phrases"]:
        precision = _ratio(counts["chunks_annotated"], counts["chunks"])
        recall = _ratio(counts["chunks_annotated"], counts["annotated_phrases"])
        f1 = _ratio(2 * precision * recall, precision + recall)
        metrics |= {"chunker_precision": precision, "chunker_recall": recall, "chunker_f1": f1}
    return metrics


def write_classes(path: Path, counts: Counter[str], classes: Sequence[str]) -> None:
    """One row a class: captions that name it, captions of pictures that hold it, both, precision and recall."""
    rows = []
    for name in classes:
        named, present, agreed = _totals(counts, [name])
        rows.append([name, named, present, agreed, f"{_ratio(agreed, named):.4f}", f"{_ratio(agreed, present):.4f}"])
    write_csv(path, ["class", "captions_naming", "captions_of_pictures_with", "both", "precision", "recall"], rows)
