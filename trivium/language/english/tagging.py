"""Parts of speech by rule, for captions: closed classes from the lexicon, the rest by form and by neighbours."""

from trivium.language.english.noun_or_verb import noun_or_participle, noun_or_verb
from trivium.language.english.sentences import Sentence
from trivium.language.english.word_lists import (
    BASES,
    CLOSED,
    COMPOUND_PREPOSITIONS,
    LISTS,
    NOUN_VERBS,
    SECOND_PARTS,
    THIRD_PERSON,
    form_of,
    is_plural,
    words_of,
)

_NAMING = LISTS["naming"]
_PARTICIPLE_NOUNS = LISTS["participle_nouns"]
_NAMED = words_of("pool lot room table meter area machine court board center")
_ADJECTIVE_NOUNS = LISTS["adjective_nouns"]
_COMPOUNDS = tuple(tuple(words.split()) for words in COMPOUND_PREPOSITIONS)
_COMPOUND_STARTS = frozenset(words[0] for words in _COMPOUNDS)


def tag(sentence: Sentence) -> str:
    """One tag a word, see `word_lists`; "A group of men sit" is "DNPNF"."""
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


def _nounish(sentence: Sentence, place: int) -> bool:
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
        if tags and words[place - 1] == "it" and _nounish(sentence, place + 1):  # "it's" where "its" is meant
            tags[-1] = "Q"
            return "J"
        return "S" if before == "N" and _nounish(sentence, place + 1) else "X"
    if not word[0].isalnum():
        return "C" if word == "&" else "," if word == "," else "."
    if sentence.joined(place) or sentence.joined(place + 1):
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
        return _adjective(sentence, place, tags)
    if closed == "R" and before in "DQ" and _nounish(sentence, place + 1):
        return "J"
    if closed == "P" and word in ("inside", "outside") and before in "D":
        return "N"
    if closed is not None:
        return closed
    return _open_class(sentence, place, tags)


def _tag_of_compound(sentence: Sentence, place: int) -> str:
    """All parts of a hyphenated word alike: an adjective before a noun, else a noun."""
    end = place + 1
    while sentence.joined(end):
        end += 1
    if sentence.words[end - 1].endswith("ing") and not _nounish(sentence, end):
        return "G"
    return "J" if _nounish(sentence, end) and sentence.words[end] not in THIRD_PERSON else "N"


def _tag_ambiguous(sentence: Sentence, place: int, before: str) -> str:
    word = sentence.words[place]
    if word in ("her", "his"):
        return "Q" if _nounish(sentence, place + 1) or _is_modifier(sentence, place + 1) else "O"
    if word == "that":
        return "W" if before in "NGER" else "D"
    return "P"


def _is_modifier(sentence: Sentence, place: int) -> bool:
    return CLOSED.get(sentence.word(place)) in ("U", "D")


def _in_name(tags: list[str]) -> bool:
    """Whether a noun phrase has begun and still waits for its noun."""
    return bool(tags) and tags[-1] in "DQUJS"


def _adjective(sentence: Sentence, place: int, tags: list[str]) -> str:
    """An adjective; a noun where it ends a phrase ("an orange", "apples and oranges"), a verb after a subject."""
    word = sentence.words[place]
    following = sentence.word(place + 1)
    before = tags[-1] if tags else "."
    if before == "N" and sentence.words[place - 1] in SECOND_PARTS.get(word, ()):  # "a traffic light and a bus"
        return "N"
    if word in BASES and before == "N" and is_plural(sentence.words[place - 1]) and "F" not in tags:
        return "F" if CLOSED.get(following) in ("D", "P", "Q", "U") else "J"
    if _nounish(sentence, place + 1) or following in ("and", ",", "or", "-") or CLOSED.get(following) == "U":
        if word == "orange" and before in "DU" and following in ("and", ",") and not _nounish(sentence, place + 2):
            return "N"
        return "J"
    if word in _ADJECTIVE_NOUNS and before in "DUJNQ":
        return "N"
    if form_of(following) in "GE":
        if before in "DQJU" and _nounish(sentence, place + 2):  # "a yellow flying disc"
            return "J"
        return "J" if not _in_name(tags) else "N"
    if before in "DQS" or (before == "J" and len(tags) > 1 and tags[-2] in "DQ"):
        return "N"
    if word == "orange" and before in "C,UP":
        return "N"
    return "J"


def _open_class(sentence: Sentence, place: int, tags: list[str]) -> str:
    word, form = sentence.words[place], form_of(sentence.words[place])
    before = tags[-1] if tags else "."
    following = sentence.word(place + 1)
    if form == "G":
        if word in _NAMING and (before not in "XN" or following in _NAMED) and _nounish(sentence, place + 1):
            return "J"
        if before in "DQJUS":
            return "J" if _nounish(sentence, place + 1) else "N"
        return "G"
    if form == "E":
        waits = _in_name(tags) and before != "S"
        described = before in "N.,PCR" and _nounish(sentence, place + 1)
        return "J" if (waits or described) and _nounish(sentence, place + 1) else "E"
    if form == "F":
        return noun_or_verb(sentence, place, tags)
    return form
