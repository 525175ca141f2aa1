"""Dependency trees that are written out as text: surface, syntax and spans come from one structure and agree.

A node is a word with its dependants to the left and to the right in the order of the text, so every tree is projective.
Elision (l', d', qu', s', n', jusqu'), the contractions du, des, au, aux, and de before an indefinite plural are made
while writing. A contraction is one token, an adposition with the lemma of the preposition; the article is not a
token of its own (Universal Dependencies would split it).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from trivium.formats.framed_texts import Span

_CONTRACTIONS = {("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux"}
_ELIDED = {"le", "la", "de", "que", "se", "ne", "jusque", "lorsque"}
_VOWELS = "aeiouyâàéèêëîïôœh"
_ASPIRATED = (
    "hache",
    "hauteur",
    "héros",
    "hameau",
    "harnais",
    "haut",
    "onze",
    "huit",
    "halle",
    "hutte",
    "hangar",
    "hall",
    "hât",
)
_EUPHONIC = {"sa": "son", "ce": "cet"}


@dataclass(eq=False)
class Node:
    """A word and what depends on it.

    Attributes:
        form: the word as it stands in the text, before elision and contraction.
        part_of_speech: as Universal Dependencies name it.
        gender, number: "m" or "f", "s" or "p": what agrees with the word takes these.
        apart: not part of the constituent it stands in (a relative clause beside the noun phrase it says something of).
    """

    form: str
    part_of_speech: str
    lemma: str = ""
    gender: str = "m"
    number: str = "s"
    apart: bool = False
    left: list[tuple[str, "Node"]] = field(default_factory=list)
    right: list[tuple[str, "Node"]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lemma = self.lemma or self.form

    def open(self, relation: str, child: "Node") -> "Node":
        """Put a dependant before everything that stands so far; returns this node."""
        self.left.insert(0, (relation, child))
        return self

    def close(self, relation: str, child: "Node") -> "Node":
        """Put a dependant after everything that stands so far; returns this node."""
        self.right.append((relation, child))
        return self

    def walk(self, relation: str = "root", head: "Node | None" = None) -> Iterator[tuple["Node", str, "Node | None"]]:
        """Every word of the subtree in the order of the text, with its relation and its head."""
        for name, child in self.left:
            yield from child.walk(name, self)
        yield self, relation, head
        for name, child in self.right:
            yield from child.walk(name, self)

    def constituent(self) -> set["Node"]:
        """The words of the subtree without what stands apart in it."""
        words = {self}
        for _, child in (*self.left, *self.right):
            if not child.apart:
                words |= child.constituent()
        return words


@dataclass(frozen=True)
class Word:
    """A written token: its node, what is written, where, and its head's position in the line (-1: the root)."""

    node: Node
    form: str
    span: Span
    head: int
    relation: str


@dataclass(frozen=True)
class Line:
    """A written sentence; spans count from the start of the text it stands in."""

    text: str
    words: tuple[Word, ...]

    def span(self, node: Node) -> Span:
        """Where a constituent stands, commas at its edges left out."""
        nodes = node.constituent()
        words = [word for word in self.words if word.node in nodes]
        while words[0].node.part_of_speech == "PUNCT":
            words.pop(0)
        while words[-1].node.part_of_speech == "PUNCT":
            words.pop()
        return Span(words[0].span.start, words[-1].span.end)

    def word(self, node: Node) -> Word:
        """The token of a node."""
        return next(word for word in self.words if word.node is node)


def write(root: Node, start: int = 0) -> Line:
    """Write a tree as a sentence whose first character stands at `start`; the full stop must be in the tree."""
    forms = _forms([(node, relation, head) for node, relation, head in root.walk()])
    places = {node: place for place, (node, _, _, _) in enumerate(forms)}
    words, text = [], ""
    for place, (node, form, relation, head) in enumerate(forms):
        if place and not _touches(forms[place - 1][1], form):
            text += " "
        shown = form[0].upper() + form[1:] if place == 0 else form
        span = Span(start + len(text), start + len(text) + len(shown))
        words.append(Word(node, shown, span, places[head] if head is not None else -1, relation))
        text += shown
    return Line(text, tuple(words))


def _touches(before: str, form: str) -> bool:
    return before.endswith("'") or form in (",", ".") or form.startswith("-")


def starts_with_vowel(form: str) -> bool:
    """Whether a word asks for elision before it."""
    return form[0].lower() in _VOWELS and not form.lower().startswith(_ASPIRATED)


def _forms(walked: list[tuple[Node, str, Node | None]]) -> list[tuple[Node, str, str, Node | None]]:
    """The written tokens: (node, form, relation, head)."""
    forms: list[tuple[Node, str, str, Node | None]] = []
    skip = False
    for place, (node, relation, head) in enumerate(walked):
        if skip:
            skip = False
            continue
        form, following = node.form, walked[place + 1][0] if place + 1 < len(walked) else None
        after = walked[place + 2][0] if place + 2 < len(walked) else None
        if node.part_of_speech == "ADP" and following is not None and following.part_of_speech == "DET" and after:
            article, vowel = following.form, starts_with_vowel(after.form)
            if (form, article) in _CONTRACTIONS and not (vowel and article == "le"):
                form, skip = _CONTRACTIONS[form, article], True
            elif form == "de" and article == "des":
                skip, following = True, after
        if not skip or form == "de":
            if form in _ELIDED and following is not None and starts_with_vowel(following.form):
                form = form[:-1] + "'"
            elif form in _EUPHONIC and node.part_of_speech == "DET" and following and starts_with_vowel(following.form):
                form = _EUPHONIC[form]
        forms.append((node, form, relation, head))
    return forms
