"""Stage `kvqae-fragment`. KVQAE on the page: tables, figures, gallery."""

from collections.abc import Sequence
from pathlib import Path

import yaml
from pyarrow import csv

from trivium.files.image_shards import Images
from trivium.files.tables import read_json, read_table, write_json
from trivium.formats.questions import read_questions
from trivium.harness.parameters import read_parameters, used_values
from trivium.harness.stage import Context, run_stage
from trivium.page.common import sizes_html
from trivium.page.kvqae.construction import construction_html, statistics_html
from trivium.page.kvqae.findings import RETRIEVAL, findings_html, reading_findings, retrieval_findings
from trivium.page.kvqae.fragment import KvqaeFragmentParameters, gallery, reranking_sections, section, told
from trivium.page.kvqae.gallery import gallery_html, pictures_missing
from trivium.page.kvqae.reading import READING_ROWS, difficulty_html, reading_html, sweep_html
from trivium.page.kvqae.reranking import cross_encoder_html, depths_note, rrt_re_ranks
from trivium.page.kvqae.retrieval import TABLES, labels_of, overlap_html, retrieval_html


def main(
    parameters: KvqaeFragmentParameters,
    context: Context,
    *,
    construction: Sequence[Path],
    evaluation: Path,
    reranking: Path,
    reranking_choice: Path,
    cross_encoder: Path,
    reading: Path,
    overlap: Path,
    overlap_metrics: Path,
    sweep: Path,
    difficulty: Path,
    difficulty_metrics: Path,
    published: Path,
    used: Path,
    paper: Path,
    questions: Path,
    run: Path,
    answers: Path,
    reranked_run: Path,
    reranked_answers: Path,
    faces: Path,
    articles: Path,
    passages: Path,
    question_images: Path,
    kb_images: Path,
    out: Path,
) -> dict[str, float]:
    """Render KVQAE's sections; `construction` are metrics files named as their stages, so is `cross_encoder`."""
    printed = yaml.safe_load(published.read_text(encoding="utf-8"))
    kvqae, world = used_values(used, "kvqae"), used_values(used, "world.kvqae")
    sample = world == "sample"
    level, confidence = (told(kvqae, "evaluate", name, "statistics") for name in ("significance", "confidence"))
    labels = labels_of(kvqae["image_encoders"], kvqae["fuse"]["weights"])
    steps = {path.stem: read_json(path) for path in construction}
    blocks, reranked_blocks, read_metrics = (read_json(path) for path in (evaluation, reranking, reading))
    kvqae["rrt"]["use"] = rrt_re_ranks(reranked_blocks)
    text_alone = cross_encoder_html(
        read_json(cross_encoder),
        questions=told(kvqae, "rerank_finetune", "validation_questions", "cross_encoder"),
        passages=told(kvqae, "rerank_finetune", "validation_passages", "cross_encoder"),
        depth=kvqae["rerankers"]["text"]["depth"],
    )
    sections = [
        section("table-1", "Table 1: the data set", statistics_html(steps.get("rebuild", {}), printed)),
        section("construction", "From TriviaQA to the data set", construction_html(steps, printed)),
        *(
            section(
                name,
                title,
                findings_html(retrieval_findings(blocks, RETRIEVAL.get(name, ()), level))
                + retrieval_html(blocks, printed, wanted, level, confidence, labels, sample=sample),
            )
            for name, (title, wanted) in TABLES.items()
        ),
        *reranking_sections(reranked_blocks, read_json(reranking_choice), text_alone, kvqae, printed, sample=sample),
    ]
    table_7 = findings_html(reading_findings(read_metrics, level), depths_note(kvqae))
    table_7 += reading_html(read_metrics, printed, READING_ROWS, len(kvqae["read"]["seeds"]), sample=sample)
    table_7 += sweep_html(csv.read_csv(sweep))
    sections.append(section("table-7", "Table 7: reading", table_7))
    stems = bool(read_json(overlap_metrics)["stems_instead_of_lemmas"])
    sections.append(section("figure-4", "Figure 4: lexical overlap", overlap_html(read_table(overlap), stems)))
    items = gallery(
        parameters,
        read_questions(questions),
        {"Multimodal retrieval": (run, answers), "Re-ranked by text and image": (reranked_run, reranked_answers)},
        articles,
        passages,
        read_table(faces, ["name", "width", "height", "detected", "box"]),
        Images(question_images),
        Images(kb_images),
    )
    figure_5 = gallery_html(items, parameters.seed)
    sections.append(section("gallery", "Figure 5: questions and their first results", figure_5))
    of_effects = told(kvqae, "difficulty", "confidence", "statistics")
    hard = difficulty_html(csv.read_csv(difficulty).to_pylist(), read_json(difficulty_metrics), of_effects)
    sections.append(section("difficulty", "What makes questions hard", hard))
    sections.append(section("sizes", "Sizes used", sizes_html({"kvqae": kvqae}, read_parameters(paper))))
    title = "KVQAE: answering questions about the named entity in an image"
    write_json(out, {"pipeline": "kvqae", "title": title, "world": world, "sections": sections})
    return {
        "gallery_questions": float(len(items)),
        "gallery_right": float(sum(item["right"] for item in items)),
        "gallery_pictures_missing": float(pictures_missing(items)),
    }


if __name__ == "__main__":
    run_stage(main, "kvqae.fragment", KvqaeFragmentParameters)
