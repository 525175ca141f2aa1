"""Corpora and inflections that factors are computed from (complexity.md §4).

Factor f3 asks whether a trigger, or an inflection of it, is in a question. Questions are not parsed; the syntax and the
annotated triggers of the texts say which lemmas a form has. Homographs of another lemma ("arrivée" of `arriver` and of
`arrivée`) and forms that are spelt as regular ones ("attaque") count. A word with the lemma's Snowball stem alone may
be an inflection ("assiégea") or a derivation ("installation" of `installer`), so that f3 leaves the question out.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import snowballstemmer

from trivium.core.tables import read_table
from trivium.formats.conllu import Sentence
from trivium.formats.framed_texts import AnnotatedText
from trivium.measures.french import words

Presence = Literal["lemma", "homograph", "spelling", "stem"]
_ORDER: tuple[Presence, ...] = ("lemma", "homograph", "spelling", "stem")  # from sure to unsure
_ENDINGS = ("e", "es", "é", "ée", "és", "ées")  # of verbs in -er, those that nouns and adjectives have as well
_STEMMER = snowballstemmer.stemmer("french")


class Inflections:
    """The lemmas of word forms, from pairs of form and lemma; pairs of several words are left out."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        lemmas: dict[str, set[str]] = defaultdict(set)
        forms: dict[str, set[str]] = defaultdict(set)
        for form, lemma in pairs:
            form_words, lemma_words = words(form), words(lemma)
            if len(form_words) == len(lemma_words) == 1:
                lemmas[form_words[0]].add(lemma_words[0])
                forms[lemma_words[0]].add(form_words[0])
        self._lemmas = dict(lemmas)
        self._stems = {lemma: frozenset(_STEMMER.stemWords(sorted({lemma, *own}))) for lemma, own in forms.items()}

    def __len__(self) -> int:
        """The number of known forms."""
        return len(self._lemmas)

    def presence(self, lemma: str, text: str) -> Presence | None:
        """The surest way in which the lemma occurs in a text; None when it does not.

        "lemma": itself or a form of nothing else; "homograph": a form that has another lemma too; "spelling": a form
        unknown or known by other lemmas alone, spelt as a regular form of this one; "stem": an unknown form with its
        stem, an inflection or a derivation. Of a lemma of several words ("prendre fin") each must occur, and the least
        sure one counts.
        """
        listed = words(text)
        kinds = [self._word(part, listed) for part in words(lemma)]
        if not kinds or None in kinds:
            return None
        return max((kind for kind in kinds if kind is not None), key=_ORDER.index)

    def _word(self, lemma: str, listed: list[str]) -> Presence | None:
        forms = [word for word in listed if word == lemma or lemma in self._lemmas.get(word, ())]
        if any(word == lemma or len(self._lemmas[word]) == 1 for word in forms):
            return "lemma"
        if forms:
            return "homograph"
        if _regular_forms(lemma) & set(listed):
            return "spelling"
        unknown = [word for word in listed if word not in self._lemmas]
        stems = self._stems.get(lemma) or frozenset(_STEMMER.stemWords([lemma]))
        return "stem" if stems & set(_STEMMER.stemWords(unknown)) else None


def _regular_forms(lemma: str) -> set[str]:
    """Forms that a verb in -er shares with nouns and adjectives; of any other lemma, its plural in -s."""
    return {lemma[:-2] + ending for ending in _ENDINGS} if lemma.endswith("er") else {lemma + "s"}


def known_inflections(syntax: Mapping[str, list[Sentence]], texts: Iterable[AnnotatedText]) -> Inflections:
    """The table of a corpus: every token of its syntax, every trigger of its texts."""
    trees = [sentence for sentences in syntax.values() for sentence in sentences]
    pairs = [(token.form, token.lemma) for sentence in trees for token in sentence.tokens]
    for text in texts:
        pairs += [(unit.span.of(text.text), unit.lemma) for unit in (frame.lexical_unit for frame in text.frames)]
    return Inflections(pairs)


LexicalUnits = Mapping[str, Counter[str]]  # frame → how often each lexical unit evokes it


@dataclass(frozen=True)
class Corpora:
    """Corpora and inflections that factors are computed from."""

    adaptation: LexicalUnits  # by frame in the automatically annotated adaptation corpus
    training: LexicalUnits  # by frame in the frame-annotated training texts
    syntax: Mapping[str, Sequence[Sentence]]  # dependency trees of the evaluation texts, by text id
    inflections: Inflections  # known forms, for f3


def lexical_units(texts: Sequence[AnnotatedText]) -> dict[str, Counter[str]]:
    """Count how often each lexical unit evokes each frame in annotated texts."""
    units: dict[str, Counter[str]] = {}
    for text in texts:
        for frame in text.frames:
            units.setdefault(frame.frame, Counter())[frame.lexical_unit.name] += 1
    return units


def predicted_units(path: Path) -> dict[str, Counter[str]]:
    """Count lexical units by frame among the frames predicted in the adaptation corpus."""
    units: dict[str, Counter[str]] = {}
    columns = read_table(path, ["frame", "lemma", "part_of_speech"]).to_pydict()
    for frame, lemma, part_of_speech in zip(*columns.values(), strict=True):
        units.setdefault(frame, Counter())[f"{lemma}.{part_of_speech}"] += 1
    return units
