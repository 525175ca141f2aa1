"""match(class, noun phrase): which classes the phrases of a caption name (decorrelation.md §2)."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from trivium.language.english.sentences import Sentence
from trivium.language.english.word_lists import LINKS, Mode, WordLists, word_lists

Range = tuple[int, int]  # words of a phrase: first, end (exclusive)
_HERE = ""  # key of the expression that ends at a node of the tree; no word is empty


class _Listed(NamedTuple):
    """An expression of the word lists.

    Attributes:
        length: words.
        classes: that it names and that are reported.
        last_only: whether it counts only at the end of its phrase: "hot" names nothing in "a hot dog cart".
        undoable: whether a following word can undo it.
        leads_out: whether it may end behind its phrase: "glass of wine".
    """

    length: int
    classes: tuple[str, ...]
    last_only: bool
    undoable: bool
    leads_out: bool


class Matcher:
    """Word lists compiled once, to a tree of words.

    Mode `strict`: within a phrase the longest expressions are taken first, and no word is read twice. An expression of
    no class, a word that undoes it ("dog food", "a toy car") or a place that it may not have ("an orange cat") leaves
    the phrase without that class. Mode `paper`: a phrase names every class of which it contains a word of Table 4.

    Raises:
        BadInput: a class has no words.
    """

    def __init__(self, classes: Sequence[str], mode: Mode = "strict", lists: WordLists | None = None) -> None:
        lists = lists or word_lists(classes)
        self._strict = mode == "strict"
        self._undone_before, self._undone_after = lists.undone_before, lists.undone_after
        self._tree: dict[str, Any] = {}
        for words, names in (lists.strict if self._strict else lists.paper).items():
            node = self._tree
            for word in words:
                node = node.setdefault(word, {})
            node[_HERE] = _Listed(
                len(words),
                tuple(name for name in names if name in classes),
                last_only=words in lists.last_only,
                undoable=words in lists.singular,
                leads_out=not LINKS.isdisjoint(words),
            )

    def match(self, sentence: Sentence, phrases: Sequence[Range]) -> list[tuple[str, ...]]:
        """The classes of each phrase, sorted; phrases are in order, without overlap."""
        read: set[int] = set()  # words already taken by an expression that leads out of its phrase
        words, named = sentence.words, []
        for first, end in phrases:
            expressions = self._expressions_in(words, first, end)
            if expressions and self._strict:
                expressions = self._counted(words, first, end, expressions, read)
            named.append(
                tuple(sorted({name for _, listed in expressions for name in listed.classes})) if expressions else ()
            )
        return named

    def _expressions_in(self, words: tuple[str, ...], first: int, end: int) -> list[tuple[int, _Listed]]:
        """Every expression that begins in a phrase, by its first word, shorter ones first."""
        expressions, tree = [], self._tree
        for place in range(first, end):
            node, last = tree.get(words[place]), place + 1
            while node is not None:
                listed = node.get(_HERE)
                if listed and (last <= end or listed.leads_out):
                    expressions.append((place, listed))
                node, last = node.get(words[last]) if last < len(words) else None, last + 1
        return expressions

    def _counted(
        self, words: tuple[str, ...], first: int, end: int, expressions: list[tuple[int, _Listed]], read: set[int]
    ) -> list[tuple[int, _Listed]]:
        """The expressions that count in mode `strict`; the places of their words are added to `read`."""
        if len(expressions) > 1:
            longest = dict(expressions)  # shorter ones at a place are part of it
            expressions = sorted(
                longest.items(),
                key=lambda placed: (
                    -placed[1].length,
                    placed[1].last_only and placed[0] + placed[1].length < end,
                    placed[0],
                ),
            )
        counted = []
        for place, listed in expressions:
            last = place + listed.length
            places = range(place, last)
            if not read.isdisjoint(places):
                continue
            read.update(places)
            undone = last < end and (listed.last_only or (listed.undoable and words[last] in self._undone_before))
            if not undone and self._undone_after.isdisjoint(words[first:place]):
                counted.append((place, listed))
        return counted
