"""Dependency trees by spaCy, from an installed pipeline or a folder."""

from collections.abc import Sequence
from typing import Any

import spacy

from trivium.core.errors import BadInput
from trivium.formats.conllu import Sentence, Token
from trivium.formats.framed_texts import Span


def load_spacy(name: str) -> Any:
    """A pipeline.

    Raises:
        BadInput: it is not there (says how to get it), or it has no parser.
    """
    try:
        pipeline = spacy.load(name)
    except (OSError, ValueError) as error:
        raise BadInput(
            f"spaCy's pipeline cannot be loaded: {str(error).partition(chr(10))[0]}",
            field="spacy_model",
            got=name,
            expected=(
                f"a folder, or a package for spaCy {spacy.about.__version__} got by `python -m spacy download {name}` "
                "(French: fr_core_news_sm, _md, _lg, fr_dep_news_trf), or complexity.syntax.parser: conllu or stanza"
            ),
        ) from error
    if "parser" not in pipeline.pipe_names:
        raise BadInput(
            "spaCy's pipeline has no dependency parser", field="spacy_model", got=name, choices=pipeline.pipe_names
        )
    return pipeline


def parse_spacy(pipeline: Any, texts: Sequence[str], batch: int) -> list[list[Sentence]]:
    """The sentences of each text."""
    return [
        [tree for span in document.sents if (tree := _sentence(list(span))) is not None]
        for document in pipeline.pipe(texts, batch_size=batch)
    ]


def _sentence(words: list[Any]) -> Sentence | None:
    """A tree without spaCy's tokens of white space: what hung on one hangs on its head; None if nothing is left."""
    kept = [word for word in words if not word.is_space]
    if not kept:
        return None
    numbers = {word.i: number for number, word in enumerate(kept, 1)}
    heads = [0 if word.head.i == word.i else numbers.get(_head(word).i, 0) for word in kept]
    # A root of white space leaves its dependents without a head: the first of them becomes the root.
    root = 1 + heads.index(0)
    tokens = [
        Token(
            id=number,
            form=word.text,
            lemma=word.lemma_ or word.text,
            part_of_speech=word.pos_ or "X",
            head=0 if number == root else head or root,
            relation="root" if number == root else word.dep_.lower() if head else "dep",
            span=Span(word.idx, word.idx + len(word.text)),
        )
        for number, (word, head) in enumerate(zip(kept, heads, strict=True), 1)
    ]
    return Sentence(tuple(tokens), Span(tokens[0].span.start, tokens[-1].span.end))


def _head(word: Any) -> Any:
    """The nearest head that is no white space; the root of white space, or of the sentence, is its own head."""
    head = word.head
    while head.is_space and head.head.i != head.i:
        head = head.head
    return head
