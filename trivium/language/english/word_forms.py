"""What a word of caption English can be by its form alone."""

from functools import cache

from trivium.language.english import lexicon
from trivium.language.english.lexicon import words_of

_ADJECTIVE_ENDINGS = ("ful", "ous", "ive", "able", "ible", "less", "ish", "ic", "ical", "iest", "looking")
_PLURALS = words_of("people men women children cattle geese mice sheep police oxen")


def _closed() -> dict[str, str]:
    groups = (("J", lexicon.ADJECTIVES), ("N", lexicon.NOUNS), ("R", lexicon.ADVERBS), ("P", lexicon.PREPOSITIONS),
              ("X", lexicon.AUXILIARIES), ("W", lexicon.RELATIVES), ("C", lexicon.CONJUNCTIONS),
              ("O", lexicon.PRONOUNS), ("U", lexicon.NUMERALS), ("D", lexicon.DETERMINERS),
              ("Q", lexicon.POSSESSIVES))  # fmt: skip
    return {word: tag for tag, words in groups for word in words.split()}


CLOSED = _closed()
BASES = words_of(lexicon.VERBS)
_PAST = words_of(lexicon.PAST)


def _third_person(verb: str) -> str:
    if verb.endswith("y") and verb[-2] not in "aeou":
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")


_DOUBTFUL = words_of(lexicon.NOUN_VERBS)
# "back" and "round" are verbs in their -s form alone.
NOUN_VERBS = {each for each in _DOUBTFUL if CLOSED.get(each) in (None, "N")} | {_third_person(e) for e in _DOUBTFUL}
THIRD_PERSON = {_third_person(verb): verb for verb in sorted(BASES)} | {"has": "have"}


def is_plural(noun: str) -> bool:
    """Whether a noun's form is a plural, by its ending or the table."""
    return noun in _PLURALS or (noun.endswith("s") and not noun.endswith(("ss", "us", "is")))


@cache
def form_of(word: str) -> str:
    """The most likely tag of a word that is in no closed class, whatever stands around it."""
    if word[0].isdigit():
        return "U"
    if word.endswith("ing") and len(word) > 4:
        return "G"
    if word in _PAST or (word.endswith("ed") and len(word) > 4 and not word.endswith("eed")):
        return "E"
    if word in THIRD_PERSON or word in BASES:
        return "F"
    if word.endswith("ly"):
        return "R"
    return "J" if word.endswith(_ADJECTIVE_ENDINGS) else "N"
