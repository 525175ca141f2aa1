"""Noun phrases by spaCy's `noun_chunks`, where one of its English pipelines is installed."""

from collections.abc import Sequence
from typing import Any

import spacy

from trivium.core.errors import BadInput
from trivium.language.english.chunker import Range, join_quantities
from trivium.language.english.sentences import Sentence


class SpacyChunker:
    """spaCy's noun chunks without pronouns, in our words.

    Args:
        model: an installed pipeline's name, or a folder.
        batch: captions parsed at a time.

    Raises:
        BadInput: there is no such pipeline, or it has no parser.
    """

    def __init__(self, model: str, batch: int) -> None:
        try:
            self._pipeline: Any = spacy.load(model, exclude=["ner"])
        except (OSError, ValueError) as error:
            raise BadInput(
                f"spaCy's pipeline cannot be loaded: {str(error).partition(chr(10))[0]}",
                field="spacy_model",
                got=model,
                expected=f"a folder, or a package got by `python -m spacy download {model}`, or chunker: rules",
            ) from error
        if "parser" not in self._pipeline.pipe_names:
            raise BadInput(
                "spaCy's pipeline has no dependency parser, so no noun chunks",
                field="spacy_model",
                got=model,
                choices=self._pipeline.pipe_names,
            )
        self._batch = batch

    def chunk(self, sentences: Sequence[Sentence]) -> list[list[Range]]:
        """See `Chunker`."""
        documents = self._pipeline.pipe([each.text for each in sentences], batch_size=self._batch)
        return [_ranges(sentence, document) for sentence, document in zip(sentences, documents, strict=True)]


def _ranges(sentence: Sentence, document: Any) -> list[Range]:
    found = []
    for chunk in document.noun_chunks:
        first, end = sentence.words_in(chunk.start_char, chunk.end_char)
        if end > first and chunk.root.pos_ != "PRON":
            found.append((first, end))
    return join_quantities(sentence, found)
