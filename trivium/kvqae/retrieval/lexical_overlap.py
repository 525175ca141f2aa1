"""Figure 4: how much of the question's words the first passage repeats, for BM25 and DPR, relevant or not.

The paper gives no formula. Here: the share of the question's distinct content lemmas that are found in the passage
(title included). Lemmas come from spaCy's English lemmatiser where its model is installed; without it
Snowball stems stand in for lemmas, which the metrics say.
"""

import re
from collections.abc import Callable
from pathlib import Path

import snowballstemmer

from trivium.core.errors import BadInput
from trivium.language.reading.language import stop_words

Lemmatize = Callable[[str], frozenset[str]]


LEMMATIZERS = {"lemmatizer", "trainable_lemmatizer"}  # spaCy's components


_STOP_WORDS = stop_words("en")
_STEMMER = snowballstemmer.stemmer("english")


def content_stems(text: str) -> frozenset[str]:
    """Distinct stems (Snowball English) of the content words; stop words and punctuation are out."""
    words = re.findall(r"[^\W_]+", text.lower())
    return frozenset(_STEMMER.stemWords([word for word in words if word not in _STOP_WORDS and len(word) > 1]))


def spacy_lemmas(model: str) -> Lemmatize:
    """Distinct content lemmas by a spaCy pipeline.

    Args:
        model: an installed package, a pipeline's folder, or one with `pipeline.json` as stage `mention_model` writes.

    Raises:
        BadInput: there is none (those that are installed are listed), or it finds no lemmas.
    """
    import spacy

    from trivium.kvqae.construction.spacy_pipeline import POINTER, load_pipeline

    field, folder = "kvqae.lexical_overlap.spacy_model", Path(model)
    try:
        nlp = load_pipeline(folder) if (folder / POINTER).is_file() else spacy.load(model)
    except (OSError, ValueError):
        installed = ["null", *spacy.util.get_installed_models()]
        raise BadInput("no such spaCy pipeline", field=field, got=model, choices=installed) from None
    if not LEMMATIZERS & {nlp.get_pipe_meta(name).factory for name in nlp.pipe_names}:
        expected = f"one with a {' or '.join(sorted(LEMMATIZERS))}"
        raise BadInput("this spaCy pipeline finds no lemmas", field=field, got=model, expected=expected)
    nlp.select_pipes(disable=[name for name in nlp.pipe_names if name in {"parser", "ner"}])

    def lemmas(text: str) -> frozenset[str]:
        return frozenset(
            token.lemma_.lower() for token in nlp(text) if token.is_alpha and not token.is_stop and len(token) > 1
        )

    return lemmas


def overlap(question: str, passage: str, lemmas: Lemmatize) -> float:
    """|lemmas(question) ∩ lemmas(passage)| / |lemmas(question)|; NaN when the question has no content word."""
    asked = lemmas(question)
    return len(asked & lemmas(passage)) / len(asked) if asked else float("nan")
