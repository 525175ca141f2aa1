"""Stage `kvqae-relevance`. Judge the pooled passages and articles."""

from pathlib import Path

import numpy as np
from pydantic import Field

from trivium.core.atomic import write_atomically
from trivium.core.parameters import shared
from trivium.core.stage import stage
from trivium.core.tables import write_json
from trivium.formats.questions import SPLITS, read_questions
from trivium.formats.trec import read_run, write_qrels
from trivium.kvqae.knowledge_base.passage_texts import ArticlePassages
from trivium.kvqae.retrieval.relevance import brought_judgements, judge_articles, judge_passages, pool_runs
from trivium.kvqae.retrieval.systems import SystemsInUse, system_of, write_brought_runs
from trivium.measures.answers import is_matchable


class RelevanceParameters(SystemsInUse):
    """Section `kvqae.relevance`."""

    depth: int = shared("kvqae.depth", ge=1, description="Best results of each system that go into the pool")
    judgements: Path | None = Field(
        default=None, description="TREC qrels of passages that take the place of ours, such as the authors'; null: ours"
    )


@stage("kvqae.relevance", metrics="metrics/kvqae/relevance.json")
def main(
    parameters: RelevanceParameters,
    *,
    questions: Path = Path("data/kvqae/{kvqae.dataset}/viquae"),
    text_runs: Path = Path("data/kvqae/runs/text"),
    image_runs: Path = Path("data/kvqae/runs/image"),
    brought: Path = Path("brought/kvqae/runs"),
    kb: Path = Path("data/kvqae/kb"),
    out: Path = Path("data/kvqae/relevance"),
    out_brought: Path = Path("data/kvqae/runs/brought"),
    out_brought_counts: Path = Path("metrics/kvqae/brought_runs.json"),
) -> dict[str, float]:
    """Cut brought runs into splits; then pool and judge the passages and articles of all systems.

    The folders of runs have a folder for each system, in which `<split>.trec` ranks passages, and
    `<split>_articles.trec`, if any, articles. The articles of pooled passages are pooled too.
    """
    counts = write_brought_runs(brought=brought, questions=questions, kb=kb, depth=parameters.depth, out=out_brought)
    write_json(out_brought_counts, counts)
    folders = [
        *(text_runs / name for name in ("bm25", *parameters.text_encoders)),
        *(text_runs / system_of(name) for name in parameters.name_encoders),
        *(image_runs / name for name in parameters.image_encoders),
    ]
    article_of = ArticlePassages(kb).article_of
    metrics: dict[str, float] = {}
    with write_atomically(out) as target:
        for split in SPLITS:
            of_split = read_questions(questions / f"{split}.jsonl")
            brought_files = (folder / f"{split}.trec" for folder in sorted(out_brought.iterdir()))
            files = [*(folder / f"{split}.trec" for folder in folders), *filter(Path.exists, brought_files)]
            by_article = filter(Path.exists, (folder / f"{split}_articles.trec" for folder in folders))
            pool = pool_runs(of_split, [read_run(file) for file in files], parameters.depth)
            listed = pool_runs(of_split, [read_run(file) for file in by_article], parameters.depth)
            pairs = zip(pool, listed, strict=True)
            article_pool = [np.union1d(article_of[passage_ids], article_ids) for passage_ids, article_ids in pairs]
            judged = {
                "passage": judge_passages(of_split, pool, kb),
                "article": judge_articles(of_split, article_pool, kb),
            }
            theirs = parameters.judgements and brought_judgements(parameters.judgements, of_split, kb)
            if theirs:
                judged["passage"], counts = theirs
                metrics |= {f"{split}_{name}": value for name, value in counts.items()}
            for level, qrels in judged.items():
                write_qrels(target / f"{split}_{level}.qrels", qrels)
                metrics[f"{split}_without_relevant_{level}"] = sum(not len(ids) for ids in qrels.relevant)
            answers = [answer for question in of_split for answer in question.answers]
            metrics |= {
                f"{split}_questions": len(of_split),
                f"{split}_judged_passages": sum(map(len, pool)),
                f"{split}_judged_articles": sum(map(len, article_pool)),
                f"{split}_answers_normalised_to_nothing": sum(not is_matchable(answer) for answer in answers),
            }
    return metrics
