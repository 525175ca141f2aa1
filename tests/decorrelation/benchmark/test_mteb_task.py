"""mteb itself runs the task with models of its own protocol; the figures are those of the leaderboard."""

import sys
from importlib import import_module

import mteb
import numpy as np
import pytest
from mteb.models import ModelMeta
from mteb.models.model_implementations.clip_models import CLIPModel

from tests.decorrelation.benchmark.benchmark_project import Words, texts_of, write_hugging_face, write_project
from tests.decorrelation.benchmark.test_benchmark_set import rewrite
from tests.decorrelation.benchmark.test_positives import write_lists
from trivium.core.errors import BadInput
from trivium.decorrelation.benchmark.benchmark_set import open_set
from trivium.decorrelation.benchmark.leaderboard import odmap
from trivium.decorrelation.benchmark.mteb_task import MtebEmbedder, odmap_task
from trivium.decorrelation.benchmark.scores import MEASURES

META = ModelMeta.create_empty(overwrites={"name": "tiny/words", "revision": "1", "modalities": ["image", "text"]})


class Encoder:
    """mteb's protocol around two colours and one word; notes how it was asked."""

    def __init__(self, meta=META):
        self.mteb_model_meta = meta
        self.asked = []

    def encode(self, inputs, *, task_metadata, hf_split, hf_subset, prompt_type=None, **kwargs):
        modality = "image" if "image" in inputs.dataset.features else "text"
        batches = [batch[modality] for batch in inputs]
        self.asked.append(
            (modality, str(prompt_type), hf_split, hf_subset, task_metadata.name, kwargs, len(batches[0]))
        )
        own = {"image": Words().encode_images, "text": Words().encode_texts}[modality]
        return np.concatenate([own(batch) for batch in batches])

    def similarity(self, embeddings1, embeddings2):
        raise AssertionError("similarity is the cosine, as on the leaderboard")

    similarity_pairwise = similarity


@pytest.fixture(scope="module")
def ours(project):
    scores = odmap({"words": Words()}, project).rows[0].scores
    return {measure.replace("@", "_at_"): scores.mean(measure) for measure in MEASURES}


def run(model, task, tmp_path, **options):
    cache = mteb.ResultCache(tmp_path / "cache")
    (result,) = mteb.evaluate(model, task, cache=cache, co2_tracker=False, **options).task_results
    (scores,) = result.scores["test"]
    return scores


def test_mteb_measures_what_the_leaderboard_does(project, ours, tmp_path):
    encoder, task = Encoder(), odmap_task(project)
    found = run(encoder, task, tmp_path, encode_kwargs={"batch_size": 3})
    assert {name: found[name] for name in ours} == ours
    assert found["main_score"] == ours["odmap_at_1"] > 0
    kwargs = {"batch_size": 3, "show_progress_bar": False}
    assert encoder.asked[0] == ("text", "document", "test", "default", task.metadata.name, kwargs, 3)
    assert {each[:2] for each in encoder.asked} == {("text", "document"), ("image", "query")}
    assert all(each[-1] <= 3 for each in encoder.asked)


def test_a_model_of_mteb_stands_beside_the_same_model_of_ours(project, tmp_path):
    folder = write_hugging_face("clip", tmp_path / "clip", texts_of(project))
    theirs = MtebEmbedder(CLIPModel(str(folder), None, "cpu"))
    rows = {row.model: row for row in odmap({"theirs": theirs, "ours": str(folder)}, project).rows}
    for measure in MEASURES:
        assert rows["theirs"].scores.mean(measure) == pytest.approx(rows["ours"].scores.mean(measure)), measure
    assert rows["theirs"].source == "mteb:CLIPModel"
    assert MtebEmbedder(Encoder()).source == "mteb:tiny/words"


def test_results_of_other_queries_are_not_taken_from_mtebs_cache(project, tmp_path):
    other = write_project(tmp_path / "other")
    encoder = Encoder()
    first = run(encoder, odmap_task(project), tmp_path)["main_score"]
    asked = len(encoder.asked)
    assert run(encoder, odmap_task(project), tmp_path)["main_score"] == pytest.approx(first, abs=1e-6), "mteb rounds"
    assert len(encoder.asked) == asked
    rewrite(
        other / "data/decorrelation/painted/coco/cv2/test",
        lambda images: [(name, images[0][1]) for name, _ in images],
    )
    assert odmap_task(other).metadata.revision != odmap_task(project).metadata.revision
    assert odmap_task(other).metadata.name.startswith("ODmAP_coco_cv2_")
    run(encoder, odmap_task(other), tmp_path)
    assert len(encoder.asked) > asked


def test_other_right_answers_are_scored_too(project, tmp_path):
    asked = open_set(project)
    pictures = [str(int(name[-16:-4])) for name in asked.pictures.names]
    captions = asked.captions.ids[asked.captions.test].tolist()
    lists = write_lists(tmp_path / "lists", {
        "cxc_image_to_caption": dict.fromkeys(pictures, captions),
        "cxc_caption_to_image": {str(caption): pictures[:1] for caption in captions},
    })  # fmt: skip
    task = odmap_task(project, positives=lists)
    found = run(Encoder(), task, tmp_path)
    assert found["cxc_image_to_text_r_at_1"] == 1, "every caption is right"
    assert 0 <= found["cxc_text_to_image_r_at_1"] <= 1
    assert task.metadata.revision.startswith(f"{asked.fingerprint}-")


def test_without_mteb_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "mteb", None)
    monkeypatch.delitem(sys.modules, odmap_task.__module__)
    with pytest.raises(BadInput, match="^mteb is not installed; expected `make setup` brings it"):
        import_module(odmap_task.__module__)
