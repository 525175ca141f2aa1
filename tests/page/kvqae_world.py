"""Three questions with hostile texts, measured and read, in the files of the stages before KVQAE's part of the page."""

import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import yaml
from PIL import Image
from pyarrow import csv

from stages.kvqae.page_construction import STEPS
from tests.kvqae.fusion_world import IMAGE, weights
from trivium.core.image_shards import write_images
from trivium.core.tables import write_json, write_json_lines, write_table
from trivium.formats.trec import write_run
from trivium.measures.runs import Run

ROOT = Path(__file__).parents[2]
HOSTILE = "<script>alert('x')</script> & {{ 7 * 7 }}"
MEASURES = ("mrr", "precision@1", "precision@20", "hits@20")
# Passage 0 holds the answer of q0 and q1; passage 2 that of q2.
TITLES = ("Ann", HOSTILE, "Long " * 30)
TEXTS = ("Ann was born in Brno.", f"Bob, {HOSTILE}, was born in Cork.", "A house in Dijon. " * 12, "Nothing at all.")
ANSWERS = {"q0": "Brno", "q1": "Brno", "q2": "Dijon"}
COLUMNS = ("id", "seed", "prediction", "passages", "starts", "ends")


def jpeg(colour: str, size: tuple[int, int] = (120, 90)) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, "JPEG")
    return out.getvalue()


def block(title: str, rows: dict[str, float], p: float = 0.5, questions: int = 3) -> dict[str, Any]:
    """A block as stage `evaluate` writes it: every measure of a row has the same value, every pair the same p."""
    made = [
        {
            "name": row,
            "values": dict.fromkeys(MEASURES, value),
            "interval": {name: [value, value] for name in MEASURES},
            "better_than": dict.fromkeys(MEASURES, ""),
        }
        for row, value in rows.items()
    ]
    pairs = [[p] * len(rows) for _ in rows]
    return {"title": title, "questions": questions, "rows": made, "p": dict.fromkeys(MEASURES, pairs)}


RERANKED = {
    "article_face": block("Image, face", {"rrt": 0.3, "arcface": 0.5, "image": 0.5}, p=0.004),
    "article": block("Image, all", {"rrt": 0.3, "image": 0.4}),
    "passage": block("Text", {"initial": 0.25, "text": 0.5, "text_image": 0.4}, p=0.01),
    "persons_known": block("Persons <known>", {"initial": 0.2, "text": 0.3, "text_image": 0.3}),
}
CHOICE, METRICS, READ = yaml.safe_load_all("""
image:
  chosen: {method: linear, normalization: rank, weights: {arcface: 0.5, rrt: 0.5}}
  chosen_mrr: 0.4
  tried: 34
image_alone:
  chosen: {method: linear, normalization: z_score, weights: {arcface: 0.7, rrt: 0.3}}
  chosen_mrr: 0.42
  paper: {method: posfuse, probabilities: {arcface: [0.5], rrt: [0.25]}}
  paper_mrr: 0.41
  tried: 34
text_image:
  chosen: {method: linear, normalization: min_max, weights: {text: 0.6, image: 0.4}}
  chosen_mrr: 0.5
  paper: {method: linear, normalization: min_max, weights: {text: 1.0, image: 0.0}}
  paper_mrr: 0.49
  tried: 34
text_initial:   # beyond the paper
  chosen: {method: linear, normalization: rank, weights: {text: 0.2, initial: 0.8}}
  chosen_mrr: 0.45
  tried: 34
---
mentions: {questions: 1000, entities: 1500, mentions: 900, mentions_a_question: 0.9}
link: {mentions: 900, linked: 495, no_link: 405}
subjects: {linked: 495, kept: 340, abstract_type: 50, living_person: 99, no_kb_image: 6, dropped_share: 0.301}
candidate_images: {questions: 300, questions_without_image: 9, share_without_image: 0.03, no_commons_category: 5,
  licence_restricted: 40}
rebuild: {annotated: 300, kept: 195, discarded: 98, dropped_naming_the_entity: 5, dropped_giving_the_answer: 2,
  kappa_discard: 0.354, kappa_discard_expected: 0.331, edited_share: 0.5, questions: 195, released_questions: 1700,
  most_frequent_answer_share: 0.004}
---
{few_shot_fused_f1: 0.3, few_shot_fused_em: 0.2, few_shot_fused_f1_sd: 0.01, few_shot_fused_em_sd: 0.02,
 few_shot_reranked_f1: 0.4, few_shot_reranked_em: 0.3, few_shot_reranked_over_few_shot_fused_em_p: 0.002,
 few_shot_reranked_over_few_shot_fused_em_difference: 0.1}
""")


def answers(path: Path, lists: dict[str, list[int]], prediction: str) -> None:
    """Both seeds read these passages, and found characters 3 to 8 in each."""
    rows = [
        (question, seed, prediction if seed == 0 else "other", found, [3] * len(found), [8] * len(found))
        for seed in (0, 1)
        for question, found in lists.items()
    ]
    write_table(path, pa.Table.from_pylist([dict(zip(COLUMNS, row, strict=True)) for row in rows]))


def write_world(folder: Path) -> dict[str, Any]:
    """The arguments of the article's parts but `out`."""
    dataset, measured = folder / "dataset", folder / "metrics"
    questions = [
        {
            "id": name,
            "input": f"{HOSTILE} where was this man born?",
            "image": f"{name}.jpg",
            "wikidata_id": "Q1",
            "kilt_id": "1",
            "output": {"original_answer": answer, "answer": [answer], "provenance": []},
        }
        for name, answer in ANSWERS.items()
    ]
    write_json_lines(dataset / "viquae/test.jsonl", questions)
    write_table(
        folder / "kb/articles.parquet",
        pa.table({"title": TITLES, "wikipedia_id": ["1", "2", "3"], "image": ["ann.jpg", "bob.jpg", "gone.jpg"]}),
    )
    write_table(
        folder / "kb/passages.parquet", pa.table({"passage": range(4), "article": [0, 1, 2, 2], "text": list(TEXTS)})
    )
    initial, reranked = {"q0": [1, 0, 3], "q1": [1, 3], "q2": [3, 2]}, {"q0": [0, 1, 3], "q1": [0, 1], "q2": [2, 3]}
    for name, lists in (("fused/dpr_few_shot_image", initial), ("reranked_text_image", reranked)):
        scored = {query: {passage: -float(rank) for rank, passage in enumerate(row)} for query, row in lists.items()}
        write_run(folder / "runs" / name / "test.trec", Run.from_dict(scored, name="run"))
    write_images(dataset / "images/questions", [(f"{name}.jpg", jpeg("white")) for name in ANSWERS])
    write_images(folder / "raw/images/kb", [("ann.jpg", jpeg("blue")), ("bob.jpg", b"not an image")])
    faces = [
        {"name": f"{name}.jpg", "width": 120, "height": 90, "detected": name == "q0", "box": box}
        for name, box in zip(ANSWERS, ([30.0, 20.0, 60.0, 70.0], None, None), strict=True)
    ]
    write_table(folder / "features/questions/arcface/pictures.parquet", pa.Table.from_pylist(faces))
    for step in STEPS:
        write_json(measured / f"{step}.json", METRICS.get(step, {}))
    names = ("article_face", "article_no_face", "article", "passage", "passage_persons", "passage_non_persons")
    write_json(
        folder / "evaluation/tables.json", {name: block(name, {"bm25": 0.1, "dpr_few_shot": 0.2}) for name in names}
    )
    write_json(folder / "evaluation/reranking.json", RERANKED)
    write_json(folder / "tuning/reranking.json", CHOICE)
    write_json(measured / "read.json", READ)
    write_json(measured / "difficulty.json", {"f1": 0.3, "questions": 3.0, "passages_read": 5.0})
    write_json(measured / "lexical_overlap.json", {"stems_instead_of_lemmas": 1.0})
    write_table(
        measured / "lexical_overlap.parquet",
        pa.table({"system": ["bm25", "bm25"], "relevant": [True, False], "overlap": [0.5, 0.25]}),
    )
    csv.write_csv(
        pa.table({"row": ["few_shot_fused_chosen"] * 2, "passages": [1, 2], "em": [0.1, 0.2], "f1": [0.2, 0.3]}),
        measured / "passages_read.csv",
    )
    numbers = dict.fromkeys(("delta", "low", "high", "p", "p_holm", "joint", "joint_low", "joint_high"), 0.5)
    factor = {"factor": "no_face", "yes": 1, "no": 2, **numbers}
    verdicts = dict.fromkeys(("validated", "significant", "holm_significant"), False)
    csv.write_csv(pa.Table.from_pylist([factor | verdicts]), measured / "difficulty.csv")
    used = yaml.safe_load("""
world: {}
statistics: {significance: 0.01, confidence: 0.95}
evaluate: {}
evaluate_reranking: {}
read: {seeds: [0, 1], rows: {}}
rerankers: {text: {depth: 5}, arcface: {depth: 10}, rrt: {depth: 15}}
initial: {folder: fused, run: dpr_few_shot_image}
rrt: {use: true}
difficulty: {}
page_construction: {}
page_retrieval: {}
""")
    used |= {"image_encoders": {name: {} for name in IMAGE}, "fuse": {"weights": weights()}}
    used["page"] = {"gallery": {"questions": 3, "passages": 3, "image_side": 96, "seed": 0}}
    world = {"kvqae": "sample", "kvqae_annotations": "sample"}
    (folder / "params.yaml").write_text(yaml.safe_dump({"kvqae": used, "world": world}, sort_keys=False))
    answers(folder / "answers/few_shot_fused.parquet", initial, "Cork")
    answers(folder / "answers/few_shot_reranked.parquet", reranked, "Brno")
    best = {"arcface": 0.3, "imagenet": 0.1, "clip": 0.6}
    used = {"weights": best, "mrr": 0.42, "used_weights": weights()["image"], "used_mrr": 0.4, "used_is_best": False}
    other = {**used, "used_weights": best, "used_mrr": 0.42, "used_is_best": True}
    tuned = {"image": {**used, "weightings": 66}, "bm25_image": {**other, "weightings": 286}}
    write_json(folder / "tuning/weights.json", tuned)
    return {
        "data": folder,
        "evaluation": folder / "evaluation/tables.json",
        "tuned": folder / "tuning/weights.json",
        "dataset": dataset,
        "measured": measured,
        "published": ROOT / "tests/published/kvqae.yaml",
        "used": folder / "params.yaml",
        "paper": folder / "params.yaml",
    }
