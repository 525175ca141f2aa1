"""Dependency trees by stanza, models from a local folder."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import stanza
from stanza.resources.common import DEFAULT_RESOURCES_VERSION

from trivium.core.errors import BadInput
from trivium.formats.conllu import Sentence, Token
from trivium.formats.framed_texts import Span

LANGUAGE = "fr"
PROCESSORS = "tokenize,mwt,pos,lemma,depparse"


def load_stanza(folder: Path, package: str) -> Any:
    """A pipeline; nothing is downloaded.

    Args:
        folder: with `resources.json` and `fr/<processor>/<name>.pt`, as `stanza.download` fills it.
        package: whose models, such as `default` or the name of a treebank.

    Raises:
        BadInput: models are missing; says how to get them.
    """
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


def parse_stanza(pipeline: Any, texts: Sequence[str]) -> list[list[Sentence]]:
    """The sentences of each text, read together."""
    return [[_sentence(sentence) for sentence in document.sentences] for document in pipeline.bulk_process(list(texts))]


def _sentence(sentence: Any) -> Sentence:
    """The words of a multi-word token (`du`: de, le) get its span."""
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
