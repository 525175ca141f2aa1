"""Sentences with their gold analysis, from bracketed wordings (`bank/construction.yaml`)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_PIECE = re.compile(r"\[\S+|\]|[^\s\[\]]+")
_TIGHT = {",", ".", "?", "'s", "'"}  # words that stand close to the one before


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
        return {**vars(self), "spaces": self.spaces, "entities": [list(entity) for entity in self.entities]}

    def add(self, word: str, tag: str, label: str = "") -> int:
        """Append a word, a root for now; a word with the label of the one before continues its entity."""
        place = len(self.words)
        if tag == "POS" and self.words[-1].endswith("s"):
            word = "'"
        self.words.append(word if place else word[0].upper() + word[1:])
        self.tags.append(tag)
        self.heads.append(place)
        self.deps.append("ROOT")
        if label:
            continues = bool(self.entities) and self.entities[-1][1:] == (place, label)
            start = self.entities.pop()[0] if continues else place
            self.entities.append((start, place + 1, label))
        return place


def analyse(wording: str) -> Sentence:
    """Read a bracketed wording; see `bank/construction.yaml`, its placeholders filled."""
    sentence, pieces = Sentence(), iter(_PIECE.findall(wording))
    for piece in pieces:
        if not piece.startswith("["):
            raise ValueError(f"no bracket at {piece!r} in {wording!r}")
        _bracket(sentence, pieces)
    return sentence


def _bracket(sentence: Sentence, pieces: Iterator[str]) -> int:
    """Read up to the closing bracket; returns the place of the head, whose own head is still open."""
    children: list[tuple[int, str]] = []
    head = -1
    for piece in pieces:
        if piece == "]":
            break
        if piece.startswith("["):
            children.append((_bracket(sentence, pieces), piece[1:]))
        elif head >= 0:
            raise ValueError(f"second head {piece!r}")
        else:
            head = sentence.add(*piece.split("/"))
    if head < 0:
        raise ValueError(f"a bracket without head before word {len(sentence.words)}")
    for child, dependency in children:
        sentence.heads[child], sentence.deps[child] = head, dependency
    return head


def bracket_name(name: str, label: str) -> str:
    """A name's brackets: its head is the last word, but the first of "House of X" and of "X & Sons".

    Args:
        name: as in a sentence ("the Velmor Bridge").
        label: of the named entity; empty for a common noun.
    """
    first, joint, rest = re.match(r"(.*?)(?: (of|and|&) (.*))?$", name).groups()  # type: ignore[union-attr]
    *before, head = first.split()

    def tagged(word: str) -> str:
        tag = {"the": "DT", "of": "IN", "and": "CC", "&": "CC"}.get(word, "NNP" if label else "NN")
        return f"{word}/{tag}/{label}" if label else f"{word}/{tag}"

    words = [f"[{'det' if word == 'the' else 'compound'} {tagged(word)}]" for word in before] + [tagged(head)]
    if joint == "of":
        words.append(f"[prep {tagged(joint)} [pobj {bracket_name(rest, label)}]]")
    elif joint:
        words.append(f"[cc {tagged(joint)}] [conj {bracket_name(rest, label)}]")
    return " ".join(words)
