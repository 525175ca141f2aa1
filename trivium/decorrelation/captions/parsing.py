"""Parse a caption into clauses, and find what each segment hangs on, in one pass by rule (decorrelation.md §2)."""

from collections.abc import Sequence
from dataclasses import dataclass

from trivium.decorrelation.captions.clauses import SUBJECT, WORDS, Clause, Noun, Segment
from trivium.formats.pictures import Phrase
from trivium.language.english.chunker import join_quantities, phrases_of_tags
from trivium.language.english.sentences import read_sentence
from trivium.language.english.tagging import tag


@dataclass(frozen=True)
class _Part:
    """A noun phrase (tag "N") or a single word: its words in lower case, as written, and the classes it names."""

    tag: str
    words: tuple[str, ...]
    text: str
    classes: frozenset[str]


def parse(text: str, phrases: Sequence[Phrase]) -> list[Clause]:
    """The clauses of a caption.

    Args:
        text: the caption.
        phrases: its noun phrases with their classes; those found by rule get the classes of these where they overlap.
    """
    parser = _Parser(_parts(text, phrases))
    parser.read()
    for clause in parser.clauses:
        attach(clause)
    return _open(parser.clauses)


def _parts(text: str, phrases: Sequence[Phrase]) -> list[_Part]:
    """The parts of a caption, and a full stop behind them."""
    sentence = read_sentence(text)
    tags = tag(sentence)
    ranges = dict(join_quantities(sentence, phrases_of_tags(tags)))
    parts, place = [], 0
    while place < len(tags):
        end = ranges.get(place, place + 1)
        first, last = sentence.characters(place, end)
        names = {name for phrase in phrases if phrase.start < last and phrase.end > first for name in phrase.classes}
        kind = "N" if place in ranges else tags[place].replace("N", "R")
        parts.append(_Part(kind, sentence.words[place:end], sentence.text[first:last], frozenset(names)))
        place = end
    return [*parts, _Part(".", ("",), "", frozenset())]


def _open(clauses: list[Clause]) -> list[Clause]:
    """Make "In this picture," the opening of the clause that follows it."""
    first, rest = clauses[0], clauses[1:]
    if rest and rest[0].lead == "," and not first.subject and all(segment.kind == "P" for segment in first.segments):
        words = [
            word for segment in first.segments for word in [*segment.words, *(noun.text for noun in segment.nouns)]
        ]
        rest[0].lead, rest[0].opening = "", [*first.opening, " ".join(words) + ",", *rest[0].opening]
        return rest
    return clauses


class _Parser:
    """Reads parts into clauses; `place` is that of the part to read next."""

    def __init__(self, parts: Sequence[_Part]) -> None:
        self._parts, self._place = parts, 0
        self.clauses = [Clause()]

    def read(self) -> None:
        """Read all parts."""
        while self._place < len(self._parts) - 1:
            self._read_part()

    @property
    def _next(self) -> _Part:
        return self._parts[self._place]

    def _tags(self, count: int) -> str:
        return "".join(part.tag for part in self._parts[self._place : self._place + count])

    def _take(self) -> str:
        """Pass over a part; its text."""
        self._place += 1
        return self._parts[self._place - 1].text

    def _noun(self, owner: Noun | None = None) -> Noun:
        part = self._next
        return Noun(self._take(), part.words, part.classes, owner)

    def _nouns(self, *, single: bool) -> list[Noun]:
        """A run of coordinated nouns ("a dog, a cat and a bird"); `single` leaves those that begin a clause."""
        nouns: list[Noun] = []
        while self._next.tag == "N":
            owner = None
            while self._tags(3) == "NSN":
                owner = self._noun(owner)
                self._place += 1
            nouns.append(self._noun(owner))
            self._fold(nouns[-1])
            joined = self._joint()
            if (joined == self._place and self._next.tag != "N") or (single and self._begins_clause(joined)):
                break
            self._place = joined
        return nouns

    def _fold(self, noun: Noun) -> None:
        """Make "of wine" or "in a hat and a shirt" part of the noun before it."""
        while self._tags(2) == "PN":
            preposition, inner = self._parts[self._place : self._place + 2]
            word, head = preposition.words[0], inner.words[-1]
            worn = word in ("in", "with") and head in WORDS.clothes and bool(noun.classes & WORDS.people)
            if inner.classes or not (worn or word == "of"):
                break
            noun.text += f" {preposition.text} {inner.text}"
            self._place += 2
            while worn and (following := self._joint()) != self._place:
                inner = self._parts[following]
                if inner.words[-1] not in WORDS.clothes or inner.classes:
                    break
                noun.text += f"{',' if self._next.words[0] == ',' else ' and'} {inner.text}"
                self._place = following + 1

    def _joint(self) -> int:
        """The place of the next noun of a list, past its comma or "and"; the current one when there is none."""
        tags = self._tags(3)
        for pattern in ("CN", ",CN", ",N"):
            if tags.startswith(pattern):
                joined = self._place + len(pattern) - 1
                words = {part.words[0] for part in self._parts[self._place : joined]}
                return self._place if words & {"but", "while", "nor"} else joined
        return self._place

    def _begins_clause(self, place: int) -> bool:
        """Whether the noun at `place` is a subject: a finite verb follows, or it is such as "its owner sitting"."""
        noun, *following = self._parts[place:]
        if following and following[0].tag == "G" and noun.words[0] in ("his", "her", "its", "their", "it"):
            return True
        return next(part.tag for part in following if part.tag != "R") in "FX"

    def _read_part(self) -> None:
        """Put a part into the last clause, or begin a clause with it."""
        clause, lead = self.clauses[-1], ""
        begun = bool(clause.subject or clause.segments)
        while self._next.tag in ",C":
            lead = f"{lead} {self._next.words[0]}".strip()
            self._place += 1
        tags = self._tags(2)
        if begun and lead and (tags == "OX" or (tags[0] == "N" and self._begins_clause(self._place))):
            self.clauses.append(clause := Clause(lead))
        empty = not clause.subject and not clause.segments
        while empty and tags == "OX" and self._next.tag in "OXR":
            clause.opening.append(self._take())
        part = self._next
        if part.tag == "N" and empty:
            clause.subject = self._nouns(single=False)
        elif part.tag in "PVFXGETW":
            self._read_segment(clause, lead)
        elif part.tag == "N":  # a noun without a verb or preposition: one more of the list before it
            _append(clause, self._nouns(single=True), lead)
        else:
            self._place += 1
            if part.tag != ".":
                tail = (
                    clause.segments[-1].tail if clause.segments else clause.tail if clause.subject else clause.opening
                )
                tail.append(part.text)

    def _read_segment(self, clause: Clause, lead: str) -> None:
        verbal = self._next.tag != "P"
        segment = Segment("W" if self._next.tag == "W" else "V" if verbal else "P", lead, [])
        while self._next.tag in ("WXFGETR" if verbal else "PR"):
            if segment.words and not verbal and self._next.tag == "R":
                break
            segment.finite |= self._next.tag in "FX"
            segment.words.append(self._take())
            if verbal and self._at_particle():
                segment.words.append(self._take())
            if verbal and self._parts[self._place - 1].tag in "GE" and self._next.tag in "GE":
                break
        if segment.kind == "W" or segment.first == "to":
            segment.finite = False
        segment.nouns = self._nouns(single=True)
        clause.segments.append(segment)

    def _at_particle(self) -> bool:
        """Whether the next preposition has nothing after it and belongs to the verb: "set up"."""
        if self._next.tag != "P" or self._next.words[0] not in WORDS.particles:
            return False
        following = self._parts[self._place + 1]
        return following.tag in ".,C" or (
            following.tag == "P"
            and self._next.words[0] in WORDS.particles_before_prepositions
            and following.words[0] != "of"
        )


def _append(clause: Clause, nouns: list[Noun], lead: str) -> None:
    """Put nouns that follow no verb and no preposition where they read on."""
    if not clause.segments:
        clause.subject.extend(nouns)
        return
    last = clause.segments[-1]
    before = clause.segments[-2] if len(clause.segments) > 1 else last
    if lead and last.verb and not last.nouns and not before.verb and not before.nouns:  # "with fried and a sandwich"
        before.tail += last.words
        clause.segments.pop()
        last = before
    if last.tail and not last.nouns and lead:
        last.nouns = [Noun(word, (word.lower(),), frozenset()) for word in last.tail]
        last.tail = []
    if last.tail and not last.nouns:  # "in it several times"
        last.tail += [noun.text for noun in nouns if not noun.classes]
        nouns = [noun for noun in nouns if noun.classes]
    last.nouns.extend(nouns)


def attach(clause: Clause) -> None:
    """Set the parent of every segment.

    "of" belongs to the noun before it; "with a dog on a chair" has the dog on the chair, but "with a dog in a field"
    everything in the field; other prepositions belong to the verb before them. A participle in -ed, a relative clause
    and an infinitive describe the noun before; a verb in -ing describes a living subject, if there is one.
    """
    for place, segment in enumerate(clause.segments):
        if place == 0:
            segment.parent = SUBJECT
        elif segment.verb:
            segment.parent = _of_verb(clause, place)
        else:
            segment.parent = _of_preposition(clause.segments, place)


def _of_preposition(segments: Sequence[Segment], place: int) -> int:
    segment, previous = segments[place], segments[place - 1]
    if segment.first == "of":
        return place - 1
    holds = previous.first == "with" or previous.owns
    if previous.nouns and holds and not (segment.nouns and segment.nouns[-1].head in WORDS.settings):
        return place - 1
    verbs = [index for index in range(place) if segments[index].verb]
    return verbs[-1] if verbs else SUBJECT


def _of_verb(clause: Clause, place: int) -> int:
    segment, previous = clause.segments[place], clause.segments[place - 1]
    if segment.lead and segment.kind == "V":  # "... and holding": beside the verb before
        verbs = [index for index in range(place) if clause.segments[index].kind == "V"]
        return clause.segments[verbs[-1]].parent if verbs else SUBJECT
    if segment.finite:
        return SUBJECT
    describes = segment.kind == "W" or segment.first.endswith("ed") or segment.first == "to"
    living = bool(clause.subject) and (not clause.subject[0].classes or bool(WORDS.living & clause.subject[0].classes))
    if previous.nouns:
        return place - 1 if describes or previous.first == "with" or previous.owns or not living else SUBJECT
    if segment.first == "to" or previous.verb:
        return place - 1
    return SUBJECT if living else previous.parent
