"""Whether a word such as "plays", "ride" or "watch" is a noun or a verb where it stands."""

from stages.decorrelation import lexicon
from stages.decorrelation.lexicon import words_of
from stages.decorrelation.sentences import Sentence
from stages.decorrelation.word_forms import CLOSED, THIRD_PERSON, form_of, is_plural

_SURE_VERBS = words_of(lexicon.SURE_VERBS)
_PLURAL_LEADS = words_of("several many multiple various these those both few numerous")
_SECOND_PARTS = {second: words_of(firsts) for second, firsts in lexicon.SECOND_PARTS.items()}


def noun_or_verb(sentence: Sentence, place: int, tags: list[str]) -> str:
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
    if sentence.words[place + 1 : place + 2] and form_of(sentence.words[place + 1]) == "G":
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
