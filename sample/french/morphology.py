"""Inflection of French verbs, nouns, adjectives and determiners, as far as the grammar needs it."""

from dataclasses import dataclass
from functools import cache

from sample.french.bank import read


@dataclass(frozen=True)
class Verb:
    """Forms of a verb in the third person.

    Attributes:
        participle: past participle, masculine singular.
        past: simple past, singular and plural.
        imperfect: singular and plural.
        with_etre: whether its compound tenses are formed with être; else with avoir.
    """

    participle: str
    past: tuple[str, str]
    imperfect: tuple[str, str]
    with_etre: bool


@cache
def verb(lemma: str) -> Verb:
    """Conjugate a verb.

    Raises:
        ValueError: neither regular nor in the table.
    """
    if lemma in read("words")["irregular_verbs"]:
        participle, singular, several, stem = read("words")["irregular_verbs"][lemma].split()
    elif lemma.endswith("er"):
        root = lemma[:-2]
        stem = root + "e" if root.endswith("g") else root[:-1] + "ç" if root.endswith("c") else root
        participle, singular, several = root + "é", stem + "a", root + "èrent"
    elif lemma.endswith("ir"):
        root = lemma[:-1]
        participle, singular, several, stem = root, root + "t", root + "rent", root + "ss"
    elif lemma.endswith("re"):
        root = lemma[:-2]
        participle, singular, several, stem = root + "u", root + "it", root + "irent", root
    else:
        raise ValueError(f"no conjugation for {lemma!r}")
    return Verb(participle, (singular, several), (stem + "ait", stem + "aient"), lemma in read("words")["with_être"])


def finite(lemma: str, tense: str, number: str) -> str:
    """Return a finite form; tense is "past" (simple), "imperfect" or "present" (the auxiliaries only)."""
    if tense == "present":
        singular, several = read("words")["present"][lemma]
    else:
        singular, several = verb(lemma).past if tense == "past" else verb(lemma).imperfect
    return several if number == "p" else singular


def agree(participle: str, gender: str, number: str) -> str:
    """Make a participle agree: attaqué, attaquée, attaqués, attaquées; dû loses its circumflex."""
    form = participle + ("e" if gender == "f" else "")
    return form + ("s" if number == "p" and not form.endswith("s") else "")


def plural(noun: str) -> str:
    """Return the plural of a noun or of a masculine adjective."""
    if noun in read("words")["plurals"]:
        return str(read("words")["plurals"][noun])
    if noun[-1] in "sxz":
        return noun
    if noun.endswith(("eau", "eu", "au")):
        return noun + "x"
    return noun[:-2] + "aux" if noun.endswith("al") else noun + "s"


def adjective(lemma: str, gender: str, number: str) -> str:
    """Make an adjective agree."""
    if gender == "m":
        return plural(lemma) if number == "p" else lemma
    form = read("words")["feminines"].get(lemma) or _feminine(lemma)
    return form + ("s" if number == "p" else "")


def _feminine(lemma: str) -> str:
    for ending, feminine in read("words")["feminine_endings"].items():
        if lemma.endswith(ending):
            return lemma.removesuffix(ending) + feminine
    return lemma if lemma.endswith("e") else lemma + "e"


def determiner(lemma: str, gender: str, number: str) -> str:
    """Make a determiner agree; elision and liaison are left to `tree.write`."""
    return str(read("words")["determiners"][lemma][2 * (number == "p") + (gender == "f")])
