"""Sentences with their gold analysis, from bracketed wordings (`bank/construction.yaml`)."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

_PIECE = re.compile(r"\[\S+|\]|[^\s\[\]]+")
_TIGHT = {",", ".", "?", "'s", "'"}  # words that stand close to the one before
_JOINED_BY = {"of", "and", "&"}


@dataclass(frozen=True)
class Name:
    """A name to put in: its words as in a sentence ("the Velmor Bridge"), and its entity label, empty for none."""

    text: str
    label: str


@dataclass
class Sentence:
    """Words with heads (positions; a root's is its own), dependency labels, tags and entities (start, end, label)."""

    words: list[str] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)
    deps: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    entities: list[tuple[int, int, str]] = field(default_factory=list)

    @property
    def spaces(self) -> list[bool]:
        """Whether a space follows each word."""
        return [word not in _TIGHT for word in self.words[1:]] + [False]

    @property
    def text(self) -> str:
        """As written."""
        return "".join(word + " " * space for word, space in zip(self.words, self.spaces, strict=True))

    def record(self) -> dict[str, object]:
        """A line of `annotated.jsonl`."""
        return {
            "words": self.words,
            "spaces": self.spaces,
            "heads": self.heads,
            "deps": self.deps,
            "tags": self.tags,
            "entities": [list(entity) for entity in self.entities],
        }

    def add(self, word: str, tag: str, label: str = "") -> int:
        """Append a word, its head not yet known; a word with the label of the one before continues its entity."""
        place = len(self.words)
        self.words.append(word)
        self.tags.append(tag)
        self.heads.append(place)
        self.deps.append("ROOT")
        if label:
            start = place
            if self.entities and self.entities[-1][1:] == (place, label):
                start = self.entities.pop()[0]
            self.entities.append((start, place + 1, label))
        return place

    def attach(self, child: int, head: int, dep: str) -> None:
        """Make `child` depend on `head`."""
        self.heads[child], self.deps[child] = head, dep


def analyse(wording: str, names: Mapping[str, Name]) -> Sentence:
    """Read a bracketed wording, its names put in.

    Args:
        wording: see `bank/construction.yaml`, its other placeholders filled.
        names: what stands for `@name` and `@other`.
    """
    sentence, pieces = Sentence(), iter(_PIECE.findall(wording))
    for piece in pieces:
        if not piece.startswith("["):
            raise ValueError(f"no bracket at {piece!r} in {wording!r}")
        _bracket(sentence, pieces, names)
    first = sentence.words[0]
    sentence.words[0] = first[0].upper() + first[1:]
    return sentence


def _bracket(sentence: Sentence, pieces: Iterator[str], names: Mapping[str, Name]) -> int:
    """Read up to the closing bracket; returns the place of the head, whose own head is still open."""
    children: list[tuple[int, str]] = []
    head = -1
    for piece in pieces:
        if piece == "]":
            break
        if piece.startswith("["):
            children.append((_bracket(sentence, pieces, names), piece[1:]))
        elif head >= 0:
            raise ValueError(f"second head {piece!r}")
        elif piece.startswith("@"):
            head = _name(sentence, names[piece[1:]])
        else:
            word, tag, *label = piece.split("/")
            if tag == "POS" and sentence.words[-1].endswith("s"):
                word = "'"
            head = sentence.add(word, tag, *label)
    if head < 0:
        raise ValueError(f"a bracket without head before word {len(sentence.words)}")
    for child, dep in children:
        sentence.attach(child, head, dep)
    return head


def _name(sentence: Sentence, name: Name) -> int:
    """Put in a name; returns the place of its head: its last word, but the first of "House of X" and "X & Sons"."""
    words = name.text.split()
    first = len(sentence.words)
    for word in words:
        tag = {"the": "DT", "of": "IN", "and": "CC", "&": "CC"}.get(word, "NNP" if name.label else "NN")
        sentence.add(word, tag)
    end = len(sentence.words)
    if name.label:
        sentence.entities.append((first, end, name.label))
    joint = next((place for place in range(first, end) if sentence.words[place] in _JOINED_BY), end)
    head = joint - 1
    for place in range(first, head):
        sentence.attach(place, head, "det" if sentence.words[place] == "the" else "compound")
    if joint < end:
        of = sentence.words[joint] == "of"
        sentence.attach(joint, head, "prep" if of else "cc")
        sentence.attach(end - 1, joint if of else head, "pobj" if of else "conj")
        for place in range(joint + 1, end - 1):
            sentence.attach(place, end - 1, "det" if sentence.words[place] == "the" else "compound")
    return head
