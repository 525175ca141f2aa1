"""Compute Tables 2, 3 and 4, for all questions and subsets, and Figure 4 (kvqae.md §6).

Every row of a block is measured on the same questions. Differences are tested pairwise within the block by Fisher's
randomization test; a row's letters name the rows that it beats. For Figure 4 (kvqae.md §7) lemmas come from spaCy's
English lemmatiser; without a model, Snowball stems replace them, and the metrics say so.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import snowballstemmer
from numpy.typing import NDArray
from pydantic import Field

from trivium.core.folding import fold
from trivium.core.parameters import Parameters, shared
from trivium.core.tables import write_table
from trivium.formats.questions import read_questions
from trivium.kvqae.knowledge_base.passage_texts import read_passage_texts
from trivium.language.languages import stop_words
from trivium.language.parsers import load_pipeline
from trivium.measures.ranking import evaluate as measure
from trivium.measures.runs import PADDING, Qrels, Run, relevance_matrix
from trivium.measures.significance import bootstrap_interval, fisher_randomization, superscripts
from trivium.vision.encoder_registry import by_route

MEASURES = ("mrr", "precision@1", "precision@20", "hits@20")
TEXT = ("bm25", "dpr_zero_shot", "dpr_few_shot")  # in the paper
BEYOND = ("bm25_dpr_few_shot", "bm25_dpr_few_shot_image", "rrf")  # not in the paper
ROWS = ("bm25", "dpr_zero_shot", "bm25_image", "dpr_zero_shot_image", "dpr_few_shot", "dpr_few_shot_image")


@dataclass(frozen=True)
class Block:
    """Part of a table: rows compared with each other on one subset of the questions."""

    title: str
    level: str
    subset: str
    rows: tuple[str, ...]


def blocks_of(image_encoders: Iterable[str], added: Sequence[str] = (), fused: Sequence[str] = ()) -> dict[str, Block]:
    """List all blocks; those of faces and of whole pictures have a row for each image encoder in use.

    `added` are systems that the paper does not have (text encoders, searches by names, brought runs), `fused` rows of
    these with images.
    """
    faces, whole = by_route(image_encoders).values()
    articles = ("bm25", "dpr_zero_shot", "image", "dpr_few_shot", *added)
    passages = (*ROWS, *added, *fused, *BEYOND)
    return {
        "article_face": Block("Article level, face detected", "article", "face", (*faces, *TEXT, *added)),
        "article_no_face": Block("Article level, no face detected", "article", "no_face", (*whole, *TEXT, *added)),
        "article": Block("Article level, all questions", "article", "all", articles),
        "passage": Block("Passage level, all questions", "passage", "all", passages),
        "passage_persons": Block("Passage level, persons", "passage", "persons", passages),
        "passage_non_persons": Block("Passage level, non-persons", "passage", "non_persons", passages),
        "passage_face": Block("Passage level, face detected", "passage", "face", passages),
        "passage_no_face": Block("Passage level, no face detected", "passage", "no_face", passages),
    }


class EvaluateParameters(Parameters):
    """Sections `kvqae.evaluate` and `kvqae.evaluate_reranking`."""

    significance: float = shared("kvqae.statistics.significance", gt=0, lt=1, description="Level of Fisher's test")
    permutations: int = shared("kvqae.statistics.permutations", ge=100, description="Sign vectors drawn by the test")
    confidence: float = shared("kvqae.statistics.confidence", gt=0, lt=1, description="Of the bootstrap intervals")
    resamples: int = shared("kvqae.statistics.resamples", ge=100, description="Bootstrap samples of an interval")
    seed: int = Field(default=0, ge=0, description="Of the test's and the bootstrap's draws")


def compare(
    values: dict[str, dict[str, NDArray[np.float64]]], parameters: EvaluateParameters
) -> tuple[list[dict[str, Any]], dict[str, list[list[float]]]]:
    """Compute means, intervals and letters of the rows of one block, and the p-values of all pairs.

    `values` are {row: {measure: (queries,) values}}.
    """
    rows: list[dict[str, Any]] = [{"name": name, "values": {}, "interval": {}, "better_than": {}} for name in values]
    p_values, seed = {}, parameters.seed
    for name in MEASURES:
        matrix = np.array([per_query[name] for per_query in values.values()])
        p = fisher_randomization(matrix, permutations=parameters.permutations, seed=seed)
        p_values[name] = p.tolist()
        letters = superscripts(matrix, p, level=parameters.significance)
        for row, per_query, better_than in zip(rows, matrix, letters, strict=True):
            row["values"][name] = float(per_query.mean())
            row["interval"][name] = bootstrap_interval(
                per_query, confidence=parameters.confidence, resamples=parameters.resamples, seed=seed
            )
            row["better_than"][name] = better_than
    return rows, p_values


def subsets(routing: pa.Table) -> dict[str, list[str]]:
    """Select the questions of every subset; if an entity has no article, its question is in neither persons subset."""
    rows = list(zip(*(routing[name].to_pylist() for name in ("question", "face", "human")), strict=True))
    return {
        "all": [question for question, _, _ in rows],
        "face": [question for question, face, _ in rows if face],
        "no_face": [question for question, face, _ in rows if not face],
        "persons": [question for question, _, human in rows if human],
        "non_persons": [question for question, _, human in rows if human is False],
    }


def measure_blocks(
    blocks: Mapping[str, Block],
    runs: Mapping[str, Mapping[str, Run]],
    qrels: Mapping[str, Qrels],
    questions: Mapping[str, Sequence[str]],
    parameters: EvaluateParameters,
) -> tuple[dict[str, float], dict[str, Any], pa.Table]:
    """Measure blocks, except those whose subset has no question.

    Args:
        runs: {level: {row: run}}, all over the same questions.
        qrels: {level: judgements}.
        questions: {subset: question ids}.

    Returns:
        Flat metrics `{block}_{row}_{measure}`, the tables {block: …}, and all values by question.
    """
    metrics: dict[str, float] = {}
    tables: dict[str, Any] = {}
    per_query: list[pa.Table] = []
    for key, block in blocks.items():
        ids = questions[block.subset]
        if not ids:
            continue
        judged = qrels[block.level].select(ids)
        values = {row: measure(runs[block.level][row].select(ids), judged, MEASURES) for row in block.rows}
        rows, p_values = compare(values, parameters)
        tables[key] = {"title": block.title, "questions": len(ids), "rows": rows, "p": p_values}
        for row in rows:
            metrics |= {f"{key}_{row['name']}_{name}": value for name, value in row["values"].items()}
        per_query += [
            pa.table({"block": [key] * len(ids), "row": [row] * len(ids), "question": ids, **columns})
            for row, columns in values.items()
        ]
    return metrics, tables, pa.concat_tables(per_query)


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


def write_overlaps(
    spacy_model: str | None, *, questions: Path, kb: Path, qrels: Qrels, runs: Mapping[str, Run], out: Path
) -> dict[str, float]:
    """Write the overlap of each question with the first passage of each run of these judged questions."""
    lemmas = spacy_lemmas(spacy_model) if spacy_model else content_stems
    texts = {question.id: question.text for question in read_questions(questions)}
    passage_texts = read_passage_texts(kb, *(run.documents[:, 0] for run in runs.values()))
    metrics: dict[str, float] = {
        "stems_instead_of_lemmas": float(spacy_model is None),
        "questions_without_content_word": float(sum(not lemmas(text) for text in texts.values())),
    }
    tables = []
    for system, run in runs.items():
        chosen = np.flatnonzero(run.documents[:, 0] != PADDING)
        queries = [run.queries[row] for row in chosen]
        best = [" ".join(passage_texts[passage]) for passage in run.documents[chosen, 0].tolist()]
        relevant = relevance_matrix(run, qrels)[chosen, 0].astype(bool)
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
