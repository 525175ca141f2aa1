"""FrameNet's XML, of Berkeley's release 1.7 and of the French FrameNet (Asfalda): read as annotated texts.

A file of a full text (`fulltext/*.xml`, root `fullTextAnnotation`) is one text: its sentences joined by a space, or by
a line break where the paragraph changes. A file of a lexical unit (`lu/*.xml`, root `lexUnit`) holds sentences of any
origin with this unit: each sentence is a text, and its frames are those of all files that have it.

Labels count the characters of their sentence, and their last character is included. Of an annotation set, the layers
Target (the trigger) and FE (elements) are read; CoNLL-U files give the syntax, which the layers GF and PT describe.
Core types stand in `frame/*.xml`, not in the annotation. Irregularities are counted (`COUNTS`). XML entities are
refused, and the prefixes of XML names are removed.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn
from xml.etree.ElementTree import Element
from xml.sax import SAXParseException
from xml.sax.handler import ContentHandler

import defusedxml.sax
from defusedxml.common import DefusedXmlException

from trivium.core.errors import BadInput
from trivium.core.reading import open_text, whole_number
from trivium.formats.framed_texts import AnnotatedText, FrameElement, FrameInstance, LexicalUnit, Span

COUNTS = (
    "frames_without_trigger",  # left out: an annotation set with a frame and no Target label
    "frames_not_annotated",  # left out: status UNANN; the frame is named, but nobody annotated its elements
    "frames_given_twice",  # left out: the same lexical unit, frame, trigger and elements in one text
    "triggers_in_several_parts",  # kept: the first part is the trigger's span, the others are its further parts
    "elements_in_several_parts",  # kept: each part is an element of the same name
    "elements_overlapping",  # kept: an element that shares characters with another of its frame
    "elements_of_second_rank",  # kept: a second layer of elements, over the first
    "elements_given_twice",  # left out: the same name at the same place in the same layer
    "elements_not_expressed",  # left out: null instantiations (CNI, DNI, INI; in French UNI, ENI) have no characters
    "elements_of_unknown_core_type",  # kept, as core
    "sentences_joined_words",  # kept once, with spaces: sentences that differ in `_` for a space ("en_raison_de")
)
CORE = {"Core": "core", "Core-Unexpressed": "core", "Peripheral": "peripheral", "Extra-Thematic": "extra-thematic"}
# In Asfalda a past participle that is a lexical unit of its own has the part of speech vpp.
POS = {"v": "verb", "vpp": "verb", "n": "noun", "a": "adjective", "adv": "adverb", "prep": "preposition"}
POS |= dict.fromkeys(("art", "c", "conj", "idio", "intj", "num", "pron", "scon"), "other")


class Node(Element):
    """An XML element with its place; `text` is its own text, without that of its children."""

    def __init__(self, name: str, attributes: dict[str, str], path: Path, line: int) -> None:
        super().__init__(name, attributes)
        self.path, self.line, self.text = path, line, ""

    def walk(self, name: str) -> Iterator["Node"]:
        """Yield the elements of this name, at any depth, in the order of the file."""
        return self.iter(name)  # type: ignore[return-value]

    def attribute(self, name: str) -> str:
        """Return an attribute; `BadInput` if it is missing or blank."""
        value: str = self.get(name, "")
        if not value.strip():
            raise BadInput("missing attribute", file=self.path, row=self.line, field=name, choices=self.attrib)
        return value

    def number(self, name: str, least: int = 0) -> int:
        """Return an attribute that must be a whole number from `least` on."""
        value = self.attribute(name)
        try:
            number = whole_number(value)
        except ValueError:
            number = -1
        if number < least:
            self.refuse("not a whole number", name, value, expected=f"a whole number from {least} of at most 64 bits")
        return number

    def refuse(self, problem: str, name: str, got: object, **details: Any) -> NoReturn:
        """Raise `BadInput` with this element's place."""
        raise BadInput(problem, file=self.path, row=self.line, field=name, got=got, **details)


class _Builder(ContentHandler):
    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path, self.open = path, list[Node]()

    def startElement(self, name: str, attrs: Any) -> None:  # noqa: N802 - the interface's name
        locator: Any = self._locator  # type: ignore[attr-defined]
        node = Node(name.rpartition(":")[2], dict(attrs), self.path, int(locator.getLineNumber()))
        if self.open:
            self.open[-1].append(node)
        else:
            self.root = node
        self.open.append(node)

    def endElement(self, name: str) -> None:  # noqa: N802 - the interface's name
        self.open.pop()

    def characters(self, content: str) -> None:
        self.open[-1].text = f"{self.open[-1].text}{content}"


def read_tree(path: Path, *roots: str) -> Node:
    """Read a file of XML without entities or references and return its root, which must have one of these names."""
    builder = _Builder(path)
    try:
        with open_text(path) as stream:
            defusedxml.sax.parse(stream, builder)
    except SAXParseException as error:
        raise BadInput(f"not XML: {error.getMessage()}", file=path, row=error.getLineNumber()) from None
    except DefusedXmlException as error:
        raise BadInput(f"XML with entities or references to other files is refused: {error}", file=path) from None
    except BadInput:
        raise
    except (LookupError, ValueError) as error:  # the file states an unknown encoding
        raise BadInput(f"not XML: {error}", file=path, row=1) from None
    root = builder.root
    if root.tag not in roots:
        expected = " or ".join(f"<{name}>" for name in roots)
        raise BadInput("another kind of XML", file=path, row=root.line, got=root.tag, expected=expected)
    return root


def read_core_types(folder: Path) -> dict[tuple[str, str], str]:
    """Read core types by (frame, element) from FrameNet's folder `frame`."""
    types: dict[tuple[str, str], str] = {}
    for path in _files(folder):
        frame = read_tree(path, "frame")
        for element in frame.walk("FE"):
            core = element.attribute("coreType")
            if core not in CORE:
                element.refuse("unknown", "coreType", core, choices=CORE)
            types[frame.attribute("name"), element.attribute("name")] = CORE[core]
    return types


def read_framenet(
    source: Path, core_types: Mapping[tuple[str, str], str] | None = None
) -> tuple[list[AnnotatedText], dict[str, int]]:
    """Read a file or a folder of files, of full texts or of lexical units; returns the texts, and `COUNTS`.

    The id of a full text is its file's name without `.xml`; a sentence of a lexical unit keeps its id. Full texts come
    first, in the order of their files, their frames in the order of the annotation sets. Sentences follow in the order
    of their ids, their frames sorted by place in the text. Without core types every element is core.

    Raises:
        BadInput: not this XML, a label that is not in its sentence, a lexical unit without a known part of speech, one
            id of two different sentences, or no file or sentence at all.
    """
    counts, texts, sentences = Counter(dict.fromkeys(COUNTS, 0)), list[AnnotatedText](), dict[str, AnnotatedText]()
    for path in [source] if source.is_file() else _files(source):
        root = read_tree(path, "fullTextAnnotation", "lexUnit")
        converter = _Converter(root, core_types or {}, counts)
        if root.tag == "fullTextAnnotation":
            texts.append(converter.text())
        else:
            for sentence in root.walk("sentence"):
                _join(sentences, converter.sentence(sentence), sentence, counts)
    order = sorted(sentences, key=lambda key: (int(key) if key.isdecimal() and len(key) < 19 else 0, key))
    return texts + [_in_order(sentences[key], counts) for key in order], dict(counts)


def _join(texts: dict[str, AnnotatedText], new: AnnotatedText, sentence: Node, counts: Counter[str]) -> None:
    """Add the frames of a sentence to those that other files have for it."""
    text, frames = new.text, new.frames
    if (old := texts.get(new.id)) is not None:
        if text.replace("_", " ") != old.text.replace("_", " "):
            problem = f"another text than sentence {new.id!r} has in another file"
            sentence.refuse(problem, "ID", text, expected=repr(old.text))
        if text != old.text:  # `_` stays only where both texts have it
            counts["sentences_joined_words"] += 1
            text = "".join(" " if " " in pair else pair[0] for pair in zip(text, old.text, strict=True))
        frames = old.frames + frames
    texts[new.id] = AnnotatedText(new.id, "", text, frames, ())


def _in_order(text: AnnotatedText, counts: Counter[str]) -> AnnotatedText:
    """Return the text with its frames sorted by trigger, each once."""
    frames = sorted(dict.fromkeys(text.frames), key=lambda instance: (instance.lexical_unit.span, instance.frame))
    counts["frames_given_twice"] += len(text.frames) - len(frames)
    return AnnotatedText(text.id, text.title, text.text, tuple(frames), ())


class _Converter:
    """Converts the sentences of a file to texts with frames.

    A file of a full text names the frame in each annotation set, a file of a lexical unit in its root. In the latter, a
    set of status UNANN without Target or FE holds only parts of speech and names, and is skipped.
    """

    def __init__(self, root: Node, core_types: Mapping[tuple[str, str], str], counts: Counter[str]) -> None:
        self.root, self.core_types, self.counts = root, core_types, counts
        self.unit = (root.attribute("frame"), root.attribute("name")) if root.tag == "lexUnit" else None
        inside = {id(annotated) for sentence in root.walk("sentence") for annotated in sentence.walk("annotationSet")}
        for annotated in root.walk("annotationSet"):
            if id(annotated) not in inside:
                raise BadInput("annotation set outside of a sentence", file=root.path, row=annotated.line)

    def text(self) -> AnnotatedText:
        """Convert a file of a full text."""
        text, paragraph = "", None
        frames: list[FrameInstance] = []
        for sentence in self.root.walk("sentence"):
            number = sentence.get("paragNo", "")
            if text:
                text += " " if number == paragraph else "\n"
            paragraph = number
            frames += self._frames(sentence, len(text))
            text += _text(sentence)
        if not text.strip():
            raise BadInput("no sentences", file=self.root.path, expected="<sentence><text>…</text></sentence>")
        titles = [node.get("name") for node in self.root.walk("document")]
        title = next((name for name in reversed(titles) if name), self.root.path.stem)
        unique = tuple(dict.fromkeys(frames))
        self.counts["frames_given_twice"] += len(frames) - len(unique)
        return AnnotatedText(self.root.path.stem, title, text, unique, ())

    def sentence(self, sentence: Node) -> AnnotatedText:
        """Convert a sentence of a lexical unit, which is a text of its own."""
        identifier, text = sentence.attribute("ID"), _text(sentence)
        if not text.strip():
            sentence.refuse("sentence without text", "text", text)
        return AnnotatedText(identifier, "", text, tuple(self._frames(sentence, 0)), ())

    def _frames(self, sentence: Node, offset: int) -> list[FrameInstance]:
        text = _text(sentence)
        frames = (self._frame(annotated, text, offset) for annotated in sentence.walk("annotationSet"))
        return [frame for frame in frames if frame is not None]

    def _frame(self, annotated: Node, text: str, offset: int) -> FrameInstance | None:
        if self.unit is None and not annotated.get("frameName"):
            return None
        frame, name = self.unit or (annotated.attribute("frameName"), annotated.attribute("luName"))
        layers = [(layer.attribute("name"), layer) for layer in annotated.walk("layer")]
        labels = {kind: [layer for name, layer in layers if name == kind] for kind in ("Target", "FE")}
        if annotated.get("status") == "UNANN":
            of_frame = [label for of_kind in labels.values() for layer in of_kind for label in layer.walk("label")]
            self.counts["frames_not_annotated"] += self.unit is None or bool(of_frame)
            return None
        parts = _join_spans(span for span, _, _ in self._stretches(labels["Target"], text, offset))
        if not parts:
            self.counts["frames_without_trigger"] += 1
            return None
        trigger, *more = parts
        self.counts["triggers_in_several_parts"] += bool(more)
        stretches = self._stretches(labels["FE"], text, offset)
        places = Counter((element, rank) for _, rank, element in stretches)
        self.counts["elements_in_several_parts"] += sum(count > 1 for count in places.values())
        self.counts["elements_of_second_rank"] += sum(rank > 1 for _, rank, _ in stretches)
        elements = self._elements(frame, stretches)
        lemma, _, pos = name.rpartition(".")  # `perdre.v` is the verb perdre
        if not lemma.strip() or pos not in POS:
            annotated.refuse("no known part of speech", "luName", name, choices=POS)
        return FrameInstance(frame, LexicalUnit(lemma, POS[pos], trigger, tuple(more)), elements)

    def _stretches(self, layers: Sequence[Node], text: str, offset: int) -> list[tuple[Span, int, str]]:
        """Return the labels of layers as (place in the text, rank, name), in the order of the text."""
        places: dict[tuple[Span, int, str], None] = {}
        for layer in layers:
            rank = layer.number("rank", 1) if "rank" in layer.attrib else 1
            for label in layer.walk("label"):
                name = label.attribute("name")
                if "start" not in label.attrib and "itype" in label.attrib:
                    self.counts["elements_not_expressed"] += 1
                    continue
                start, last = label.number("start"), label.number("end")
                if not start <= last < len(text):
                    problem, limits = f"label {name!r} is not in its sentence", f"start <= end <= {len(text) - 1}"
                    label.refuse(problem, layer.attrib["name"], (start, last), expected=f"{limits} in the sentence")
                place = Span(start + offset, last + 1 + offset), rank, name
                self.counts["elements_given_twice"] += place in places
                places[place] = None
        return sorted(places)

    def _elements(self, frame: str, stretches: Sequence[tuple[Span, int, str]]) -> tuple[FrameElement, ...]:
        """Make the elements of a frame from stretches with rank and name, and count their irregularities."""
        elements = []
        for number, (span, rank, name) in enumerate(stretches):
            others = (*stretches[:number], *stretches[number + 1 :])
            self.counts["elements_overlapping"] += any(span.overlaps(other) for other, _, _ in others)
            core = self.core_types.get((frame, name))
            self.counts["elements_of_unknown_core_type"] += core is None
            elements.append(FrameElement(name, span, core or "core", rank))
        return tuple(elements)


def _text(sentence: Node) -> str:
    return "".join(node.text or "" for node in sentence.findall("text"))


def _join_spans(spans: Iterable[Span]) -> list[Span]:
    """Join those of sorted spans that overlap."""
    joined: list[Span] = []
    for span in spans:
        if joined and span.overlaps(joined[-1]):
            joined[-1] = Span(joined[-1].start, max(span.end, joined[-1].end))
        else:
            joined.append(span)
    return joined


def _files(folder: Path) -> list[Path]:
    if not (files := sorted(folder.glob("*.xml"))):
        raise BadInput("no XML files", file=folder, expected="*.xml")
    return files
