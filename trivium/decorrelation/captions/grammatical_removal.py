"""Noun-phrase removal that leaves English: what would dangle goes too, and the rest is mended (decorrelation.md §2).

"A man holding a frisbee at a park." becomes "A man at a park."
"""

from collections.abc import Collection, Sequence

from trivium.decorrelation.captions.clause_words import BODY, LIVING, PEOPLE
from trivium.decorrelation.captions.clauses import SUBJECT, Clause, Noun, Segment
from trivium.decorrelation.captions.clean_up import article_for, is_single, write
from trivium.decorrelation.captions.dangling import (
    drop_dangling,
    drop_doings,
    drop_pronouns,
    drop_worn,
    forget_owners,
    lose_object,
)
from trivium.decorrelation.captions.promotion import promote
from trivium.decorrelation.captions.shallow_parse import parse
from trivium.formats.pictures import Phrase


def remove_phrases(text: str, phrases: Sequence[Phrase], removed: Collection[str]) -> str | None:
    """The caption y' without the removed classes, in whole phrases.

    Args:
        text: y.
        phrases: noun phrases of y with the classes they name.
        removed: classes whose phrases go.

    Returns:
        y', or None when nothing is left. Without a phrase of these classes, y itself.
    """
    gone = frozenset(removed)
    if not any(gone & set(each.classes) for each in phrases):
        return text
    clauses = parse(text, phrases)
    kept = [clause for clause in clauses if _remove_from(clause, gone)]
    return write(text, kept) or None


def _remove_from(clause: Clause, gone: frozenset[str]) -> bool:
    """Take the phrases out of a clause; whether anything is left."""
    had = len(clause.subject)
    lost = any(noun.classes & gone for noun in clause.subject)
    people = any(noun.classes & gone & PEOPLE for noun in clause.nouns)
    last_lost = bool(had) and bool(clause.subject[-1].classes & gone)
    keep_list(clause.subject, gone)
    if last_lost and clause.subject:
        clause.drop_children(SUBJECT, lambda child: child is clause.segments[0] and child.first == "of")
    for place, segment in enumerate(clause.segments):
        if segment.alive and segment.nouns:
            _take_from(clause, place, gone)
    drop_dangling(clause)
    if (lost and not clause.subject) or (people and not any(noun.classes & PEOPLE for noun in clause.nouns)):
        forget_owners(clause)
    if lost and len(clause.subject) == 1 < had:
        _narrow_subject(clause)
    if not clause.subject and (had or clause.opening):
        return promote(clause)
    if clause.lead and not clause.opening and not any(each.alive and each.finite for each in clause.segments):
        clause.lead = "with"
    return bool(clause.subject) or any(each.alive for each in clause.segments)


def _take_from(clause: Clause, place: int, gone: frozenset[str]) -> None:
    """Take the phrases out of one segment."""
    segment = clause.segments[place]
    had = len(segment.nouns)
    lost = [bool(noun.classes & gone) for noun in segment.nouns]
    keep_list(segment.nouns, gone)
    if not segment.nouns:
        lose_object(clause, place, gone)
    elif any(lost):
        _narrow(segment, had)
        drop_pronouns(clause, place)
        if lost[-1]:
            _lose_last(clause, place, gone)


def _lose_last(clause: Clause, place: int, gone: frozenset[str]) -> None:
    """The last of a list goes with what describes it; what it acts on stays: "a bike and a man riding a horse"."""
    segment = clause.segments[place]
    for index in clause.children(place):
        child = clause.segments[index]
        if child.verb and not child.lead:
            held = [each for each in (index, *clause.children(index)) if clause.segments[each].nouns]
            segment.nouns += [
                n for each in held for n in clause.segments[each].nouns if n.classes and not n.classes & gone
            ]
    drop_worn(clause, place)
    clause.drop_children(place, lambda child: child.verb or child.first == "of")
    if LIVING & gone:
        drop_doings(clause, place)


def keep_list(nouns: list[Noun], gone: frozenset[str]) -> None:
    """Leave the nouns of other classes; an article that went goes to the next of a list: "a cat and dog", "a dog".

    "a man's hat" without the man is "a hat"; "a man's head and shoulders" go with him.
    """
    article, headless = False, False
    kept: list[Noun] = []
    for noun in nouns:
        if noun.classes & gone:
            article |= noun.words[0] in ("a", "an", "the")
            continue
        if noun.owner is not None and noun.owner.classes & gone:
            headless = noun.head in BODY
            noun.owner = None
            noun.text = article_for(noun.text) if is_single(noun) else noun.text
        if headless and noun.head in BODY:
            continue
        if article and is_single(noun) and noun.owner is None:
            noun.text = article_for(noun.text)
        article = False
        kept.append(noun)
    nouns[:] = kept


def _narrow(segment: Segment, had: int) -> None:
    """`between a sign and a light" without the light: "beside a sign"."""
    if had > 1 and len(segment.nouns) == 1 and segment.kind == "P" and is_single(segment.nouns[0]):
        words = [word.lower() for word in segment.words]
        if words[-1] in ("between", "among", "amongst"):
            segment.words = ["beside"]


def _narrow_subject(clause: Clause) -> None:
    """A list that has become one: the verb agrees, and nothing is done together."""
    clause.narrowed = True
    if not is_single(clause.subject[0]):
        return
    for segment in clause.segments:
        segment.tail = [word for word in segment.tail if word.lower() not in ("together", "both")]
        segment.words = [word for word in segment.words if word.lower() not in ("together", "both")]
        if segment.refers_back and segment.tail[0].lower() in ("each", "another"):
            segment.alive = False
    clause.tail = [word for word in clause.tail if word.lower() not in ("together", "both")]
