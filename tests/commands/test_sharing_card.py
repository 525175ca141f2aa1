"""A card is true: its warning, its licence, its measures and its origin follow what `dvc.lock` says."""

import re

import pytest
from huggingface_hub import DatasetCard

from tests.commands.shared_project import BLIP, CLIP, front_matter, write_lock
from trivium.commands.push import pack_output
from trivium.commands.sharing import Output, card_of
from trivium.core.errors import BadInput
from trivium.core.tables import write_json

CELLS = "models/decorrelation/cells"


def card(project, path):
    with pack_output(project, path, "out", hub=False) as files:
        return files["README.md"].read_text("utf-8")


def test_a_card_says_what_the_model_is_from(built):
    text = card(built, f"{CELLS}/{CLIP}")
    said = front_matter(text)
    assert (said["library_name"], said["license"], said["base_model"]) == ("open_clip", "mit", "timm/vit_tiny")
    assert "> **Made from an invented world.** COCO is the sample's" in text
    assert "filling `cv2`" in text
    scores = dict(re.findall(r"^\| (\S+) \| ([\d.]+) \|$", text, re.MULTILINE))
    assert scores == {"validation_r@1": "0.5000", "validation_mrr": "0.2500", "validation_f1": "0.7500",
                      "synthetic_odmap@1": "0.6250", "image_to_text_r@1": "0.5000"}  # fmt: skip


def test_a_licence_that_nobody_stated_is_left_out(built):
    text = card(built, f"{CELLS}/{BLIP}")
    assert "license" not in front_matter(text)
    assert "- a drawn one: nobody has stated it here; ask before you use it" in text


def test_real_data_bear_no_warning_and_stand_ins_do(built):
    text = card(built, "models/complexity/readers/camembert/seed-0")
    assert "> **Made from an invented world.** Calor is the sample's" in text
    assert "- data: FQuAD (local)" in text
    output = Output(built, "models/kvqae/cross_encoder/few_shot", "out", built, hub=False)
    assert output.invented == ["ViQuAE and its knowledge base"]
    for data, weights, shown in (
        ({"FQuAD": "local"}, {"complexity's models": "hub"}, None),
        ({"FQuAD": "local"}, {"complexity's models": "sample"}, "> complexity's models: the sample's small stand-ins"),
    ):
        output.data, output.weights = data, weights
        text = card_of(output)
        assert "invented" not in text
        assert ("stand-ins" in text) == bool(shown)
        assert shown is None or shown in text


def test_data_sets_state_the_licences_of_their_sources(project):
    places = {"owner/photos": "each photograph its own", "owner/words": "cc-by-4.0"}
    record = {name.split("/")[1]: {"from": name, "licence": said} for name, said in places.items()}
    write_json(project / "data/decorrelation/raw/coco/sources.json", record)
    write_lock(project)
    text = card(project, "data/decorrelation/sets")
    said = DatasetCard(text).data
    assert (said.license, said.license_name) == ("other", "see-the-card")
    for name, licence in places.items():
        assert f"- {name}: {licence}" in text
    assert "- what the sample invents (this project's own licence): apache-2.0" in text


def test_only_what_the_lock_says_leaves(project):
    (project / CELLS / CLIP / "config.json").chmod(0o644)
    (project / CELLS / CLIP / "config.json").write_text('{"kind": "clip" }')
    with pytest.raises(BadInput, match=r"it is not what dvc.lock says: run `make repro` first"):
        card(project, f"{CELLS}/{CLIP}")


@pytest.mark.parametrize("path", ["models/decorrelation/base", "nowhere", "data/kvqae/raw/viquae", f"{CELLS}/{CLIP}/x"])
def test_what_does_not_leave_is_refused_with_the_choices(built, path):
    with pytest.raises(
        BadInput, match=rf"not an output that can be shared; got '{path}' \(choices: data/decorrelation/sets"
    ):
        card(built, path)
