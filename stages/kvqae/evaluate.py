"""Stage `kvqae-evaluate`. Tables 2, 3 and 4 with significance."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import ClassVar

from trivium.files.tables import read_table, write_json, write_table
from trivium.formats.trec import read_qrels, read_run_over
from trivium.harness.stage import Context, run_stage
from trivium.kvqae.retrieval.evaluation import BEYOND, Block, EvaluateParameters, measure_blocks, subsets
from trivium.kvqae.retrieval.fusion import ARTICLE_ROWS, PASSAGE_ROWS, RECIPROCAL_RANK_ROW, TEXT
from trivium.measures.articles import best_passages
from trivium.measures.runs import Run
from trivium.vision.encoder_registry import SECTION, ImageEncoders, by_route

TEST = "test.trec"
ROWS = ("bm25", "dpr_zero_shot", "bm25_image", "dpr_zero_shot_image", "dpr_few_shot", "dpr_few_shot_image")


BLOCKS = {
    "article": Block(
        "Article level, all questions", "article", "all", ("bm25", "dpr_zero_shot", "image", "dpr_few_shot")
    ),
    "passage": Block("Passage level, all questions", "passage", "all", ROWS + BEYOND),
    "passage_persons": Block("Passage level, persons", "passage", "persons", ROWS + BEYOND),
    "passage_non_persons": Block("Passage level, non-persons", "passage", "non_persons", ROWS + BEYOND),
    "passage_face": Block("Passage level, face detected", "passage", "face", ROWS + BEYOND),
    "passage_no_face": Block("Passage level, no face detected", "passage", "no_face", ROWS + BEYOND),
}


class TablesParameters(EvaluateParameters):
    """Section `kvqae.evaluate`."""

    elsewhere: ClassVar = {**EvaluateParameters.elsewhere, "image_encoders": SECTION}
    image_encoders: ImageEncoders


def blocks_of(image_encoders: Iterable[str]) -> dict[str, Block]:
    """All blocks: those of faces and of whole pictures have a row an encoder in use."""
    faces, whole = by_route(image_encoders).values()
    return {
        "article_face": Block("Article level, face detected", "article", "face", (*faces, *TEXT)),
        "article_no_face": Block("Article level, no face detected", "article", "no_face", (*whole, *TEXT)),
        **BLOCKS,
    }


def main(
    parameters: TablesParameters,
    context: Context,
    *,
    runs: Sequence[Path],
    image_runs: Path,
    fused: Path,
    passage_qrels: Path,
    article_qrels: Path,
    passages: Path,
    routing: Path,
    out_tables: Path,
    out_per_query: Path,
) -> dict[str, float]:
    """Measure every block; `runs` are the text systems' folders, the others hold one a row."""
    article_of = read_table(passages, ["article"])["article"].to_numpy()
    qrels = {"passage": read_qrels(passage_qrels), "article": read_qrels(article_qrels)}
    questions = subsets(read_table(routing, ["question", "face", "human"]))
    everyone = questions["all"]
    folders = [*runs, *(fused / row for row in (*PASSAGE_ROWS, RECIPROCAL_RANK_ROW))]
    known: dict[str, dict[str, Run]] = {
        "passage": {folder.name: read_run_over(folder / TEST, everyone) for folder in folders}
    }
    known["article"] = {name: best_passages(run, article_of) for name, run in known["passage"].items()}
    known["article"] |= {
        name: read_run_over(image_runs / name / "test_articles.trec", everyone) for name in parameters.image_encoders
    } | {row: read_run_over(fused / row / TEST, everyone) for row in ARTICLE_ROWS}

    metrics: dict[str, float] = {f"{name}_questions": float(len(ids)) for name, ids in questions.items()}
    measured, tables, per_query = measure_blocks(
        blocks_of(parameters.image_encoders), known, qrels, questions, parameters
    )
    metrics |= measured
    best_text = max(TEXT, key=lambda row: metrics[f"passage_{row}_mrr"])
    place = BLOCKS["passage"].rows.index
    for name, better, other in (
        ("fused_over_best_text", "dpr_few_shot_image", best_text),
        ("dpr_few_shot_over_zero_shot", "dpr_few_shot", "dpr_zero_shot"),
    ):
        for kind in ("mrr", "hits@20"):
            difference = metrics[f"passage_{better}_{kind}"] - metrics[f"passage_{other}_{kind}"]
            metrics[f"passage_{name}_{kind}_difference"] = difference
            metrics[f"passage_{name}_{kind}_p"] = tables["passage"]["p"][kind][place(better)][place(other)]
    write_json(out_tables, tables)
    write_table(out_per_query, per_query)
    return metrics


if __name__ == "__main__":
    run_stage(main, "kvqae.evaluate", TablesParameters)
