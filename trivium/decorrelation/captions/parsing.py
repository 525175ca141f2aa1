"""From a caption's words to its clauses, and what each segment hangs on, in one pass by rule (decorrelation.md §2)."""

from collections.abc import Sequence
from dataclasses import dataclass

from trivium.decorrelation.captions.clauses import (
    CLOTHES,
    LIVING,
    PARTICLES,
    PARTICLES_BEFORE_PREPOSITIONS,
    PEOPLE,
    SETTINGS,
    SUBJECT,
    Clause,
    Noun,
    Segment,
)
from trivium.formats.pictures import Phrase
from trivium.language.english.chunker import join_quantities, phrases_of_tags
from trivium.language.english.sentences import Sentence, read_sentence
from trivium.language.english.tagging import tag


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
        attach(clause)
    return _open(clauses)


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
    names = {name for phrase in phrases if phrase.start < end and phrase.end > start for name in phrase.classes}
    return Noun(sentence.text[start:end], sentence.words[part.first : part.end], frozenset(names), owner)


def _nouns(
    sentence: Sentence, parts: Sequence[_Part], place: int, phrases: Sequence[Phrase], *, single: bool
) -> tuple[list[Noun], int]:
    """A run of coordinated nouns from `place` on ("a dog, a cat and a bird"), and the place after it."""
    nouns: list[Noun] = []
    while place < len(parts) and parts[place].tag == "N":
        owner = None
        while parts[place + 1 : place + 3] and [part.tag for part in parts[place + 1 : place + 3]] == ["S", "N"]:
            owner = _noun(sentence, parts[place], phrases, owner)
            place += 2
        nouns.append(_noun(sentence, parts[place], phrases, owner))
        place = _fold(sentence, parts, place + 1, phrases, nouns[-1])
        joined = _joint(sentence, parts, place)
        if joined == place and not (place < len(parts) and parts[place].tag == "N"):
            break
        if single and _begins_clause(sentence, parts, joined):
            break
        place = joined
    return nouns, place


def _fold(sentence: Sentence, parts: Sequence[_Part], place: int, phrases: Sequence[Phrase], noun: Noun) -> int:
    """Make "of wine" or "in a hat and a shirt" part of the noun before it; the place after what was read."""
    while place + 1 < len(parts) and parts[place].tag == "P" and parts[place + 1].tag == "N":
        word, inner = sentence.words[parts[place].first], _noun(sentence, parts[place + 1], phrases, None)
        worn = word in ("in", "with") and inner.head in CLOTHES and bool(noun.classes & PEOPLE)
        if inner.classes or parts[place].end - parts[place].first > 1 or not (worn or word == "of"):
            break
        noun.text += f" {_written(sentence, parts[place])} {inner.text}"
        place += 2
        while worn and (following := _joint(sentence, parts, place)) != place:
            inner = _noun(sentence, parts[following], phrases, None)
            if inner.head not in CLOTHES or inner.classes:
                break
            mark = "," if sentence.words[parts[place].first] == "," else " and"
            noun.text += f"{mark} {inner.text}"
            place = following + 1
    return place


def _joint(sentence: Sentence, parts: Sequence[_Part], place: int) -> int:
    """The place of the next noun of a list, past its comma or "and"; `place` itself when there is none."""
    marks = "".join(part.tag for part in parts[place : place + 3])
    for pattern in ("CN", ",CN", ",N"):
        if marks.startswith(pattern):
            joined = place + len(pattern) - 1
            words = sentence.words[parts[place].first : parts[joined].first]
            return joined if not {"but", "while", "nor"} & set(words) else place
    return place


def _begins_clause(sentence: Sentence, parts: Sequence[_Part], place: int) -> bool:
    """Whether the noun at `place` is a subject: a finite verb follows, or it is such as "its owner sitting"."""
    owned = sentence.words[parts[place].first] in ("his", "her", "its", "their", "it") and parts[place].tag == "N"
    place += 1
    if owned and place < len(parts) and parts[place].tag == "G":
        return True
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
    tags = "".join(part.tag for part in parts[place : place + 2])
    if begun and lead and (tags == "OX" or (tags[0] == "N" and _begins_clause(sentence, parts, place))):
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
        _append(clause, nouns, lead)
        return place
    if part.tag != ".":
        tail = clause.segments[-1].tail if clause.segments else clause.tail if clause.subject else clause.opening
        tail.append(_written(sentence, part))
    return place + 1


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
        if verbal and _particle(sentence, parts, place):
            segment.words.append(_written(sentence, parts[place]))
            place += 1
        if verbal and parts[place - 1].tag in "GE" and place < len(parts) and parts[place].tag in "GE":
            break
    if kind == "W" or any(word.lower() == "to" for word in segment.words[:1]):
        segment.finite = False
    if place < len(parts) and parts[place].tag == "N":
        segment.nouns, place = _nouns(sentence, parts, place, phrases, single=True)
    clause.segments.append(segment)
    return place


def _particle(sentence: Sentence, parts: Sequence[_Part], place: int) -> bool:
    """Whether the preposition at `place` has nothing after it and belongs to the verb: "set up"."""
    if place >= len(parts) or sentence.words[parts[place].first] not in PARTICLES or parts[place].tag != "P":
        return False
    following = parts[place + 1].tag if place + 1 < len(parts) else "."
    return following in ".,C" or (
        following == "P"
        and sentence.words[parts[place].first] in PARTICLES_BEFORE_PREPOSITIONS
        and parts[place].end == parts[place + 1].first
        and sentence.words[parts[place + 1].first] != "of"
    )


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
    if previous.nouns and holds and not (segment.nouns and segment.nouns[-1].head in SETTINGS):
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
    living = bool(clause.subject) and (not clause.subject[0].classes or bool(LIVING & clause.subject[0].classes))
    if previous.nouns:
        return place - 1 if describes or previous.first == "with" or previous.owns or not living else SUBJECT
    if segment.first == "to" or previous.verb:
        return place - 1
    return SUBJECT if living else previous.parent
