"""Find noun phrases by rules over parts of speech, made for sentences as short as captions, or by spaCy.

Both are chunkers of decorrelation.md §2. spaCy's `noun_chunks` need one of its English pipelines.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from trivium.language.english.sentences import Range, Sentence
from trivium.language.english.tagging import tag
from trivium.language.english.word_lists import QUANTITIES
from trivium.language.parsers import load_pipeline

ChunkerName = Literal["rules", "spacy"]
# Finds the noun phrases of each sentence, in order, without overlap; pronouns are left out.
Chunker = Callable[[Sequence[Sentence]], list[list[Range]]]

_ADJECTIVES = r"R*J(?:(?:,C|,|C)R*J)*"
_CORE = rf"(?:{_ADJECTIVES}|N|U)*N"
_PHRASE = re.compile(rf"(?:[DQU]+R*)?{_CORE}|[DU]*U(?=[FXGE.,]|$)")  # the possessor before 's is a phrase of its own


def choose_chunker(setting: Literal["rules", "spacy", "auto"], spacy_model: str) -> ChunkerName:
    """Return the chunker to use; `auto` means spacy if its pipeline is installed, else rules.

    A pipeline is an installed package or an existing folder; whether it can chunk is checked when it is loaded.
    """
    if setting != "auto":
        return setting
    package = spacy_model.isidentifier() and find_spec(spacy_model) is not None
    return "spacy" if package or Path(spacy_model).is_dir() else "rules"


@cache
def load_chunker(name: ChunkerName, spacy_model: str) -> Chunker:
    """Return the chunker of this name, loaded once a process; `BadInput`: no such pipeline, or one without a parser."""
    if name == "rules":
        return chunk_by_rules
    expected = f"a folder, or a package got by `python -m spacy download {spacy_model}`, or chunker: rules"
    return partial(chunk_by_spacy, load_pipeline(spacy_model, expected=expected, exclude=["ner"]))


def chunk_by_rules(sentences: Sequence[Sentence]) -> list[list[Range]]:
    """Chunk without a model: tag words by rule, then take the longest runs of tags that form a noun phrase."""
    return [join_quantities(sentence, phrases_of_tags(tag(sentence))) for sentence in sentences]


def phrases_of_tags(tags: str) -> list[Range]:
    """Find the noun phrases in a string of tags."""
    return [match.span() for match in _PHRASE.finditer(tags)]


def join_quantities(sentence: Sentence, phrases: Sequence[Range]) -> list[Range]:
    """Join a quantity and what it counts into one phrase: "a group" + of + "people"."""
    joined: list[Range] = []
    for first, end in phrases:
        if joined:
            start, stop = joined[-1]
            if stop + 1 == first and sentence.words[stop] == "of" and sentence.words[stop - 1] in QUANTITIES:
                joined[-1] = (start, end)
                continue
        joined.append((first, end))
    return joined


def chunk_by_spacy(pipeline: Any, sentences: Sequence[Sentence]) -> list[list[Range]]:
    """Chunk by the noun chunks of one of spaCy's pipelines."""
    documents = pipeline.pipe([sentence.text for sentence in sentences], batch_size=256)
    return [_ranges(sentence, document) for sentence, document in zip(sentences, documents, strict=True)]


def _ranges(sentence: Sentence, document: Any) -> list[Range]:
    ranges = []
    for chunk in document.noun_chunks:
        first, end = sentence.words_in(chunk.start_char, chunk.end_char)
        if end > first and chunk.root.pos_ != "PRON":
            ranges.append((first, end))
    return join_quantities(sentence, ranges)
