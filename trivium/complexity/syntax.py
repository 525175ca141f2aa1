"""The syntax of the evaluation texts: read from CoNLL-U, or parsed by stanza or spaCy (complexity.md §4, f4)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field

from trivium.complexity.factors.members.f4 import arcs
from trivium.core.parameters import Parameters, shared
from trivium.formats.conllu import Sentence
from trivium.formats.framed_texts import Example
from trivium.measures.frames import PlacedWord

Trees = Mapping[str, Sequence[Sentence]]  # by text
_FAR = 2  # arcs, the paper's f4


class SyntaxParameters(Parameters):
    """Section `complexity.syntax`, with where the texts come from."""

    world: str = shared("world.calor", description="Source of the texts")
    parser: Literal["conllu", "stanza", "spacy"] = Field(
        description="conllu: the gold syntax that comes with the texts; else who parses them"
    )
    stanza_folder: str = Field(min_length=1, description="Folder of stanza's models, as stanza.download fills it")
    stanza_package: str = Field(
        default="default", min_length=1, description="Which of stanza's French models, such as default or gsd"
    )
    spacy_model: str | None = Field(
        default=None, min_length=1, description="Name of a spaCy pipeline, or its folder; null: the best one installed"
    )
    batch: int = Field(default=64, ge=1, description="Texts parsed together")


def parse_texts(texts: Mapping[str, str], parameters: SyntaxParameters) -> dict[str, list[Sentence]]:
    """The sentences of each text by stanza or spaCy.

    Raises:
        BadInput: its models are not there.
    """
    from trivium.language.parsers import load_spacy, load_stanza, parse_spacy, parse_stanza

    listed = list(texts.values())
    if parameters.parser == "stanza":
        pipeline = load_stanza(Path(parameters.stanza_folder), parameters.stanza_package)
        trees = parse_stanza(pipeline, listed, parameters.batch)
    else:
        trees = parse_spacy(load_spacy(parameters.spacy_model), listed, parameters.batch)
    return dict(zip(texts, trees, strict=True))


def f4_agreement(examples: Sequence[Example], syntax: Trees, gold: Trees) -> dict[str, float]:
    """Cohen's κ of factor f4 by a parser's trees and by gold ones, over the examples with a path in both.

    κ = (a − e) / (1 − e), a the share of equal answers, e that of independent ones; absent where all say the same.
    """
    answers = []
    for example in examples:
        ways = [
            arcs(trees.get(example.text.id, ()), example.frame.lexical_unit.span, example.answer)
            for trees in (syntax, gold)
        ]
        if all(case == "path" for case, _ in ways):
            answers.append([(count or 0) >= _FAR for _, count in ways])
    metrics = {"f4_compared": float(len(answers))}
    if answers:
        ours, theirs = np.array(answers).T
        chance = ours.mean() * theirs.mean() + (1 - ours.mean()) * (1 - theirs.mean())
        metrics |= {"f4_kappa": float(((ours == theirs).mean() - chance) / (1 - chance))} if chance < 1 else {}
    return metrics


def placed_words(syntax: Trees) -> list[PlacedWord]:
    """Words by text, span, and number among the words of that span (those of a multi-word token share it)."""
    words = []
    for identifier, sentences in syntax.items():
        for sentence in sentences:
            counts: Counter[tuple[int, int]] = Counter()
            places = {}
            for token in sentence.tokens:
                span = (token.span.start, token.span.end)
                places[token.id] = (identifier, *span, counts[span])
                counts[span] += 1
            words += [
                PlacedWord(places[token.id], places.get(token.head), token.relation, token.part_of_speech, token.lemma)
                for token in sentence.tokens
            ]
    return words
