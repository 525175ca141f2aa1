"""A caption as clauses of a subject and segments, and what to drop with a removed noun phrase (decorrelation.md §2).

A segment is a preposition or a verb with the nouns that follow it ("on a table", "holding a dog and a frisbee"). Each
hangs on another segment or on the subject; what hangs on a removed part is removed too. A removed subject is replaced
by what is left of its clause (`promote`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace

from trivium.core.parameters import read_beside
from trivium.language.english.word_lists import LISTS, words_of

_LISTS = read_beside(__file__, "words.yaml")
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
        """Drop a segment and all that hang on it."""
        self.segments[place].alive = False
        self.drop_children(place, lambda child: True)

    def drop_children(self, place: int, which: Callable[[Segment], bool]) -> None:
        """Drop those of a segment's children that `which` accepts."""
        for index in self.children(place):
            if which(self.segments[index]):
                self.drop(index)


_POSSESSIVES, _PRONOUNS = LISTS["possessives"], LISTS["pronouns"]


def lose_object(clause: Clause, place: int, gone: frozenset[str]) -> None:
    """Drop a segment that has lost its whole object, unless its verb can stand alone."""
    segment = clause.segments[place]
    before = clause.segments[place - 1].tail if place else clause.tail
    if before and before[-1].lower() == "each":  # "two men each with a frisbee" without it: "two men"
        before.pop()
    if segment.verb and segment.stem in WORDS.stands_alone:
        clause.drop_children(place, lambda child: child.first == "of" or child.refers_back)
        segment.tail = []
        return
    accompanies = segment.first == "with" or segment.owns
    heir = _heir(clause, place, gone) if accompanies else None
    if heir is not None:  # "with a cat next to a dog" without the cat: "with a dog"
        segment.nouns = clause.segments[heir].nouns
        clause.segments[heir].alive = False
        orphans = clause.children(heir)
        clause.drop_children(place, lambda child: True)
        for orphan in orphans:
            clause.segments[orphan].parent = place
    else:
        segment.alive = False
        for index in clause.children(place):
            child = clause.segments[index]
            if not accompanies and _survives(segment, child):
                child.parent = segment.parent
                child.lead = child.lead if child.lead.startswith(",") else ""
            else:
                clause.drop(index)
    drop_pronouns(clause, place)
    if not segment.verb:
        drop_worn(clause, place)
        if segment.first == "of":
            _lose_part(clause, segment.parent, gone)


def _heir(clause: Clause, place: int, gone: frozenset[str]) -> int | None:
    """The first segment under this one that names a class which stays."""
    for index in clause.children(place):
        nouns = clause.segments[index].nouns
        if clause.segments[index].first != "of" and any(noun.classes - gone for noun in nouns):
            return index
        deeper = _heir(clause, index, gone)
        if deeper is not None:
            return deeper
    return None


def _survives(segment: Segment, child: Segment) -> bool:
    """Whether a prepositional phrase goes on without the verb or noun before it."""
    if child.verb or child.of_body or child.refers_back or child.first == "of":
        return False
    named = any(noun.classes for noun in child.nouns)
    return not segment.verb or child.places or (child.first == "with" and named)


def _lose_part(clause: Clause, parent: int, gone: frozenset[str]) -> None:
    """Drop the noun that a removed noun was part of or depicted in: no "back of a toilet" without the toilet."""
    nouns = clause.subject if parent == SUBJECT else clause.segments[parent].nouns
    if nouns and nouns[-1].head in WORDS.parts | WORDS.depictions | WORDS.body:
        nouns.pop()
        if parent != SUBJECT and not nouns:
            lose_object(clause, parent, gone)


def drop_pronouns(clause: Clause, place: int) -> None:
    """Drop "on it" after a removed noun: "a table with cake on it" without the table is "cake"."""
    for segment in clause.segments[place + 1 : place + 3]:
        if not segment.verb and segment.refers_back and segment.tail[0].lower() in ("it", "them"):
            segment.alive = False


def drop_worn(clause: Clause, place: int) -> None:
    """Drop what follows a removed noun and is worn or held by it."""
    for segment in clause.segments[place + 1 : place + 2]:
        if not segment.verb and segment.nouns and segment.nouns[0].head in WORN:
            segment.alive = False


def drop_dangling(clause: Clause) -> None:
    """Drop verbs and prepositions that have lost their phrases, from the end, so that one can lead to the next."""
    for place in reversed(range(len(clause.segments))):
        segment = clause.segments[place]
        if not segment.alive or segment.nouns or segment.tail:
            continue
        hung = [child for child in clause.segments if child.parent == place]
        if any(child.alive for child in hung) or not hung:
            continue
        segment.alive = segment.verb and not _dangles(clause, place)
    verbs = False
    for segment in clause.segments:
        if segment.alive and segment.kind == "V":
            if segment.lead and not verbs:
                segment.lead = ""  # "wearing a tie and holding a cup" without the tie
            verbs = True


def _dangles(clause: Clause, place: int) -> bool:
    """Whether a verb that has lost its phrase has no meaning left."""
    segment = clause.segments[place]
    later = [segment for segment in clause.segments[place + 1 :] if segment.alive]
    if later and later[0].kind == "V" and not later[0].lead:
        return True
    if all(word.lower() in WORDS.copulas for word in segment.words):
        return not (later and segment.finite and later[0].kind == "P")
    stem = segment.stem
    if stem in WORDS.standing:
        living = any(noun.classes & WORDS.living for noun in clause.subject)
        first = not any(earlier.alive and earlier.kind == "V" for earlier in clause.segments[:place])
        return not (living and first)
    return stem in WORDS.needs_phrase


def forget_owners(clause: Clause) -> None:
    """Drop pronouns of removed nouns: "his right hand" is dropped, "their dog" becomes "the dog"."""
    for place, segment in enumerate(clause.segments):
        if not segment.alive:
            continue
        if segment.refers_back and segment.tail[0].lower() in _PRONOUNS:
            clause.drop(place)
        for noun in list(segment.nouns):
            if noun.words[0] in _POSSESSIVES:
                if noun.head in WORN:
                    segment.nouns.remove(noun)
                else:
                    noun.text = "the" + noun.text[len(noun.words[0]) :]
        if not segment.verb and not segment.nouns and not segment.tail:
            clause.drop(place)


def drop_doings(clause: Clause, place: int) -> None:
    """Drop what the last of a list does, up to the next comma: "a field and a man standing on it"."""
    following = []
    for segment in clause.segments[place + 1 :]:
        if segment.lead.startswith(",") or segment.finite:
            break
        following.append(segment)
    if any(segment.kind == "V" for segment in following):
        for segment in following:
            segment.alive = False


def promote(clause: Clause) -> bool:
    """Make the first noun that is left the subject of a clause without one: "A man rides a horse" to "A horse"."""
    segments, full = clause.segments, clause.tail[-1:] == ["full"]
    clause.opening, clause.tail = [], []
    heads = {place: segment.nouns[0].head for place, segment in enumerate(segments) if segment.alive and segment.nouns}
    objects = [place for place in heads if segments[place].kind == "V"]
    concrete = [place for place in objects if heads[place] not in WORDS.abstract]
    phrases = [place for place, head in heads.items() if segments[place].kind == "P" and not segments[place].of_body
               and segments[place].first not in WORDS.remote and head not in WORDS.abstract]  # fmt: skip
    named = [place for place in phrases if segments[place].nouns[0].classes]
    contents = [0] if full and 0 in phrases and segments[0].first == "of" else []  # "a vase full of flowers"
    first = [_first_of_row(clause, place, phrases) for place in named[:1]]
    source = concrete or contents or first or phrases[:1] or objects[:1]
    if not source:
        return False
    if source[0] in objects and any(segments[place].parent == SUBJECT for place in source):
        source = [place for place in source if segments[place].parent not in source]
    if source == concrete:  # "riding a wave on a surfboard": the wave is not on it
        places = (place for place in named if " ".join(segments[place].words).lower() in WORDS.whereabouts)
        source = source + [place for place in places if heads[place] not in WORDS.settings]
    nouns = {noun.text: noun for place in source for noun in segments[place].nouns}
    clause.subject = list(nouns.values())
    clause.lead = clause.lead and "with"
    for place, segment in enumerate(clause.segments):
        hangs = segment.parent in source and segment.kind != "P"
        abstract = bool(segment.nouns) and segment.nouns[0].head in WORDS.abstract
        stays = (
            bool(segment.nouns)
            and not abstract
            and not segment.of_body
            and (segment.places or segment.first == "with" or (segment.first == "of" and segment.parent in source))
        )
        part = (
            place + 1 in source
            and segments[place + 1].first == "of"
            and bool(segment.nouns)
            and segment.nouns[-1].head in WORDS.parts
        )
        if place in source or part or not (hangs or stays) or (place < source[0] and _leaned_on(clause, segment)):
            segment.alive = False
        else:
            segment.lead = ""
    clause.segments = [segment for segment in clause.segments if segment.alive]
    return True


def _leaned_on(clause: Clause, segment: Segment) -> bool:
    """Whether a phrase only belongs to what the removed subject did: "leaning on a post"."""
    if segment.parent == SUBJECT or not segment.places or segment.nouns[0].head in WORDS.settings:
        return False
    return clause.segments[segment.parent].stem in WORDS.needs_phrase - WORDS.standing


def _first_of_row(clause: Clause, place: int, phrases: Sequence[int]) -> int:
    """The first of the prepositional phrases that lead to one: in "on a plate on a table" the plate."""
    while place - 1 in phrases and clause.segments[place].places:
        place -= 1
    return place
