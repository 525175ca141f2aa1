"""Noun-phrase removal: a caption without the phrases of the removed classes, and without what then dangles
(decorrelation.md §2): "Two dogs fight over a frisbee" becomes "Two dogs fight."
"""

from collections.abc import Callable, Collection, Sequence

from stages.decorrelation.clean_up import article_for, is_single, write
from stages.decorrelation.lexicon import POSSESSIVES as _POSSESSIVES
from stages.decorrelation.lexicon import PRONOUNS as _PRONOUNS
from stages.decorrelation.records import Phrase
from stages.decorrelation.shallow_parse import (
    LIVING,
    OWNING_VERBS,
    SUBJECT,
    Clause,
    Noun,
    Segment,
    parse,
    refers_back,
)

PEOPLE = frozenset({"person", "people"})
POSSESSIVES, PRONOUNS = frozenset(_POSSESSIVES.split()), frozenset(_PRONOUNS.split())
# Verbs that still say something without their object.
_STANDS_ALONE = frozenset(
    """eat drink play read cook talk smoke serve pose perform sleep walk run jump fly drive surf ski skate fight
    race dance sing swim wait work speak write bake paint graze feed look""".split()
)
# Verbs that say nothing once their prepositional phrase is gone.
_NEEDS_PHRASE = frozenset(
    """lean look stare gaze peer rest belong consist depend connect fill cover top pair attach surround
    line stack decorate load pack set mount make compose carve adorn strap point prepare perch place put hang lie lay
    dress sit seat stand""".split()
)
_STANDING = frozenset("sit seat stand lie lay hang rest perch place park".split())
_LOCATIVE = frozenset(
    """in on at near by beside besides next behind under underneath beneath above over below between among along alongside inside outside
    atop around across during against close within in-front amid through""".split()
)
_PARTS = frozenset(
    "back top side sides front edge middle corner end bottom rest center base body arm arms leg legs foot seat".split()
)
_DEPICTIONS = frozenset(
    "up closeup picture pictures photo photos photograph image images view shot painting close drawing snapshot".split()
)
_WORN = frozenset(
    """shirt t-shirt shirts hat hats cap dress suit suits jacket coat uniform uniforms pants shorts jeans wetsuit
    helmet helmets glasses sunglasses hair beard outfit clothes clothing costume vest sweater tie gear boots skirt scarf gloves
    robe bikini swimsuit trunks apron attire hand hands mouth arms lap head shoulders back eyes smile face leash collar saddle""".split()
)
_BODY = frozenset(
    "head hand hands arm arms shoulders face eyes back mouth lap hair leg legs feet foot body neck".split()
)
_ABSTRACT = frozenset(
    "trick tricks pose position pitch fun time ride preparation turn lunch dinner breakfast notes way flight swing position times something reflection".split()
)
_COPULAS = frozenset("is are was were be being".split())


def remove_phrases(text: str, phrases: Sequence[Phrase], removed: Collection[str]) -> str | None:
    """The caption y' without the removed classes.

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
    people = any(noun.classes & gone & PEOPLE for noun in _all_nouns(clause))
    last_lost = bool(had) and bool(clause.subject[-1].classes & gone)
    keep_list(clause.subject, gone)
    if last_lost and clause.subject:
        _drop_children(clause, SUBJECT, _follows_noun(clause))
    for place, segment in enumerate(clause.segments):
        if segment.alive and segment.nouns:
            _take_from(clause, place, gone)
    _drop_dangling(clause)
    if (lost and not clause.subject) or (people and not any(noun.classes & PEOPLE for noun in _all_nouns(clause))):
        _forget_owners(clause)
    if lost and len(clause.subject) == 1 < had:
        _narrow_subject(clause)
    if not clause.subject and (had or clause.opening):
        return _promote(clause)
    if clause.lead and not clause.opening and not any(each.alive and each.finite for each in clause.segments):
        clause.lead = "with"
    return bool(clause.subject) or any(each.alive for each in clause.segments)


def _follows_noun(clause: Clause) -> Callable[[Segment], bool]:
    """What hangs on the last of several subjects: its "of" and its participle, before any finite verb."""
    first = clause.segments[:1]
    return lambda child: child in first and child.kind == "P" and _first(child) == "of"


def _take_from(clause: Clause, place: int, gone: frozenset[str]) -> None:
    """Take the phrases out of one segment."""
    segment = clause.segments[place]
    had = len(segment.nouns)
    lost = [bool(noun.classes & gone) for noun in segment.nouns]
    keep_list(segment.nouns, gone)
    if not segment.nouns:
        _lose_object(clause, place)
    elif any(lost):
        _narrow(segment, had)
        _drop_pronouns(clause, place)
        if lost[-1]:
            _drop_worn(clause, place)
            _drop_children(clause, place, lambda child: child.kind != "P" or _first(child) == "of")
            if any(name in LIVING for name in gone):
                _drop_doings(clause, place)


def _drop_doings(clause: Clause, place: int) -> None:
    """What someone does who was last of a list, up to the next comma: "a field and a man standing on it"."""
    following = []
    for segment in clause.segments[place + 1 :]:
        if segment.lead.startswith(",") or segment.finite:
            break
        following.append(segment)
    if any(segment.kind == "V" for segment in following):
        for segment in following:
            segment.alive = False


def _all_nouns(clause: Clause) -> list[Noun]:
    return [*clause.subject, *(noun for each in clause.segments if each.alive for noun in each.nouns)]


def keep_list(nouns: list[Noun], gone: frozenset[str]) -> None:
    """Leave the nouns of other classes; an article that went with the first of a list goes to the next.

    "a man's hat" without the man is "a hat"; "a man's head and shoulders" go with him.
    """
    article, headless = False, False
    kept: list[Noun] = []
    for noun in nouns:
        if noun.classes & gone:
            article |= noun.words[0] in ("a", "an", "the") and not kept
            continue
        if noun.owner is not None and noun.owner.classes & gone:
            headless = noun.head in _BODY
            noun.owner = None
            noun.text = article_for(noun.text) if is_single(noun) else noun.text
        if headless and noun.head in _BODY:
            continue
        if article and not kept and is_single(noun) and noun.owner is None:
            noun.text = article_for(noun.text)
        kept.append(noun)
    nouns[:] = kept


def _narrow(segment: Segment, had: int) -> None:
    """ "between a sign and a light" without the light: "beside a sign"."""
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
        if refers_back(segment) and segment.tail[0].lower() in ("each", "another"):
            segment.alive = False
    clause.tail = [word for word in clause.tail if word.lower() not in ("together", "both")]


def _lose_object(clause: Clause, place: int) -> None:
    """The whole object of a segment has gone: so does the segment, unless its verb can stand alone."""
    segment = clause.segments[place]
    if segment.kind != "P" and _stem(segment) in _STANDS_ALONE:
        _drop_children(clause, place, lambda child: _first(child) == "of" or refers_back(child))
        segment.tail = []
        return
    accompanies = (segment.kind == "P" and _first(segment) == "with") or _owning(segment)
    children = [child for child in clause.segments if child.alive and child.parent == place]
    heirs = [child for child in children if child.nouns and child.nouns[0].classes and _first(child) != "of"]
    segment.alive = False
    if accompanies and heirs:  # "with a cat next to a dog" without the cat: "with a dog"
        segment.alive, segment.nouns, heirs[0].alive = True, heirs[0].nouns, False
        _take_over(clause, heirs[0], place)
    for index, child in enumerate(clause.segments):
        if child.alive and child.parent == place and not segment.alive:
            if (
                not accompanies
                and child.kind == "P"
                and not _of_body(child)
                and not refers_back(child)
                and (_places(child) if segment.kind != "P" else _first(child) != "of")
            ):
                child.parent, child.lead = segment.parent, ""
            else:
                _drop(clause, index)
    _drop_pronouns(clause, place)
    if segment.kind == "P":
        _drop_worn(clause, place)
        if _first(segment) == "of":
            _lose_part(clause, segment.parent)


def _take_over(clause: Clause, heir: Segment, place: int) -> None:
    """What hung on the heir hangs on the segment that took its noun; the segment's other parts go."""
    former = next(index for index, each in enumerate(clause.segments) if each is heir)
    _drop_children(clause, place, lambda child: True)
    for child in clause.segments:
        if child.parent == former:
            child.parent = place


def _lose_part(clause: Clause, parent: int) -> None:
    """ "the back of a toilet" without the toilet has no back either; neither is there a picture of it."""
    nouns = clause.subject if parent == SUBJECT else clause.segments[parent].nouns
    if nouns and (nouns[-1].head in _PARTS or nouns[-1].head in _DEPICTIONS):
        nouns.pop()
        if parent != SUBJECT and not nouns:
            _lose_object(clause, parent)


def _drop_pronouns(clause: Clause, place: int) -> None:
    """ "a table with cake on it" without the table: "cake"; "it" would have no meaning."""
    for segment in clause.segments[place + 1 : place + 3]:
        if segment.kind == "P" and refers_back(segment) and segment.tail[0].lower() in ("it", "them"):
            segment.alive = False


def _drop_worn(clause: Clause, place: int) -> None:
    """What follows a removed noun and is worn or held by it."""
    for segment in clause.segments[place + 1 : place + 2]:
        if segment.kind == "P" and segment.nouns and segment.nouns[0].head in _WORN:
            segment.alive = False


def _drop(clause: Clause, place: int) -> None:
    clause.segments[place].alive = False
    _drop_children(clause, place, lambda child: True)


def _drop_children(clause: Clause, place: int, which: Callable[[Segment], bool]) -> None:
    for index, child in enumerate(clause.segments):
        if child.alive and child.parent == place and which(child):
            _drop(clause, index)


def _first(segment: Segment) -> str:
    return segment.words[0].lower()


def _stem(segment: Segment) -> str:
    """The base form of a segment's last verb, roughly."""
    verbs = [word.lower() for word in segment.words if word.lower() not in _COPULAS and word.isalpha()]
    word = verbs[-1] if verbs else ""
    for known in (_STANDS_ALONE, _NEEDS_PHRASE):
        for stem in (
            word,
            word[:-1],
            word[:-2],
            word[:-3],
            word[:-3] + "e",
            word[:-4],
            word[:-2] + "e",
            word[:-1] + "e",
        ):
            if stem in known:
                return stem
    return {"ate": "eat", "lying": "lie", "ran": "run", "sat": "sit", "made": "make", "hung": "hang"}.get(word, word)


def _owning(segment: Segment) -> bool:
    return any(word.lower() in OWNING_VERBS for word in segment.words)


def _places(segment: Segment) -> bool:
    return segment.kind == "P" and _first(segment) in _LOCATIVE and bool(segment.nouns)


def _of_body(segment: Segment) -> bool:
    return bool(segment.nouns) and segment.nouns[0].head in _WORN


def _drop_dangling(clause: Clause) -> None:
    """Verbs that had only a phrase to lean on, prepositions of nothing; from the end, so that one leads to the next."""
    for place in reversed(range(len(clause.segments))):
        segment = clause.segments[place]
        if not segment.alive or segment.nouns or segment.tail:
            continue
        hung = [each for each in clause.segments if each.parent == place]
        if any(each.alive for each in hung) or not hung:
            continue
        segment.alive = segment.kind != "P" and not _dangles(clause, place)
    verbs = False
    for segment in clause.segments:
        if segment.alive and segment.kind == "V":
            if segment.lead and not verbs and not segment.finite:
                segment.lead = ""  # "wearing a tie and holding a cup" without the tie
            verbs = True


def _dangles(clause: Clause, place: int) -> bool:
    """Whether a verb that has lost what followed it says nothing any more."""
    segment = clause.segments[place]
    later = [each for each in clause.segments[place + 1 :] if each.alive]
    if later and later[0].kind == "V" and not later[0].lead:
        return True
    if all(word.lower() in _COPULAS for word in segment.words):
        return not (later and segment.finite and later[0].kind == "P")
    stem = _stem(segment)
    if stem in _STANDING:
        living = any(noun.classes & LIVING for noun in clause.subject)
        first = not any(each.alive and each.kind == "V" for each in clause.segments[:place])
        return not (living and first)
    return stem in _NEEDS_PHRASE


def _forget_owners(clause: Clause) -> None:
    """Pronouns of those who have gone: "his right hand" goes, "their dog" becomes "the dog"."""
    for place, segment in enumerate(clause.segments):
        if not segment.alive:
            continue
        if refers_back(segment) and segment.tail[0].lower() in PRONOUNS:
            _drop(clause, place)
        for noun in list(segment.nouns):
            if noun.words[0] in POSSESSIVES:
                if noun.head in _WORN:
                    segment.nouns.remove(noun)
                else:
                    noun.text = "the" + noun.text[len(noun.words[0]) :]
        if segment.kind == "P" and not segment.nouns and not segment.tail:
            _drop(clause, place)


def _promote(clause: Clause) -> bool:
    """Without its subject, a clause is about the first thing that is left: "A man rides a horse" to "A horse"."""
    live = [place for place, each in enumerate(clause.segments) if each.alive]
    clause.opening, clause.tail = [], []
    objects = [place for place in live if clause.segments[place].kind == "V" and clause.segments[place].nouns]
    concrete = [place for place in objects if clause.segments[place].nouns[0].head not in _ABSTRACT]
    phrases = [place for place in live if clause.segments[place].kind == "P" and clause.segments[place].nouns
               and not _of_body(clause.segments[place])
               and clause.segments[place].nouns[0].head not in _ABSTRACT]  # fmt: skip
    named = [place for place in phrases if clause.segments[place].nouns[0].classes]
    source = concrete or [_first_of_row(clause, place, phrases) for place in named[:1]] or phrases[:1] or objects[:1]
    if not source:
        return False
    if source[0] in objects and any(clause.segments[each].parent == SUBJECT for each in source):
        source = [place for place in source if clause.segments[place].parent not in source]
    nouns = {noun.text: noun for place in source for noun in clause.segments[place].nouns}
    clause.subject = list(nouns.values())
    clause.lead = clause.lead and "with"
    for place, segment in enumerate(clause.segments):
        hangs = segment.parent in source and segment.kind != "P"
        abstract = bool(segment.nouns) and segment.nouns[0].head in _ABSTRACT
        stays = (
            bool(segment.nouns)
            and not abstract
            and not _of_body(segment)
            and (_places(segment) or _first(segment) in ("with", "of"))
        )
        if place in source or not (hangs or stays):
            segment.alive = False
        else:
            segment.lead = ""
    clause.segments = [each for each in clause.segments if each.alive]
    return True


def _first_of_row(clause: Clause, place: int, phrases: Sequence[int]) -> int:
    """The first of the prepositional phrases that lead to one: in "on a plate on a table" the plate."""
    while place - 1 in phrases and _places(clause.segments[place]):
        place -= 1
    return place
