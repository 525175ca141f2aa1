"""The words of caption English: their parts of speech, and the words that name each class (decorrelation.md §2).

`lexicon.yaml` has the words whose part of speech a rule cannot guess: closed classes, common verbs and adjectives. Tags
are one letter each, so that a caption's tags are a string and patterns over them regular expressions: D determiner,
Q possessive pronoun, U numeral, J adjective, N noun, S `'s`, O pronoun, P preposition, C conjunction, W relative,
X auxiliary, F finite or bare verb, G `-ing` verb, E participle, T infinitive's "to", R adverb, and the marks "," and
".".
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

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


def _third_person(verb: str) -> str:
    if verb.endswith("y") and verb[-2] not in "aeou":
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")


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
Mode = Literal["strict", "paper"]
Expression = tuple[str, ...]
LINKS = frozenset({"of", "in"})  # words that may lead an expression out of its phrase: "glass of wine"
_SIBILANTS = ("s", "x", "z", "ch", "sh")


@dataclass(frozen=True)
class WordLists:
    """What a matcher needs, plurals included.

    An expression of `strict` has no class where it names none, and several where it means several things, as
    "equestrian" means a rider and a horse; `paper` has the classes' names and the words of the paper's Table 4.
    """

    strict: Mapping[Expression, tuple[str, ...]]
    paper: Mapping[Expression, tuple[str, ...]]
    singular: frozenset[Expression]  # a following word can cancel them ("dog" in "dog food")
    undone_before: frozenset[str]  # words that cancel an expression before them
    undone_after: frozenset[str]  # words that cancel an expression after them
    last_only: frozenset[Expression]  # these count only at the end of their phrase


def plural(word: str, irregular: Mapping[str, str]) -> str:
    """Return the plural of a word: from the table, else by rule (`-man`: `-men`, `-y`: `-ies`, sibilants: `-es`)."""
    if word in irregular:
        return irregular[word]
    if word.endswith("man") and word not in ("human", "german", "caiman"):
        return word[:-3] + "men"
    if word.endswith("child"):
        return word + "ren"
    if word.endswith("y") and word[-2:-1] not in ("a", "e", "o", "u"):
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(_SIBILANTS) else "s")


def forms(expression: str, irregular: Mapping[str, str]) -> list[Expression]:
    """Return an expression and its plural, of its last word or, if it has one, of the word before "of" or "in"."""
    words = tuple(expression.split())
    head = next((place for place, word in enumerate(words) if word in LINKS), len(words)) - 1
    many = (*words[:head], plural(words[head], irregular), *words[head + 1 :])
    return [words] if many == words or words[0] in ("a", "an") else [words, many]


def word_lists(classes: Sequence[str]) -> WordLists:
    """Make the lists for these classes: COCO's classes, or Flickr30k Entities' types.

    Words of other classes stay in the lists: even where hot dogs are not annotated, a hot dog is not a dog.

    Raises:
        BadInput: a class has no words.
    """
    tree = read_parameters(WORDS)
    own, types, table, irregular = tree["classes"], tree["types"], tree["table_4"], tree["irregular"]
    if missing := [name for name in classes if not (own.get(name) or types.get(name) or {}).get("words")]:
        raise BadInput("class without words", file=WORDS, field="classes", got=missing, choices=[*own, *types])
    strict: dict[Expression, set[str]] = {}
    paper: dict[Expression, set[str]] = {}
    singular: set[Expression] = set()

    def add(name: str | None, expressions: Iterable[str]) -> None:
        for expression in expressions:
            spellings = forms(str(expression), irregular)
            for form in spellings:
                strict.setdefault(form, set()).update([name] if name else [])
            if len(spellings) == 2:
                singular.add(spellings[0])

    def add_paper(name: str, expressions: Iterable[str]) -> None:
        for expression in expressions:
            for form in forms(str(expression), irregular):
                paper.setdefault(form, set()).add(name)

    add(None, tree["nothing"])
    kind = {part: name for name in classes if name in types for part in types[name]["classes"]}
    for name, lists in own.items():
        label = kind.get(name, name if name in classes else None)
        add(label, lists["words"])
        if label is not None:
            ours = label != name or name == "person"  # the table has COCO's classes, and its row of persons is lost
            add_paper(label, lists["words"] if ours else [name, *table.get(name, ())])
    for name in classes:
        if name in types:
            add(name, types[name]["words"])
            add_paper(name, types[name]["words"])
    undone_before = [form[0] for word in tree["undone_before"] for form in forms(word, irregular)]
    return WordLists(
        strict={expression: tuple(sorted(labels)) for expression, labels in strict.items()},
        paper={expression: tuple(sorted(labels)) for expression, labels in paper.items()},
        singular=frozenset(singular),
        undone_before=frozenset(undone_before),
        undone_after=frozenset(tree["undone_after"]),
        last_only=frozenset(form for word in tree["last_only"] for form in forms(word, irregular)),
    )
