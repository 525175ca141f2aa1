"""Noun-phrase removal: a caption without the phrases of the removed classes, and without what then dangles
(decorrelation.md §2): "Two dogs fight over a frisbee" becomes "Two dogs fight."
"""

from collections.abc import Collection, Sequence

from stages.decorrelation.clean_up import article_for, is_single, write
from stages.decorrelation.records import Phrase
from stages.decorrelation.shallow_parse import (
    OWNING_VERBS,
    SUBJECT,
    Clause,
    Noun,
    Segment,
    of_person,
    parse,
    refers_back,
)

PEOPLE = frozenset({"person", "people"})
# Verbs that still say something without their object.
_STANDS_ALONE = frozenset(
    """eat drink play read cook talk smoke serve pose perform sleep walk run jump fly drive surf ski skate fight
    race dance sing swim wait work speak write bake paint graze feed share look""".split()
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
_PARTS = frozenset("back top side sides front edge middle corner end bottom rest center base body arm arms leg legs foot seat".split())
_DEPICTIONS = frozenset("up closeup picture pictures photo photos photograph image images view shot painting close drawing snapshot".split())
_WORN = frozenset(
    """shirt t-shirt shirts hat hats cap dress suit suits jacket coat uniform uniforms pants shorts jeans wetsuit
    helmet helmets glasses sunglasses hair beard outfit clothes clothing costume vest sweater tie gear boots skirt scarf gloves
    robe bikini swimsuit trunks apron attire hand hands mouth arms lap head shoulders back eyes smile face""".split()
)
_ABSTRACT = frozenset("trick tricks pose position pitch fun time ride preparation turn lunch dinner breakfast notes way flight swing".split())
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
    for noun in [*clause.subject, *(noun for each in clause.segments for noun in each.nouns)]:
        _disown(noun, gone)
    subject_before = len(clause.subject)
    lost_subject = [noun for noun in clause.subject if noun.classes & gone]
    people = any(noun.classes & gone & PEOPLE for noun in _all_nouns(clause))
    keep_list(clause.subject, gone)
    for place, segment in enumerate(clause.segments):
        if segment.alive and segment.nouns:
            had = len(segment.nouns)
            lost = any(noun.classes & gone for noun in segment.nouns)
            keep_list(segment.nouns, gone)
            if lost and segment.nouns:
                _narrow(segment, had)
                _drop_pronouns(clause, place)
            elif lost:
                _lose_object(clause, place)
    _drop_dangling(clause)
    if people and not any(noun.classes & PEOPLE for noun in _all_nouns(clause)):
        _forget_people(clause)
    if lost_subject and clause.subject:
        _narrow_subject(clause, subject_before)
    if not clause.subject and (lost_subject or clause.opening):
        return _promote(clause)
    if clause.lead and not any(each.alive and each.finite for each in clause.segments) and not clause.opening:
        clause.lead = "with" if clause.subject else ""
    return bool(clause.subject) or any(each.alive for each in clause.segments)


def _all_nouns(clause: Clause) -> list[Noun]:
    return [*clause.subject, *(noun for each in clause.segments if each.alive for noun in each.nouns)]


def _disown(noun: Noun, gone: frozenset[str]) -> None:
    """"a man's hat" without the man: "a hat"."""
    if noun.owner is None:
        return
    _disown(noun.owner, gone)
    if noun.owner.classes & gone:
        noun.text = article_for(noun.text) if is_single(noun) else noun.text
        noun.owner = None


def keep_list(nouns: list[Noun], gone: frozenset[str]) -> None:
    """Leave the nouns of other classes; an article that went with the first of a list goes to the next."""
    article = False
    kept = []
    for noun in nouns:
        if noun.classes & gone:
            article |= noun.words[0] in ("a", "an", "the") and not kept
            continue
        if article and not kept and is_single(noun) and noun.owner is None:
            noun.text = article_for(noun.text)
        kept.append(noun)
    nouns[:] = kept


def _narrow(segment: Segment, had: int) -> None:
    """"between a sign and a light" without the light: "beside a sign"."""
    if had > 1 and len(segment.nouns) == 1 and segment.kind == "P" and is_single(segment.nouns[0]):
        words = [word.lower() for word in segment.words]
        if words[-1] in ("between", "among", "amongst"):
            segment.words = ["beside"]


def _narrow_subject(clause: Clause, had: int) -> None:
    """A pair that has become one: the verb agrees, and nothing is done together."""
    if had > 1 and len(clause.subject) == 1 and is_single(clause.subject[0]):
        for segment in clause.segments:
            segment.tail = [word for word in segment.tail if word.lower() not in ("together", "both")]
            segment.words = [word for word in segment.words if word.lower() != "together"]
        clause.tail = [word for word in clause.tail if word.lower() not in ("together", "both")]
        for segment in clause.segments:
            if refers_back(segment) and segment.tail[0].lower() in ("each", "another"):
                segment.alive = False


def _lose_object(clause: Clause, place: int) -> None:
    """The whole object of a segment has gone."""
    segment = clause.segments[place]
    verb = _stem(segment)
    if segment.kind != "P" and verb in _STANDS_ALONE:
        _drop_children(clause, place, lambda child: child.words[0].lower() == "of" or refers_back(child))
        segment.tail = []
        return
    survivors = segment.kind != "P" and not _owning(segment)
    segment.alive = False
    for index, child in enumerate(clause.segments):
        if child.alive and child.parent == place:
            if survivors and _places(child) and not _of_body(child):
                child.parent = segment.parent
                child.lead = ""
            elif segment.kind == "P" and child.kind == "P" and not refers_back(child) and _first(child) != "of":
                child.parent = segment.parent
            else:
                _drop(clause, index)
    _drop_pronouns(clause, place)
    if segment.kind == "P":
        _drop_worn(clause, place)
        if _first(segment) == "of":
            _lose_part(clause, segment.parent)


def _lose_part(clause: Clause, parent: int) -> None:
    """"the back of a toilet" without the toilet has no back either; neither is there a picture of it."""
    nouns = clause.subject if parent == SUBJECT else clause.segments[parent].nouns
    if nouns and (nouns[-1].head in _PARTS or nouns[-1].head in _DEPICTIONS):
        nouns.pop()
        if parent != SUBJECT and not nouns:
            _lose_object(clause, parent)


def _drop_pronouns(clause: Clause, place: int) -> None:
    """"a table with cake on it" without the table: "cake"; "it" would have no meaning."""
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


def _drop_children(clause: Clause, place: int, which) -> None:  # type: ignore[no-untyped-def]
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
        for stem in (word, word[:-1], word[:-2], word[:-3], word[:-3] + "e", word[:-4], word[:-2] + "e", word[:-1] + "e"):
            if stem in known:
                return stem
    return {"ate": "eat", "lying": "lie", "ran": "run", "sat": "sit", "made": "make", "hung": "hang"}.get(word, word)


def _owning(segment: Segment) -> bool:
    return any(word.lower() in OWNING_VERBS for word in segment.words)


def _places(segment: Segment) -> bool:
    return segment.kind == "P" and _first(segment) in _LOCATIVE and (bool(segment.nouns) or not segment.tail)


def _of_body(segment: Segment) -> bool:
    return bool(segment.nouns) and (segment.nouns[0].head in _WORN or of_person(segment.nouns[0].words[0]))


def _drop_dangling(clause: Clause) -> None:
    """Verbs that had only a phrase to lean on, prepositions of nothing; from the end, so that one leads to the next."""
    for place in reversed(range(len(clause.segments))):
        segment = clause.segments[place]
        if not segment.alive or segment.nouns or segment.tail:
            continue
        children = [each for each in clause.segments if each.alive and each.parent == place]
        later = any(each.alive for each in clause.segments[place + 1 :])
        lost = any(not each.alive and each.parent == place for each in clause.segments)
        if segment.kind == "P":
            segment.alive = bool(children) or not lost
        elif lost and not children and not (later and segment.finite):
            copula = all(word.lower() in _COPULAS for word in segment.words)
            needs = _stem(segment) in _NEEDS_PHRASE and not (_stem(segment) in _STANDING and _active(segment))
            segment.alive = not (copula or needs)


def _active(segment: Segment) -> bool:
    return segment.words[-1].lower().endswith(("ing", "s")) or segment.words[-1].lower() in _STANDING


def _forget_people(clause: Clause) -> None:
    """Pronouns of people who have gone: "his right hand" goes, "their dog" becomes "the dog"."""
    for place, segment in enumerate(clause.segments):
        if not segment.alive:
            continue
        if refers_back(segment) and of_person(segment.tail[0]):
            _drop(clause, place)
        for noun in list(segment.nouns):
            if of_person(noun.words[0]):
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
               and not _of_body(clause.segments[place])]  # fmt: skip
    named = [place for place in phrases if clause.segments[place].nouns[0].classes]
    source = concrete or named[:1] or phrases[:1] or objects[:1]
    if not source:
        return False
    if source[0] in objects and any(clause.segments[each].parent == SUBJECT for each in source):
        source = [place for place in source if clause.segments[place].parent not in source]
    clause.subject = [noun for place in source for noun in clause.segments[place].nouns]
    for place, segment in enumerate(clause.segments):
        hangs = segment.parent in source and segment.kind != "P"
        stays = _places(segment) and not _of_body(segment) or (_first(segment) in ("with", "of") and bool(segment.nouns))
        if place in source or not (hangs or stays):
            segment.alive = False
        else:
            segment.lead = ""
    clause.segments = [each for each in clause.segments if each.alive]
    return True
