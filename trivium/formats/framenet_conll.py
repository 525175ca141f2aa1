"""The French FrameNet's tables (Asfalda), frames and roles in the features of CoNLL 2006: read as annotated texts.

A sentence is a text: its tokens joined by spaces, its id the feature `sentid` of a token, else the file's name and a
number. Columns are ID, FORM, LEMMA, CPOSTAG, POSTAG, FEATS and any number of others, of which none is read. In FEATS,
separated by `|`, `frame` says which frame instances a token evokes, `role` which fillers it belongs to, each a list
separated by commas (a feature given twice is one list):

    frame=3#FR_Expectation#flags=HEADGAP#Phenomenon=ENI     instance 3, a null instantiation
    role=2.1#Message,3.2#Speaker#flags=ANAPH#synthead=y     filler 1 of instance 2, filler 2 of instance 3

Tokens of one instance make its trigger, those of one filler an element, in one part or several. A pronoun and its
antecedent (flags ANAPH and FULLANTECEDENT) are two fillers of one role: both are kept. The lemma is LEMMA, or
`mwelemma` of a trigger of several tokens, with spaces for `_`. Counts are those of `framenet_xml.py`.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from trivium.core.errors import BadInput
from trivium.core.reading import read_lines
from trivium.formats.framed_texts import AnnotatedText, FrameInstance, LexicalUnit, Span
from trivium.formats.framenet_xml import COUNTS, place_elements

COLUMNS = 6
# Candito and Crabbé's coarse tags of the French Treebank; P+D and P+PRO are a preposition and what it is joined to.
POS = {"V": "verb", "N": "noun", "A": "adjective", "ADV": "adverb", "P": "preposition", "P+D": "preposition"}
_NAME = r"(?=[^#]*[^#\s])([^#]+)"  # not of white space alone
_FRAME = re.compile(rf"(\d{{1,9}})#{_NAME}((?:#[^#]+)*)")
_ROLE = re.compile(rf"(\d{{1,9}})\.(\d{{1,9}})#{_NAME}(?:#[^#]+)*")


@dataclass
class _Token:
    row: int
    form: str
    lemma: str
    tag: str
    span: Span
    features: dict[str, str]


@dataclass
class _Instance:
    frame: str
    tokens: list[_Token] = field(default_factory=list)
    fillers: dict[str, tuple[str, list[_Token]]] = field(default_factory=dict)


def read_framenet_conll(
    source: Path, core_types: Mapping[tuple[str, str], str] | None = None
) -> tuple[list[AnnotatedText], dict[str, int]]:
    """Read a file or a folder of `*.conll` files; frames stand in the order of their triggers.

    Args:
        source: the file or folder.
        core_types: of (frame, element), from `framenet_xml.read_core_types`; without it every element is core.

    Returns:
        The texts, and the counts of `framenet_xml.py`.

    Raises:
        BadInput: names file and line of: too few columns, a feature `frame` or `role` of another form, an instance or
            a filler with two names, a filler of an instance that no token evokes, a sentence id twice; or there is no
            file or no sentence.
    """
    counts = Counter(dict.fromkeys(COUNTS, 0))
    texts: dict[str, AnnotatedText] = {}
    paths = [source] if source.is_file() else sorted(source.glob("*.conll"))
    for path in paths:
        for number, tokens in enumerate(_sentences(path), 1):
            reader = _Reader(path, core_types or {}, counts)
            named = next(
                (token.features["sentid"] for token in tokens if token.features.get("sentid", "").strip()), None
            )
            identifier = named or f"{path.stem}-{number}"
            if identifier in texts:
                raise BadInput("sentence twice", file=path, row=tokens[0].row, field="sentid", got=identifier)
            text = " ".join(token.form for token in tokens)
            texts[identifier] = AnnotatedText(identifier, "", text, reader.frames(tokens), ())
    if not texts:
        raise BadInput("no sentences", file=source, expected="rows of a *.conll file")
    return list(texts.values()), dict(counts)


def _sentences(path: Path) -> Iterator[list[_Token]]:
    tokens: list[_Token] = []
    for row, line in read_lines(path):
        columns = line.rstrip("\r\n").split("\t")
        if not line.strip():
            if tokens:
                yield tokens
            tokens = []
            continue
        if len(columns) < COLUMNS:
            raise BadInput("too few columns", file=path, row=row, got=len(columns), expected=f"{COLUMNS} or more")
        _, form, lemma, tag, _, features = columns[:COLUMNS]
        if not form.strip():
            raise BadInput("no word", file=path, row=row, field="FORM", got=form)
        start = tokens[-1].span.end + 1 if tokens else 0
        named: dict[str, str] = {}
        for name, _, value in (part.partition("=") for part in features.split("|")):
            named[name] = f"{named[name]},{value}" if name in named else value
        tokens.append(_Token(row, form, lemma, tag, Span(start, start + len(form)), named))
    if tokens:
        yield tokens


class _Reader:
    """Gathers instances and fillers of a sentence from its tokens."""

    def __init__(self, path: Path, core_types: Mapping[tuple[str, str], str], counts: Counter[str]) -> None:
        self.path, self.core_types, self.counts = path, core_types, counts

    def frames(self, tokens: list[_Token]) -> tuple[FrameInstance, ...]:
        """The frame instances of a sentence, in the order of their triggers."""
        instances: dict[str, _Instance] = {}
        for token in tokens:
            for number, frame, details in self._found(token, "frame", _FRAME):
                instance = instances.setdefault(number, _Instance(frame))
                if instance.frame != frame:
                    self._refuse(f"another frame than instance {number} has", token, "frame", instance.frame)
                instance.tokens.append(token)
                missing = [part for part in details.split("#") if part and not part.startswith("flags=")]
                self.counts["elements_not_expressed"] += len(missing)
        for token in tokens:
            for number, filler, name in self._found(token, "role", _ROLE):
                if number not in instances:
                    self._refuse("role of no frame", token, "role", f"one of the instances {', '.join(instances)}")
                known, parts = instances[number].fillers.setdefault(filler, (name, []))
                if known != name:
                    self._refuse(f"another role than filler {number}.{filler} has", token, "role", known)
                parts.append(token)
        frames = list(dict.fromkeys(map(self._frame, instances.values())))
        self.counts["frames_given_twice"] += len(instances) - len(frames)
        return tuple(sorted(frames, key=lambda each: (each.lexical_unit.span, each.frame)))

    def _frame(self, instance: _Instance) -> FrameInstance:
        trigger, *more = _stretches(instance.tokens)
        self.counts["triggers_in_several_parts"] += bool(more)
        found: dict[tuple[Span, str], None] = {}
        for name, parts in instance.fillers.values():
            spans = _stretches(parts)
            self.counts["elements_in_several_parts"] += len(spans) > 1
            for span in spans:
                self.counts["elements_given_twice"] += (span, name) in found
                found[span, name] = None
        stretches = [(span, 1, name) for span, name in sorted(found)]
        elements = place_elements(instance.frame, stretches, self.core_types, self.counts)
        first = instance.tokens[0]
        whole = first.features.get("mwelemma", "").replace("_", " ").strip() if len(instance.tokens) > 1 else ""
        lemma = whole or (first.lemma if first.lemma.replace("_", " ").strip() else first.form)
        tag = first.features.get("mwehead", first.tag) if whole else first.tag
        return FrameInstance(instance.frame, LexicalUnit(lemma, POS.get(tag, "other"), trigger, tuple(more)), elements)

    def _found(self, token: _Token, name: str, form: re.Pattern[str]) -> Iterator[tuple[str, ...]]:
        for value in token.features.get(name, "").split(",") if name in token.features else ():
            match = form.fullmatch(value)
            if match is None:
                expected = "2#Frame, 2#Frame#Role=ENI" if name == "frame" else "2.1#Role, 2.1#Role#flags=ANAPH"
                self._refuse("not of the table's form", token, name, expected)
            yield match.groups()

    def _refuse(self, problem: str, token: _Token, name: str, expected: str) -> NoReturn:
        got: Any = token.features[name]
        raise BadInput(problem, file=self.path, row=token.row, field=name, got=got, expected=expected)


def _stretches(tokens: list[_Token]) -> list[Span]:
    """The tokens as stretches of the text, neighbours joined."""
    spans: list[Span] = []
    for token in tokens:
        if spans and token.span.start <= spans[-1].end + 1:
            spans[-1] = Span(spans[-1].start, token.span.end)
        else:
            spans.append(token.span)
    return spans
