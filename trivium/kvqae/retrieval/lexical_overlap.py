"""Compute Figure 4: the share of the question's words in the first passage, for BM25 and DPR, relevant or not.

The paper gives no formula. Here it is the share of the question's distinct content lemmas that are in the passage, with
its title. Lemmas come from spaCy's English lemmatiser; without a model, Snowball stems replace them, and the metrics
say so.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import snowballstemmer
from pydantic import Field

from trivium.core.folding import fold
from trivium.core.parameters import Parameters
from trivium.core.tables import write_table
from trivium.formats.questions import read_questions
from trivium.formats.trec import read_qrels, read_run_over
from trivium.kvqae.knowledge_base.passage_texts import read_passage_texts
from trivium.language.languages import stop_words
from trivium.language.spacy_pipelines import load_pipeline
from trivium.measures.runs import PADDING, relevance_matrix

Lemmatize = Callable[[str], frozenset[str]]
_STOP_WORDS = stop_words("en")
_STEMMER = snowballstemmer.stemmer("english")


def content_stems(text: str) -> frozenset[str]:
    """Return the distinct stems (Snowball English) of a text's content words, without stop words and punctuation."""
    words = re.findall(r"[^\W_]+", fold(text).lower())
    return frozenset(_STEMMER.stemWords([word for word in words if word not in _STOP_WORDS and len(word) > 1]))


def spacy_lemmas(model: str) -> Lemmatize:
    """Load a function that gives a text's distinct content lemmas by a spaCy pipeline, a package or a folder."""
    field, expected = "kvqae.evaluate.spacy_model", "a pipeline with a lemmatizer such as en_core_web_lg, or null"
    nlp = load_pipeline(model, expected=expected, needed=("lemmatizer",), exclude=("parser", "ner"), field=field)

    def lemmas(text: str) -> frozenset[str]:
        return frozenset(
            token.lemma_.lower() for token in nlp(text) if token.is_alpha and not token.is_stop and len(token) > 1
        )

    return lemmas


def overlap(question: str, passage: str, lemmas: Lemmatize) -> float:
    """Compute |lemmas(question) ∩ lemmas(passage)| / |lemmas(question)|; NaN if the question has no content word."""
    content = lemmas(question)
    return len(content & lemmas(passage)) / len(content) if content else float("nan")


class LexicalOverlapParameters(Parameters):
    """Part of section `kvqae.evaluate`."""

    spacy_model: str | None = Field(
        default=None,
        min_length=1,
        description="spaCy pipeline for lemmas: a package such as en_core_web_lg, or a folder; null: Snowball stems",
    )


def write_overlaps(
    parameters: LexicalOverlapParameters,
    *,
    questions: Path,
    articles: Path,
    passages: Path,
    qrels: Path,
    runs: Sequence[Path],
    out: Path,
) -> dict[str, float]:
    """Write the overlap of each question with the first passage of each run; a run is named as its folder."""
    lemmas = spacy_lemmas(parameters.spacy_model) if parameters.spacy_model else content_stems
    texts = {question.id: question.text for question in read_questions(questions)}
    judged = read_qrels(qrels)
    ranked = {path.parent.name: read_run_over(path, judged.queries) for path in runs}
    firsts = np.concatenate([run.documents[:, 0] for run in ranked.values()])
    passage_texts = read_passage_texts(passages, articles, firsts[firsts != PADDING])
    metrics: dict[str, float] = {
        "stems_instead_of_lemmas": float(parameters.spacy_model is None),
        "questions_without_content_word": float(sum(not lemmas(text) for text in texts.values())),
    }
    tables = []
    for system, run in ranked.items():
        chosen = np.flatnonzero(run.documents[:, 0] != PADDING)
        queries = [run.queries[row] for row in chosen]
        best = [" ".join(passage_texts[passage]) for passage in run.documents[chosen, 0].tolist()]
        relevant = relevance_matrix(run, judged)[chosen, 0].astype(bool)
        pairs = zip(queries, best, strict=True)
        values = np.array([overlap(texts[query], passage, lemmas) for query, passage in pairs])
        columns = {"query": queries, "relevant": relevant, "overlap": values}
        tables.append(pa.table({"system": [system] * len(queries), **columns}))
        for label, part in (("relevant", values[relevant]), ("not_relevant", values[~relevant])):
            part = part[np.isfinite(part)]
            metrics[f"{system}_{label}_count"] = float(len(part))
            if len(part):
                metrics[f"{system}_{label}_median_overlap"] = float(np.median(part))
    write_table(out, pa.concat_tables(tables).combine_chunks())
    return metrics
