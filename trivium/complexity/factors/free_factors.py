"""Factors of reading difficulty that need no frames: any SQuAD-format set has them (beyond the paper's §4).

What stands in for the paper's factors, and what cannot:

| here | asks | stands in for |
|---|---|---|
| low_overlap | few of the question's content words are in the answer's sentence | f3, trigger not in question |
| rival_sentence | another sentence has at least as many of them | |
| far_words | many words between the answer and the nearest of them in its sentence | f4, without a parser |
| long_answer, late_answer, long_text | more than half of the set | |
| far_arcs | ≥ 2 arcs between the answer's head and the nearest of them (syntax) | f4 |
| nominal_governor | the answer's head depends on a noun (syntax) | f2, nominal trigger |
| governor_absent | the lemma that it depends on is not in the question (syntax) | f3 |

f0, f5 and f6 need frames, f1 coreference chains. Numeric properties are cut where they split the set most evenly.
"""

import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from trivium.complexity.factors.arcs import distance, head_token
from trivium.complexity.factors.overlap import content_stems, overlap, sentence_of, sentences
from trivium.formats.conllu import Sentence
from trivium.formats.framed_texts import Span
from trivium.formats.squad import SquadQuestion
from trivium.measures.effects import NEITHER
from trivium.measures.even_cut import even_cut
from trivium.measures.french import words

_TOKEN = re.compile(r"\S+")
_NOMINAL = {"NOUN": True, "PROPN": True, "VERB": False, "AUX": False}
_FAR_ARCS = 2


def text_properties(question: SquadQuestion) -> dict[str, float | None]:
    """Numbers from which the factors without syntax are cut, of the first answer; None where there is none."""
    answer = _answer_span(question)
    spans = sentences(question.context)
    own = sentence_of(spans, answer)
    shares = [overlap(question.question, span.of(question.context)) for span in spans]
    known = [share for share in shares if share is not None]
    rivals = [share for place, share in enumerate(known) if place != own]
    return {
        "overlap": known[own] if known else None,
        "rival": max(rivals) - known[own] if rivals else None,
        "distance": _words_between(question, spans[own], answer),
        "answer_words": float(len(words(answer.of(question.context)))),
        "position": answer.start / len(question.context),
        "text_words": float(len(words(question.context))),
    }


def _answer_span(question: SquadQuestion) -> Span:
    text, start = question.answers[0]
    return Span(start, start + len(text))


def _words_between(question: SquadQuestion, sentence: Span, answer: Span) -> float | None:
    """Words between the answer and the nearest content word of the question in its sentence; None without any."""
    asked = content_stems(question.question)
    tokens = [
        Span(sentence.start + match.start(), sentence.start + match.end())
        for match in _TOKEN.finditer(sentence.of(question.context))
    ]
    inside = [place for place, token in enumerate(tokens) if token.overlaps(answer)]
    shared = [
        place
        for place, token in enumerate(tokens)
        if not token.overlaps(answer) and asked & content_stems(token.of(question.context))
    ]
    if not inside or not shared:
        return None
    return float(min(max(inside[0] - place, place - inside[-1]) for place in shared) - 1)


def syntax_factors(question: SquadQuestion, trees: Sequence[Sentence]) -> dict[str, bool | None]:
    """The factors that need dependency trees, of the first answer; None where a tree does not tell."""
    answer = _answer_span(question)
    factors: dict[str, bool | None] = dict.fromkeys(("far_arcs", "nominal_governor", "governor_absent"))
    for sentence in trees:
        inside = [token for token in sentence.tokens if token.span.overlaps(answer)]
        if not inside:
            continue
        asked = content_stems(question.question)
        head = head_token(sentence, inside)
        shared = [token for token in sentence.tokens if token not in inside and asked & content_stems(token.form)]
        if shared:
            factors["far_arcs"] = min(distance(sentence, head, token) for token in shared) >= _FAR_ARCS
        if head.head:
            governor = sentence.tokens[head.head - 1]
            factors["nominal_governor"] = _NOMINAL.get(governor.part_of_speech)
            factors["governor_absent"] = not asked & (content_stems(governor.lemma) | content_stems(governor.form))
        break
    return factors


_CUTS: dict[str, tuple[str, Callable[[NDArray, float], NDArray]]] = {
    "low_overlap": ("overlap", lambda values, cut: values <= cut),
    "far_words": ("distance", lambda values, cut: values > cut),
    "long_answer": ("answer_words", lambda values, cut: values > cut),
    "late_answer": ("position", lambda values, cut: values > cut),
    "long_text": ("text_words", lambda values, cut: values > cut),
}


def free_factors(
    questions: Sequence[SquadQuestion], trees: Mapping[str, Sequence[Sentence]] | None
) -> tuple[dict[str, NDArray[np.int8]], dict[str, float]]:
    """Every factor's codes, (questions,) of 1 (yes, expected harder), 0 (no), -1 (neither), and the cuts found.

    A property without two different values gives no factor. Trees are by context; without them the factors that need
    syntax are left out.
    """
    properties = [text_properties(question) for question in questions]
    codes: dict[str, NDArray[np.int8]] = {}
    cuts: dict[str, float] = {}
    for factor, (name, harder) in _CUTS.items():
        values = np.array([np.nan if each[name] is None else each[name] for each in properties], dtype=np.float64)
        known = np.isfinite(values)
        cut = even_cut(values[known]) if known.any() else None
        if cut is not None:
            cuts[factor] = cut
            codes[factor] = np.where(known, harder(values, cut), NEITHER).astype(np.int8)
    codes["rival_sentence"] = _coded([None if each["rival"] is None else each["rival"] >= 0 for each in properties])
    if trees is not None:
        found = [syntax_factors(question, trees.get(question.context, ())) for question in questions]
        codes |= {factor: _coded([each[factor] for each in found]) for factor in found[0]}
    return codes, cuts


def _coded(values: Sequence[bool | None]) -> NDArray[np.int8]:
    return np.array([NEITHER if value is None else int(value) for value in values], dtype=np.int8)
