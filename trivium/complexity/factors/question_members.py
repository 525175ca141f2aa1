"""Further factors of reading difficulty that questions and answers show by themselves, asked for by name.

| member | factors |
|---|---|
| question_word | asks_who, asks_when, asks_where, asks_why, asks_how, asks_how_many; the others ask what or which |
| answer_type | number_answer, name_answer; the others are phrases |
| negation | negated |
| word_rarity | rare_words: the question's content words stand in few of the set's texts |

Each of them is one more test for every model, and Holm's correction costs the others power: none is a matter of course.
How long an answer is, `long_answer`, is always among the factors.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from trivium.complexity.factors.free_factors import ReadText
from trivium.core.errors import BadInput
from trivium.formats.question_sets import AskedQuestion
from trivium.language.reading.language import Language

Texts = Mapping[str, ReadText]
Value = bool | float | None  # a number is cut where it splits the set most evenly; None: in neither set


class Column(NamedTuple):
    """A factor's values on a set's questions, in their order, with the meaning of yes, or of more, in words."""

    label: str
    values: list[Value]


_ASKS = {
    "who": "asks who", "when": "asks when", "where": "asks where", "why": "asks why", "how": "asks how",
    "how_many": "asks how many, how much or how long",
}  # fmt: skip
_WORDS: dict[str, dict[str, str]] = {
    "en": {"who": "who whom whose", "when": "when what_year which_year what_date", "where": "where", "why": "why",
           "how": "how", "how_many": "how_many how_much how_long how_old how_far how_often how_tall how_high",
           "what": "what which", "negation": "not no never none nobody nothing neither nor without cannot"},
    "fr": {"who": "qui", "when": "quand quelle_année quelle_date quelle_époque", "where": "où", "why": "pourquoi",
           "how": "comment", "how_many": "combien", "what": "quel quelle quels quelles que qu quoi lequel laquelle",
           "negation": "ne n non jamais aucun aucune rien sans ni"},
    "de": {"who": "wer wen wem wessen", "when": "wann welchem_jahr welches_jahr", "where": "wo wohin woher",
           "why": "warum wieso weshalb", "how": "wie", "how_many": "wie_viele wie_viel wie_lange wie_oft wie_alt",
           "what": "was welche welcher welches welchem welchen",
           "negation": "nicht kein keine keinen keinem keiner keines nie niemals niemand nichts ohne weder"},
    "es": {"who": "quién quiénes", "when": "cuándo qué_año", "where": "dónde adónde", "why": "por_qué", "how": "cómo",
           "how_many": "cuánto cuánta cuántos cuántas", "what": "qué cuál cuáles",
           "negation": "no nunca jamás nadie nada ningún ninguna ninguno sin ni tampoco"},
    "it": {"who": "chi", "when": "quando quale_anno che_anno", "where": "dove dov", "why": "perché", "how": "come com",
           "how_many": "quanto quanta quanti quante quant", "what": "che_cosa quale quali qual",
           "negation": "non mai nessuno nessuna nessun niente nulla senza né"},
    "nl": {"who": "wie", "when": "wanneer welk_jaar", "where": "waar", "why": "waarom", "how": "hoe",
           "how_many": "hoeveel hoe_lang hoe_vaak hoe_oud", "what": "wat welke welk",
           "negation": "niet geen nooit niemand niets zonder noch"},
    "pt": {"who": "quem", "when": "quando que_ano", "where": "onde aonde", "why": "por_que por_quê", "how": "como",
           "how_many": "quanto quanta quantos quantas", "what": "que qual quais",
           "negation": "não nunca jamais ninguém nada nenhum nenhuma sem nem"},
}  # fmt: skip
"""Words, and phrases of two words, by language and kind."""


def _words_of(language: Language, member: str) -> Mapping[str, str]:
    if language.code not in _WORDS:
        raise BadInput("no words are known for this language", field=f"factors: {member}", got=language.code,
                       choices=_WORDS)  # fmt: skip
    return _WORDS[language.code]


def _question_word(questions: Sequence[AskedQuestion], texts: Texts, language: Language) -> dict[str, Column]:
    """Factors of the first question word; of two that begin at the same word, of the phrase."""
    table = _words_of(language, "question_word")
    kind_of = {
        phrase.replace("_", " "): kind
        for kind, phrases in table.items()
        if kind != "negation"
        for phrase in phrases.split()
    }
    kinds: list[str | None] = []
    for question in questions:
        words = language.words(question.question)
        starts = (phrase for pair in zip(words, [*words[1:], ""], strict=True) for phrase in (" ".join(pair), pair[0]))
        kinds.append(next((kind_of[phrase] for phrase in starts if phrase in kind_of), None))
    return {f"asks_{kind}": Column(label, [None if of is None else of == kind for of in kinds])
            for kind, label in _ASKS.items()}  # fmt: skip


def _answer_type(questions: Sequence[AskedQuestion], texts: Texts, language: Language) -> dict[str, Column]:
    """A number where the first answer has a digit; else a name where all of its content words begin with capitals."""
    number: list[Value] = [any(map(str.isdigit, question.answers[0])) for question in questions]
    name: list[Value] = []
    for question, has_digit in zip(questions, number, strict=True):
        answer = question.answers[0]
        content = [re.findall(r"\w+", word.span.of(answer)) for word in language.in_place(answer) if word.stems]
        capitals = [any(part[0].isupper() for part in word) for word in content]  # "l'Yser" is one word
        name.append(not has_digit and bool(capitals) and all(capitals))
    return {"number_answer": Column("answer with a number", number), "name_answer": Column("answer is a name", name)}


def _negation(questions: Sequence[AskedQuestion], texts: Texts, language: Language) -> dict[str, Column]:
    """A negating word in the question; in English also a verb with n't."""
    negating = set(_words_of(language, "negation")["negation"].split())
    values: list[Value] = []
    for question in questions:
        words = language.words(question.question)
        contracted = any(one[-1] == "n" and two == "t" for one, two in pairwise(words))
        values.append(not negating.isdisjoint(words) or contracted)
    return {"negated": Column("a negation in the question", values)}


def _word_rarity(questions: Sequence[AskedQuestion], texts: Texts, language: Language) -> dict[str, Column]:
    """Mean over the question's content stems of log2((n + 1) / (n_stem + 1)), n texts, n_stem of them with the stem."""
    counts = Counter(stem for text in texts.values() for stem in frozenset().union(*text.stems))
    values: list[Value] = []
    for question in questions:
        bits = [np.log2((len(texts) + 1) / (counts[stem] + 1)) for stem in language.content_stems(question.question)]
        values.append(float(np.mean(bits)) if bits else None)
    return {"rare_words": Column("words of the question rarer in the texts than in half of the set", values)}


MEMBERS: dict[str, Callable[[Sequence[AskedQuestion], Texts, Language], dict[str, Column]]] = {
    "question_word": _question_word,
    "answer_type": _answer_type,
    "negation": _negation,
    "word_rarity": _word_rarity,
}
