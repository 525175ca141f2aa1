"""Full-text annotation in FrameNet's XML (release 1.7): read as annotated texts.

A file `fulltext/*.xml` is one text: its sentences joined by a space, by a line break where the paragraph changes.
Labels count characters of their sentence, the last one included. Of an annotation set the layers Target (the trigger)
and FE (elements) are read; what GF and PT tell comes from CoNLL-U here. Core types stand in `frame/*.xml`, not in the
annotation. What our records do not hold is left out and counted:

    frames_without_trigger       a set with a frame and no Target label
    frames_not_annotated         status UNANN: the frame is named, its elements were never looked for
    triggers_in_several_parts    the first stretch is the trigger (a verb stands before its particle)
    elements_in_several_parts    every stretch stays, as an element of the same name
    elements_not_expressed       null instantiations (CNI, DNI, INI): no characters
    elements_of_second_rank      a second layer of elements, which overlaps the first
    elements_of_unknown_core_type  kept, as core
"""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from trivium.errors import BadInput
from trivium.formats.framed_texts import AnnotatedText, FrameElement, FrameInstance, LexicalUnit, Span
from trivium.formats.framenet_sax import AnnotationSet, FrameFile, FullText, parse

COUNTS = (
    "frames_without_trigger",
    "frames_not_annotated",
    "triggers_in_several_parts",
    "elements_in_several_parts",
    "elements_not_expressed",
    "elements_of_second_rank",
    "elements_of_unknown_core_type",
)
POS = {"v": "verb", "n": "noun", "a": "adjective", "adv": "adverb", "prep": "preposition"} | dict.fromkeys(
    ("art", "c", "idio", "intj", "num", "pron", "scon"), "other"
)


def read_core_types(folder: Path) -> dict[tuple[str, str], str]:
    """Core type by (frame, element), from FrameNet's folder `frame`.

    Raises:
        BadInput: not XML, not a frame, an unknown core type; or the folder holds no file.
    """
    types: dict[tuple[str, str], str] = {}
    for path in _files(folder):
        parse(path, FrameFile(path, types))
    return types


def read_full_text(
    source: Path, core_types: Mapping[tuple[str, str], str] | None = None
) -> tuple[list[AnnotatedText], dict[str, int]]:
    """Read a file or a folder of files; the id of a text is its file's name without `.xml`.

    Frames stand in the order of their annotation sets.

    Args:
        source: `*.xml`, or a folder of them.
        core_types: from `read_core_types`; without it every element is core.

    Returns:
        The texts, and the counts above.

    Raises:
        BadInput: names file and line of: no XML, another kind of XML, a label that is not in its sentence, overlapping
            elements of one frame, a lexical unit without a known part of speech; or there is no file or no sentence.
    """
    counts = Counter(dict.fromkeys(COUNTS, 0))
    texts = []
    for path in [source] if source.is_file() else _files(source):
        handler = FullText(path)
        parse(path, handler)
        texts.append(_Converter(path, core_types or {}, counts).text(handler))
    return texts, dict(counts)


class _Converter:
    """Joins sentences and puts their frames at the places of the text."""

    def __init__(self, path: Path, core_types: Mapping[tuple[str, str], str], counts: Counter[str]) -> None:
        self.path, self.core_types, self.counts = path, core_types, counts

    def text(self, read: FullText) -> AnnotatedText:
        """The text of a file."""
        text, paragraph = "", None
        frames: list[FrameInstance] = []
        for sentence in read.sentences:
            if text:
                text += " " if sentence.paragraph == paragraph else "\n"
            paragraph = sentence.paragraph
            found = (self._frame(annotated, sentence.text, len(text)) for annotated in sentence.sets)
            frames.extend(frame for frame in found if frame is not None)
            text += sentence.text
        if not text.strip():
            raise BadInput("no sentences", file=self.path, expected="<sentence><text>…</text></sentence>")
        return AnnotatedText(self.path.stem, read.title, text, tuple(frames), ())

    def _frame(self, annotated: AnnotationSet, sentence: str, offset: int) -> FrameInstance | None:
        if annotated.status == "UNANN":
            self.counts["frames_not_annotated"] += 1
            return None
        triggers = self._stretches(annotated, "Target", sentence, offset)
        if not triggers:
            self.counts["frames_without_trigger"] += 1
            return None
        self.counts["triggers_in_several_parts"] += len(triggers) > 1
        stretches = self._stretches(annotated, "FE", sentence, offset)
        names = Counter(name for _, name, _ in stretches)
        self.counts["elements_in_several_parts"] += sum(count > 1 for count in names.values())
        elements = []
        for number, (span, name, line) in enumerate(stretches):
            if number and stretches[number - 1][0].overlaps(span):
                other = stretches[number - 1][1]
                self._refuse(f"overlaps element {other!r} of the same frame", line, "FE", name)
            core = self.core_types.get((annotated.frame, name))
            self.counts["elements_of_unknown_core_type"] += core is None
            elements.append(FrameElement(name, span, core or "core"))
        lemma, pos = self._lemma(annotated)
        return FrameInstance(annotated.frame, LexicalUnit(lemma, pos, triggers[0][0]), tuple(elements))

    def _stretches(
        self, annotated: AnnotationSet, layer: str, sentence: str, offset: int
    ) -> list[tuple[Span, str, int]]:
        """Place in the text, name and line of the labels of a layer's first rank, in the order of the text."""
        found = []
        for label in annotated.labels:
            if label.layer != layer:
                continue
            if label.span is None:
                self.counts["elements_not_expressed"] += 1
                continue
            if label.rank > 1:
                self.counts["elements_of_second_rank"] += 1
                continue
            if not label.span.start < label.span.end <= len(sentence):
                place = (label.span.start, label.span.end - 1)
                expected = f"start <= end <= {len(sentence) - 1} in the sentence"
                self._refuse(
                    f"label {label.name!r} is not in its sentence", label.line, layer, place, expected=expected
                )
            span = Span(label.span.start + offset, label.span.end + offset)
            found.append((span, label.name, label.line))
        return sorted(found)

    def _lemma(self, annotated: AnnotationSet) -> tuple[str, str]:
        """`perdre.v` is the verb perdre."""
        lemma, _, pos = annotated.lexical_unit.rpartition(".")
        if not lemma or pos not in POS:
            self._refuse("no known part of speech", annotated.line, "luName", annotated.lexical_unit, choices=POS)
        return lemma, POS[pos]

    def _refuse(self, problem: str, line: int, name: str, got: object, **details: Any) -> NoReturn:
        raise BadInput(problem, file=self.path, row=line, field=name, got=got, **details)


def _files(folder: Path) -> list[Path]:
    files = sorted(folder.glob("*.xml"))
    if not files:
        raise BadInput("no XML files", file=folder, expected="*.xml")
    return files
