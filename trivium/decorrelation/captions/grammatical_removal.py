"""Remove noun phrases and leave grammatical English: drop what would dangle, mend the rest (decorrelation.md §2).

"A man holding a frisbee at a park." becomes "A man at a park."
"""

from collections.abc import Collection, Sequence

from trivium.decorrelation.captions.clauses import (
    SUBJECT,
    WORDS,
    Clause,
    Noun,
    Segment,
    drop_dangling,
    drop_doings,
    drop_pronouns,
    drop_worn,
    forget_owners,
    lose_object,
    promote,
)
from trivium.decorrelation.captions.parsing import parse
from trivium.formats.pictures import Phrase
from trivium.language.english.word_lists import QUANTITIES, THIRD_PERSON, is_plural


def remove_phrases(text: str, phrases: Sequence[Phrase], removed: Collection[str]) -> str | None:
    """Remove the noun phrases of the removed classes from a caption: y' of y.

    `phrases` are the noun phrases of y with the classes they name. None when nothing is left; y itself without a
    phrase of these classes.
    """
    gone = frozenset(removed)
    if not any(gone & set(phrase.classes) for phrase in phrases):
        return text
    clauses = parse(text, phrases)
    kept = [clause for clause in clauses if _remove_from(clause, gone)]
    return write(text, kept) or None


def _remove_from(clause: Clause, gone: frozenset[str]) -> bool:
    """Take the phrases out of a clause; whether anything is left."""
    had = len(clause.subject)
    lost = any(noun.classes & gone for noun in clause.subject)
    people = any(noun.classes & gone & WORDS.people for noun in clause.nouns)
    last_lost = bool(had) and bool(clause.subject[-1].classes & gone)
    keep_list(clause.subject, gone)
    if last_lost and clause.subject:
        clause.drop_children(SUBJECT, lambda child: child is clause.segments[0] and child.first == "of")
    for place, segment in enumerate(clause.segments):
        if segment.alive and segment.nouns:
            _take_from(clause, place, gone)
    drop_dangling(clause)
    if (lost and not clause.subject) or (people and not any(noun.classes & WORDS.people for noun in clause.nouns)):
        forget_owners(clause)
    if lost and len(clause.subject) == 1 < had:
        _narrow_subject(clause)
    if not clause.subject and (had or clause.opening):
        return promote(clause)
    if clause.lead and not clause.opening and not any(segment.alive and segment.finite for segment in clause.segments):
        clause.lead = "with"
    return bool(clause.subject) or any(segment.alive for segment in clause.segments)


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
    """Drop the last of a list with what describes it; what it acts on stays: "a bike and a man riding a horse"."""
    segment = clause.segments[place]
    for index in clause.children(place):
        child = clause.segments[index]
        if child.verb and not child.lead:
            nouns = [noun for part in (index, *clause.children(index)) for noun in clause.segments[part].nouns]
            segment.nouns += [noun for noun in nouns if noun.classes and not noun.classes & gone]
    drop_worn(clause, place)
    clause.drop_children(place, lambda child: child.verb or child.first == "of")
    if WORDS.living & gone:
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
            headless = noun.head in WORDS.body
            noun.owner = None
            noun.text = article_for(noun.text) if is_single(noun) else noun.text
        if headless and noun.head in WORDS.body:
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
    """Make a list that has become one agree with its verb; nothing is done together any more."""
    clause.narrowed = True
    if not is_single(clause.subject[0]):
        return
    for segment in clause.segments:
        segment.tail = [word for word in segment.tail if word.lower() not in ("together", "both")]
        segment.words = [word for word in segment.words if word.lower() not in ("together", "both")]
        if segment.refers_back and segment.tail[0].lower() in ("each", "another"):
            segment.alive = False
    clause.tail = [word for word in clause.tail if word.lower() not in ("together", "both")]


_MANY_TO_ONE = {"are": "is", "were": "was", "have": "has", "do": "does"}
_THIRD = {base: third for third, base in THIRD_PERSON.items()}


def is_single(noun: Noun) -> bool:
    """Whether a phrase means one thing."""
    if noun.words[0] in ("two", "three", "four", "several", "many", "some", "both"):
        return False
    if any(word in QUANTITIES for word in noun.words) and "of" in noun.words:
        return noun.words[0] in ("a", "an", "the")
    return not is_plural(noun.head) and noun.head not in WORDS.masses


def article_for(text: str) -> str:
    """The phrase with "a" or "an", unless something determines it already."""
    first = text.split()[0].lower()
    return text if first in WORDS.determiners or first.isdigit() else f"{article(text)} {text}"


def article(text: str) -> str:
    """The article `a`, or `an` before a vowel's sound."""
    word = text.split()[0].lower()
    silent = word.startswith(("hour", "honest"))
    glide = word.startswith(("uni", "use", "euro", "one"))
    return "an" if (word[0] in "aeiou" and not glide) or silent else "a"


def join(items: Sequence[str]) -> str:
    """Join a list in words: `a`, `a and b`, `a, b and c`."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def write(original: str, clauses: Sequence[Clause]) -> str:
    """The sentence that the clauses make, with the original's capital and full stop."""
    written = ""
    for number, clause in enumerate(clauses):
        text = _clause(clause)
        if not text:
            continue
        lead = clause.lead if written and number else ""
        if lead == "and" and not any(segment.alive and segment.finite for segment in clauses[0].segments):
            lead = ", and"
        written += f"{lead if lead.startswith(',') else ' ' + lead} {text}" if written else text
    words = " ".join(written.split()).replace(" 's", "'s").strip(" ,")
    if not words:
        return ""
    if original.lstrip()[:1].isupper():
        words = words[0].upper() + words[1:]
    return words + ("." if original.rstrip().endswith((".", "!", "?")) else "")


def _clause(clause: Clause) -> str:
    one = clause.narrowed and not is_plural(clause.subject[-1].head) and len(clause.subject) == 1
    opening = [_agree(word) if one else word for word in clause.opening]
    text = " ".join([*opening, *([_list(clause.subject)] if clause.subject else []), *clause.tail])
    agreed = False
    for segment in clause.segments:
        if not segment.alive:
            continue
        words = list(segment.words)
        if one and segment.finite and segment.parent == SUBJECT and not agreed:
            words[0] = _agree(words[0])
            agreed = True
        parts = [*words, *([_list(segment.nouns)] if segment.nouns else []), *segment.tail]
        lead = segment.lead if text else ""
        text += (lead if lead.startswith(",") else f" {lead}") + " " + " ".join(parts)
    return " ".join(text.split()).replace(" ,", ",")


def _agree(verb: str) -> str:
    """Return the singular form: "are" to "is", "sit" to "sits"."""
    return _MANY_TO_ONE.get(verb, _THIRD.get(verb, verb))


def _list(nouns: Sequence[Noun]) -> str:
    return join([_written(noun) for noun in nouns])


def _written(noun: Noun) -> str:
    return noun.text if noun.owner is None else f"{_written(noun.owner)}'s {noun.text}"
