"""Tag the words of captions with parts of speech by rule.

Closed classes come from the lexicon, other words are tagged by their form and their neighbours. `noun_or_verb` and
`noun_or_participle` decide what words such as "plays", "ride", "docks" and "crossing" are.
"""

from trivium.language.english.sentences import Sentence
from trivium.language.english.word_lists import (
    BASES,
    CLOSED,
    COMPOUND_PREPOSITIONS,
    LISTS,
    NOUN_VERBS,
    QUANTITIES,
    SECOND_PARTS,
    THIRD_PERSON,
    form_of,
    is_plural,
    words_of,
)

_SURE_VERBS, _PEOPLE = LISTS["sure_verbs"], LISTS["people"]
_AGENTS = _PEOPLE | LISTS["movers"]
_MOTIONS, _PATHS, _CROSSED = LISTS["motions"], LISTS["paths"], LISTS["crossed"]
_NAMED_BY_PARTICIPLES = LISTS["named_by_participle_nouns"]
_PLURAL_LEADS = words_of("several many multiple various these those both few numerous")
_SINGULAR_LEADS = words_of("a an one this that another each every")
_SUBJECTS = words_of("he she it they who that which")
_FORMS_OF_BE = words_of("is are was were be being been 's")


def noun_or_verb(sentence: Sentence, place: int, tags: list[str]) -> str:
    """Tag a word such as "plays", "ride" or "watch": a verb only after a subject that agrees with it."""
    word = sentence.words[place]
    before = tags[-1] if tags else "."
    following = sentence.word(place + 1)
    if word in NOUN_VERBS:
        return _tag_rare_verb(sentence, place, tags)
    if before in "XT" and not (before == "X" and sentence.words[place - 1] in ("has", "have", "is", "are")):
        return "F"
    if before in "OW":
        return "F"
    if before == "R" and "N" in tags:
        return "F" if "F" not in tags and "X" not in tags else "N"
    if before == "C" and "F" in tags and CLOSED.get(word) != "N":
        return "F" if CLOSED.get(following) in ("D", "P", "Q") else "N"
    if before == "," and word in THIRD_PERSON and "N" in tags and not set("FX") & set(tags):
        return "F" if _starts_object(sentence, place + 1) else "N"  # "a man, crossing the street, looks at"
    if before != "N":
        return "N"
    subject = sentence.words[place - 1]
    if _awaits_plural(sentence, tags) or CLOSED.get(following) == "X":  # "the ski lifts are"
        return "N"
    if subject in SECOND_PARTS.get(THIRD_PERSON.get(word, word), ()):
        return "F" if word in THIRD_PERSON and _is_acting(sentence, place, tags) else "N"
    if word in _SURE_VERBS:
        return "F"
    if form_of(following) == "G":
        return "N"
    many = is_plural(subject) or _is_pair(sentence, tags) or _is_quantity(sentence, tags)
    if word in THIRD_PERSON:
        return "N" if is_plural(subject) or _is_in_quantity(sentence, place) else "F"
    if subject in _AGENTS and CLOSED.get(following) in ("D", "Q"):  # "a man ride a bike", as some write
        return "F"
    likely = CLOSED.get(word) != "N" or word in ("drink", "watch") or _starts_object(sentence, place + 1)
    return "F" if many and likely else "N"


def _tag_rare_verb(sentence: Sentence, place: int, tags: list[str]) -> str:
    """Tag a noun that is rarely a verb: after "to" or "can", after an agent that it agrees with, before an object."""
    word = sentence.words[place]
    subjects = tags[:]
    while subjects and subjects[-1] == "R":  # "a boat slowly docks"
        subjects.pop()
    before = subjects[-1] if subjects else "."
    subject = sentence.words[len(subjects) - 1]
    if before == "T" or (before == "X" and subject in LISTS["modals"]) or (before in "OW" and subject in _SUBJECTS):
        return "F"
    if before != "N" or _awaits_plural(sentence, subjects) or _is_in_quantity(sentence, len(subjects)):
        return "N"
    objective = CLOSED.get(sentence.word(place + 1)) in ("D", "Q")
    many = is_plural(subject) or _is_pair(sentence, subjects) or _is_quantity(sentence, subjects)
    if word.endswith("s"):
        return "F" if not is_plural(subject) and (objective or _is_acting(sentence, place, subjects)) else "N"
    acting = subject.removesuffix("s") in _AGENTS and _has_verb_preposition(sentence, place)
    return "F" if many and (objective or acting) else "N"


def _is_acting(sentence: Sentence, place: int, tags: list[str]) -> bool:
    """Whether the noun before does something: "a boat docks", not "two boat docks" nor "the boat docks"."""
    subject = sentence.words[len(tags) - 1]
    if subject not in _AGENTS or subject in QUANTITIES:  # "a couple bikes"
        return False
    lead = len(tags) - 1
    while lead > 0 and tags[lead - 1] in "JN":
        lead -= 1
    if lead and sentence.words[lead - 1] in _SINGULAR_LEADS:
        return True
    return (not lead or tags[lead - 1] in "D.,Q") and _has_verb_preposition(sentence, place)


def _has_verb_preposition(sentence: Sentence, place: int) -> bool:
    """Whether a preposition follows that goes with a verb rather than with a noun: "docks at", not "docks with"."""
    return sentence.word(place + 1) in ("at", "to", "into", "for", "alongside")


def noun_or_participle(sentence: Sentence, place: int, tags: list[str]) -> str:
    """Tag a noun in -ing such as "crossing": a participle after its agent or before its object."""
    word = sentence.words[place]
    following = sentence.word(place + 1)
    before, previous = (tags[-1], sentence.words[place - 1]) if tags else (".", "")
    objective = CLOSED.get(following) in ("D", "Q", "U", "O") or (word == "crossing" and following in _CROSSED)
    moving = word in _MOTIONS and following in _PATHS
    if before == "N":
        return "G" if _is_doing(sentence, place, tags, objective=objective, moving=moving) else "N"
    if before == "X":
        return "G" if previous in _FORMS_OF_BE and sentence.words[place - 2 : place - 1] != ("there",) else "N"
    if before == "R":
        return "G" if "N" in tags else "N"
    if before in "DQJS":  # "a man barefoot crossing a street"
        return "G" if before == "J" and objective and tags[-2:-1] == ["N"] else "N"
    if before in "WO":
        return "G"
    after_verb = before == "C" and tags[-2:-1] == ["G"]
    return "G" if objective or after_verb or (moving and before in "E.,") else "N"


def _is_doing(sentence: Sentence, place: int, tags: list[str], *, objective: bool, moving: bool) -> bool:
    """Whether the noun before "crossing" crosses: "a train crossing a bridge", not "a train crossing sign"."""
    word, subject = sentence.words[place], sentence.words[place - 1]
    following = sentence.word(place + 1)
    if following in _NAMED_BY_PARTICIPLES or _awaits_plural(sentence, tags):
        return False
    many = is_plural(subject) or (subject in _AGENTS and _is_pair(sentence, tags))
    if subject in SECOND_PARTS.get(word, ()):
        in_front = sentence.words[place + 1 : place + 4] == ("in", "front", "of")
        return many or (subject in _AGENTS and (objective or moving or in_front))
    return objective or many or subject in _PEOPLE or word in _MOTIONS


def _starts_object(sentence: Sentence, place: int) -> bool:
    return CLOSED.get(sentence.word(place)) in ("D", "P", "Q", "U")


def _is_pair(sentence: Sentence, tags: list[str]) -> bool:
    """Whether the subject so far is a pair: "a dog and a cat"."""
    return (
        any(pair in "".join(tags) for pair in ("NC", "N,C"))
        and not set("FXGEW") & set(tags)
        and "and" in sentence.words[: len(tags)]
    )


def _awaits_plural(sentence: Sentence, tags: list[str]) -> bool:
    """Whether the phrase so far announces a plural that has not come: "two traffic"."""
    if is_plural(sentence.words[len(tags) - 1]):
        return False
    for place in reversed(range(len(tags))):
        if tags[place] not in "DUQJN":
            return False
        if sentence.words[place] in _PLURAL_LEADS or (tags[place] == "U" and sentence.words[place] not in ("one", "1")):
            return True
        if tags[place] in "DQ":
            return False
    return False


def _is_in_quantity(sentence: Sentence, place: int) -> bool:
    """Whether the noun before follows "of" and a quantity: a plural is still to come."""
    words = sentence.words[max(0, place - 3) : place - 1]
    return len(words) == 2 and words[1] == "of" and words[0] in QUANTITIES


def _is_quantity(sentence: Sentence, tags: list[str]) -> bool:
    """Whether the subject is a quantity of a plural: "a group of men plays", "a group of men play"."""
    words = sentence.words[: len(tags)]
    return not QUANTITIES.isdisjoint(words) and not set("FXGEW") & set(tags) and is_plural(words[-1])


_NAMING = LISTS["naming"]
_PARTICIPLE_NOUNS = LISTS["participle_nouns"]
_NAMED = words_of("pool lot room table meter area machine court board center")
_ADJECTIVE_NOUNS = LISTS["adjective_nouns"]
_COMPOUNDS = tuple(tuple(words.split()) for words in COMPOUND_PREPOSITIONS)
_COMPOUND_STARTS = frozenset(words[0] for words in _COMPOUNDS)


def tag(sentence: Sentence) -> str:
    """Return one tag for each word, see `word_lists`; "A group of men sit" is "DNPNF"."""
    words = sentence.words
    tags: list[str] = []
    for place, word in enumerate(words):
        if len(tags) > place:
            continue
        compound = _compound_at(words, place) if word in _COMPOUND_STARTS else 0
        tags += ["P"] * compound if compound else [_tag_one(sentence, place, tags)]
    return "".join(tags)


def _compound_at(words: tuple[str, ...], place: int) -> int:
    lengths = [len(compound) for compound in _COMPOUNDS if words[place : place + len(compound)] == compound]
    return max(lengths, default=0)


def _continues(sentence: Sentence, place: int) -> bool:
    """Whether the word at a place could continue a noun phrase."""
    word = sentence.word(place)
    if word == "to" or not word[0].isalpha() or (word in _COMPOUND_STARTS and _compound_at(sentence.words, place)):
        return False
    if word in _PARTICIPLE_NOUNS and _is_modifier(sentence, place + 1):  # "seen crossing the street"
        return False
    closed = CLOSED.get(word)
    if closed in ("N", "J"):
        return True
    return closed is None and (form_of(word) in "NJ" or word in THIRD_PERSON or word in BASES)


def _tag_one(sentence: Sentence, place: int, tags: list[str]) -> str:
    word, words = sentence.words[place], sentence.words
    before = tags[-1] if tags else "."
    after = sentence.word(place + 1)
    if word == "'s":
        if tags and words[place - 1] == "it" and _continues(sentence, place + 1):  # "it's" where "its" is meant
            tags[-1] = "Q"
            return "J"
        return "S" if before == "N" and _continues(sentence, place + 1) else "X"
    if not word[0].isalnum():
        return "C" if word == "&" else "," if word == "," else "."
    if not sentence.hyphenated.isdisjoint((place, place + 1)):
        return _tag_of_compound(sentence, place)
    if word == "to":
        return "T" if after in BASES or after == "be" or (after in NOUN_VERBS and before in "GFXJP") else "P"
    if word in ("her", "that", "as", "like", "his"):
        return _tag_ambiguous(sentence, place, before)
    if word in LISTS["modal_nouns"] and before in "DJQ":
        return "N"
    if (word == "back" and (after == "of" or before in "DQ")) or (word == "up" and words[place - 1] == "close"):
        return "N"
    if word in _PARTICIPLE_NOUNS:
        return noun_or_participle(sentence, place, tags)
    if word in NOUN_VERBS:
        return noun_or_verb(sentence, place, tags)
    closed = CLOSED.get(word)
    if closed == "N":
        return noun_or_verb(sentence, place, tags) if word in BASES or word in THIRD_PERSON else "N"
    if closed == "J":
        return _tag_adjective(sentence, place, tags)
    if closed == "R" and before in "DQ" and _continues(sentence, place + 1):
        return "J"
    if closed == "P" and word in ("inside", "outside") and before in "D":
        return "N"
    if closed is not None:
        return closed
    return _tag_open_class(sentence, place, tags)


def _tag_of_compound(sentence: Sentence, place: int) -> str:
    """Tag all parts of a hyphenated word alike: an adjective before a noun, else a noun."""
    end = place + 1
    while end in sentence.hyphenated:
        end += 1
    if sentence.words[end - 1].endswith("ing") and not _continues(sentence, end):
        return "G"
    return "J" if _continues(sentence, end) and sentence.words[end] not in THIRD_PERSON else "N"


def _tag_ambiguous(sentence: Sentence, place: int, before: str) -> str:
    word = sentence.words[place]
    if word in ("her", "his"):
        return "Q" if _continues(sentence, place + 1) or _is_modifier(sentence, place + 1) else "O"
    if word == "that":
        return "W" if before in "NGER" else "D"
    return "P"


def _is_modifier(sentence: Sentence, place: int) -> bool:
    return CLOSED.get(sentence.word(place)) in ("U", "D")


def _is_in_phrase(tags: list[str]) -> bool:
    """Whether a noun phrase has begun and its noun is still to come."""
    return bool(tags) and tags[-1] in "DQUJS"


def _tag_adjective(sentence: Sentence, place: int, tags: list[str]) -> str:
    """Tag an adjective: a noun where it ends a phrase ("an orange"), a verb after a subject."""
    word = sentence.words[place]
    following = sentence.word(place + 1)
    before = tags[-1] if tags else "."
    if before == "N" and sentence.words[place - 1] in SECOND_PARTS.get(word, ()):  # "a traffic light and a bus"
        return "N"
    if word in BASES and before == "N" and is_plural(sentence.words[place - 1]) and "F" not in tags:
        return "F" if CLOSED.get(following) in ("D", "P", "Q", "U") else "J"
    if _continues(sentence, place + 1) or following in ("and", ",", "or", "-") or CLOSED.get(following) == "U":
        if word == "orange" and before in "DU" and following in ("and", ",") and not _continues(sentence, place + 2):
            return "N"
        return "J"
    if word in _ADJECTIVE_NOUNS and before in "DUJNQ":
        return "N"
    if form_of(following) in "GE":
        if before in "DQJU" and _continues(sentence, place + 2):  # "a yellow flying disc"
            return "J"
        return "J" if not _is_in_phrase(tags) else "N"
    if before in "DQS" or (before == "J" and len(tags) > 1 and tags[-2] in "DQ"):
        return "N"
    if word == "orange" and before in "C,UP":
        return "N"
    return "J"


def _tag_open_class(sentence: Sentence, place: int, tags: list[str]) -> str:
    word, form = sentence.words[place], form_of(sentence.words[place])
    before = tags[-1] if tags else "."
    following = sentence.word(place + 1)
    if form == "G":
        if word in _NAMING and (before not in "XN" or following in _NAMED) and _continues(sentence, place + 1):
            return "J"
        if before in "DQJUS":
            return "J" if _continues(sentence, place + 1) else "N"
        return "G"
    if form == "E":
        waits = _is_in_phrase(tags) and before != "S"
        described = before in "N.,PCR" and _continues(sentence, place + 1)
        return "J" if (waits or described) and _continues(sentence, place + 1) else "E"
    if form == "F":
        return noun_or_verb(sentence, place, tags)
    return form
