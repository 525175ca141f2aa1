"""KVQAE's graph from the public hub's files on: dvc.yaml as it is, the scales' settings, a tiny world in real formats."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.conftest import ROOT, Project, copy_project
from tests.sources.loopback import serve
from tests.sources.public_kvqae import QUESTIONS, TRIVIAQA, serve_public
from trivium.commands.scale import rescale
from trivium.core.tables import read_json_lines, read_table
from trivium.page.contents import ARTICLES, stage_of

pytestmark = pytest.mark.slow

SIZES = Path(__file__).with_name("tiny_hub.yaml")
# With all that they need: every section of KVQAE's but the construction's, which asks Wikidata and Commons.
TARGETS = tuple(stage_of("kvqae", part) for part in ARTICLES["kvqae"].parts if part != "construction")


@pytest.fixture(scope="module", params=["paper", "workstation"])
def scale(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def project(scale: str, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A checkout at a scale, but for sizes, after its stages have run; only the hub's address is another."""
    folder = tmp_path_factory.mktemp(scale)
    made = copy_project(folder / "trivium", ROOT / "scales" / f"{scale}.yaml")
    rescale(made.folder / "params.yaml", SIZES)
    with serve() as hub:
        pins = serve_public(hub, folder / "world", made.folder / "brought" / "kvqae_models")
        (made.folder / "trivium" / "sources" / "pins.yaml").write_text(pins)
        made.run("dvc", "repro", *TARGETS, HF_ENDPOINT=hub.url, NO_PROXY="*", OMP_NUM_THREADS="1")
    made.run("dvc", "repro", "--single-item", "report")
    return made


def metrics(project: Project, stage: str) -> dict[str, float]:
    return json.loads((project.folder / "metrics" / "kvqae" / f"{stage}.json").read_text())


def asked(project: Project, name: str) -> dict[str, dict[str, Any]]:
    return {record["id"]: record for _, record in read_json_lines(project.folder / "data" / "kvqae" / "raw" / name)}


def test_what_the_public_files_lack_is_counted_on_the_way(project: Project):
    expected = {
        "questions_whose_image_is_missing": 1, "questions_images_unreadable": 1, "entities_whose_image_is_missing": 1,
        "kb_images_unreadable": 1, "entities_twice": 1,
    }  # fmt: skip
    assert expected.items() <= metrics(project, "world").items()
    expected = {"triviaqa_train_seen_in_viquae": 1, "triviaqa_train": TRIVIAQA - 1}
    assert expected.items() <= metrics(project, "triviaqa").items()
    assert metrics(project, "question_features_arcface")["unreadable_not_an_image"] == 1
    search = metrics(project, "image_search")
    assert (search["test_image_missing"], search["test_image_unreadable"], search["kb_image_unreadable"]) == (1, 1, 1)
    assert metrics(project, "page_results")["gallery_pictures_missing"] >= 2


def test_no_question_behind_viquae_is_trained_on(project: Project, scale: str):
    """Each place that trains on TriviaQA saw what is left in its file, and nothing of ViQuAE is left there."""
    behind = {
        record["original_question"].lower()
        for split in QUESTIONS
        for record in asked(project, f"viquae/{split}.jsonl").values()
    }
    training = asked(project, "triviaqa/train.jsonl")
    assert len(training) == TRIVIAQA - 1
    assert not behind & {record["input"].lower() for record in training.values()}
    pairs = read_table(project.folder / "data" / "kvqae" / "pairs" / "triviaqa_train.parquet", ["id"])
    assert set(pairs["id"].to_pylist()) <= training.keys()
    trained = {"rerank_pretrain": "questions"}
    if scale == "paper":  # the workstation takes the authors' own
        trained |= {"reader_pretrain_zero_shot": "questions", "dpr_pretrain": "train_questions"}
    assert {stage: metrics(project, stage).get(count) for stage, count in trained.items()} == dict.fromkeys(
        trained, len(training)
    )


def test_every_question_is_answered_with_the_missing_images_too(project: Project):
    answers = read_table(project.folder / "data" / "kvqae" / "answers" / "few_shot_reranked.parquet", ["id"])
    assert set(answers["id"].to_pylist()) == asked(project, "viquae/test.jsonl").keys()


def test_each_scale_goes_its_own_way(project: Project, scale: str):
    """The workstation takes the authors' dual encoder; it has RRT, as DELG's features are given."""
    taken = metrics(project, "dpr_pretrain")["steps"], metrics(project, "rrt").get("left_out", 0)
    assert taken == {"paper": (2, 0), "workstation": (0, 0)}[scale]
    tables = json.loads((project.folder / "data" / "kvqae" / "evaluation" / "reranking.json").read_text())
    assert "rrt" in [row["name"] for row in tables["article"]["rows"]]


def test_only_the_images_that_rrt_compares_are_described(project: Project):
    compared, world = metrics(project, "compared_images"), metrics(project, "world")
    for side in ("kb", "questions"):
        described = metrics(project, f"local_features_{side}")
        assert described["images"] + described["images_missing"] == compared[f"{side}_images"] < world[f"{side}_images"]


def test_the_page_has_every_section_but_the_constructions(project: Project):
    html = (project.folder / "metrics/report/kvqae.html").read_text()
    article = ARTICLES["kvqae"]
    for name in article.sections:
        if f'<section id="kvqae-{name}"' in html:  # there may be no subset by overlap
            section = html.split(f'<section id="kvqae-{name}"')[1].split("</section>")[0]
            assert ("dvc repro kvqae-page_construction" in section) == (article.part_of(name) == "construction")
    assert not (project.folder / "data/kvqae/sources").exists()


def test_nothing_is_left_to_do(project: Project):
    assert "up to date" in project.run("dvc", "status", *TARGETS)
