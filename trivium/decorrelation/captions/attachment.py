"""What each segment of a clause hangs on, by rule."""

from collections.abc import Sequence

from trivium.decorrelation.captions.clause_words import LIVING, SETTINGS
from trivium.decorrelation.captions.clauses import SUBJECT, Clause, Segment


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
