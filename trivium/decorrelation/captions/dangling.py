"""Parts of a clause that dangle once a noun phrase has gone, and go too; a lost subject is replaced by what is left."""

from collections.abc import Sequence

from trivium.decorrelation.captions.clauses import SUBJECT, WORDS, WORN, Clause, Segment
from trivium.language.english.word_lists import LISTS

_POSSESSIVES, _PRONOUNS = LISTS["possessives"], LISTS["pronouns"]


def lose_object(clause: Clause, place: int, gone: frozenset[str]) -> None:
    """The whole object of a segment has gone: so does the segment, unless its verb can stand alone."""
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
    """Without the toilet there is no "back of a toilet"; neither is there a picture of it."""
    nouns = clause.subject if parent == SUBJECT else clause.segments[parent].nouns
    if nouns and nouns[-1].head in WORDS.parts | WORDS.depictions | WORDS.body:
        nouns.pop()
        if parent != SUBJECT and not nouns:
            lose_object(clause, parent, gone)


def drop_pronouns(clause: Clause, place: int) -> None:
    """`a table with cake on it" without the table: "cake"; "it" would have no meaning."""
    for segment in clause.segments[place + 1 : place + 3]:
        if not segment.verb and segment.refers_back and segment.tail[0].lower() in ("it", "them"):
            segment.alive = False


def drop_worn(clause: Clause, place: int) -> None:
    """Drop what follows a removed noun and is worn or held by it."""
    for segment in clause.segments[place + 1 : place + 2]:
        if not segment.verb and segment.nouns and segment.nouns[0].head in WORN:
            segment.alive = False


def drop_dangling(clause: Clause) -> None:
    """Verbs that had only a phrase to lean on, prepositions of nothing; from the end, so that one leads to the next."""
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
    """Whether a verb that has lost what followed it says nothing any more."""
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
    """Pronouns of those who have gone: "his right hand" goes, "their dog" becomes "the dog"."""
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
    """Without its subject, a clause is about the first thing that is left: "A man rides a horse" to "A horse"."""
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
    """Whether a phrase says no more than what the subject did, which went: "leaning on a post"."""
    if segment.parent == SUBJECT or not segment.places or segment.nouns[0].head in WORDS.settings:
        return False
    return clause.segments[segment.parent].stem in WORDS.needs_phrase - WORDS.standing


def _first_of_row(clause: Clause, place: int, phrases: Sequence[int]) -> int:
    """The first of the prepositional phrases that lead to one: in "on a plate on a table" the plate."""
    while place - 1 in phrases and clause.segments[place].places:
        place -= 1
    return place
