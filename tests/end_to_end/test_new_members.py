"""One file to add: two encoders, a re-ranker, a filling and a factor reach the page; three are CONTRIBUTING's."""

import re
import shutil
from pathlib import Path

import pytest

from tests.end_to_end.conftest import Project
from tests.end_to_end.test_graph import stages_run
from tests.page.outline import PAGES
from trivium.core.tables import read_json, write_json

pytestmark = pytest.mark.slow

FACTOR, FILLING, ENCODER = re.findall(
    r"^```python\n(.*?)^```", Path("CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE | re.DOTALL
)
MODULES = """
[{"type": "sentence_transformers.models.Transformer", "path": ""},
 {"type": "sentence_transformers.models.Pooling", "path": "1_Pooling"}]
"""  # of a folder that says nothing else: the mean over the tokens
RERANKER = '''
"""Backwards: the initial list turned round."""

from trivium.kvqae.rerankers.reranker import Reranker
from trivium.measures.runs import PADDING, Run


class Backwards(Reranker):
    """The last of the best passages first."""

    name, label, row, symbol, sees = "backwards", "turning round", "Back (backwards)", "Back", "text"

    def __init__(self, settings, inputs):
        self.depth = settings.depth

    def rerank(self, split, questions, initial):
        best = initial.first(self.depth)
        lists = {
            query: {int(each): float(place) for place, each in enumerate(documents) if each != PADDING}
            for query, documents in zip(best.queries, best.documents, strict=True)
        }
        return Run.from_dict(lists, self.depth), {"questions": float(len(lists))}
'''
# By family: the file, its text, the line of params.yaml before the new one, and the new one.
ADDED = {
    "encoder": (
        "trivium/vision/encoders/colours.py", ENCODER,
        r"^    imagenet: \{model: .*\}.*$", "    colours: {model: models/kvqae/base/imagenet}",
    ),
    "text encoder": (
        "models/plain/modules.json", MODULES,
        r"^    dpr_few_shot: \{model: .*\}.*$", "    plain: {model: models/plain}",
    ),
    "re-ranker": (
        "trivium/kvqae/rerankers/members/backwards.py", RERANKER,
        r"^    arcface: \{reads: .*\}$", "    backwards: {reads: [data/kvqae/kb, data/kvqae/relevance], depth: 5}",
    ),
    "filling": (
        "trivium/decorrelation/painting/fillings/grey.py", FILLING,
        r"^    coco_cv2: \{dataset: coco, filling: cv2\}$", "    coco_grey: {dataset: coco, filling: grey}",
    ),
    "factor": (
        "trivium/complexity/factors/members/f7.py", FACTOR,
        r"^    f5: \{.*\}.*$", "    f7: {}",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def grown(built: Project, tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, str]:
    """A clone with all of them, after `dvc repro`, and what that printed."""
    project = Project(tmp_path_factory.mktemp("grown") / "clone")
    built.run("git", "clone", "-q", str(built.folder), str(project.folder))
    project.run("dvc", "cache", "dir", "--local", str(built.folder / ".dvc" / "cache"))
    project.run("dvc", "checkout", "-q")
    params = project.folder / "params.yaml"
    plain = project.folder / "models/plain"
    shutil.copytree(project.folder / "models/kvqae/base/text", plain)
    (plain / "1_Pooling").mkdir()
    pooling = {
        "word_embedding_dimension": read_json(plain / "config.json")["hidden_size"],
        "pooling_mode_mean_tokens": True,
    }
    write_json(plain / "1_Pooling/config.json", pooling)
    for file, text, before, line in ADDED.values():
        (project.folder / file).write_text(text.lstrip(), encoding="utf-8")
        changed, places = re.subn(
            before, lambda found, line=line: f"{found[0]}\n{line}", params.read_text(), flags=re.M
        )
        assert places == 1, before
        params.write_text(changed)
    return project, project.run("dvc", "repro")


def ran(grown: tuple[Project, str]) -> set[str]:
    return set(stages_run(grown[1]))


def page(grown: tuple[Project, str]) -> str:
    return "".join((grown[0].folder / "metrics/report" / name).read_text(encoding="utf-8") for name in sorted(PAGES))


def test_an_encoder_has_its_cells_and_its_row(grown):
    assert {"kvqae-image_features@colours", "kvqae-image_search"} <= ran(grown)
    assert not {stage for stage in ran(grown) if re.match(r"kvqae-image_features@(?!colours)", stage)}
    assert not {stage for stage in ran(grown) if stage.startswith(("kvqae-dpr", "kvqae-bm25"))}
    assert (grown[0].folder / "data/kvqae/runs/image/colours").is_dir()
    assert "(Colours, no face)" in page(grown)


def test_a_text_encoder_has_its_cells_and_its_row(grown):
    assert {"kvqae-encode_texts@plain", "kvqae-dense_search@plain", "kvqae-relevance"} <= ran(grown)
    assert not {stage for stage in ran(grown) if re.match(r"kvqae-(encode_texts|dense_search)@(?!plain)", stage)}
    assert (grown[0].folder / "data/kvqae/runs/text/plain").is_dir()
    assert "plain" in page(grown)


def test_a_re_ranker_has_its_cell_and_its_rows(grown):
    assert {"kvqae-rerank@backwards", "kvqae-rerank_fuse"} <= ran(grown)
    assert "Back (backwards)" in page(grown)
    assert "Text + Back + F·A + RRT" in page(grown)


def test_a_filling_has_its_cell_and_its_row(grown):
    assert "decorrelation-inpaint@coco_grey" in ran(grown)
    others = {stage for stage in ran(grown) if stage.startswith(("decorrelation-inpaint", "decorrelation-train"))}
    assert others == {"decorrelation-inpaint@coco_grey"}
    assert "plain grey" in page(grown)


def test_a_factor_has_its_row(grown):
    assert {"complexity-factors", "complexity-validate"} <= ran(grown)
    assert not {stage for stage in ran(grown) if stage.startswith(("complexity-finetune", "complexity-answer"))}
    assert "more than seven words" in page(grown)


def test_the_plan_counts_them(grown):
    planned = grown[0].run("python", "-m", "trivium", "plan")
    assert re.search(r"kvqae-image_features\s*× 4", planned)
    assert re.search(r"kvqae-encode_texts\s*× 3", planned)
    assert "decorrelation-inpaint" in planned
