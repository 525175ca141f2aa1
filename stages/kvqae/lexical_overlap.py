"""Stage `kvqae-lexical_overlap`. Figure 4: words that question and first passage share."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from pydantic import Field

from trivium.core.parameters import Parameters
from trivium.core.stage import Context, run_stage
from trivium.core.tables import write_table
from trivium.formats.questions import read_questions
from trivium.formats.trec import read_qrels, read_run_over
from trivium.kvqae.knowledge_base.passage_texts import read_passage_texts
from trivium.kvqae.retrieval.lexical_overlap import content_stems, overlap, spacy_lemmas
from trivium.measures.runs import PADDING, relevance_matrix


class LexicalOverlapParameters(Parameters):
    """Section `kvqae.lexical_overlap`."""

    spacy_model: str | None = Field(
        min_length=1,
        description="spaCy pipeline for lemmas: an installed package such as en_core_web_lg, or a folder such as "
        "models/kvqae/spacy (DVC does not watch it); null: Snowball stems",
    )


def main(
    parameters: LexicalOverlapParameters,
    context: Context,
    *,
    questions: Path = Path("data/kvqae/{kvqae.dataset}/viquae/test.jsonl"),
    articles: Path = Path("data/kvqae/kb/articles.parquet"),
    passages: Path = Path("data/kvqae/kb/passages.parquet"),
    qrels: Path = Path("data/kvqae/relevance/test_passage.qrels"),
    runs: Sequence[Path] = (
        Path("data/kvqae/runs/text/bm25/test.trec"),
        Path("data/kvqae/runs/text/dpr_few_shot/test.trec"),
    ),
    out: Path = Path("metrics/kvqae/lexical_overlap.parquet"),
) -> dict[str, float]:
    """Overlap of each question with the first passage of each run."""
    lemmas = spacy_lemmas(parameters.spacy_model) if parameters.spacy_model else content_stems
    texts = {question.id: question.text for question in read_questions(questions)}
    judged = read_qrels(qrels)
    ranked = {path.parent.name: read_run_over(path, judged.queries) for path in runs}
    firsts = np.concatenate([run.documents[:, 0] for run in ranked.values()])
    passage_texts = read_passage_texts(passages, articles, firsts[firsts != PADDING])
    rows: dict[str, list] = {"system": [], "query": [], "relevant": [], "overlap": []}
    metrics: dict[str, float] = {
        "stems_instead_of_lemmas": float(parameters.spacy_model is None),
        "questions_without_content_word": float(sum(not lemmas(text) for text in texts.values())),
    }
    for system, run in ranked.items():
        first_is_relevant = relevance_matrix(run, judged)[:, 0]
        for query, first, relevant in zip(run.queries, run.documents[:, 0].tolist(), first_is_relevant, strict=True):
            if first == PADDING:
                continue
            value = overlap(texts[query], " ".join(passage_texts[first]), lemmas)
            for name, item in zip(rows, (system, query, bool(relevant), value), strict=True):
                rows[name].append(item)
    systems, relevants, overlaps = (np.array(rows[name]) for name in ("system", "relevant", "overlap"))
    for system in dict.fromkeys(rows["system"]):
        for relevant, label in ((True, "relevant"), (False, "not_relevant")):
            chosen = overlaps[(systems == system) & (relevants == relevant) & np.isfinite(overlaps)]
            metrics[f"{system}_{label}_count"] = float(len(chosen))
            if len(chosen):
                metrics[f"{system}_{label}_median_overlap"] = float(np.median(chosen))
    write_table(out, pa.table(rows))
    return metrics


if __name__ == "__main__":
    run_stage(main, "kvqae.lexical_overlap", LexicalOverlapParameters, metrics="metrics/kvqae/lexical_overlap.json")
