"""Parts of speech by rule, for captions: closed classes from the lexicon, the rest by form and by neighbours."""

from functools import cache

from stages.decorrelation import lexicon
from stages.decorrelation.lexicon import words_of
from stages.decorrelation.sentences import Sentence

_ADJECTIVE_ENDINGS = ("ful", "ous", "ive", "able", "ible", "less", "ish", "ic", "ical", "iest", "looking")
_PLURALS = words_of("people men women children cattle geese mice sheep police oxen")


def _closed() -> dict[str, str]:
    groups = (("J", lexicon.ADJECTIVES), ("N", lexicon.NOUNS), ("R", lexicon.ADVERBS), ("P", lexicon.PREPOSITIONS),
              ("X", lexicon.AUXILIARIES), ("W", lexicon.RELATIVES), ("C", lexicon.CONJUNCTIONS),
              ("O", lexicon.PRONOUNS), ("U", lexicon.NUMERALS), ("D", lexicon.DETERMINERS),
              ("Q", lexicon.POSSESSIVES))  # fmt: skip
    return {word: tag for tag, words in groups for word in words.split()}


CLOSED = _closed()
_BASES = words_of(lexicon.VERBS)
_PAST = words_of(lexicon.PAST)
_NAMING = words_of(lexicon.NAMING)
_NAMED = words_of("pool lot room table meter area machine court board center")
_ADJECTIVE_NOUNS = words_of(lexicon.ADJECTIVE_NOUNS)
_SURE_VERBS = words_of(lexicon.SURE_VERBS)


def _third_person(verb: str) -> str:
    if verb.endswith("y") and verb[-2] not in "aeou":
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")


_PLURAL_LEADS = words_of("several many multiple various these those both few numerous")
_SECOND_PARTS = {second: words_of(firsts) for second, firsts in lexicon.SECOND_PARTS.items()}
THIRD_PERSON = {_third_person(verb): verb for verb in sorted(_BASES)} | {"has": "have"}
_COMPOUNDS = tuple(tuple(words.split()) for words in lexicon.COMPOUND_PREPOSITIONS)
_COMPOUND_STARTS = frozenset(words[0] for words in _COMPOUNDS)


def is_plural(noun: str) -> bool:
    """Whether a noun's form is a plural, by its ending or the table."""
    return noun in _PLURALS or (noun.endswith("s") and not noun.endswith(("ss", "us", "is")))


@cache
def _form(word: str) -> str:
    """The most likely tag of a word that is in no closed class, whatever stands around it."""
    if word[0].isdigit():
        return "U"
    if word.endswith("ing") and len(word) > 4:
        return "G"
    if word in _PAST or (word.endswith("ed") and len(word) > 4 and not word.endswith("eed")):
        return "E"
    if word in THIRD_PERSON or word in _BASES:
        return "F"
    if word.endswith("ly"):
        return "R"
    return "J" if word.endswith(_ADJECTIVE_ENDINGS) else "N"


def tag(sentence: Sentence) -> str:
    """One tag a word, see `lexicon`; "A group of men sit" is "DNPNF"."""
    words = sentence.words
    tags: list[str] = []
    for place, word in enumerate(words):
        if len(tags) > place:
            continue
        compound = _compound_at(words, place) if word in _COMPOUND_STARTS else 0
        tags += ["P"] * compound if compound else [_tag_one(sentence, place, tags)]
    return "".join(tags)


def _compound_at(words: tuple[str, ...], place: int) -> int:
    found = [len(each) for each in _COMPOUNDS if words[place : place + len(each)] == each]
    return max(found, default=0)


def _nounish(sentence: Sentence, place: int) -> bool:
    """Whether the word there could go on a noun phrase."""
    if place >= len(sentence.words):
        return False
    word = sentence.words[place]
    if not word[0].isalpha() or (word in _COMPOUND_STARTS and _compound_at(sentence.words, place)):
        return False
    known = CLOSED.get(word)
    if known in ("N", "J"):
        return True
    return known is None and (_form(word) in "NJ" or word in THIRD_PERSON or word in _BASES)


def _tag_one(sentence: Sentence, place: int, tags: list[str]) -> str:
    word, words = sentence.words[place], sentence.words
    before = tags[-1] if tags else "."
    after = words[place + 1] if place + 1 < len(words) else "."
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
        return "T" if after in _BASES or after == "be" else "P"
    if word in ("her", "that", "as", "like", "his"):
        return _tag_ambiguous(sentence, place, before)
    if word in lexicon.MODAL_NOUNS and before in "DJQ":
        return "N"
    if (word == "back" and (after == "of" or before in "DQ")) or (word == "up" and words[place - 1] == "close"):
        return "N"
    known = CLOSED.get(word)
    if known == "N":
        return _noun_or_verb(sentence, place, tags) if word in _BASES or word in THIRD_PERSON else "N"
    if known == "J":
        return _adjective(sentence, place, tags)
    if known == "R" and before in "DQ" and _nounish(sentence, place + 1):
        return "J"
    if known == "P" and word in ("inside", "outside") and before in "D":
        return "N"
    if known is not None:
        return known
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
    return place < len(sentence.words) and CLOSED.get(sentence.words[place]) in ("U", "D")


def _in_name(tags: list[str]) -> bool:
    """Whether a noun phrase has begun and still waits for its noun."""
    return bool(tags) and tags[-1] in "DQUJS"


def _adjective(sentence: Sentence, place: int, tags: list[str]) -> str:
    """An adjective; a noun where it ends a phrase ("an orange", "apples and oranges"), a verb after a subject."""
    word = sentence.words[place]
    following = sentence.words[place + 1] if place + 1 < len(sentence.words) else "."
    before = tags[-1] if tags else "."
    if word in _BASES and before == "N" and is_plural(sentence.words[place - 1]) and "F" not in tags:
        return "F" if CLOSED.get(following) in ("D", "P", "Q", "U") else "J"
    if _nounish(sentence, place + 1) or following in ("and", ",", "or", "-") or CLOSED.get(following) == "U":
        if word == "orange" and before in "DU" and following in ("and", ",") and not _nounish(sentence, place + 2):
            return "N"
        return "J"
    if word in _ADJECTIVE_NOUNS and before in "DUJNQ":
        return "N"
    if _form_of_participle(sentence, place + 1):
        if before in "DQJU" and _nounish(sentence, place + 2):  # "a yellow flying disc"
            return "J"
        return "J" if not _in_name(tags) else "N"
    if before in "DQS" or (before == "J" and len(tags) > 1 and tags[-2] in "DQ"):
        return "N"
    if word == "orange" and before in "C,UP":
        return "N"
    return "J"


def _form_of_participle(sentence: Sentence, place: int) -> bool:
    return place < len(sentence.words) and _form(sentence.words[place]) in "GE"


def _noun_or_verb(sentence: Sentence, place: int, tags: list[str]) -> str:
    """A word such as "plays", "ride" or "watch": a verb only after a subject that agrees with it."""
    word = sentence.words[place]
    before = tags[-1] if tags else "."
    if before in "XT" and not (before == "X" and sentence.words[place - 1] in ("has", "have", "is", "are")):
        return "F"
    if before in "OW":
        return "F"
    if before == "R" and "N" in tags:
        return "F" if "F" not in tags and "X" not in tags else "N"
    if before == "C" and "F" in tags and CLOSED.get(word) != "N":
        following = sentence.words[place + 1] if place + 1 < len(sentence.words) else "."
        return "F" if CLOSED.get(following) in ("D", "P", "Q") else "N"
    if before != "N":
        return "N"
    subject = sentence.words[place - 1]
    if subject in _SECOND_PARTS.get(THIRD_PERSON.get(word, word), ()) or _awaits_plural(sentence, tags):
        return "N"
    if word in _SURE_VERBS:
        return "F"
    if sentence.words[place + 1 : place + 2] and _form(sentence.words[place + 1]) == "G":
        return "N"
    many = is_plural(subject) or _coordinated(sentence, tags) or _counted(sentence, tags)
    if word in THIRD_PERSON:
        return "N" if is_plural(subject) or _in_quantity(sentence, place) else "F"
    return "F" if many and CLOSED.get(word) != "N" else "F" if many and _starts_object(sentence, place + 1) else "N"


def _starts_object(sentence: Sentence, place: int) -> bool:
    return place < len(sentence.words) and CLOSED.get(sentence.words[place]) in ("D", "P", "Q", "U")


def _coordinated(sentence: Sentence, tags: list[str]) -> bool:
    """Whether the subject so far is a pair: "a dog and a cat"."""
    return "C" in tags and not set("FXGEW") & set(tags) and "and" in sentence.words[: len(tags)]


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


def _in_quantity(sentence: Sentence, place: int) -> bool:
    """Whether the noun before stands right after "of" and a quantity: a plural is still to come."""
    words = sentence.words[max(0, place - 3) : place - 1]
    return len(words) == 2 and words[1] == "of" and words[0] in lexicon.QUANTITIES


def _counted(sentence: Sentence, tags: list[str]) -> bool:
    """Whether the subject is a quantity of a plural: "a group of men plays", "a group of men play"."""
    found = [place for place in range(len(tags)) if sentence.words[place] in lexicon.QUANTITIES]
    return bool(found) and not set("FXGEW") & set(tags) and is_plural(sentence.words[len(tags) - 1])


def _open_class(sentence: Sentence, place: int, tags: list[str]) -> str:
    word, form = sentence.words[place], _form(sentence.words[place])
    before = tags[-1] if tags else "."
    following = sentence.words[place + 1] if place + 1 < len(sentence.words) else "."
    if form == "G":
        if word in _NAMING and (before not in "XN" or following in _NAMED) and _nounish(sentence, place + 1):
            return "J"
        if before in "DQJUS":
            return "J" if _nounish(sentence, place + 1) else "N"
        return "G"
    if form == "E":
        waits = _in_name(tags) and before != "S"
        described = before in "N.,PCR" and _nounish(sentence, place + 1) and _begun(tags)
        return "J" if (waits or described) and _nounish(sentence, place + 1) else "E"
    if form == "F":
        return _noun_or_verb(sentence, place, tags)
    return form


def _begun(tags: list[str]) -> bool:
    """Whether the words just before belong to a phrase, or a phrase may begin here."""
    return not tags or tags[-1] in "N.,PCR"
