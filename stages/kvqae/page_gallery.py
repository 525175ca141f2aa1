"""Stage `kvqae-page_gallery`. Figure 5 on the page: questions and their first results."""

from pathlib import Path

from trivium.core.image_shards import Images
from trivium.core.stage import Context, run_stage
from trivium.core.tables import read_table
from trivium.formats.questions import read_questions
from trivium.page.common import write_part
from trivium.page.kvqae.drawn import GalleryParameters, gallery
from trivium.page.kvqae.gallery import gallery_html, picture_html, pictures_missing


def main(
    parameters: GalleryParameters,
    context: Context,
    *,
    questions: Path = Path("data/kvqae/{kvqae.dataset}/viquae/test.jsonl"),
    run: Path = Path("data/kvqae/runs/fused/dpr_few_shot_image/test.trec"),
    answers: Path = Path("data/kvqae/answers/few_shot_fused.parquet"),
    reranked_run: Path = Path("data/kvqae/runs/reranked_text_image/test.trec"),
    reranked_answers: Path = Path("data/kvqae/answers/few_shot_reranked.parquet"),
    faces: Path = Path("data/kvqae/features/questions/arcface/pictures.parquet"),
    articles: Path = Path("data/kvqae/kb/articles.parquet"),
    passages: Path = Path("data/kvqae/kb/passages.parquet"),
    question_images: Path = Path("data/kvqae/{kvqae.dataset}/images/questions"),
    kb_images: Path = Path("data/kvqae/raw/images/kb"),
    out: Path = Path("metrics/report/parts/kvqae/gallery.json"),
) -> dict[str, float]:
    """Render the gallery of both rankings; the last one's answers are those shown."""
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
    write_part(out, parameters.world, {"gallery": gallery_html(items, parameters.seed), "picture": picture_html(items)})
    return {
        "gallery_questions": float(len(items)),
        "gallery_right": float(sum(item["right"] for item in items)),
        "gallery_pictures_missing": float(pictures_missing(items)),
    }


if __name__ == "__main__":
    run_stage(main, "kvqae.page.gallery", GalleryParameters, metrics="metrics/kvqae/page_gallery.json")
