"""The words of caption English: their parts of speech, and the words that name each class (decorrelation.md §2).

`lexicon.yaml` has the words whose part of speech a rule cannot guess: closed classes, common verbs and adjectives. Tags
are one letter each, so that a caption's tags are a string and patterns over them regular expressions: D determiner,
Q possessive pronoun, U numeral, J adjective, N noun, S `'s`, O pronoun, P preposition, C conjunction, W relative,
X auxiliary, F finite or bare verb, G `-ing` verb, E participle, T infinitive's "to", R adverb, and the marks "," and
".".
"""

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from trivium.core.errors import BadInput
from trivium.core.parameters import read_beside, read_parameters

_TREE: dict[str, Any] = read_beside(__file__, "lexicon.yaml")


def words_of(text: str) -> frozenset[str]:
    """Split a list of words at white space."""
    return frozenset(text.split())


LISTS: dict[str, frozenset[str]] = {name: words_of(words) for name, words in _TREE.items() if isinstance(words, str)}
SECOND_PARTS = {second: words_of(firsts) for second, firsts in _TREE["second_parts"].items()}
COMPOUND_PREPOSITIONS: tuple[str, ...] = tuple(_TREE["compound_prepositions"])
QUANTITIES = LISTS["quantities"]

_ADJECTIVE_ENDINGS = ("ful", "ous", "ive", "able", "ible", "less", "ish", "ic", "ical", "iest", "looking")
_PLURALS = words_of("people men women children cattle geese mice sheep police oxen")


_TAGS = {"adjectives": "J", "nouns": "N", "adverbs": "R", "prepositions": "P", "auxiliaries": "X", "relatives": "W",
         "conjunctions": "C", "pronouns": "O", "numerals": "U", "determiners": "D", "possessives": "Q"}  # fmt: skip
CLOSED = {word: tag for name, tag in _TAGS.items() for word in LISTS[name]}  # a later list's tag counts
BASES = LISTS["verbs"]
_PAST = LISTS["past"]


def _with_s(word: str, hissing: tuple[str, ...] = ("s", "x", "z", "ch", "sh")) -> str:
    if word.endswith("y") and word[-2:-1] not in ("a", "e", "o", "u"):
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(hissing) else "s")


def _third_person(verb: str) -> str:
    return _with_s(verb, ("s", "x", "z", "ch", "sh", "o"))


_DOUBTFUL = LISTS["noun_verbs"]
# "back" and "round" are verbs in their -s form alone.
NOUN_VERBS = {verb for verb in _DOUBTFUL if CLOSED.get(verb) in (None, "N")} | set(map(_third_person, _DOUBTFUL))
THIRD_PERSON = {_third_person(verb): verb for verb in sorted(BASES)} | {"has": "have"}


def is_plural(noun: str) -> bool:
    """Whether a noun's form is a plural, by its ending or the table."""
    return noun in _PLURALS or (noun.endswith("s") and not noun.endswith(("ss", "us", "is")))


@cache
def form_of(word: str) -> str:
    """Return the most likely tag of a word of no closed class, by its form alone."""
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


WORDS = Path(__file__).with_name("words.yaml")
_WORDS = read_parameters(WORDS)
Mode = Literal["strict", "paper"]
Expression = tuple[str, ...]
LINKS = frozenset({"of", "in"})  # words that may lead an expression out of its phrase: "glass of wine"


def plural(word: str) -> str:
    """Return the plural of a word: from the table, else by rule (`-man`: `-men`, `-y`: `-ies`, sibilants: `-es`)."""
    if word in _WORDS["irregular"]:
        return str(_WORDS["irregular"][word])
    if word.endswith("man") and word not in ("human", "german", "caiman"):
        return word[:-3] + "men"
    return word + "ren" if word.endswith("child") else _with_s(word)


def forms(expression: str) -> list[Expression]:
    """Return an expression and its plural, of its last word or, if it has one, of the word before "of" or "in"."""
    words = tuple(expression.split())
    head = next((place for place, word in enumerate(words) if word in LINKS), len(words)) - 1
    many = (*words[:head], plural(words[head]), *words[head + 1 :])
    return [words] if many == words or words[0] in ("a", "an") else [words, many]


# Words that cancel an expression before them, or after them.
UNDONE_BEFORE = frozenset(form[0] for word in _WORDS["undone_before"] for form in forms(word))
UNDONE_AFTER = frozenset(_WORDS["undone_after"])
_LAST_ONLY = frozenset(form for word in _WORDS["last_only"] for form in forms(word))


class Entry(NamedTuple):
    """An expression of the word lists."""

    length: int  # number of words
    classes: tuple[str, ...]  # sorted; several where it means several things: "equestrian" is a rider and a horse
    last_only: bool  # it counts only at the end of its phrase: "hot" names nothing in "a hot dog cart"
    undoable: bool  # the following word can cancel it: "dog" in "dog food"
    leads_out: bool  # it may end after its phrase: "glass of wine"


def word_lists(classes: Sequence[str], mode: Mode = "strict") -> dict[Expression, Entry]:
    """List the expressions, plurals included, for these classes: COCO's classes, or Flickr30k Entities' types.

    Mode `strict` has words of other classes, too, which name none of these: even where hot dogs are not annotated, a
    hot dog is not a dog. Mode `paper` has the classes' names and the words of the paper's Table 4.

    Raises:
        BadInput: a class has no words.
    """
    own, types, table = _WORDS["classes"], _WORDS["types"], _WORDS["table_4"]
    if missing := [name for name in classes if not (own.get(name) or types.get(name) or {}).get("words")]:
        raise BadInput("class without words", file=WORDS, field="classes", got=missing, choices=[*own, *types])
    named: dict[Expression, set[str]] = {}
    singular: set[Expression] = set()

    def add(name: str | None, expressions: Iterable[str]) -> None:
        for expression in expressions:
            spellings = forms(str(expression))
            for form in spellings:
                named.setdefault(form, set()).update([name] if name else [])
            if len(spellings) == 2:
                singular.add(spellings[0])

    kind = {part: name for name in classes if name in types for part in types[name]["classes"]}
    if mode == "strict":
        add(None, _WORDS["nothing"])
    for name, lists in own.items():
        label = kind.get(name, name if name in classes else None)
        if mode == "strict":
            add(label, lists["words"])
        elif label is not None:
            ours = label != name or name == "person"  # the table has COCO's classes, and its row of persons is lost
            add(label, lists["words"] if ours else [name, *table.get(name, ())])
    for name in classes:
        if name in types:
            add(name, types[name]["words"])
    return {
        words: Entry(
            len(words), tuple(sorted(names)), words in _LAST_ONLY, words in singular, not LINKS.isdisjoint(words)
        )
        for words, names in named.items()
    }
