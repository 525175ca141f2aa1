"""Dependency trees that are written out as text, so that surface, syntax and spans agree.

A node is a word with its dependants to the left and to the right in the order of the text, so every tree is projective.
Elision (l', d', qu', s', n', jusqu'), the contractions du, des, au, aux, and de before an indefinite plural are made
while writing. A contraction is one token, an adposition with the lemma of the preposition; the article is not a
token of its own (Universal Dependencies would split it).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from sample.french.bank import read
from trivium.formats.conllu import Sentence, Token
from trivium.formats.framed_texts import Span

_CONTRACTIONS = {("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux"}
_ELIDED = {"le", "la", "de", "que", "se", "ne", "jusque", "lorsque"}
_VOWELS = "aeiouyâàéèêëîïôœh"


@dataclass(eq=False)
class Node:
    """Word and its dependants.

    Attributes:
        form: the word of the text before elision and contraction.
        part_of_speech: as Universal Dependencies name it.
        gender, number: "m" or "f", "s" or "p"; words that agree with this one take them.
        apart: whether it is left out of its head's constituent, as a relative clause of a noun phrase is.
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
        """Attach a dependant before all other words of the subtree; returns this node."""
        self.left.insert(0, (relation, child))
        return self

    def close(self, relation: str, child: "Node") -> "Node":
        """Attach a dependant after all other words of the subtree; returns this node."""
        self.right.append((relation, child))
        return self

    def walk(self, relation: str = "root", head: "Node | None" = None) -> Iterator[tuple["Node", str, "Node | None"]]:
        """Yield the words of the subtree in the order of the text, each with its relation and its head."""
        for name, child in self.left:
            yield from child.walk(name, self)
        yield self, relation, head
        for name, child in self.right:
            yield from child.walk(name, self)

    def constituent(self) -> set["Node"]:
        """Return the nodes of the subtree, without those under `apart` nodes."""
        nodes = {self}
        for _, child in (*self.left, *self.right):
            if not child.apart:
                nodes |= child.constituent()
        return nodes


@dataclass(frozen=True)
class Line:
    """Written sentence; spans count characters from the start of its text.

    Attributes:
        nodes: the node of each token.
    """

    text: str
    tokens: tuple[Token, ...]
    nodes: tuple[Node, ...]

    def span(self, node: Node) -> Span:
        """Return the span of a constituent, without commas at its edges."""
        constituent = node.constituent()
        tokens = [token for token, own in zip(self.tokens, self.nodes, strict=True) if own in constituent]
        while tokens[0].part_of_speech == "PUNCT":
            tokens.pop(0)
        while tokens[-1].part_of_speech == "PUNCT":
            tokens.pop()
        return Span(tokens[0].span.start, tokens[-1].span.end)

    def syntax(self) -> Sentence:
        """Return its dependency tree."""
        return Sentence(self.tokens, Span(self.tokens[0].span.start, self.tokens[-1].span.end))


def write(root: Node, start: int = 0) -> Line:
    """Write a tree as a sentence whose first character is at `start`; the full stop must be in the tree."""
    forms = _forms(list(root.walk()))
    numbers = {node: number for number, (node, _, _, _) in enumerate(forms, 1)}
    tokens: list[Token] = []
    text = ""
    for node, form, relation, head in forms:
        touches = not text or text.endswith("'") or form in (",", ".") or form.startswith("-")
        shown = form if text else form[0].upper() + form[1:]
        text += shown if touches else " " + shown
        span = Span(start + len(text) - len(shown), start + len(text))
        above = numbers[head] if head is not None else 0
        tokens.append(Token(numbers[node], shown, node.lemma, node.part_of_speech, above, relation, span))
    return Line(text, tuple(tokens), tuple(numbers))


def starts_with_vowel(form: str) -> bool:
    """Whether a word requires elision before it."""
    return form[0].lower() in _VOWELS and not form.lower().startswith(tuple(read("words")["aspirated"]))


def _forms(walked: list[tuple[Node, str, Node | None]]) -> list[tuple[Node, str, str, Node | None]]:
    """Return the written tokens: (node, form, relation, head)."""
    nodes = [node for node, _, _ in walked] + [Node(".", "PUNCT")] * 2
    forms: list[tuple[Node, str, str, Node | None]] = []
    contracted = -1
    for place, (node, relation, head) in enumerate(walked):
        if place == contracted:
            continue
        form, following, after = node.form, nodes[place + 1], nodes[place + 2]
        if node.part_of_speech == "ADP" and following.part_of_speech == "DET":
            pair = (form, following.form)
            if pair in _CONTRACTIONS and not (following.form == "le" and starts_with_vowel(after.form)):
                form, contracted = _CONTRACTIONS[pair], place + 1
            elif pair == ("de", "des"):
                following, contracted = after, place + 1
        if starts_with_vowel(following.form):
            if form in _ELIDED:
                form = form[:-1] + "'"
            elif form == "sa" and node.part_of_speech == "DET":
                form = "son"
        forms.append((node, form, relation, head))
    return forms
