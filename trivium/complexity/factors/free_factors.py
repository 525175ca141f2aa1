"""Factors of reading difficulty that need no frames: any question set about texts has them (beyond the paper's §4).

`LABELS` says what they ask. Some stand in for factors of the paper: nominal_governor for f2, low_overlap and
governor_absent for f3, far_words and far_arcs for f4. f5 needs frames, f1 coreference chains. For f0 and f6 frames may
be predicted by a parser: a question's frame is the one whose element covers the answer best; mistakes pull the effects
of both factors towards 0. Numeric properties are cut where they split the set most evenly.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trivium.complexity.effects.analysed_tables import encode_answers
from trivium.complexity.factors.corpora import LexicalUnits
from trivium.complexity.factors.members.f0 import rare_cut
from trivium.complexity.factors.members.f4 import distance, head_token
from trivium.formats.conllu import Sentence
from trivium.formats.framed_texts import FrameInstance, Span
from trivium.formats.question_sets import AskedQuestion
from trivium.language.languages import Language, Word, overlap
from trivium.measures.effects import NEITHER, code_by_cut
from trivium.measures.frames import entropy_bits

LABELS = {
    "low_overlap": "few of the question’s content words in the answer’s sentence",
    "rival_sentence": "another sentence with at least as many of them",
    "far_words": "many words between the answer and the nearest of them",
    "long_answer": "answer longer than in half of the set",
    "late_answer": "answer later in the text than in half of the set",
    "long_text": "text longer than in half of the set",
    "far_arcs": "two arcs or more between answer and the nearest of them",
    "nominal_governor": "answer depends on a noun",
    "governor_absent": "what the answer depends on is not in the question",
    "rare_frame": "predicted frame rare in the adaptation corpus (f0)",
    "varied_triggers": "predicted frame evoked by varied triggers (f6)",
}
MADE_OF_OVERLAP = frozenset(("low_overlap", "rival_sentence", "far_words", "far_arcs", "governor_absent"))
"""Factors that ask for words shared with the question: where they hold, the best-overlap sentence misses by itself."""
PROPERTIES = ("overlap", "rival", "distance", "answer_words", "position", "text_words")
_NOMINAL = {"NOUN": True, "PROPN": True, "VERB": False, "AUX": False}
_FAR_ARCS = 2


@dataclass(frozen=True)
class ReadText:
    """A context, cut once for all of its questions."""

    words: tuple[Word, ...]
    sentences: tuple[Span, ...]
    stems: tuple[frozenset[str], ...]  # of the content words of each sentence
    length: int  # in words, as lengths are counted


def read_text(context: str, language: Language) -> ReadText:
    """Cut a context into sentences and words."""
    words, sentences = tuple(language.in_place(context)), language.sentences(context)
    stems: list[set[str]] = [set() for _ in sentences]
    place = 0
    for word in words:  # both are in order
        while place < len(sentences) and sentences[place].end <= word.span.start:
            place += 1
        if place < len(sentences) and word.stems:
            stems[place] |= word.stems
    return ReadText(words, tuple(sentences), tuple(map(frozenset, stems)), len(language.words(context)))


def text_properties(question: AskedQuestion, text: ReadText, language: Language) -> dict[str, float | None]:
    """Numbers from which the factors without syntax are cut, of the first answer; None where there is none.

    An answer that does not stand in its context has a length only.
    """
    lengths = {"answer_words": float(len(language.words(question.answers[0]))), "text_words": float(text.length)}
    answer = question.place
    if answer is None:
        return dict.fromkeys(PROPERTIES) | lengths
    stems = language.content_stems(question.question)
    own = sentence_of(text.sentences, answer)
    shares = [share for own_stems in text.stems if (share := overlap(stems, own_stems)) is not None]
    rivals = [share for place, share in enumerate(shares) if place != own]
    return {
        "overlap": shares[own] if shares else None,
        "rival": max(rivals) - shares[own] if rivals else None,
        "distance": _words_between(stems, text, text.sentences[own], answer),
        "position": answer.start / len(question.context),
        **lengths,
    }


def sentence_of(spans: Sequence[Span], place: Span) -> int:
    """Return the number of the sentence in which a span begins; if it begins between two, that of the first."""
    return max(0, sum(span.start <= place.start for span in spans) - 1)


def _words_between(stems: frozenset[str], text: ReadText, sentence: Span, answer: Span) -> float | None:
    """Words between the answer and the nearest content word of the question in its sentence; None without any."""
    words = [word for word in text.words if sentence.start <= word.span.start < sentence.end]
    inside = [place for place, word in enumerate(words) if word.span.overlaps(answer)]
    shared = [
        place for place, word in enumerate(words) if not stems.isdisjoint(word.stems) and not word.span.overlaps(answer)
    ]
    if not inside or not shared:
        return None
    return float(min(max(inside[0] - place, place - inside[-1]) for place in shared) - 1)


def syntax_factors(question: AskedQuestion, trees: Sequence[Sentence], language: Language) -> dict[str, bool | None]:
    """The factors that need dependency trees, of the first answer; None where a tree does not tell."""
    factors: dict[str, bool | None] = dict.fromkeys(("far_arcs", "nominal_governor", "governor_absent"))
    for sentence in trees:
        answer = question.place
        inside = [] if answer is None else [token for token in sentence.tokens if token.span.overlaps(answer)]
        if not inside:
            continue
        stems = language.content_stems
        question_stems = stems(question.question)
        head = head_token(sentence, inside)
        shared = [token for token in sentence.tokens if token not in inside and question_stems & stems(token.form)]
        if shared:
            factors["far_arcs"] = min(distance(sentence, head, token) for token in shared) >= _FAR_ARCS
        if head.head:
            governor = sentence.tokens[head.head - 1]
            factors["nominal_governor"] = _NOMINAL.get(governor.part_of_speech)
            factors["governor_absent"] = not question_stems & (stems(governor.lemma) | stems(governor.form))
        break
    return factors


_CUTS = {  # factor: the property that is cut; much of it is yes, but for low_overlap
    "low_overlap": "overlap",
    "far_words": "distance",
    "long_answer": "answer_words",
    "late_answer": "position",
    "long_text": "text_words",
}


@dataclass(frozen=True)
class FreeFactors:
    """The factors of a set's questions, by name."""

    codes: dict[str, NDArray[np.int8]]  # (questions,) of 1 (yes, expected harder), 0 (no), -1 (neither)
    cuts: dict[str, float]  # the value of its property that splits the set most evenly
    properties: dict[str, NDArray[np.float64]]  # by name of PROPERTIES, (questions,), NaN where there is none
    labels: dict[str, str]  # what a yes says


def free_factors(
    questions: Sequence[AskedQuestion],
    language: Language,
    texts: Mapping[str, ReadText],
    trees: Mapping[str, Sequence[Sentence]] | None = None,
) -> FreeFactors:
    """Every factor's codes; a property without two different values gives no factor.

    Args:
        trees: by context; without them the factors that need syntax are left out.
    """
    rows = [text_properties(question, texts[question.context], language) for question in questions]
    properties = {
        name: np.array([np.nan if row[name] is None else row[name] for row in rows], dtype=np.float64)
        for name in PROPERTIES
    }
    codes: dict[str, NDArray[np.int8]] = {}
    cuts: dict[str, float] = {}
    for factor, name in _CUTS.items():
        if coded := code_by_cut(properties[name], low=factor == "low_overlap"):
            codes[factor], cuts[factor] = coded
    rival = properties["rival"]
    codes["rival_sentence"] = np.where(np.isnan(rival), NEITHER, rival >= 0).astype(np.int8)
    if trees is not None:
        judged = [syntax_factors(question, trees.get(question.context, ()), language) for question in questions]
        codes |= {factor: encode_answers([says[factor] for says in judged]) for factor in judged[0]}
    return FreeFactors(codes, cuts, properties, {factor: LABELS[factor] for factor in codes})


def cut_column(factors: FreeFactors, name: str, label: str, values: Sequence[bool | float | None]) -> bool:
    """Add a factor by yes/no or numbers of the questions, None for neither; False where all say the same."""
    defined = [value for value in values if value is not None]
    if len(set(defined)) < 2:
        return False
    factors.labels[name] = label
    if isinstance(defined[0], bool):
        factors.codes[name] = encode_answers([None if value is None else bool(value) for value in values])
        return True
    numbers = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    coded = code_by_cut(numbers)
    assert coded is not None
    factors.codes[name], factors.cuts[name] = coded
    factors.properties[f"{name}_value"] = numbers
    factors.labels[name] += f" (above {coded[1]:.3g})"
    return True


def frame_of_answer(answer: Span | None, frames: Sequence[FrameInstance]) -> str | None:
    """The frame with the element that shares most with the answer (of all their characters); None where none does."""
    shares = [(_shared(answer, element.span), frame.frame) for frame in frames for element in frame.elements if answer]
    best, name = max(shares, key=lambda share: share[0], default=(0.0, None))
    return name if best > 0 else None


def _shared(one: Span, other: Span) -> float:
    common = max(0, min(one.end, other.end) - max(one.start, other.start))
    return common / (one.end - one.start + other.end - other.start - common)


def predicted_factors(
    questions: Sequence[AskedQuestion],
    frames: Mapping[str, Sequence[FrameInstance]],
    adaptation: LexicalUnits,
    training: LexicalUnits,
) -> dict[str, dict[str, bool | None]]:
    """The values of f0 (`rare_frame`) and f6 (`varied_triggers`) by question; what cannot be cut is left out.

    `frames` are predicted, by context; f0 counts units in the adaptation corpus, f6 in annotated training texts.
    """
    named = {row.id: frame_of_answer(row.place, frames[row.context]) for row in questions}
    counts = {key: sum(adaptation.get(name, Counter()).values()) for key, name in named.items() if name is not None}
    bits = {
        key: entropy_bits(list(training[name].values()))
        for key, name in named.items()
        if name is not None and name in training
    }
    says: dict[str, dict[str, bool | None]] = {}
    cut = rare_cut(list(counts.values()), adaptation, "evaluation")
    if cut is not None:
        says["rare_frame"] = {key: counts[key] <= cut if key in counts else None for key in named}
    if len(set(bits.values())) > 1:
        mean = float(np.mean(list(bits.values())))
        says["varied_triggers"] = {key: bits[key] > mean if key in bits else None for key in named}
    return says
