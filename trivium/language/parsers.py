"""Pipelines of spaCy and stanza, from an installed package or a folder, and the dependency trees that they make."""

import logging
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trivium.core.errors import BadInput
from trivium.core.tables import in_groups
from trivium.formats.conllu import Sentence, Token
from trivium.formats.framed_texts import Span

if TYPE_CHECKING:
    from spacy.language import Language


def load_pipeline(
    name: str | Path, *, expected: str, needed: Sequence[str] = ("parser",), exclude: Sequence[str] = (),
    field: str = "spacy_model",
) -> "Language":  # fmt: skip
    """Load a pipeline of spaCy's, of any language, from a package or a folder, without the pipes in `exclude`.

    Raises:
        BadInput: there is no such pipeline, or it lacks a needed pipe.
    """
    import spacy  # it takes seconds

    try:
        pipeline = spacy.load(name, exclude=list(exclude))
    except (OSError, ValueError) as error:
        problem = f"spaCy's pipeline cannot be loaded: {str(error).partition(chr(10))[0]}"
        raise BadInput(problem, field=field, got=str(name), expected=expected) from error
    if missing := [pipe for pipe in needed if pipe not in pipeline.pipe_names]:
        problem = f"spaCy's pipeline has no {', '.join(missing)}"
        raise BadInput(problem, field=field, got=str(name), expected=expected, choices=pipeline.pipe_names)
    return pipeline


PIPELINES = ("fr_dep_news_trf", "fr_core_news_lg", "fr_core_news_md", "fr_core_news_sm")  # the best first


def load_spacy(name: str | None) -> Any:
    """Load a French pipeline, the best one installed where none is named; see `load_pipeline`."""
    from spacy.util import is_package

    name = name or next(filter(is_package, PIPELINES), PIPELINES[2])
    package = f"a folder, or a package for spaCy {version('spacy')} got by `python -m spacy download {name}` "
    choices = f"(French: {', '.join(PIPELINES)}), or complexity.syntax.parser: conllu or stanza"
    return load_pipeline(name, expected=package + choices)


def parse_spacy(pipeline: Any, texts: Sequence[str], batch: int) -> list[list[Sentence]]:
    """Parse texts with spaCy; returns the sentences of each."""
    return [
        [tree for span in document.sents if (tree := _spacy_tree(list(span))) is not None]
        for document in pipeline.pipe(texts, batch_size=batch)
    ]


def _spacy_tree(words: list[Any]) -> Sentence | None:
    """Make a tree without white-space tokens, whose dependents move to the root; None if nothing is left."""
    kept = [word for word in words if not word.is_space]
    if not kept:
        return None
    numbers = {word.i: number for number, word in enumerate(kept, 1)}
    heads = [0 if word.head.i == word.i else numbers.get(word.head.i, 0) for word in kept]
    root = 1 + next((at for at, word in enumerate(kept) if word.head.i == word.i), heads.index(0))
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


LANGUAGE = "fr"
PROCESSORS = "tokenize,mwt,pos,lemma,depparse"


def load_stanza(folder: Path, package: str) -> Any:
    """Load stanza's French pipeline from a folder; nothing is downloaded.

    Args:
        folder: with `resources.json` and `fr/<processor>/<name>.pt`, as `stanza.download` fills it.
        package: whose models, such as `default` or the name of a treebank.

    Raises:
        BadInput: models are missing; the message says how to get them.
    """
    import stanza
    from stanza.resources.common import DEFAULT_RESOURCES_VERSION

    logging.getLogger("stanza").setLevel(logging.ERROR)
    try:
        return stanza.Pipeline(
            LANGUAGE,
            dir=str(folder),
            processors=PROCESSORS,
            package=package,
            download_method=None,
            logging_level="ERROR",
        )
    except Exception as error:  # stanza has an exception for each way in which a model can be missing
        raise BadInput(
            f"stanza's French models cannot be loaded: {str(error).strip()}",
            file=folder,
            expected=(
                f"models of resources version {DEFAULT_RESOURCES_VERSION} (hub repository stanfordnlp/stanza-fr), by "
                f"`python -c \"import stanza; stanza.download('fr', model_dir='{folder}', package='{package}', "
                f"processors='{PROCESSORS}')\"`, or complexity.syntax.parser: conllu or spacy"
            ),
        ) from error


def parse_stanza(pipeline: Any, texts: Sequence[str], batch: int) -> list[list[Sentence]]:
    """Parse texts with stanza, so many at a time; returns the sentences of each."""
    return [
        [_stanza_tree(sentence) for sentence in document.sentences]
        for part in in_groups(texts, batch)
        for document in pipeline.bulk_process(part)
    ]


def _stanza_tree(sentence: Any) -> Sentence:
    """Make a tree; the words of a multi-word token (`du`: de, le) all have its span."""
    tokens = [
        Token(
            id=word.id,
            form=word.text,
            lemma=word.lemma or word.text,
            part_of_speech=word.upos or "X",
            head=word.head,
            relation=word.deprel,
            span=Span(token.start_char, token.end_char),
        )
        for token in sentence.tokens
        for word in token.words
    ]
    return Sentence(tuple(tokens), Span(tokens[0].span.start, tokens[-1].span.end))
