"""FrameNet's XML, of Berkeley's release 1.7 and of the French FrameNet (Asfalda): read as annotated texts.

A file of full text (`fulltext/*.xml`, root `fullTextAnnotation`) is one text: its sentences joined by a space, by a
line break where the paragraph changes. One of a lexical unit (`lu/*.xml`, root `lexUnit`) has sentences from anywhere
that hold the unit: a sentence is a text, its frames are those of all files that have it.

Labels count characters of their sentence, the last one included. Of an annotation set the layers Target (the trigger)
and FE (elements) are read; what GF and PT tell comes from CoNLL-U here. Core types stand in `frame/*.xml`, not in the
annotation. Counted are:

    frames_without_trigger       left out: a set with a frame and no Target label
    frames_not_annotated         left out: status UNANN, the frame is named, its elements were never looked for
    frames_given_twice           left out: the same lexical unit, frame, trigger and elements in one text
    triggers_in_several_parts    kept, the first stretch as the trigger's span, the others as its further parts
    elements_in_several_parts    kept: every stretch is an element of the same name
    elements_overlapping         kept: an element that shares characters with another of its frame
    elements_of_second_rank      kept: a second layer of elements, over the first
    elements_given_twice         left out: the same name at the same place in the same layer
    elements_not_expressed       left out: null instantiations (CNI, DNI, INI; the French UNI, ENI), no characters
    elements_of_unknown_core_type  kept, as core
    sentences_joined_words       one text of sentences that differ in `_` for a space ("en_raison_de", Asfalda)
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from trivium.core.errors import BadInput
from trivium.formats.framed_texts import AnnotatedText, FrameElement, FrameInstance, LexicalUnit, Span
from trivium.formats.framenet_sax import Annotated, AnnotationSet, FrameFile, Sentence, parse

COUNTS = (
    "frames_without_trigger",
    "frames_not_annotated",
    "frames_given_twice",
    "triggers_in_several_parts",
    "elements_in_several_parts",
    "elements_overlapping",
    "elements_of_second_rank",
    "elements_given_twice",
    "elements_not_expressed",
    "elements_of_unknown_core_type",
    "sentences_joined_words",
)
# vpp: a past participle that is a unit of its own in Asfalda.
POS = {
    "v": "verb",
    "vpp": "verb",
    "n": "noun",
    "a": "adjective",
    "adv": "adverb",
    "prep": "preposition",
} | dict.fromkeys(("art", "c", "conj", "idio", "intj", "num", "pron", "scon"), "other")


def read_core_types(folder: Path) -> dict[tuple[str, str], str]:
    """Core type by (frame, element), from FrameNet's folder `frame`.

    Raises:
        BadInput: not XML, not a frame, an unknown core type; or the folder holds no file.
    """
    types: dict[tuple[str, str], str] = {}
    for path in _files(folder):
        parse(path, FrameFile(path, types))
    return types


def read_framenet(
    source: Path, core_types: Mapping[tuple[str, str], str] | None = None
) -> tuple[list[AnnotatedText], dict[str, int]]:
    """Read a file or a folder of files, of full texts or of lexical units.

    The id of a full text is its file's name without `.xml`, that of a lexical unit's sentence is the sentence's. Full
    texts come first, in the order of their files; sentences follow in the order of their ids, their frames in that of
    the text. Frames of a full text stand in the order of their annotation sets.

    Args:
        source: `*.xml`, or a folder of them.
        core_types: from `read_core_types`; without it every element is core.

    Returns:
        The texts, and the counts above.

    Raises:
        BadInput: names file and line of: no XML, another kind of XML, a label that is not in its sentence, a lexical
            unit without a known part of speech, a sentence id of two different sentences; or there is no file or no
            sentence.
    """
    counts = Counter(dict.fromkeys(COUNTS, 0))
    texts: list[AnnotatedText] = []
    sentences: dict[str, AnnotatedText] = {}
    for path in [source] if source.is_file() else _files(source):
        handler = Annotated(path)
        parse(path, handler)
        converter = _Converter(path, core_types or {}, counts)
        if handler.unit is None:
            texts.append(converter.text(handler))
        else:
            for sentence in handler.sentences:
                _join(sentences, converter.sentence(sentence), sentence, path, counts)
    return texts + [_in_order(sentences[key], counts) for key in sorted(sentences, key=_by_number)], dict(counts)


def _by_number(identifier: str) -> tuple[int, str]:
    return (int(identifier) if identifier.isdecimal() and len(identifier) < 19 else 0, identifier)


def _join(
    known: dict[str, AnnotatedText], new: AnnotatedText, sentence: Sentence, path: Path, counts: Counter[str]
) -> None:
    """Add the frames of a sentence to those that other files have of it."""
    text, frames = new.text, new.frames
    if (old := known.get(new.id)) is not None:
        if text.replace("_", " ") != old.text.replace("_", " "):
            problem = f"another text than sentence {new.id!r} has elsewhere"
            raise BadInput(problem, file=path, row=sentence.line, field="ID", got=text, expected=repr(old.text))
        if text != old.text:  # `_` where only one has it: the words are joined
            counts["sentences_joined_words"] += 1
            text = "".join(" " if " " in pair else pair[0] for pair in zip(text, old.text, strict=True))
        frames = old.frames + frames
    known[new.id] = AnnotatedText(new.id, "", text, frames, ())


def _in_order(text: AnnotatedText, counts: Counter[str]) -> AnnotatedText:
    """The text with its frames sorted by trigger, each once."""
    frames = sorted(dict.fromkeys(text.frames), key=lambda each: (each.lexical_unit.span, each.frame))
    counts["frames_given_twice"] += len(text.frames) - len(frames)
    return AnnotatedText(text.id, text.title, text.text, tuple(frames), ())


class _Converter:
    """Joins sentences and puts their frames at the places of the text."""

    def __init__(self, path: Path, core_types: Mapping[tuple[str, str], str], counts: Counter[str]) -> None:
        self.path, self.core_types, self.counts = path, core_types, counts

    def text(self, read: Annotated) -> AnnotatedText:
        """The text of a file."""
        text, paragraph = "", None
        frames: list[FrameInstance] = []
        for sentence in read.sentences:
            if text:
                text += " " if sentence.paragraph == paragraph else "\n"
            paragraph = sentence.paragraph
            frames += self._frames(sentence, len(text))
            text += sentence.text
        if not text.strip():
            raise BadInput("no sentences", file=self.path, expected="<sentence><text>…</text></sentence>")
        unique = tuple(dict.fromkeys(frames))
        self.counts["frames_given_twice"] += len(frames) - len(unique)
        return AnnotatedText(self.path.stem, read.title, text, unique, ())

    def sentence(self, sentence: Sentence) -> AnnotatedText:
        """A sentence that is a text of its own."""
        if not sentence.text.strip():
            self._refuse("sentence without text", sentence.line, "text", sentence.text)
        return AnnotatedText(sentence.id, "", sentence.text, tuple(self._frames(sentence, 0)), ())

    def _frames(self, sentence: Sentence, offset: int) -> list[FrameInstance]:
        found = (self._frame(annotated, sentence.text, offset) for annotated in sentence.sets)
        return [frame for frame in found if frame is not None]

    def _frame(self, annotated: AnnotationSet, sentence: str, offset: int) -> FrameInstance | None:
        if annotated.status == "UNANN":
            self.counts["frames_not_annotated"] += 1
            return None
        parts = _joined(span for span, _, _ in self._stretches(annotated, "Target", sentence, offset))
        if not parts:
            self.counts["frames_without_trigger"] += 1
            return None
        trigger, *more = parts
        self.counts["triggers_in_several_parts"] += bool(more)
        stretches = self._stretches(annotated, "FE", sentence, offset)
        places = Counter((name, layer) for _, layer, name in stretches)
        self.counts["elements_in_several_parts"] += sum(count > 1 for count in places.values())
        self.counts["elements_of_second_rank"] += sum(layer > 1 for _, layer, _ in stretches)
        elements = []
        for number, (span, layer, name) in enumerate(stretches):
            others = stretches[:number] + stretches[number + 1 :]
            self.counts["elements_overlapping"] += any(span.overlaps(other) for other, _, _ in others)
            core = self.core_types.get((annotated.frame, name))
            self.counts["elements_of_unknown_core_type"] += core is None
            elements.append(FrameElement(name, span, core or "core", layer))
        unit = LexicalUnit(*self._lemma(annotated), trigger, tuple(more))
        return FrameInstance(annotated.frame, unit, tuple(elements))

    def _stretches(
        self, annotated: AnnotationSet, layer: str, sentence: str, offset: int
    ) -> list[tuple[Span, int, str]]:
        """Place in the text, rank and name of the labels of a layer, in the order of the text."""
        found: dict[tuple[Span, int, str], None] = {}
        for label in annotated.labels:
            if label.layer != layer:
                continue
            if label.span is None:
                self.counts["elements_not_expressed"] += 1
                continue
            if not label.span.start < label.span.end <= len(sentence):
                place = (label.span.start, label.span.end - 1)
                expected = f"start <= end <= {len(sentence) - 1} in the sentence"
                self._refuse(
                    f"label {label.name!r} is not in its sentence", label.line, layer, place, expected=expected
                )
            span = Span(label.span.start + offset, label.span.end + offset)
            self.counts["elements_given_twice"] += (span, label.rank, label.name) in found
            found[span, label.rank, label.name] = None
        return sorted(found)

    def _lemma(self, annotated: AnnotationSet) -> tuple[str, str]:
        """`perdre.v` is the verb perdre."""
        lemma, _, pos = annotated.lexical_unit.rpartition(".")
        if not lemma.strip() or pos not in POS:
            self._refuse("no known part of speech", annotated.line, "luName", annotated.lexical_unit, choices=POS)
        return lemma, POS[pos]

    def _refuse(self, problem: str, line: int, name: str, got: object, **details: Any) -> NoReturn:
        raise BadInput(problem, file=self.path, row=line, field=name, got=got, **details)


def _joined(spans: Iterable[Span]) -> list[Span]:
    """Sorted spans, those that overlap as one."""
    joined: list[Span] = []
    for span in spans:
        if joined and span.overlaps(joined[-1]):
            joined[-1] = Span(joined[-1].start, max(span.end, joined[-1].end))
        else:
            joined.append(span)
    return joined


def _files(folder: Path) -> list[Path]:
    files = sorted(folder.glob("*.xml"))
    if not files:
        raise BadInput("no XML files", file=folder, expected="*.xml")
    return files
