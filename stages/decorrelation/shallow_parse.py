"""A caption as clauses of a subject and segments: enough grammar to take a noun phrase out (decorrelation.md §2).

A segment is a preposition or a verb with the nouns that follow it ("on a table", "holding a dog and a frisbee"). Each
hangs on another segment or on the subject; what hangs on a part that goes, goes with it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from stages.decorrelation.chunker import join_quantities, phrases_of_tags
from stages.decorrelation.lexicon import QUANTITIES
from stages.decorrelation.records import Phrase
from stages.decorrelation.sentences import Sentence, read_sentence
from stages.decorrelation.tagging import tag

SUBJECT = -1  # the parent of a segment that hangs on its clause's subject
OWNING_VERBS = frozenset("has have had having contains containing features featuring includes including shows".split())
_PERSON_PRONOUNS = frozenset("his her their him them himself herself themselves he she they".split())


@dataclass
class Noun:
    """A noun phrase: its words as written, the classes it names, who owns it."""

    text: str
    words: tuple[str, ...]
    classes: frozenset[str]
    owner: "Noun | None" = None

    @property
    def head(self) -> str:
        """Its last word, lower case."""
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
    """

    kind: str
    lead: str
    words: list[str]
    finite: bool = False
    nouns: list[Noun] = field(default_factory=list)
    tail: list[str] = field(default_factory=list)
    parent: int = SUBJECT
    alive: bool = True


@dataclass
class Clause:
    """A subject and what is said of it; `lead` joins it to the clause before, `opening` is such as "there are"."""

    lead: str = ""
    opening: list[str] = field(default_factory=list)
    subject: list[Noun] = field(default_factory=list)
    tail: list[str] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)


@dataclass(frozen=True)
class _Part:
    """A noun phrase (tag "N") or a single word, with its place in the sentence."""

    tag: str
    first: int
    end: int


def parse(text: str, phrases: Sequence[Phrase]) -> list[Clause]:
    """The clauses of a caption.

    Args:
        text: the caption.
        phrases: its noun phrases with their classes; those found by rule get the classes of these where they overlap.
    """
    sentence = read_sentence(text)
    tags = tag(sentence)
    parts = _parts(sentence, tags)
    clauses = [Clause()]
    place = 0
    while place < len(parts):
        place = _read_part(sentence, parts, place, phrases, clauses)
    for clause in clauses:
        _attach(clause)
    return clauses


def _parts(sentence: Sentence, tags: str) -> list[_Part]:
    ranges = dict(join_quantities(sentence, phrases_of_tags(tags)))
    parts, place = [], 0
    while place < len(tags):
        end = ranges.get(place, place + 1)
        parts.append(_Part("N" if place in ranges else tags[place].replace("N", "R"), place, end))
        place = end
    return parts


def _noun(sentence: Sentence, part: _Part, phrases: Sequence[Phrase], owner: Noun | None) -> Noun:
    start, end = sentence.characters(part.first, part.end)
    names = {name for each in phrases if each.start < end and each.end > start for name in each.classes}
    return Noun(sentence.text[start:end], sentence.words[part.first : part.end], frozenset(names), owner)


def _nouns(
    sentence: Sentence, parts: Sequence[_Part], place: int, phrases: Sequence[Phrase], *, single: bool
) -> tuple[list[Noun], int]:
    """A run of coordinated nouns from `place` on ("a dog, a cat and a bird"), and the place after it."""
    nouns: list[Noun] = []
    while place < len(parts) and parts[place].tag == "N":
        owner = None
        while parts[place + 1 : place + 3] and [each.tag for each in parts[place + 1 : place + 3]] == ["S", "N"]:
            owner = _noun(sentence, parts[place], phrases, owner)
            place += 2
        nouns.append(_noun(sentence, parts[place], phrases, owner))
        place += 1
        joined = _joint(sentence, parts, place)
        if joined == place and not (place < len(parts) and parts[place].tag == "N"):
            break
        if single and _verb_follows(sentence, parts, joined):
            break
        place = joined
    return nouns, place


def _joint(sentence: Sentence, parts: Sequence[_Part], place: int) -> int:
    """The place of the next noun of a list, past its comma or "and"; `place` itself when there is none."""
    marks = "".join(each.tag for each in parts[place : place + 3])
    for pattern in ("CN", ",CN", ",N"):
        if marks.startswith(pattern):
            joined = place + len(pattern) - 1
            words = sentence.words[parts[place].first : parts[joined].first]
            return joined if not {"but", "while", "nor"} & set(words) else place
    return place


def _verb_follows(sentence: Sentence, parts: Sequence[_Part], place: int) -> bool:
    """Whether the noun at `place` is the subject of a finite verb: a clause of its own begins."""
    place += 1
    while place < len(parts) and parts[place].tag == "R":
        place += 1
    return place < len(parts) and parts[place].tag in "FX"


def _read_part(
    sentence: Sentence, parts: Sequence[_Part], place: int, phrases: Sequence[Phrase], clauses: list[Clause]
) -> int:
    """Put the part at `place` into the last clause, or begin a clause with it; the place after what was read."""
    clause, lead = clauses[-1], ""
    begun = bool(clause.subject or clause.segments)
    while place < len(parts) and parts[place].tag in ",C":
        word = sentence.words[parts[place].first]
        lead = f"{lead} {word}".strip()
        place += 1
    if place >= len(parts):
        return place
    tags = "".join(each.tag for each in parts[place : place + 2])
    if begun and lead and (tags == "OX" or (tags[0] == "N" and _verb_follows(sentence, parts, place))):
        clauses.append(clause := Clause(lead))
    if tags == "OX" and not clause.subject and not clause.segments:
        place = _existential(sentence, parts, place, clause)
        if place >= len(parts):
            return place
    part = parts[place]
    if part.tag == "N" and not clause.subject and not clause.segments:
        clause.subject, place = _nouns(sentence, parts, place, phrases, single=False)
        return place
    if part.tag in "PVFXGETW":
        return _read_segment(sentence, parts, place, phrases, clause, lead)
    if part.tag == "N":  # a noun without a verb or preposition: one more of the list before it
        nouns, place = _nouns(sentence, parts, place, phrases, single=True)
        (clause.segments[-1].nouns if clause.segments else clause.subject).extend(nouns)
        return place
    if part.tag != ".":
        tail = clause.segments[-1].tail if clause.segments else clause.tail if clause.subject else clause.opening
        tail.append(_written(sentence, part))
    return place + 1


def _existential(sentence: Sentence, parts: Sequence[_Part], place: int, clause: Clause) -> int:
    while place < len(parts) and parts[place].tag in "OXR":
        clause.opening.append(_written(sentence, parts[place]))
        place += 1
    return place


def _written(sentence: Sentence, part: _Part) -> str:
    start, end = sentence.characters(part.first, part.end)
    return sentence.text[start:end]


def _read_segment(
    sentence: Sentence, parts: Sequence[_Part], place: int, phrases: Sequence[Phrase], clause: Clause, lead: str
) -> int:
    verbal = parts[place].tag != "P"
    kind = "W" if parts[place].tag == "W" else "V" if verbal else "P"
    segment = Segment(kind, lead, [])
    allowed = "WXFGETR" if verbal else "PR"
    while place < len(parts) and parts[place].tag in allowed:
        if segment.words and not verbal and parts[place].tag == "R":
            break
        segment.finite |= parts[place].tag in "FX"
        segment.words.append(_written(sentence, parts[place]))
        place += 1
        if verbal and parts[place - 1].tag in "GE" and place < len(parts) and parts[place].tag in "GE":
            break
    if kind == "W" or any(each.lower() == "to" for each in segment.words[:1]):
        segment.finite = False
    if place < len(parts) and parts[place].tag == "N":
        segment.nouns, place = _nouns(sentence, parts, place, phrases, single=True)
    clause.segments.append(segment)
    return place


def _attach(clause: Clause) -> None:
    """Find what each segment hangs on."""
    segments = clause.segments
    for place, segment in enumerate(segments):
        segment.parent = _parent(clause, segments, place)


def _parent(clause: Clause, segments: Sequence[Segment], place: int) -> int:
    segment, before = segments[place], place - 1
    if before < 0:
        return SUBJECT
    previous, word = segments[before], segment.words[0].lower()
    if segment.kind == "P":
        if word == "of":
            return before
        if previous.kind == "P" and previous.words[0].lower() == "with" and refers_back(segment):
            return before
        if previous.nouns and _owns(previous):
            return before
        verbs = [each for each in range(place) if segments[each].kind != "P"]
        return verbs[-1] if verbs else SUBJECT
    if segment.lead and segment.kind == "V":  # "... and holding": beside the verb before
        verbs = [each for each in range(place) if segments[each].kind == "V"]
        return segments[verbs[-1]].parent if verbs else SUBJECT
    if segment.finite:
        return SUBJECT
    participle = segment.kind == "W" or segment.words[0].lower().endswith("ed") or word == "to"
    living = bool(clause.subject) and (not clause.subject[0].classes or "person" in clause.subject[0].classes)
    with_them = previous.kind == "P" and previous.words[0].lower() == "with"
    if previous.nouns and (participle or with_them or not living or _owns(previous)) and before >= 0:
        return before
    if not previous.nouns:
        return before if word == "to" or previous.kind != "P" else previous.parent
    return SUBJECT


def _owns(segment: Segment) -> bool:
    return any(word.lower() in OWNING_VERBS for word in segment.words)


def refers_back(segment: Segment) -> bool:
    """Whether a segment's object is a pronoun: "on it"."""
    return not segment.nouns and bool(segment.tail)


def is_quantity(noun: Noun) -> bool:
    """Whether a phrase only counts what follows: "a group"."""
    return noun.head in QUANTITIES


def of_person(word: str) -> bool:
    """Whether a pronoun stands for people."""
    return word.lower() in _PERSON_PRONOUNS
