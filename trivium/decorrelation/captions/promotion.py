"""A clause that has lost its subject is about the first thing that is left."""

from collections.abc import Sequence

from trivium.decorrelation.captions.clause_words import (
    ABSTRACT,
    NEEDS_PHRASE,
    PARTS,
    REMOTE,
    SETTINGS,
    STANDING,
    WHEREABOUTS,
)
from trivium.decorrelation.captions.clauses import SUBJECT, Clause, Segment


def promote(clause: Clause) -> bool:
    """Without its subject, a clause is about the first thing that is left: "A man rides a horse" to "A horse"."""
    live = [place for place, each in enumerate(clause.segments) if each.alive]
    full = clause.tail[-1:] == ["full"]
    clause.opening, clause.tail = [], []
    objects = [place for place in live if clause.segments[place].kind == "V" and clause.segments[place].nouns]
    concrete = [place for place in objects if clause.segments[place].nouns[0].head not in ABSTRACT]
    phrases = [place for place in live if clause.segments[place].kind == "P" and clause.segments[place].nouns
               and not clause.segments[place].of_body and clause.segments[place].first not in REMOTE
               and clause.segments[place].nouns[0].head not in ABSTRACT]  # fmt: skip
    named = [place for place in phrases if clause.segments[place].nouns[0].classes]
    contents = [0] if full and 0 in phrases and clause.segments[0].first == "of" else []  # "a vase full of flowers"
    first = [_first_of_row(clause, place, phrases) for place in named[:1]]
    source = concrete or contents or first or phrases[:1] or objects[:1]
    if not source:
        return False
    if source[0] in objects and any(clause.segments[each].parent == SUBJECT for each in source):
        source = [place for place in source if clause.segments[place].parent not in source]
    if source == concrete:  # "riding a wave on a surfboard": the wave is not on it
        beside = (place for place in named if " ".join(clause.segments[place].words).lower() in WHEREABOUTS)
        source = source + [place for place in beside if clause.segments[place].nouns[0].head not in SETTINGS]
    nouns = {noun.text: noun for place in source for noun in clause.segments[place].nouns}
    clause.subject = list(nouns.values())
    clause.lead = clause.lead and "with"
    for place, segment in enumerate(clause.segments):
        hangs = segment.parent in source and segment.kind != "P"
        abstract = bool(segment.nouns) and segment.nouns[0].head in ABSTRACT
        stays = (
            bool(segment.nouns)
            and not abstract
            and not segment.of_body
            and (segment.places or segment.first == "with" or (segment.first == "of" and segment.parent in source))
        )
        part = place + 1 in source and clause.segments[place + 1].first == "of" and segment.nouns[-1].head in PARTS
        if place in source or part or not (hangs or stays) or (place < source[0] and _leaned_on(clause, segment)):
            segment.alive = False
        else:
            segment.lead = ""
    clause.segments = [each for each in clause.segments if each.alive]
    return True


def _leaned_on(clause: Clause, segment: Segment) -> bool:
    """Whether a phrase says no more than what the subject did, which went: "leaning on a post"."""
    if segment.parent == SUBJECT or not segment.places or segment.nouns[0].head in SETTINGS:
        return False
    return clause.segments[segment.parent].stem in NEEDS_PHRASE - STANDING


def _first_of_row(clause: Clause, place: int, phrases: Sequence[int]) -> int:
    """The first of the prepositional phrases that lead to one: in "on a plate on a table" the plate."""
    while place - 1 in phrases and clause.segments[place].places:
        place -= 1
    return place
