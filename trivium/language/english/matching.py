"""match(class, noun phrase): which classes the phrases of a caption name (decorrelation.md §2)."""

from collections.abc import Collection, Iterator, Sequence

from trivium.language.english.sentences import Sentence
from trivium.language.english.word_lists import LINKS, Expression, Mode, WordLists, word_lists

Range = tuple[int, int]  # words of a phrase: first, end (exclusive)


class Matcher:
    """Word lists compiled once: every expression by its first word, the longest first.

    Mode `strict`: within a phrase the longest expressions are taken first, and no word is read twice. An expression of
    no class, a word that undoes it ("dog food", "a toy car") or a place that it may not have ("an orange cat") leaves
    the phrase without that class. Mode `paper`: a phrase names every class of which it contains a word.

    Args:
        classes: those that are reported.
        mode: `strict` or `paper`.
        lists: from `words.yaml` by default.

    Raises:
        BadInput: a class has no words.
    """

    def __init__(self, classes: Sequence[str], mode: Mode = "strict", lists: WordLists | None = None) -> None:
        self._lists = lists or word_lists(classes)
        self._mode = mode
        self._classes = frozenset(classes)
        listed: Collection[Expression] = self._lists.strict if mode == "strict" else self._lists.paper
        by_first: dict[str, list[Expression]] = {}
        for expression in listed:
            by_first.setdefault(expression[0], []).append(expression)
        self._by_first = {first: sorted(found, key=len, reverse=True) for first, found in by_first.items()}

    def match(self, sentence: Sentence, phrases: Sequence[Range]) -> list[tuple[str, ...]]:
        """The classes of each phrase, sorted.

        Args:
            sentence: the caption.
            phrases: in order, without overlap.
        """
        read: set[int] = set()  # words already taken by an expression that leads out of its phrase
        return [self._classes_of(sentence.words, first, end, read) for first, end in phrases]

    def _classes_of(self, words: tuple[str, ...], first: int, end: int, read: set[int]) -> tuple[str, ...]:
        found = list(self._found(words, first, end))
        if self._mode == "paper":
            return tuple(sorted({name for _, expression in found for name in self._lists.paper[expression]}))
        if not found:
            return ()
        names: set[str] = set()
        longest = sorted((-len(each), self._misplaced(place, each, end), place, each) for place, each in found)
        for _, _, place, expression in longest:
            taken = range(place, place + len(expression))
            if read.isdisjoint(taken):
                read.update(taken)
                if not self._undone(words, first, place, end, expression):
                    names.update(self._lists.strict[expression])
        return tuple(sorted(names & self._classes))

    def _found(self, words: tuple[str, ...], first: int, end: int) -> Iterator[tuple[int, Expression]]:
        for place in range(first, end):
            for expression in self._by_first.get(words[place], ()):
                last = place + len(expression)
                if words[place:last] != expression or (last > end and LINKS.isdisjoint(expression)):
                    continue
                yield place, expression
                if self._mode == "strict":
                    break  # shorter ones at this place are part of it

    def _misplaced(self, place: int, expression: Expression, end: int) -> bool:
        """Whether an expression does not end its phrase but must: its words name nothing, "a hot dog cart" no dog."""
        return expression in self._lists.last_only and end > place + len(expression)

    def _undone(self, words: tuple[str, ...], first: int, place: int, end: int, expression: Expression) -> bool:
        if self._misplaced(place, expression, end):
            return True
        last = place + len(expression)
        if last < end and words[last] in self._lists.undone_before and expression in self._lists.singular:
            return True
        return not self._lists.undone_after.isdisjoint(words[first:place])
