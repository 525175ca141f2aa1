"""A caption as clauses of a subject and segments: enough grammar to take a noun phrase out (decorrelation.md §2).

A segment is a preposition or a verb with the nouns that follow it ("on a table", "holding a dog and a frisbee"). Each
hangs on another segment or on the subject; what hangs on a part that goes, goes with it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import yaml

from trivium.language.english.word_lists import words_of

_LISTS = yaml.safe_load(Path(__file__).with_name("words.yaml").read_text(encoding="utf-8"))
WORDS = SimpleNamespace(**{name: words_of(words) for name, words in _LISTS.items()})
WORN = WORDS.body | WORDS.clothes | WORDS.carried
IRREGULAR_STEMS = {"ate": "eat", "lying": "lie", "ran": "run", "sat": "sit", "made": "make", "hung": "hang"}
SUBJECT = -1  # the parent of a segment that hangs on its clause's subject


@dataclass
class Noun:
    """A noun phrase.

    Attributes:
        text: as written, with what is folded into it ("a glass of wine", "a man in a hat").
        words: of the phrase alone, lower case.
        classes: what it names.
        owner: whose it is ("a man's").
    """

    text: str
    words: tuple[str, ...]
    classes: frozenset[str]
    owner: "Noun | None" = None

    @property
    def head(self) -> str:
        """Its last word."""
        return self.words[-1]


@dataclass
class Segment:
    """A preposition ("P"), a verb ("V"), or a relative pronoun with its verb ("W"), and what follows.

    Attributes:
        kind: P, V or W.
        lead: what joins it to the part before: "", ",", "and", …
        words: the preposition or the verb group, as written.
        finite: a verb that a subject agrees with.
        nouns: its object, coordinated.
        tail: adverbs, adjectives and pronouns after it.
        parent: index of the segment it hangs on, or `SUBJECT`.
        alive: whether it stays.
    """

    kind: str
    lead: str
    words: list[str]
    finite: bool = False
    nouns: list[Noun] = field(default_factory=list)
    tail: list[str] = field(default_factory=list)
    parent: int = SUBJECT
    alive: bool = True

    @property
    def first(self) -> str:
        """Its first word, lower case."""
        return self.words[0].lower()

    @property
    def verb(self) -> bool:
        """Whether a verb leads it."""
        return self.kind != "P"

    @property
    def owns(self) -> bool:
        """Whether its object belongs to what is before it: "has", "contains"."""
        return any(word.lower() in WORDS.owning_verbs for word in self.words)

    @property
    def refers_back(self) -> bool:
        """Whether its object is a pronoun: "on it"."""
        return not self.nouns and bool(self.tail)

    @property
    def of_body(self) -> bool:
        """Whether it is about clothes or a part of the body: "in his hand"."""
        return bool(self.nouns) and self.nouns[0].head in WORN and not self.nouns[0].classes

    @property
    def places(self) -> bool:
        """Whether it says where: "on a table"."""
        return not self.verb and self.first in WORDS.locative and bool(self.nouns)

    @property
    def stem(self) -> str:
        """The base form of its last verb, where a list of verbs has it; else that verb."""
        verbs = [word.lower() for word in self.words if word.lower() not in WORDS.copulas and word.isalpha()]
        while len(verbs) > 1 and verbs[-1] in WORDS.particles:
            verbs.pop()
        word = verbs[-1] if verbs else ""
        bare = [word[: len(word) - cut] for cut in range(min(5, len(word)))]
        for stem in [*bare, *(short + "e" for short in bare)]:
            if stem in WORDS.stands_alone | WORDS.needs_phrase | WORDS.standing:
                return stem
        return IRREGULAR_STEMS.get(word, word)


@dataclass
class Clause:
    """A subject and what is said of it.

    Attributes:
        lead: what joins it to the clause before.
        opening: such as "there are".
        subject: coordinated nouns, `tail` the adverbs after them.
        segments: what is said, in order.
        narrowed: whether the subject has lost some of its nouns.
    """

    lead: str = ""
    opening: list[str] = field(default_factory=list)
    subject: list[Noun] = field(default_factory=list)
    tail: list[str] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)
    narrowed: bool = False

    @property
    def nouns(self) -> list[Noun]:
        """The nouns that stay."""
        return [*self.subject, *(noun for segment in self.segments if segment.alive for noun in segment.nouns)]

    def children(self, place: int) -> list[int]:
        """The segments that stay and hang on the one at `place`."""
        return [index for index, segment in enumerate(self.segments) if segment.alive and segment.parent == place]

    def drop(self, place: int) -> None:
        """Let a segment go, with all that hangs on it."""
        self.segments[place].alive = False
        self.drop_children(place, lambda child: True)

    def drop_children(self, place: int, which: Callable[[Segment], bool]) -> None:
        """Let some of what hangs on a segment go."""
        for index in self.children(place):
            if which(self.segments[index]):
                self.drop(index)
